//! The output of `show policy-map interface` of IOS XR. Source of the layout: the outputs at xrdocs.io,
//! "Y.1564 Service Activation Testing on NCS: Part2", and the golden outputs of genieparser for iosxr.

use perhop_device::intent::Direction;
use perhop_device::show::Traffic;
use perhop_device::{Port, PortRole};

use super::state::{ClassState, PoliceState, PolicyState, QueueState};

/// The text for numbers that a run does not compute, for example the numbers of hardware queues.
const UNKNOWN: &str = "N/A";

/// Returns the output for one interface. The output also reports a direction without a policy.
pub(super) fn interface_text(port: &Port, policies: &[(Direction, PolicyState)]) -> String {
    let mut lines = Vec::new();
    let sides = [(Direction::Input, "input"), (Direction::Output, "output")];
    let shown = if port.forwarding.role == PortRole::Interface { &sides[..] } else { &sides[..1] };
    for (direction, side) in shown {
        let attached = policies.iter().find(|(other, _)| other == direction);
        if let Some((_, policy)) = attached {
            lines.push(format!("{} {side}: {}", port.name, policy.config.name));
            lines.push(String::new());
            for class in &policy.classes {
                lines.push(format!("Class {}", class.config.name));
                class_text(class, 2, Around::Nothing, &mut lines);
            }
        } else {
            lines.push(format!("{} direction {side}: Service Policy not installed", port.name));
            lines.push(String::new());
        }
    }
    lines.join("\n") + "\n"
}

/// The surroundings of a class: nothing, another class, or a class with a policer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Class,
    Policer,
}

fn class_text(state: &ClassState, indent: usize, around: Around, lines: &mut Vec<String>) {
    let pad = " ".repeat(indent);
    lines.push(format!("{pad}Classification statistics          (packets/bytes)     (rate - kbps)"));
    let offered = state.classified;
    let sent = offered.map(|offered| offered - state.dropped);
    let sent_bps = state.offered_bps - state.drop_bps;
    lines.push(counted(indent + 2, "Matched", offered, state.offered_bps));
    lines.push(counted(indent + 2, "Transmitted", sent, sent_bps));
    lines.push(counted(indent + 2, "Total Dropped", Some(state.dropped), state.drop_bps));
    if let Some(police) = state.police {
        policed(&police, state, indent, around, lines);
    }
    if let Some(queue) = state.queue.filter(|_| state.policy.is_none()) {
        queued(queue, state, sent_bps, indent, lines);
    }
    lines.push(String::new());
    let Some(policy) = &state.policy else { return };
    let around = if state.police.is_some() { Around::Policer } else { Around::Class };
    for class in &policy.classes {
        lines.push(format!("{pad}Policy {} Class {}", policy.config.name, class.config.name));
        class_text(class, indent + 2, around, lines);
    }
}

fn policed(police: &PoliceState, state: &ClassState, indent: usize, around: Around, lines: &mut Vec<String>) {
    let pad = " ".repeat(indent);
    lines.push(format!("{pad}Policing statistics                (packets/bytes)     (rate - kbps)"));
    let zero = (Traffic::default(), 0.0);
    let pair = |policed: super::state::Policed| (policed.traffic, policed.bps);
    // With a single rate, there are two colors, and the router calls packets above the rate violating.
    let (exceeded, violated) = match police.violated {
        Some(violated) => (pair(police.exceeded), pair(violated)),
        None => (zero, pair(police.exceeded)),
    };
    let rows = [("conform", pair(police.conformed)), ("exceed", exceeded), ("violate", violated)];
    for (color, (traffic, bps)) in rows {
        lines.push(counted(indent + 2, &format!("Policed({color})"), Some(traffic), bps));
    }
    let own = state.policy.iter().flat_map(|policy| &policy.classes).map(|class| class.dropped);
    let dropped = state.dropped - own.sum::<Traffic>();
    lines.push(amount(indent + 2, "Policed and dropped", Some(dropped)));
    if around == Around::Policer {
        // The run counts the drops of the outer policer for all inner classes together.
        let label = "Policed and dropped(parent policer)";
        lines.push(format!("{:width$}{label}  : {UNKNOWN}", "", width = indent + 2));
    }
}

fn queued(queue: QueueState, state: &ClassState, sent_bps: f64, indent: usize, lines: &mut Vec<String>) {
    let pad = " ".repeat(indent);
    lines.push(format!("{pad}Queueing statistics"));
    let row = |label: &str, value: String| format!("{pad}  {label:<37}: {value}");
    lines.push(row("Queue ID", UNKNOWN.to_owned()));
    lines.push(row("High watermark", UNKNOWN.to_owned()));
    lines.push(row("Inst-queue-len  (packets)", queue.depth.to_string()));
    lines.push(row("Avg-queue-len", UNKNOWN.to_owned()));
    let random =
        state.early_drops.as_ref().map(|drops| drops.rows.iter().map(|row| row.random).sum::<Traffic>());
    let tail = queue.drops - random.unwrap_or_default();
    lines.push(row("Taildropped(packets/bytes)", pair_of(tail)));
    lines.push(counted(indent + 2, "Queue(conform)", Some(queue.output), sent_bps));
    lines.push(counted(indent + 2, "Queue(exceed)", Some(Traffic::default()), 0.0));
    if let Some(random) = random {
        lines.push(row("RED random drops(packets/bytes)", pair_of(random)));
    }
}

fn pair_of(traffic: Traffic) -> String {
    format!("{}/{}", traffic.packets, traffic.whole_bytes())
}

/// Returns a row with packets, bytes and kilobits per second.
fn counted(indent: usize, label: &str, traffic: Option<Traffic>, bps: f64) -> String {
    let Some(traffic) = traffic else { return amount(indent, label, None) };
    let kbps = (bps / 1000.0).round_ties_even().max(0.0);
    let (packets, bytes) = (traffic.packets, traffic.whole_bytes());
    format!("{:indent$}{label:<20}:{packets:>20}/{bytes:<21}{kbps:.0}", "")
}

/// Returns a row with packets and bytes.
fn amount(indent: usize, label: &str, traffic: Option<Traffic>) -> String {
    let Some(traffic) = traffic else { return format!("{:indent$}{label:<20}:{UNKNOWN:>20}", "") };
    let (packets, bytes) = (traffic.packets, traffic.whole_bytes());
    format!("{:indent$}{label:<20}:{packets:>20}/{bytes}", "")
}
