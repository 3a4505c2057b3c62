//! [`Fates`]: the outcomes of packets to one destination. The effect of each place is computed once.
//!
//! The paths of all packets of a matrix to one destination form a tree, and most policies do not match
//! addresses. Therefore the effect of a port on a packet is computed once for all pairs of sites, and the
//! path behind a port once for all sources. At places where addresses, tunnels or encryption affect packets,
//! each packet is followed separately.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use perhop_analysis::conditioned;
use perhop_device::Port;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::packet::{Address, Encapsulation, Ingress, InterfaceId};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};
use perhop_qos::{ConfigError, Dscp, Packet};

use super::hops::{MOST_HOPS, Onward, Target};
use super::label_plans::Imposition;
use super::{Change, PortId, Snapshot, WalkEnd};
use crate::forwarding::Decision;
use crate::trace::{Cause, LineText};

/// One side of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Input,
    Output,
}

/// The cached effects of ports on packets. The effects are the same for all pairs of sites.
pub(super) struct Fates<'s, 'a> {
    snapshot: &'s Snapshot<'a>,
    /// The names of the interfaces of each device, by [`InterfaceId`].
    interfaces: Vec<Vec<String>>,
    /// The distinct packets, with empty addresses.
    packets: Vec<Packet>,
    effects: BTreeMap<(PortId, Side, usize), Rc<[Effect]>>,
}

/// A packet after one side of a port.
struct Effect {
    packet: Packet,
    is_dropped: bool,
    /// The last change of the packet's codepoint.
    change: Option<Change>,
}

/// The end of a packet's path, and the last change of its codepoint.
pub(super) struct Outcome {
    pub(super) end: WalkEnd,
    pub(super) dscp: Dscp,
    pub(super) change: Option<Change>,
}

/// The possible outcomes behind a place; `None` if the packet must be followed separately.
type Outcomes = Option<Rc<[Rc<Outcome>]>>;

/// The outcomes of packets to one destination.
pub(super) struct Toward<'f, 's, 'a> {
    fates: &'f mut Fates<'s, 'a>,
    destination: IpAddr,
    decided: BTreeMap<(usize, Option<String>), Rc<Next>>,
    known: BTreeMap<(PortId, usize), Outcomes>,
    /// The devices on the path to the current place.
    passed: Vec<usize>,
}

/// The next place of packets to the destination.
enum Next {
    Ends(WalkEnd),
    Leaves(PortId, Onward),
    /// The next place depends on the headers of each packet, or there are several next places.
    Unclear,
}

impl<'s, 'a> Fates<'s, 'a> {
    pub(super) fn new(snapshot: &'s Snapshot<'a>) -> Fates<'s, 'a> {
        let interfaces = |device: usize| {
            snapshot.router(device).ports.iter().map(|port| port.interface.clone()).collect::<Vec<_>>()
        };
        let interfaces = (0..snapshot.devices.len()).map(interfaces).collect();
        Fates { snapshot, interfaces, packets: Vec::new(), effects: BTreeMap::new() }
    }

    /// Returns an empty cache of outcomes for a destination.
    pub(super) fn toward(&mut self, destination: IpAddr) -> Toward<'_, 's, 'a> {
        Toward {
            fates: self,
            destination,
            decided: BTreeMap::new(),
            known: BTreeMap::new(),
            passed: Vec::new(),
        }
    }

    /// Returns the number of a packet. Packets that differ only in their addresses have the same number.
    fn number(&mut self, packet: &Packet) -> usize {
        let plain = Packet { source: Address::default(), destination: Address::default(), ..*packet };
        self.packets.iter().position(|known| *known == plain).unwrap_or_else(|| {
            self.packets.push(plain);
            self.packets.len() - 1
        })
    }

    /// Returns the effects of one side of a port on a packet; `None` if the effects may depend on the
    /// addresses.
    fn effects(
        &mut self,
        id: PortId,
        side: Side,
        packet: &Packet,
    ) -> Result<Option<Rc<[Effect]>>, ConfigError> {
        let port = self.snapshot.port(id);
        let (config, links) = match side {
            Side::Input => (&port.input, &port.links.input),
            Side::Output => (&port.output, &port.links.output),
        };
        let is_plain = port.forwarding.access_groups.is_empty() && port.forwarding.encryption.is_none();
        if !is_plain || looks_at(config, &has_address) {
            return Ok(None);
        }
        let mut packet = *packet;
        match side {
            Side::Input => {
                let carried = Encapsulation { tag: packet.cos().is_some(), labels: packet.exp().is_some() };
                let names = &self.interfaces[id.device];
                let place = names.iter().position(|name| *name == port.interface).unwrap_or(0);
                packet.arrive(Ingress::new(InterfaceId(place as u16), carried));
            }
            Side::Output => {
                let encapsulation = port.wire.headers.encapsulation();
                packet.depart(encapsulation);
                if !looks_at(config, &|condition| condition.input.is_some()) {
                    packet.input = Ingress::new(InterfaceId(0), encapsulation);
                }
            }
        }
        let key = (id, side, self.number(&packet));
        if let Some(known) = self.effects.get(&key) {
            return Ok(Some(known.clone()));
        }
        let member = &self.snapshot.devices[id.device];
        let mut found: Vec<Effect> = Vec::new();
        for outcome in conditioned(config, &self.interfaces[id.device], &packet)? {
            let (mut before, mut change) = (packet.dscp, None);
            for step in &outcome.steps {
                let to = step.packet.dscp;
                if to != before {
                    let lines = links.lines_of_conditioner(step.index).into_iter().filter(|line| *line > 0);
                    let text = |line: usize| member.device.line_text(line).to_owned();
                    let lines = lines.map(|line| LineText { line, text: text(line) }).collect();
                    let (device, file) = (member.name.clone(), member.file.clone());
                    change = Some(Change { device, file, from: before, to, lines });
                }
                before = to;
            }
            let is_known =
                |known: &Effect| known.packet == outcome.packet && known.is_dropped == outcome.dropped;
            if !found.iter().any(is_known) {
                found.push(Effect { packet: outcome.packet, is_dropped: outcome.dropped, change });
            }
        }
        let found: Rc<[Effect]> = found.into();
        self.effects.insert(key, found.clone());
        Ok(Some(found))
    }
}

impl Toward<'_, '_, '_> {
    /// Returns the outcomes of a packet that arrives at a port; `None` if the packet must be followed
    /// separately.
    ///
    /// # Errors
    /// A policy cannot be built.
    pub(super) fn outcomes(&mut self, arrives: PortId, packet: &Packet) -> Result<Outcomes, ConfigError> {
        let key = (arrives, self.fates.number(packet));
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        if self.passed.contains(&arrives.device) || self.passed.len() >= MOST_HOPS {
            return Ok(None);
        }
        self.passed.push(arrives.device);
        let found = self.pass(arrives, packet);
        self.passed.pop();
        let found: Outcomes = found?.map(Into::into);
        self.known.insert(key, found.clone());
        Ok(found)
    }

    fn pass(&mut self, arrives: PortId, packet: &Packet) -> Result<Option<Vec<Rc<Outcome>>>, ConfigError> {
        let snapshot = self.fates.snapshot;
        let next = self.next(arrives);
        let ends = |end: WalkEnd, packet: &Packet, change: Option<&Change>| {
            Rc::new(Outcome { end, dscp: packet.dscp, change: change.cloned() })
        };
        let (leaves, onward) = match &*next {
            Next::Ends(end) => return Ok(Some(vec![ends(end.clone(), packet, None)])),
            Next::Unclear => return Ok(None),
            Next::Leaves(leaves, onward) => (*leaves, onward),
        };
        let device = || snapshot.devices[arrives.device].name.clone();
        let interface = || snapshot.port(leaves).name.clone();
        let dropped = || WalkEnd::Dropped { device: device(), cause: Cause::Conditioner };
        let mut found: Vec<Rc<Outcome>> = Vec::new();
        let Some(inputs) = self.fates.effects(arrives, Side::Input, packet)? else { return Ok(None) };
        for input in &*inputs {
            if input.is_dropped {
                found.push(ends(dropped(), &input.packet, input.change.as_ref()));
                continue;
            }
            let Some(outputs) = self.fates.effects(leaves, Side::Output, &input.packet)? else {
                return Ok(None);
            };
            for output in &*outputs {
                let change = output.change.as_ref().or(input.change.as_ref());
                let end = match onward {
                    _ if output.is_dropped => dropped(),
                    Onward::Host => WalkEnd::Delivered { device: device(), interface: Some(interface()) },
                    Onward::Elsewhere(next_hop) => WalkEnd::LeavesSnapshot {
                        device: device(),
                        interface: interface(),
                        next_hop: *next_hop,
                    },
                    Onward::Device(next) => {
                        let Some(further) = self.outcomes(*next, &output.packet)? else { return Ok(None) };
                        found.extend(further.iter().map(|fate| match (&fate.change, change) {
                            (None, Some(change)) => {
                                ends(fate.end.clone(), &Packet { dscp: fate.dscp, ..*packet }, Some(change))
                            }
                            _ => fate.clone(),
                        }));
                        continue;
                    }
                };
                found.push(ends(end, &output.packet, change));
            }
        }
        Ok(Some(found))
    }

    /// Returns the next place of packets that arrive at a port.
    fn next(&mut self, arrives: PortId) -> Rc<Next> {
        let snapshot = self.fates.snapshot;
        let vrf = snapshot.port(arrives).forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str());
        let key = (arrives.device, vrf.map(str::to_owned));
        if let Some(known) = self.decided.get(&key) {
            return known.clone();
        }
        let decision = snapshot.devices[arrives.device].device.table().decide(vrf, self.destination);
        let has_labels = || {
            let imposed = snapshot.imposition(arrives.device, vrf, &decision, self.destination);
            !matches!(imposed, Imposition::None)
        };
        let next = match snapshot.unknown(arrives.device, vrf, &decision, self.destination) {
            _ if has_labels() => Next::Unclear,
            Some(end) => Next::Ends(end),
            None => match decision {
                Decision::Leaves(exit) if is_plain(exit.port) => {
                    let ports = &snapshot.router(arrives.device).ports;
                    let place = ports.iter().position(|port| std::ptr::eq(port, exit.port));
                    place.map_or(Next::Unclear, |port| {
                        let leaves = PortId { device: arrives.device, port };
                        Next::Leaves(
                            leaves,
                            snapshot.onward_to(leaves, Target::from_exit(self.destination, &exit)),
                        )
                    })
                }
                _ => Next::Unclear,
            },
        };
        let next = Rc::new(next);
        self.decided.insert(key, next.clone());
        next
    }
}

/// Whether a port adds no header to departing packets.
fn is_plain(port: &Port) -> bool {
    port.forwarding.tunnel.is_none() && port.forwarding.encryption.is_none()
}

/// Whether a condition of a policy, or a condition inside that condition, has a property.
fn looks_at(config: &PolicyConfig, property: &dyn Fn(&MatchConfig) -> bool) -> bool {
    let mut conditions = config.conditioners.iter().filter_map(|conditioner| conditioner.matches.as_ref());
    conditions.any(|condition| has_property(condition, property))
        || config.queueing.as_ref().is_some_and(|queueing| queueing_looks_at(queueing, property))
}

fn queueing_looks_at(queueing: &QueueingConfig, property: &dyn Fn(&MatchConfig) -> bool) -> bool {
    queueing.classes.iter().any(|class| {
        class.matches.as_ref().is_some_and(|condition| has_property(condition, property))
            || class.queueing.as_ref().is_some_and(|inner| queueing_looks_at(inner, property))
    })
}

fn has_property(condition: &MatchConfig, property: &dyn Fn(&MatchConfig) -> bool) -> bool {
    let lists = condition.all.iter().chain(&condition.any).flatten();
    property(condition) || lists.chain(condition.not.as_deref()).any(|inner| has_property(inner, property))
}

fn has_address(condition: &MatchConfig) -> bool {
    condition.source.is_some() || condition.destination.is_some()
}
