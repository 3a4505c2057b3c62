//! The output of `show policy-map interface` of NX-OS for queuing policies. Source of the layout: an output
//! of a Nexus 9000 with NX-OS 9.2 in notes on GitHub, in which the indentation is lost. No output of policies
//! of type qos is available, so such policies are omitted.

use perhop_device::intent::Direction;
use perhop_device::{AttachedClass, Combination, GuaranteeKind, Port};

use super::state::{ClassState, PolicyState};

/// The text for numbers that a run does not compute.
const UNKNOWN: &str = "N/A";

/// Returns the output for one interface.
pub(super) fn interface_text(port: &Port, policies: &[(Direction, PolicyState)]) -> String {
    let mut lines = vec![
        "Global statistics status :   enabled".to_owned(),
        String::new(),
        port.name.clone(),
        String::new(),
    ];
    for (_, policy) in policies.iter().filter(|(direction, _)| *direction == Direction::Output) {
        lines.push(format!("  Service-policy (queuing) output:   {}", policy.config.name));
        lines.push(format!("    SNMP Policy Index:  {UNKNOWN}"));
        lines.push(String::new());
        // NX-OS has no class for the remaining packets, because each group has its own queue.
        for class in policy.classes.iter().filter(|class| class.queue.is_some()) {
            class_text(class, &mut lines);
        }
    }
    lines.join("\n") + "\n"
}

fn class_text(state: &ClassState, lines: &mut Vec<String>) {
    let combination = match state.config.combination {
        Combination::MatchAll => "match-all",
        Combination::MatchAny => "match-any",
    };
    lines.push(format!("    Class-map (queuing):   {} ({combination})", state.config.name));
    lines.extend(commands(state.config).map(|command| format!("      {command}")));
    if let Some(queue) = state.queue {
        lines.push(format!("      queue dropped pkts : {}", queue.drops.packets));
        // A run samples the depth in packets, but the output has bytes. Only a depth of 0 is known in both
        // units.
        let depth = if queue.depth == 0 { "0" } else { UNKNOWN };
        lines.push(format!("      queue depth in bytes : {depth}"));
    }
    lines.push(String::new());
}

/// Returns the commands of a class that determine its share of the port.
fn commands(class: &AttachedClass) -> impl Iterator<Item = String> {
    let priority = class.priority.as_ref().map(|priority| format!("priority level {}", priority.level));
    let bandwidth = class.bandwidth.as_ref().and_then(|bandwidth| match bandwidth.kind {
        GuaranteeKind::Percent => Some(format!("bandwidth percent {}", bandwidth.value)),
        GuaranteeKind::RemainingPercent => Some(format!("bandwidth remaining percent {}", bandwidth.value)),
        _ => None,
    });
    priority.into_iter().chain(bandwidth)
}
