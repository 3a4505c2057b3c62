//! Lines whose effect depends on other lines, and ports without a configured speed.

use std::collections::BTreeSet;

use perhop_lint::{Diagnostic, LineState};

use super::model::ASSUMED_KILOBITS;
use super::pauses::{DEFAULT_MTU, NoDrop, input_memory, is_in_use, is_on, no_drop_classes};
use super::system_policies::is_port;
use crate::ast::{Configuration, Interface, PolicyClass};
use crate::grammar::Grammar;
use crate::rules;

/// Whether no line sets the speed of `interface` or of one of its members.
pub(crate) fn has_assumed_rate(configuration: &Configuration, interface: &Interface) -> bool {
    if configuration.grammar != Grammar::NxOs {
        return false;
    }
    let parent = interface.parent.as_ref().and_then(|name| configuration.interfaces.get(name));
    let line = parent.unwrap_or(interface);
    let is_member = |other: &&Interface| {
        other
            .channel_group
            .is_some_and(|group| format!("{}{}", configuration.bundle_name(), group.value) == line.name)
    };
    let mut members = configuration.interfaces.iter().filter(is_member);
    is_without_speed(line) || members.any(is_without_speed)
}

fn is_without_speed(interface: &Interface) -> bool {
    interface.name.starts_with("Ethernet") && interface.parent.is_none() && interface.speed.is_none()
}

/// Returns a single diagnostic if no line sets the speed of some ports.
pub(crate) fn speed_assumed(configuration: &Configuration) -> Option<Diagnostic> {
    let is_up = |interface: &&Interface| interface.shutdown.is_none() && is_without_speed(interface);
    let mut ports = configuration.interfaces.iter().filter(is_up);
    let first = ports.next().filter(|_| configuration.grammar == Grammar::NxOs)?;
    let places = match ports.count() {
        0 => first.name.clone(),
        1 => format!("{} and of 1 other port", first.name),
        others => format!("{} and of {others} other ports", first.name),
    };
    Some(Diagnostic::new(
        &rules::SPEED_ASSUMED,
        first.line,
        format!("no line sets the speed of {places}: {} Gb/s are assumed", ASSUMED_KILOBITS / 1_000_000),
        "percentages of rates and times of limits depend on the speed; write `speed`",
    ))
}

/// Sets the states of the lines of network-qos policies and of priority flow control. A line of a network-qos
/// policy is modeled if it drops no packet.
///
/// A class of such a policy drops frames that are longer than its `mtu`. If no interface sends longer frames,
/// the class drops no frame.
pub(crate) fn mark_lines(configuration: &mut Configuration) {
    let longest = configuration.interfaces.iter().map(|port| port.mtu.map_or(DEFAULT_MTU, |at| at.value));
    let longest = longest.max().unwrap_or(DEFAULT_MTU);
    let policies = || configuration.nx_os.network_policies.iter();
    let lengths = policies().flat_map(|policy| &policy.classes).filter_map(|class| class.mtu);
    let without_drops: BTreeSet<usize> =
        lengths.filter(|mtu| mtu.value >= longest).map(|mtu| mtu.line).collect();
    // Only a configured policy can pause a group. The default policy of the system pauses no group.
    let attached = configuration.nx_os.system.network.as_ref();
    let attached = attached.and_then(|at| policies().find(|policy| policy.name == at.value));
    let pausing = attached.into_iter().flat_map(|policy| &policy.classes).filter_map(|class| class.pause);
    let written = pausing.count();
    let (no_drop, is_used) = (no_drop_classes(configuration), is_in_use(configuration));
    let mut in_effect: BTreeSet<usize> = no_drop.iter().map(|class| class.line).collect();
    in_effect.extend(input_lines(configuration, &no_drop));
    for line in &mut configuration.lines {
        let is_flow_control = line.text.trim().starts_with("priority-flow-control");
        if line.state == LineState::NotModelled
            && (without_drops.contains(&line.number) || in_effect.contains(&line.number))
        {
            (line.state, line.note) = (LineState::Modelled, None);
            continue;
        }
        if !matches!(line.state, LineState::NotModelled | LineState::Modelled) || !is_flow_control {
            continue;
        }
        if written == 0 {
            let reason = "no class of the attached network-qos policy has `pause`";
            (line.state, line.note) = (LineState::Irrelevant, Some(reason.to_owned()));
        } else if is_used && no_drop.len() < written {
            let reason = "a class with `pause` is not one of the system's network-qos classes, or has the \
                          priority of another class";
            (line.state, line.note) = (LineState::NotModelled, Some(reason.to_owned()));
        }
    }
}

/// Returns the lines of attached input policies of type queuing that set the memory of a no-drop class. If
/// all classes of a policy have only such lines, the line that attaches the policy is also returned.
fn input_lines(configuration: &Configuration, no_drop: &[NoDrop]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let is_pausing = |interface: &&Interface| is_port(interface) && is_on(configuration, interface);
    for interface in configuration.interfaces.iter().filter(is_pausing) {
        let lines = no_drop.iter().filter_map(|class| input_memory(configuration, interface, class.group));
        found.extend(lines.map(|(_, line)| line));
    }
    let ports =
        configuration.interfaces.iter().filter_map(|port| port.service_policies.queuing_input.as_ref());
    for attached in ports {
        let Some(policy) = configuration.policy_maps.get(&attached.value) else { continue };
        let sets_memory = |class: &PolicyClass| {
            class.pause.is_some_and(|pause| found.contains(&pause.line)) && !class.queues()
        };
        if policy.classes.iter().all(sets_memory) {
            found.insert(attached.line);
        }
    }
    found
}
