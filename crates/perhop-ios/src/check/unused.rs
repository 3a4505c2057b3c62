//! Reports unused class-maps and policy-maps.

use std::collections::BTreeSet;

use perhop_lint::Diagnostic;

use super::class_maps::used;
use crate::ast::Configuration;
use crate::rules;

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let attached = attached(configuration);
    // In a fragment without interfaces, all class-maps and policy-maps count as used.
    if attached.is_empty() {
        return;
    }
    for policy in configuration.policy_maps.iter().filter(|policy| !attached.contains(policy.name.as_str())) {
        found.push(Diagnostic::new(
            &rules::POLICY_MAP_UNUSED,
            policy.line,
            format!("no interface or class uses policy-map {}", policy.name),
            "it has no effect",
        ));
    }
    let used = used(configuration);
    for map in configuration.class_maps.iter().filter(|map| !used.contains(map.name.as_str())) {
        found.push(Diagnostic::new(
            &rules::CLASS_MAP_UNUSED,
            map.line,
            format!("no policy uses class-map {}", map.name),
            "it has no effect",
        ));
    }
}

/// Returns the names of the policies attached to interfaces, circuits or the control plane.
pub(crate) fn on_interfaces(configuration: &Configuration) -> BTreeSet<&str> {
    let mut next: Vec<&str> = Vec::new();
    for interface in configuration.interfaces.iter() {
        let pvcs = interface.pvcs.iter().map(|pvc| &pvc.service_policies);
        let instances = interface.service_instances.iter().map(|instance| &instance.service_policies);
        let all = std::iter::once(&interface.service_policies).chain(pvcs).chain(instances);
        let named = all.flat_map(|policies| {
            [&policies.input, &policies.output, &policies.second_output, &policies.queuing_input]
        });
        let named = named.flatten();
        next.extend(named.map(|at| at.value.as_str()));
        next.extend(interface.peer_policies.iter().map(|peer| peer.policy.as_str()));
    }
    let plane = configuration.control_plane.iter().map(|plane| &plane.service_policies);
    let of_plane = plane.flat_map(|policies| [&policies.input, &policies.output]).flatten();
    next.extend(of_plane.map(|at| at.value.as_str()));
    next.into_iter().collect()
}

/// Generates the lines and the names of the policies of map classes, which circuits of frame relay use.
pub(super) fn of_map_classes(configuration: &Configuration) -> impl Iterator<Item = (usize, &str)> {
    let lines = &configuration.lines;
    lines.iter().filter_map(|line| {
        let name = line.text.trim_start().strip_prefix("service-policy ")?.split_whitespace().nth(1)?;
        let block = lines.get(line.block?.wrapping_sub(1))?;
        block.text.starts_with("map-class ").then_some((line.number, name))
    })
}

/// Returns the names of the attached policies and of the policies nested in them.
pub(super) fn attached(configuration: &Configuration) -> BTreeSet<&str> {
    let mut next: Vec<&str> = on_interfaces(configuration).into_iter().collect();
    next.extend(of_map_classes(configuration).map(|(_, name)| name));
    let mut attached = BTreeSet::new();
    while let Some(name) = next.pop() {
        if attached.insert(name)
            && let Some(policy) = configuration.policy_maps.get(name)
        {
            let inner = policy.classes.iter().filter_map(|class| class.service_policy.as_ref());
            next.extend(inner.map(|at| at.value.as_str()));
        }
    }
    attached
}
