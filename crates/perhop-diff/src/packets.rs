//! [`moved_packets`] and [`examples`]: packets that wait in another queue, and examples of packets that are
//! conditioned differently.

use std::collections::BTreeMap;

use perhop_analysis::{Conditioned, Node, PacketText, Witness, conditioned, moved, queue_of};
use perhop_device::{DeviceModel, Port};
use perhop_qos::Packet;
use perhop_qos::packet::{Encapsulation, Ingress, InterfaceId};
use perhop_qos::policy::PolicyConfig;
use serde_json::Value;

use crate::answer::{Changed, End, Example, Moved};
use crate::parts::{MATCH, conditioner_names};
use crate::sets::Matches;

/// Limit on the compared pairs of an entrance and an exit. Each comparison takes milliseconds to a second.
const MOST_PAIRS: usize = 400;
/// Limit on the exits for which the fate of an example is shown.
const MOST_EXITS: usize = 4;

/// Two models of a device, and the names of the interfaces in either model.
pub(crate) struct Sides<'a> {
    pub(crate) models: [&'a DeviceModel; 2],
    pub(crate) interfaces: Vec<String>,
    ports: [BTreeMap<&'a str, &'a Port>; 2],
}

impl<'a> Sides<'a> {
    pub(crate) fn pair(models: [&'a DeviceModel; 2]) -> Sides<'a> {
        let mut interfaces: Vec<String> = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for port in models.iter().flat_map(|model| &model.router.ports) {
            if known.insert(&port.interface) {
                interfaces.push(port.interface.clone());
            }
        }
        let ports = models.map(|model| {
            let ports = model.router.ports.iter();
            ports.map(|port| (port.name.as_str(), port)).collect::<BTreeMap<&str, &Port>>()
        });
        Sides { models, interfaces, ports }
    }

    /// Returns the ports with this name in both models.
    pub(crate) fn ports(&self, name: &str) -> [Option<&'a Port>; 2] {
        [0, 1].map(|side: usize| self.ports[side].get(name).copied())
    }

    fn node(&self, input: Option<&'a Port>, output: &'a Port) -> Node<'_> {
        let headers = output.wire.headers.headers();
        let carries = |name: &str| headers.iter().any(|header| header.name() == name);
        Node {
            interfaces: &self.interfaces,
            input: input.map(|port| &port.input),
            output: Some(&output.output),
            encapsulation: Encapsulation { tag: carries("vlan"), labels: carries("mpls") },
        }
    }
}

/// Packets that wait in another queue, and remarks about packets that were not compared.
#[derive(Default)]
pub(crate) struct MovedPackets {
    pub(crate) moved: Vec<Moved>,
    pub(crate) not_looked_at: Vec<String>,
}

/// The compared paths: the exits, the entrance if the user chose one, and by exit the renamed queues from old
/// to new name.
pub(crate) struct ComparedPaths<'a> {
    pub(crate) exits: &'a [String],
    pub(crate) at: Option<&'a str>,
    pub(crate) queues: &'a BTreeMap<String, BTreeMap<String, String>>,
}

/// Returns packets that wait in another queue. Compares packets without an input policy, and packets that
/// arrive at each entrance whose input policy has changed. If the user chose an entrance, compares only
/// packets that arrive there.
pub(crate) fn moved_packets(sides: &Sides, paths: &ComparedPaths) -> MovedPackets {
    let mut found = MovedPackets::default();
    let mut entrances: Vec<Option<String>> = vec![paths.at.map(str::to_owned)];
    if paths.at.is_none() {
        let names = sides.models[0].router.ports.iter().map(|port| &port.name);
        entrances.extend(names.filter(|name| has_other_input(sides.ports(name))).cloned().map(Some));
    }
    let mut pairs = 0;
    for exit in paths.exits {
        let [Some(old), Some(new)] = sides.ports(exit) else { continue };
        let own = found.moved.len();
        for entrance in &entrances {
            let inputs = entrance.as_deref().map_or([None, None], |name| sides.ports(name));
            let is_equal = old.output == new.output && !has_other_input(inputs);
            if is_equal || has_one_queue(&old.output) && has_one_queue(&new.output) {
                continue;
            }
            pairs += 1;
            if pairs > MOST_PAIRS {
                continue;
            }
            let nodes = [sides.node(inputs[0], old), sides.node(inputs[1], new)];
            let arrives = entrance.as_deref().and_then(|_| inputs[0].or(inputs[1]));
            let arrives = arrives.map(|port| port.interface.as_str());
            match moved(&nodes[0], &nodes[1], arrives) {
                Ok(packets) => {
                    let renamed = paths.queues.get(exit);
                    let packets = packets.into_iter().filter(|moved| !is_renamed(renamed, moved));
                    for moved in packets {
                        found.add(own, exit, entrance.as_ref(), moved);
                    }
                }
                Err(error) => {
                    let by = entrance.as_ref().map(|name| format!(" that arrive on {name}"));
                    let by = by.unwrap_or_default();
                    found.not_looked_at.push(format!("the queues of packets{by} at {exit}: {error}"));
                }
            }
        }
    }
    if pairs > MOST_PAIRS {
        let more = pairs - MOST_PAIRS;
        found.not_looked_at.push(format!("the queues of packets for {more} more pairs of interfaces"));
    }
    found
}

impl MovedPackets {
    /// Adds a packet that waits in another queue, unless the same change was already found for packets
    /// without an entrance.
    fn add(&mut self, own: usize, exit: &str, entrance: Option<&String>, moved: perhop_analysis::Moved) {
        let is_known = |known: &Moved| {
            known.arrives.is_none() && known.before == moved.before && known.after == moved.after
        };
        if entrance.is_some() && self.moved[own..].iter().any(is_known) {
            return;
        }
        self.moved.push(Moved {
            interface: exit.to_owned(),
            arrives: entrance.cloned(),
            before: moved.before,
            after: moved.after,
            packet: moved.packet,
        });
    }
}

/// Whether the queue of the packet is only renamed.
fn is_renamed(renamed: Option<&BTreeMap<String, String>>, moved: &perhop_analysis::Moved) -> bool {
    let new = renamed.zip(moved.before.as_ref()).and_then(|(renamed, before)| renamed.get(before));
    new.is_some() && new == moved.after.as_ref()
}

fn has_other_input([old, new]: [Option<&Port>; 2]) -> bool {
    let none = PolicyConfig::default();
    let policies = [old, new].map(|port| port.map_or(&none, |port| &port.input));
    policies[0] != policies[1]
}

fn has_one_queue(policy: &PolicyConfig) -> bool {
    policy.queueing.as_ref().is_none_or(|queueing| {
        matches!(queueing.classes.as_slice(), [class] if class.queueing.is_none() && class.queues() == 1)
    })
}

/// Returns an example packet for each changed input conditioner, with its fates at the first exits with
/// queues.
pub(crate) fn examples(
    sides: &Sides,
    changed: &[Changed],
    exits: &[String],
    matches: &mut Matches,
) -> Vec<Example> {
    let mut parts: Vec<(&str, &str)> =
        changed.iter().map(|change| (change.interface.as_str(), change.part.as_str())).collect();
    parts.retain(|(_, part)| part.starts_with("input conditioner "));
    parts.dedup();
    let exits: Vec<&String> = exits.iter().filter(|exit| has_queues(sides.ports(exit))).collect();
    let mut found = Vec::new();
    for (entrance, part) in parts {
        let ports = sides.ports(entrance);
        let condition = ports.into_iter().flatten().find_map(|port| condition_of(port, part));
        let Some(packet) = condition.and_then(|condition| matches.witness(Some(&condition))) else {
            continue;
        };
        let Some(packet) = arriving(sides, entrance, &packet) else { continue };
        for exit in exits.iter().filter(|exit| **exit != entrance).take(MOST_EXITS) {
            let ends = [0, 1].map(|at| {
                let output = sides.ports(exit)[at]?;
                end_of(&sides.node(ports[at], output), entrance, &packet)
            });
            if let [Some(before), Some(after)] = ends {
                let [arrives, part, leaves] = [entrance, part, exit.as_str()].map(str::to_owned);
                found.push(Example { arrives, part, leaves, packet: packet.clone(), before, after });
            }
        }
    }
    found
}

fn has_queues(ports: [Option<&Port>; 2]) -> bool {
    ports.into_iter().flatten().any(|port| !has_one_queue(&port.output))
}

/// Returns the match of an input conditioner of a port; an empty match matches all packets.
fn condition_of(port: &Port, part: &str) -> Option<Value> {
    let written = serde_json::to_value(&port.input).ok()?;
    let conditioners = written["conditioners"].as_array()?;
    let at = conditioner_names("input", conditioners).iter().position(|name| name == part)?;
    let condition = &conditioners[at][MATCH];
    Some(if condition.is_null() { Value::Object(serde_json::Map::new()) } else { condition.clone() })
}

/// Returns the notation of a packet that arrives on the interface `entrance`.
fn arriving(sides: &Sides, entrance: &str, text: &str) -> Option<String> {
    let PacketText { packet, .. } = text.parse().ok()?;
    let port = sides.ports(entrance).into_iter().flatten().next()?;
    Some(Witness { packet, input: Some(port.interface.clone()) }.to_string())
}

/// Returns the fate of a packet in a node, for the first color that the meters can assign.
fn end_of(node: &Node, entrance: &str, text: &str) -> Option<End> {
    let PacketText { mut packet, .. } = text.parse().ok()?;
    let number = node.interfaces.iter().position(|name| name == entrance).unwrap_or(0);
    packet.input = Ingress::new(InterfaceId(number as u16), Encapsulation::default());
    packet.arrive(packet.input);
    let arrived = first_path(node, node.input, packet)?;
    let mut departing = arrived.packet;
    departing.depart(node.encapsulation);
    let left = if arrived.dropped { arrived } else { first_path(node, node.output, departing)? };
    let mut names = Vec::new();
    let mut queueing = node.output.and_then(|policy| policy.queueing.as_ref()).filter(|_| !left.dropped);
    let place =
        queueing.map(|queueing| queue_of(queueing, node.interfaces, &left.packet)).transpose().ok()?;
    if let Some(place) = place.flatten() {
        for index in &place.path {
            let class = &queueing?.classes[*index];
            names.push(class.name.as_str());
            queueing = class.queueing.as_ref();
        }
        names.extend(place.tin);
    }
    let queue = (!names.is_empty()).then(|| names.join("/"));
    let packet = Witness { packet: left.packet, input: node.interfaces.get(number).cloned() }.to_string();
    Some(End { packet, dropped: left.dropped, queue })
}

/// Returns the path of a packet through conditioners, for the first color that the meters can assign.
fn first_path(node: &Node, policy: Option<&PolicyConfig>, packet: Packet) -> Option<Conditioned> {
    let Some(policy) = policy else {
        return Some(Conditioned { packet, steps: Vec::new(), dropped: false });
    };
    conditioned(policy, node.interfaces, &packet).ok()?.into_iter().next()
}
