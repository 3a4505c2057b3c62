//! [`Treatment`]: the class to which a policy assigns a codepoint, and the kind of this class.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use perhop_analysis::Conditioned;
use perhop_device::intent::{
    Class, Condition, Guarantee, Meter, Policy, PriorityRate, TrafficRate, VisibleHeader,
};
use perhop_device::{Port, RouteTarget, Router, TunnelSource};
use perhop_qos::classifier::Match;
use perhop_qos::packet::{Color, LinkMark};
use perhop_qos::{Dscp, Packet};
use rayon::prelude::*;

use crate::forwarding::addresses;
use crate::snapshot::{PortId, Snapshot, carries_packets};

/// The kind of treatment at a port with queues, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The default class.
    Rest,
    /// A separate class without a guarantee.
    Class,
    /// A class with a guaranteed rate.
    Guarantee,
    /// A class with priority.
    Priority,
}

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Kind::Rest => "the default class",
            Kind::Class => "a class without a guarantee",
            Kind::Guarantee => "a guarantee",
            Kind::Priority => "priority",
        }
    }
}

/// The class of a codepoint in a policy or in a nested policy, and the kind of this class.
#[derive(Clone, Copy)]
pub(super) struct Treatment<'a> {
    pub(super) kind: Kind,
    /// The policy that contains the class.
    pub(super) policy: &'a Policy,
    pub(super) class: &'a Class,
}

/// Returns a UDP packet with a codepoint. Its addresses are documentation addresses, which access lists
/// usually do not contain.
pub(super) fn packet(dscp: Dscp) -> Packet {
    let text = format!("udp 203.0.113.1:49152 > 203.0.113.2:49152 dscp {dscp} len 200");
    text.parse::<perhop_analysis::PacketText>().map(|read| read.packet).unwrap_or_default()
}

/// Returns the result with the fewest meters that a packet exceeds, among results without a drop; `None` if
/// all results are drops.
pub(super) fn conforming(ways: Vec<Conditioned>) -> Option<Conditioned> {
    let exceeds = |way: &Conditioned| {
        way.steps.iter().filter(|step| step.color.is_some_and(|color| color != Color::GREEN)).count()
    };
    ways.into_iter().filter(|way| !way.dropped).min_by_key(exceeds)
}

/// Returns the names of interfaces by index.
pub(super) fn interfaces(router: &Router) -> Vec<String> {
    router.ports.iter().map(|port| port.interface.clone()).collect()
}

/// Returns the output policy of a port that has queues for classes; `None` if the port has one queue.
pub(super) fn queueing_policy(port: &Port) -> Option<&Policy> {
    port.intent.output.iter().rev().find(|policy| policy.queues && has_classes(policy))
}

/// Whether the configuration of a port attaches a policy with a queue per class. The default queues of a
/// switch are at the line of the port.
pub(super) fn has_configured_queues(port: &Port) -> bool {
    port.forwarding.output_line.is_some_and(|line| line != port.line) && queueing_policy(port).is_some()
}

/// Whether a policy or a nested policy has a class that matches only some of the packets.
fn has_classes(policy: &Policy) -> bool {
    policy.classes.iter().any(|class| !class.takes_rest || class.children().is_some_and(has_classes))
}

/// A condition of a class, compiled once for several packets.
pub(super) enum Matcher {
    Always,
    Never,
    When(Match),
}

impl Matcher {
    /// Compiles a condition. The number of an interface is its index in `interfaces`.
    pub(super) fn new(condition: &Condition, interfaces: &[String]) -> Matcher {
        match condition {
            Condition::Always => Matcher::Always,
            Condition::Never => Matcher::Never,
            Condition::When(config) => config.build(interfaces).map_or(Matcher::Never, Matcher::When),
        }
    }

    /// Whether a packet matches.
    pub(super) fn matches(&self, packet: &Packet) -> bool {
        match self {
            Matcher::Always => true,
            Matcher::Never => false,
            Matcher::When(matches) => matches.matches(packet),
        }
    }
}

/// A policy that classifies several packets. The condition of a class is compiled when the first packet is
/// compared with it.
struct Classes<'a, 'i> {
    policy: &'a Policy,
    interfaces: &'i [String],
    /// The compiled condition and the nested policy of each class.
    built: Vec<(OnceCell<Matcher>, OnceCell<Classes<'a, 'i>>)>,
}

impl<'a, 'i> Classes<'a, 'i> {
    fn new(policy: &'a Policy, interfaces: &'i [String]) -> Classes<'a, 'i> {
        let built = policy.classes.iter().map(|_| (OnceCell::new(), OnceCell::new())).collect();
        Classes { policy, interfaces, built }
    }

    /// Returns the treatment of a packet by the innermost class that matches it.
    fn treatment(&self, packet: &Packet) -> Option<Treatment<'a>> {
        let all = self.policy.classes.iter().zip(&self.built);
        let (class, (_, inner)) = all.into_iter().find(|(class, (matcher, _))| {
            matcher.get_or_init(|| Matcher::new(class.visible(), self.interfaces)).matches(packet)
        })?;
        let children = class.children();
        let inner = children.map(|inner_policy| {
            inner.get_or_init(|| Classes::new(inner_policy, self.interfaces)).treatment(packet)
        });
        Some(innermost(self.policy, class, inner.flatten()))
    }
}

/// Returns the treatment of a packet by the innermost class of a policy that matches it.
pub(super) fn treatment<'a>(
    policy: &'a Policy,
    interfaces: &[String],
    packet: &Packet,
) -> Option<Treatment<'a>> {
    Classes::new(policy, interfaces).treatment(packet)
}

/// Returns the treatment of a packet in `class`. `inner` is the treatment by the policy nested in the class.
fn innermost<'a>(policy: &'a Policy, class: &'a Class, inner: Option<Treatment<'a>>) -> Treatment<'a> {
    // All packets without a class share the guarantee of the default class, so it does not count as a
    // guarantee.
    let own = if class.priority.is_some() {
        Kind::Priority
    } else if class.takes_rest {
        Kind::Rest
    } else if class.guarantee.is_some() {
        Kind::Guarantee
    } else {
        Kind::Class
    };
    match inner {
        // A packet in the default class of a nested policy still belongs to the class around it.
        Some(inner) if inner.kind > Kind::Rest || own == Kind::Rest => {
            Treatment { kind: inner.kind.max(own), ..inner }
        }
        _ => Treatment { kind: own, policy, class },
    }
}

/// Whether a policy classifies packets by the EXP of their label, regardless of their codepoints.
pub(super) fn reads_labels(policy: &Policy, interfaces: &[String]) -> bool {
    let classes = Classes::new(policy, interfaces);
    let class = |value: u8| {
        let mut labeled = packet(Dscp::default());
        labeled.set_exp(LinkMark::new(value)?);
        classes.treatment(&labeled).map(|own| own.class.id)
    };
    let first = class(0);
    (1..8).any(|value| class(value) != first)
}

/// Returns the priority rate or guaranteed rate of a class, bits per second. Percentages refer to the rate
/// `around`, bits per second.
pub(super) fn class_rate(class: &Class, around: u64) -> Option<u64> {
    let percent = |percent: u64| around / 100 * percent;
    if let Some(priority) = &class.priority {
        return match priority.value.rate {
            PriorityRate::Unlimited => None,
            PriorityRate::Kilobits(kilobits) => Some(1000 * kilobits),
            PriorityRate::Percent(part) => Some(percent(part)),
        };
    }
    match class.guarantee.as_ref()?.value {
        Guarantee::Kilobits(kilobits) => Some(1000 * kilobits),
        Guarantee::BitsPerSecond(bits) => Some(bits),
        Guarantee::Percent(part) => Some(percent(part)),
        Guarantee::RemainingPercent(_) | Guarantee::RemainingRatio(_) => None,
    }
}

/// Returns the line of the priority or guarantee of a class, otherwise its first line.
pub(super) fn demand_line(class: &Class) -> usize {
    let priority = class.priority.as_ref().map(|priority| priority.line);
    priority.or(class.guarantee.as_ref().map(|guarantee| guarantee.line)).unwrap_or(class.line)
}

/// Returns the committed rate of the policer of a class, bits per second. Percentages refer to the rate
/// `around`, bits per second.
pub(super) fn police_rate(class: &Class, around: u64) -> Option<u64> {
    match class.police.as_ref()?.value.meter {
        Meter::Bytes { rate, .. } => Some(traffic_rate(rate, around)),
        Meter::Packets { .. } => None,
    }
}

/// Returns a rate in bits per second. Percentages refer to the rate `around`, bits per second.
pub(super) fn traffic_rate(rate: TrafficRate, around: u64) -> u64 {
    match rate {
        TrafficRate::BitsPerSecond(bits) => bits,
        TrafficRate::Percent(part) => around / 100 * part,
    }
}

/// Returns the rate and the line of a shaper that applies to all packets of a policy.
pub(super) fn shaper(policy: &Policy, around: u64) -> Option<(u64, usize)> {
    let [class] = policy.classes.as_slice() else { return None };
    let shape = class.shape.as_ref().filter(|_| class.takes_rest)?;
    Some((traffic_rate(shape.value.rate, around), shape.line))
}

/// Returns the rate and the line of a policer that applies to all packets of a policy.
pub(super) fn policer_of_all(policy: &Policy, around: u64) -> Option<(u64, usize)> {
    let [class] = policy.classes.as_slice() else { return None };
    let police = class.police.as_ref().filter(|_| class.takes_rest)?;
    Some((police_rate(class, around)?, police.line))
}

/// Whether a port leads to a provider: the default route or a tunnel uses this port.
pub(super) fn leads_out(snapshot: &Snapshot, id: PortId) -> bool {
    let router = snapshot.router(id.device);
    let mut default_routes = router.forwarding.routes.iter().filter(|route| route.prefix.length() == 0);
    let is_default = default_routes.any(|route| match &route.via {
        RouteTarget::NextHop(hop) => addresses(snapshot.port(id)).any(|own| own.is_neighbor(*hop)),
        RouteTarget::Interface { name, .. } => snapshot.port(id).name == **name,
        RouteTarget::Discard | RouteTarget::Learned => false,
    });
    let mut sources = router.ports.iter().filter_map(|port| port.forwarding.tunnel.as_ref()?.source.as_ref());
    let is_source = sources.any(|source| match &source.value {
        TunnelSource::Interface(name) => snapshot.port(id).name == **name,
        TunnelSource::Address(own) => addresses(snapshot.port(id)).any(|address| address.address == *own),
    });
    is_default || is_source
}

/// The treatment of each codepoint at ports that have queues and lead to another device. The ports of a
/// device with the same policy share a table.
pub(super) struct Treatments<'s> {
    tables: BTreeMap<(usize, usize), Vec<Option<Treatment<'s>>>>,
    /// The best treatment of each codepoint that has a class at some port.
    pub(super) best: BTreeMap<Dscp, Kind>,
}

impl<'s> Treatments<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Treatments<'s> {
        let mut policies = BTreeMap::new();
        for id in snapshot.queueing_ports() {
            let Some(policy) = queueing_policy(snapshot.port(id)) else { continue };
            policies.entry((id.device, policy.line)).or_insert(policy);
        }
        let packets: Vec<Packet> = (0..64).filter_map(Dscp::new).map(packet).collect();
        let table = |((device, line), policy): (&(usize, usize), &&'s Policy)| {
            let names = interfaces(snapshot.router(*device));
            let classes = Classes::new(policy, &names);
            let found: Vec<Option<Treatment>> =
                packets.iter().map(|packet| classes.treatment(packet)).collect();
            ((*device, *line), found)
        };
        let tables: BTreeMap<_, _> = policies.par_iter().map(table).collect();
        let mut best = BTreeMap::new();
        for table in tables.values() {
            for (dscp, own) in (0..64).filter_map(Dscp::new).zip(table).skip(1) {
                let own: &Option<Treatment> = own;
                if let Some(own) = own.as_ref().filter(|own| own.kind > Kind::Rest) {
                    let kind = best.entry(dscp).or_insert(own.kind);
                    *kind = own.kind.max(*kind);
                }
            }
        }
        Treatments { tables, best }
    }

    /// Returns the best treatment of a codepoint at any port.
    pub(super) fn kind(&self, dscp: Dscp) -> Kind {
        self.best.get(&dscp).copied().unwrap_or(Kind::Rest)
    }

    /// Returns the treatment of a codepoint at a port that has queues and leads to another device.
    pub(super) fn at(&self, snapshot: &Snapshot, id: PortId, dscp: Dscp) -> Option<Treatment<'s>> {
        let policy = queueing_policy(snapshot.port(id))?;
        let table = self.tables.get(&(id.device, policy.line))?;
        *table.get(usize::from(dscp.value()))?
    }
}

impl Snapshot<'_> {
    /// Returns the ports that have queues and lead to another device: the ends of links, tunnels, and ports
    /// towards a provider.
    pub(super) fn queueing_ports(&self) -> Vec<PortId> {
        let mut found = Vec::new();
        for device in 0..self.devices.len() {
            let router = self.router(device);
            for (port, own) in router.ports.iter().enumerate() {
                let id = PortId { device, port };
                let leads_on = || self.link_of(id).is_some() || own.forwarding.tunnel.is_some();
                let has_queues = queueing_policy(own).is_some() && carries_packets(router, own);
                if has_queues && (leads_on() || leads_out(self, id)) {
                    found.push(id);
                }
            }
        }
        found
    }

    /// Returns the rate to which percentages in a port's output policy refer, bits per second: the rate of
    /// the shaper for all packets, otherwise the rate of the line.
    pub(super) fn output_rate(&self, id: PortId) -> Option<u64> {
        let port = self.port(id);
        let line = port.bandwidth.or(port.wire.rate)?.as_bits_per_second();
        let shaped = port.intent.output.iter().find_map(|policy| shaper(policy, line));
        Some(shaped.map_or(line, |(rate, _)| rate.min(line)))
    }

    /// Returns the lines by which the classes of a policy match a packet, the innermost class last.
    pub(super) fn criteria(&self, device: usize, policy: &str, packet: &Packet) -> Vec<usize> {
        let names = interfaces(self.router(device));
        let Some(lines) = self.devices[device].device.class_lines() else { return Vec::new() };
        lines
            .matched(policy, &names, packet, VisibleHeader::Ip)
            .into_iter()
            .flat_map(|class| class.criteria)
            .collect()
    }
}
