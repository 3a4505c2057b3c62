//! Codepoints that one port treats worse than most ports of the network.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::Class;
use perhop_device::{LineKind, Router};
use perhop_qos::Dscp;

use super::congestion::never_fills;
use super::namesakes::Namesakes;
use super::treatment::{
    Kind, Matcher, Treatment, Treatments, demand_line, has_configured_queues, interfaces, leads_out, packet,
    queueing_policy, reads_labels, shaper,
};
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic, line_of_output};
use crate::rules;
use crate::snapshot::model::{has_intent, has_policy};

/// A port whose treatment is worse than usual: the port, the line of the finding, the treatment at the port,
/// and the treatment at most ports.
type Exception = (PortId, usize, Kind, Kind);

/// For each exception, its codepoints and the name of the class at most ports.
type Exceptions = BTreeMap<Exception, (Vec<Dscp>, String)>;

/// If an exception occurs on at least this number of devices and on at least one of twenty devices, it is an
/// intended variant.
const LEAST_VARIANT: usize = 2;
const FEW_DEVICES: usize = 20;
/// The minimum fraction of ports with queues that have the same treatment. Below this fraction, the rule
/// reports no port.
const MOST: f64 = 0.5;
/// The codepoints of lower effort: LE (RFC 8622) and CS1 (RFC 4594 §4.10).
const LOWER_EFFORT: [u8; 2] = [1, 8];
/// The minimum number and fraction of ports towards hosts with an input policy. With fewer, a port without
/// one is not an exception.
const LEAST_SITES: usize = 3;
const NEARLY_ALL: f64 = 0.75;

/// Reports ports that treat a codepoint worse than most ports of the network, ports towards hosts without an
/// input policy, and link ends without queues.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    let with_queues: Vec<PortId> =
        snapshot.queueing_ports().into_iter().filter(|id| queues_by_codepoint(snapshot, *id)).collect();
    let mut exceptions = Exceptions::new();
    for dscp in (1..64).filter_map(Dscp::new) {
        let kinds: Vec<(PortId, Treatment)> =
            with_queues.iter().filter_map(|id| Some((*id, treatments.at(snapshot, *id, dscp)?))).collect();
        let Some(usual) = usual_treatment(&kinds) else { continue };
        let name = common_name(&kinds, usual);
        // A port towards a provider sends packets of its own site. At such a port, a class with the usual
        // name is sufficient, because this class can match the packets by another criterion than the
        // codepoint.
        let has_namesake = |(id, own): &&(PortId, Treatment)| {
            snapshot.link_of(*id).is_none() && own.policy.classes.iter().any(|class| class.name == name)
        };
        // Lower effort is at most best effort (RFC 8622 §1), so a policy may leave it to the default class.
        // If the policy has the class, its criterion is missing.
        let is_lower = |(_, own): &&(PortId, Treatment)| {
            let has_class = own.policy.classes.iter().any(|class| class.name == name);
            LOWER_EFFORT.contains(&dscp.value()) && own.kind == Kind::Rest && !has_class
        };
        let worse = kinds.iter().filter(|(_, own)| own.kind < usual);
        for (id, own) in
            worse.filter(|codepoint_class| !has_namesake(codepoint_class) && !is_lower(codepoint_class))
        {
            let line = line_of_exception(snapshot, *id, own, &name);
            let key = (*id, line, own.kind, usual);
            exceptions.entry(key).or_insert_with(|| (Vec::new(), name.clone())).0.push(dscp);
        }
    }
    remove_variants(snapshot, &mut exceptions);
    remove_redesigned(snapshot, &mut exceptions);
    for ((id, line, own, usual), (codepoints, name)) in exceptions {
        let names: Vec<String> = codepoints.iter().map(Dscp::to_string).collect();
        let rule =
            if own == Kind::Rest { &rules::NETWORK_CLASS_MISSING } else { &rules::NETWORK_CLASS_DIFFERS };
        let message = format!(
            "{} gets {} at {}, but most ports of the network give it {} (class {name})",
            names.join(", "),
            own.words(),
            snapshot.port_name(id),
            usual.words(),
        );
        let effect = "its packets lose their treatment at this port under load".to_owned();
        let finding = snapshot.finding(id.device, rule, line, (message, effect));
        found.push(finding.about(Topic::Classes(names.join(", ")), Precision::Comparison));
    }
    check_ends(snapshot, found);
    check_marking(snapshot, found);
}

/// Removes exceptions that occur on several devices, because these devices intentionally lack the class.
fn remove_variants(snapshot: &Snapshot, exceptions: &mut Exceptions) {
    let mut devices: BTreeMap<(Kind, Dscp), BTreeSet<usize>> = BTreeMap::new();
    for ((id, _, own, _), (codepoints, _)) in exceptions.iter() {
        for dscp in codepoints {
            devices.entry((*own, *dscp)).or_default().insert(id.device);
        }
    }
    let least = LEAST_VARIANT.max(snapshot.devices.len() / FEW_DEVICES);
    for ((_, _, own, _), (codepoints, _)) in exceptions.iter_mut() {
        codepoints.retain(|dscp| devices[&(*own, *dscp)].len() < least);
    }
    exceptions.retain(|_, (codepoints, _)| !codepoints.is_empty());
}

/// Removes exceptions of policies that lack the class on purpose.
fn remove_redesigned(snapshot: &Snapshot, exceptions: &mut Exceptions) {
    if exceptions.is_empty() {
        return;
    }
    let namesakes = Namesakes::new(snapshot);
    exceptions.retain(|(id, _, own, _), (_, name)| {
        let mut policies = snapshot.port(*id).intent.output.iter();
        *own != Kind::Rest || !policies.any(|policy| namesakes.omit_on_purpose(id.device, policy, name))
    });
}

/// Whether a port queues by codepoint. In the core of an MPLS network, labels hide the codepoints.
fn queues_by_codepoint(snapshot: &Snapshot, id: PortId) -> bool {
    let names = interfaces(snapshot.router(id.device));
    queueing_policy(snapshot.port(id)).is_some_and(|policy| !reads_labels(policy, &names))
}

/// Returns the best treatment that most ports give or exceed; `None` if most ports have no class for the
/// codepoint.
fn usual_treatment(kinds: &[(PortId, Treatment)]) -> Option<Kind> {
    let at_least = |kind: Kind| {
        let count = kinds.iter().filter(|(_, own)| own.kind >= kind).count();
        count > 1 && count as f64 > MOST * kinds.len() as f64
    };
    [Kind::Priority, Kind::Guarantee, Kind::Class].into_iter().find(|kind| at_least(*kind))
}

/// Returns the most frequent name of the classes with the usual treatment.
fn common_name(kinds: &[(PortId, Treatment)], usual: Kind) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, own) in kinds.iter().filter(|(_, own)| own.kind >= usual) {
        *counts.entry(own.class.name.as_str()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// Returns the line of the finding: the criterion of the class with the usual name if the policy has such a
/// class, otherwise the line of the class that matches the packets.
fn line_of_exception(snapshot: &Snapshot, id: PortId, own: &Treatment, name: &str) -> usize {
    let names = interfaces(snapshot.router(id.device));
    let namesake = own.policy.classes.iter().find(|class| class.name == name);
    if let Some(class) = namesake.filter(|_| own.class.name != name && own.kind == Kind::Rest) {
        let classes: Vec<(&Class, Matcher)> =
            own.policy.classes.iter().map(|class| (class, Matcher::new(class.visible(), &names))).collect();
        let other = (0..64).filter_map(Dscp::new).map(packet).find(|packet| {
            let first = classes.iter().find(|(_, matcher)| matcher.matches(packet)).map(|(class, _)| class);
            first.is_some_and(|first| first.name == name)
        });
        let criteria = other.map(|other| snapshot.criteria(id.device, &own.policy.name, &other));
        return criteria.and_then(|lines| lines.last().copied()).unwrap_or(class.line);
    }
    if own.class.name == name || own.kind > Kind::Rest {
        return demand_line(own.class);
    }
    if own.policy.line > 0 { own.policy.line } else { line_of_output(snapshot.port(id)) }
}

/// Whether the marks of hosts at a port matter. They do if the port does not lead to a provider and the
/// device does not queue by labels alone.
pub(super) fn has_hosts_with_marks(snapshot: &Snapshot, id: PortId) -> bool {
    !leads_out(snapshot, id) && !is_core(snapshot.router(id.device))
}

/// Whether a device queues by labels alone.
fn is_core(router: &Router) -> bool {
    let names = interfaces(router);
    let mut seen = BTreeSet::new();
    let queues = router.ports.iter().filter_map(queueing_policy);
    // A policy at several ports is checked once. Line 0 marks a policy that perhop generates for each port.
    let mut policies = queues.filter(|policy| policy.line == 0 || seen.insert(policy.line)).peekable();
    policies.peek().is_some() && policies.all(|policy| reads_labels(policy, &names))
}

/// Reports ports towards hosts without an input policy, if most such ports of the network have one. A switch
/// may mark at the ports of a VLAN and not at its interface, so both kinds of ports are compared separately.
fn check_marking(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let ports = snapshot.host_ports().into_iter();
    let compared = ports.filter(|id| has_hosts_with_marks(snapshot, *id) && is_compared(snapshot, id.device));
    let is_of_vlan = |id: &PortId| snapshot.port(*id).kind == Some(LineKind::Virtual);
    let (of_vlans, others): (Vec<PortId>, Vec<PortId>) = compared.partition(is_of_vlan);
    for ports in [of_vlans, others] {
        check_marking_of(snapshot, &ports, found);
    }
}

/// Reports ports without an input policy, if most of `ports` have one.
fn check_marking_of(snapshot: &Snapshot, ports: &[PortId], found: &mut Vec<NetworkFinding>) {
    let has_policy = |id: &PortId| !snapshot.port(*id).intent.input.is_empty();
    let count = ports.iter().filter(|id| has_policy(id)).count();
    if count < LEAST_SITES || count as f64 <= NEARLY_ALL * ports.len() as f64 {
        return;
    }
    for id in ports.iter().filter(|id| !has_policy(id)) {
        let message = format!(
            "{} has no input policy, but {count} of {} ports towards hosts have one",
            snapshot.port_name(*id),
            ports.len()
        );
        let effect = "its hosts choose their own marks".to_owned();
        // An output policy without queues at this port is probably the input policy in the wrong direction.
        let port = snapshot.port(*id);
        let is_turned = port.intent.output.iter().any(|policy| !policy.queues);
        let line = port.forwarding.output_line.filter(|_| is_turned).unwrap_or(port.line);
        let finding = snapshot.finding(id.device, &rules::NETWORK_MARKING_MISSING, line, (message, effect));
        found.push(finding.about(Topic::Attachment, Precision::Effect));
    }
}

/// Reports link ends without queues whose other end has queues, if both ends of other links have queues.
fn check_ends(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let has_one_queue = |id: PortId| queueing_policy(snapshot.port(id)).is_none();
    let has_queues = |id: PortId| has_configured_queues(snapshot.port(id));
    let wires: Vec<[PortId; 2]> = snapshot.wires().collect();
    let both = wires.iter().filter(|[a, b]| has_queues(*a) && has_queues(*b)).count();
    let one_end = wires.iter().filter(|[a, b]| has_queues(*a) && has_one_queue(*b)).count();
    let with_one_end: Vec<[PortId; 2]> = wires
        .iter()
        .copied()
        .filter(|[own, other]| has_one_queue(*own) && has_queues(*other) && is_compared(snapshot, own.device))
        .collect();
    // Several devices without queues at their end of a link show that this is intended.
    let devices: BTreeSet<usize> = with_one_end.iter().map(|[own, _]| own.device).collect();
    if devices.len() >= LEAST_VARIANT {
        return;
    }
    for [own, other] in &with_one_end {
        // If most links have queues at one end only, this is the design of the network.
        let has_some = snapshot.router(own.device).ports.iter().any(|port| queueing_policy(port).is_some());
        let is_exception = both > one_end || (both == one_end && has_some);
        if !is_exception || never_fills(snapshot, *own) {
            continue;
        }
        let message = format!(
            "{} has one queue for all classes, but {} at the other end of the link has a queue per class",
            snapshot.port_name(*own),
            snapshot.port_name(*other)
        );
        let effect = "packets of all classes wait in the same queue".to_owned();
        let rule = &rules::NETWORK_POLICY_MISSING;
        let line = line_of_queues(snapshot, *own);
        let finding = snapshot.finding(own.device, rule, line, (message, effect));
        found.push(finding.about(Topic::Queues, Precision::Comparison));
    }
}

/// Whether perhop converts all policies of a device to intents, so that the rules can compare them.
fn is_compared(snapshot: &Snapshot, device: usize) -> bool {
    !snapshot.router(device).ports.iter().any(|port| has_policy(port) && !has_intent(port))
}

/// Returns the line for a finding about a port with one queue: the shaper without classes, otherwise the line
/// that attaches the policy, otherwise the port.
pub(super) fn line_of_queues(snapshot: &Snapshot, id: PortId) -> usize {
    let port = snapshot.port(id);
    let shaped = port.intent.output.iter().find_map(|policy| shaper(policy, 0));
    shaped.map_or_else(|| line_of_output(port), |(_, line)| line)
}
