//! Marks that a port between two devices changes.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::conditioned;
use perhop_device::Port;
use perhop_device::intent::{Class, Field, Policy, Written};
use perhop_device::lower::Links;
use perhop_qos::Dscp;
use perhop_qos::policy::PolicyConfig;

use super::treatment::{Kind, Treatments, conforming, interfaces, packet};
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;
use crate::snapshot::model::has_intent;

/// The minimum number of codepoints that a port must leave unchanged to count as a port that trusts marks: in
/// total, and for each codepoint that it resets.
const LEAST_KEPT: usize = 3;
const MOST_KEPT: usize = 3;
/// The lowest codepoint for network control (RFC 4594 §3.1, RFC 2474 §4.2.2.2): CS6.
const CONTROL: u8 = 48;

/// The two sides of a port.
const SIDES: [Side; 2] = [Side::Input, Side::Output];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Input,
    Output,
}

impl Side {
    fn of_port(self, port: &Port) -> (&PolicyConfig, &Links) {
        match self {
            Side::Input => (&port.input, &port.links.input),
            Side::Output => (&port.output, &port.links.output),
        }
    }
}

/// The port and side of a change.
type Place = (PortId, Side);
/// A change of a codepoint: the lines of the class that changes the codepoint, and the new codepoint.
type Change = (Vec<usize>, Dscp);

/// The codepoints that a side of a port changes.
#[derive(Default)]
struct Found {
    changed: Vec<(Place, Change, Dscp)>,
    /// The codepoints that the port resets because it has no class for them, although it leaves nearly all
    /// other codepoints unchanged.
    reset: Vec<(Place, Change, Dscp)>,
}

/// Reports conditioners inside the network that replace a codepoint by one whose class is worse.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    let (mut changed, mut reset) = (Vec::new(), Vec::new());
    for (id, _) in snapshot.inside_ports() {
        // A gateway marks the packets of its hosts.
        for side in SIDES.into_iter().filter(|side| *side == Side::Output || !snapshot.is_gateway(id)) {
            let own = changes(snapshot, (id, side), &treatments.best);
            changed.extend(own.changed);
            reset.extend(own.reset);
        }
    }
    // A codepoint that several devices reset is reset intentionally.
    let mut devices: BTreeMap<Dscp, BTreeSet<usize>> = BTreeMap::new();
    for ((id, _), _, dscp) in &reset {
        devices.entry(*dscp).or_default().insert(id.device);
    }
    changed.extend(reset.into_iter().filter(|(.., dscp)| devices[dscp].len() == 1));
    let mut by_place: BTreeMap<(Place, Change), Vec<Dscp>> = BTreeMap::new();
    for (place, change, dscp) in changed {
        by_place.entry((place, change)).or_default().push(dscp);
    }
    for ((place, change), codepoints) in by_place {
        report(snapshot, place, &change, &codepoints, &treatments.best, found);
    }
}

fn changes(snapshot: &Snapshot, place: Place, best: &BTreeMap<Dscp, Kind>) -> Found {
    let (id, side) = place;
    let port = snapshot.port(id);
    let (config, links) = side.of_port(port);
    // A rewrite rule writes the mark of the class that the input port assigned to the packet. This class is
    // not a field of the packet.
    let depends_on_class = side == Side::Output && !has_intent(port);
    if config.conditioners.is_empty() || depends_on_class {
        return Found::default();
    }
    let names = interfaces(snapshot.router(id.device));
    let (mut kept, mut found) = (0, Found::default());
    for (dscp, kind) in best {
        let Ok(ways) = conditioned(config, &names, &packet(*dscp)) else { continue };
        // The check uses only conforming packets, because a policer may mark down excess packets of a class.
        let way = conforming(ways);
        kept += usize::from(way.as_ref().is_some_and(|way| way.packet.dscp == *dscp));
        let Some(way) = way.filter(|way| way.packet.dscp != *dscp) else { continue };
        let after = best.get(&way.packet.dscp).copied().unwrap_or(Kind::Rest);
        if after >= *kind {
            continue;
        }
        let step = way.steps.iter().find(|step| step.packet.dscp != *dscp);
        let lines = step.map_or_else(Vec::new, |step| links.lines_of_conditioner(step.index));
        let is_input = side == Side::Input;
        if is_input && port.intent.input.iter().any(|policy| is_distrust(policy, &lines, *dscp)) {
            found.reset.push((place, (lines, way.packet.dscp), *dscp));
        } else {
            found.changed.push((place, (lines, way.packet.dscp), *dscp));
        }
    }
    // A port that leaves nearly all codepoints with a class unchanged trusts marks. Resets of the codepoints
    // for network control are not reported: many networks reserve them for their own devices.
    let is_control = |dscp: &Dscp| dscp.value() >= CONTROL;
    found.reset.retain(|(.., dscp)| !is_control(dscp));
    if kept < LEAST_KEPT || MOST_KEPT * found.reset.len() > kept {
        found.reset.clear();
    }
    found
}

fn report(
    snapshot: &Snapshot,
    (id, side): Place,
    (lines, after): &Change,
    codepoints: &[Dscp],
    best: &BTreeMap<Dscp, Kind>,
    found: &mut Vec<NetworkFinding>,
) {
    let port = snapshot.port(id);
    let whole = attachment_of_all(port, side, lines);
    let line = whole.or_else(|| mark_line(snapshot, id.device, lines)).unwrap_or(port.line);
    let names: Vec<String> = codepoints.iter().map(Dscp::to_string).collect();
    let worse = best.get(after).copied().unwrap_or(Kind::Rest);
    let message = format!(
        "packets marked {} are remarked to {after} between two devices, at {}",
        names.join(", "),
        snapshot.port_name(id)
    );
    let effect = format!("the new mark gets {}; the original mark has a better class", worse.words());
    let finding = snapshot.finding(id.device, &rules::NETWORK_MARK_CHANGED, line, (message, effect));
    found.push(finding.about(Topic::Mark, Precision::Effect));
}

/// Returns the line that attaches a policy whose only class matches all packets and contains `lines`. Such a
/// policy is correct at a port towards hosts, so the attachment is wrong and not the mark.
fn attachment_of_all(port: &Port, side: Side, lines: &[usize]) -> Option<usize> {
    let (policies, line) = match side {
        Side::Input => (&port.intent.input, port.forwarding.input_line),
        Side::Output => (&port.intent.output, port.forwarding.output_line),
    };
    let is_whole = policies.iter().any(|policy| match policy.classes.as_slice() {
        [class] => class.takes_rest && lines.contains(&class.line),
        _ => false,
    });
    line.filter(|_| is_whole)
}

/// Whether an input policy intentionally ignores the marks of other devices. This is so if the class with
/// `lines` is the default class and other classes exist, or if another class of the policy sets `dscp`.
fn is_distrust(policy: &Policy, lines: &[usize], dscp: Dscp) -> bool {
    let sets = |class: &Class| class.all_marks().any(|mark| mark.written == Written::Dscp(dscp));
    let resets = policy.classes.iter().find(|class| lines.contains(&class.line));
    let here = resets.is_some_and(|class| {
        let others = || policy.classes.iter().filter(|other| other.id != class.id);
        class.takes_rest && others().count() > 0 || others().any(sets)
    });
    here || policy.classes.iter().filter_map(Class::children).any(|inner| is_distrust(inner, lines, dscp))
}

/// Returns the line that writes a mark, among the lines of a class, otherwise the last of these lines.
fn mark_line(snapshot: &Snapshot, device: usize, lines: &[usize]) -> Option<usize> {
    let ports = &snapshot.router(device).ports;
    let policies = ports.iter().flat_map(|port| port.intent.input.iter().chain(&port.intent.output));
    let mut marks = Vec::new();
    for policy in policies {
        collect_marks(policy, &mut marks);
    }
    lines.iter().copied().find(|line| marks.contains(line)).or_else(|| lines.last().copied())
}

fn collect_marks(policy: &Policy, marks: &mut Vec<usize>) {
    for class in &policy.classes {
        let is_of_header = |field| matches!(field, Some(Field::Dscp | Field::Precedence));
        let own = class.marks.iter().filter(|mark| is_of_header(mark.value.field()));
        marks.extend(own.map(|mark| mark.line));
        if let Some(inner) = class.children() {
            collect_marks(inner, marks);
        }
    }
}
