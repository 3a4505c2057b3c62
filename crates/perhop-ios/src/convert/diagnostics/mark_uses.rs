//! Reports how marks of input policies affect the queue of a packet. The search follows one packet of each
//! conditioner (`perhop_analysis`). Each finding names a packet that shows the fault. The search does not
//! find all faults.

use perhop_analysis::{PacketSpace, Set, TooComplex};
use perhop_device::intent::{Class, Field};
use perhop_lint::Diagnostic;
use perhop_qos::action::Action;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policy::QueueingConfig;
use perhop_qos::{Dscp, Packet};

use crate::convert::context::Context;
use crate::convert::ports::ConvertedPort;
use crate::rules;

/// The queues of an output policy: the port, and the name and the packets of each class.
struct Queues<'a> {
    port: &'a str,
    classes: Vec<(String, Set)>,
    /// The class of the packets that belong to no other class.
    rest: Option<String>,
}

impl Queues<'_> {
    fn queue_of(&self, space: &PacketSpace, packet: &Packet) -> Option<&str> {
        let takes = |(_, set): &&(String, Set)| space.contains(*set, packet);
        self.classes.iter().find(takes).map(|(name, _)| name.as_str())
    }
}

impl Context<'_> {
    /// Reports marks of the input policies of `ports` that reorder a flow or that no output policy matches.
    pub(in crate::convert) fn mark_uses(&mut self, ports: &[ConvertedPort]) {
        let names: Vec<String> = ports.iter().map(|port| port.port.interface.clone()).collect();
        let mut space = PacketSpace::new(&names);
        // If sets are too complex, nothing is reported here. Other rules (`class-shadowed` and similar)
        // report such sets.
        self.found.extend(followed(&mut space, ports).unwrap_or_default());
    }
}

fn followed(space: &mut PacketSpace, ports: &[ConvertedPort]) -> Result<Vec<Diagnostic>, TooComplex> {
    let marking: Vec<_> =
        ports.iter().filter(|port| port.port.input.conditioners.iter().any(marks)).collect();
    if marking.is_empty() {
        return Ok(Vec::new());
    }
    let mut outputs: Vec<Queues> = Vec::new();
    for ConvertedPort { port, output, .. } in ports {
        let queueing = port.output.queueing.as_ref().filter(|queueing| queueing.queue_names().len() > 1);
        if let Some(queueing) = queueing.filter(|_| output.is_some()) {
            outputs.push(queues(space, &port.name, queueing)?);
        }
    }
    let mut found = Vec::new();
    for ConvertedPort { port, input, .. } in marking {
        let Some(policy) = input else { continue };
        let mut left = Set::ALL;
        for (index, conditioner) in port.input.conditioners.iter().enumerate() {
            let matches = match &conditioner.matches {
                Some(matches) => space.taken_by(matches)?,
                None => Set::ALL,
            };
            let taken = space.and(left, matches)?;
            if !has_action(conditioner, |action| matches!(action, Action::Continue)) {
                left = space.minus(left, matches)?;
            }
            if !marks(conditioner) {
                continue;
            }
            let class = port.links.input.class_of_conditioner(index).filter(|class| class.line > 0);
            let line = class.map_or(policy.line, |class| class.line);
            let demands = class.and_then(|links| port.intent.input.first()?.class(links.class));
            let mark_line = demands.and_then(line_of_mark).unwrap_or(line);
            let Some(witness) = space.witness(taken)? else { continue };
            found.extend(reordered(space, conditioner, &witness.packet, &outputs, line));
            let marked = Marked { taken, packet: &witness.packet, line: mark_line };
            found.extend(unmatched(space, conditioner, &marked, &outputs)?);
        }
    }
    Ok(found)
}

/// Returns the line that marks all packets of a class in the IP header.
fn line_of_mark(class: &Class) -> Option<usize> {
    let is_of_header = |field| matches!(field, Some(Field::Dscp | Field::Precedence));
    class.marks.iter().find(|mark| is_of_header(mark.value.field())).map(|mark| mark.line)
}

fn queues<'a>(
    space: &mut PacketSpace,
    port: &'a str,
    queueing: &QueueingConfig,
) -> Result<Queues<'a>, TooComplex> {
    let classes = perhop_analysis::classes_of(space, queueing, Set::ALL)?;
    let rest = classes.iter().find(|class| class.matches == Set::ALL).map(|class| class.name.clone());
    Ok(Queues { port, classes: classes.into_iter().map(|class| (class.name, class.takes)).collect(), rest })
}

fn marks(conditioner: &ConditionerConfig) -> bool {
    has_action(conditioner, |action| matches!(action, Action::Mark(_)))
}

fn has_action(conditioner: &ConditionerConfig, is_meant: impl Fn(&Action) -> bool) -> bool {
    let all = [&conditioner.green, &conditioner.yellow, &conditioner.red, &conditioner.actions];
    all.into_iter().flatten().any(is_meant)
}

/// Returns `packet` with the marks of `actions`; `None` if an action drops the packet.
fn after(packet: &Packet, actions: &[Action]) -> Option<Packet> {
    let mut packet = *packet;
    for action in actions {
        match action {
            Action::Drop => return None,
            Action::Mark(dscp) => packet.dscp = *dscp,
            _ => {}
        }
    }
    Some(packet)
}

/// Reports packets of one flow that wait in different queues, depending on conformance.
fn reordered(
    space: &PacketSpace,
    conditioner: &ConditionerConfig,
    packet: &Packet,
    outputs: &[Queues],
    line: usize,
) -> Option<Diagnostic> {
    conditioner.meter.as_ref()?;
    let conforming = after(packet, &conditioner.green)?;
    // A color without actions is skipped, because the meter never assigns this color.
    for actions in [&conditioner.yellow, &conditioner.red].into_iter().filter(|actions| !actions.is_empty()) {
        let Some(excess) = after(packet, actions).filter(|excess| excess.dscp != conforming.dscp) else {
            continue;
        };
        for output in outputs {
            let (queue, other) = (output.queue_of(space, &conforming), output.queue_of(space, &excess));
            if let (Some(queue), Some(other)) = (queue, other)
                && queue != other
            {
                return Some(Diagnostic::new(
                    &rules::EXCEED_REORDERS,
                    line,
                    format!(
                        "conforming packets ({}) leave via queue {queue} of {}, excess packets ({}) via \
                         {other}",
                        conforming.dscp, output.port, excess.dscp
                    ),
                    "packets of one flow are reordered: raise the drop precedence within the class instead",
                ));
            }
        }
    }
    None
}

/// The packets of a conditioner that marks packets.
struct Marked<'a> {
    /// The set of the packets before the mark.
    taken: Set,
    /// A packet in `taken`.
    packet: &'a Packet,
    /// The line of the mark.
    line: usize,
}

/// Reports a mark that no output policy matches.
fn unmatched(
    space: &mut PacketSpace,
    conditioner: &ConditionerConfig,
    marked: &Marked,
    outputs: &[Queues],
) -> Result<Option<Diagnostic>, TooComplex> {
    let all = [&conditioner.green, &conditioner.yellow, &conditioner.red, &conditioner.actions];
    let marks = all.into_iter().flatten().filter_map(|action| match action {
        Action::Mark(dscp) if *dscp != Dscp::default() => Some(*dscp),
        _ => None,
    });
    if outputs.is_empty() {
        return Ok(None);
    }
    let is_told = |dscp: Dscp| {
        let packet = Packet { dscp, ..*marked.packet };
        outputs.iter().any(|output| output.queue_of(space, &packet) != output.rest.as_deref())
    };
    let Some(unmatched) = marks.into_iter().find(|dscp| !is_told(*dscp)) else { return Ok(None) };
    let message = format!("no class of an output policy matches packets marked {unmatched}");
    let (message, help) = match left_class(space, marked.taken, outputs)? {
        Some((class, port)) => (
            format!("{message}; without the mark, class {class} of {port} matches some of these packets"),
            format!(
                "the mark moves these packets to the default class of {port}: match {unmatched} in the \
                 class, or remove the mark"
            ),
        ),
        None => (message, "the mark has no effect in this router".to_owned()),
    };
    Ok(Some(Diagnostic::new(&rules::MARK_NEVER_MATCHED, marked.line, message, help)))
}

/// Returns a class that has a condition and matches some of the packets in `taken`, and the port of the
/// class.
fn left_class<'a>(
    space: &mut PacketSpace,
    taken: Set,
    outputs: &'a [Queues],
) -> Result<Option<(&'a str, &'a str)>, TooComplex> {
    for output in outputs {
        for (name, packets) in &output.classes {
            if output.rest.as_ref() != Some(name) && space.and(*packets, taken)? != Set::NONE {
                return Ok(Some((name, output.port)));
            }
        }
    }
    Ok(None)
}
