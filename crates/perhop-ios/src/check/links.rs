//! Computes the bandwidth of bundles, channels and tunnels, and reports unknown bandwidths.

use std::collections::BTreeMap;

use perhop_lint::Diagnostic;

use crate::ast::{At, Configuration, Hardware, Interface};
use crate::rules;

pub(super) fn check(configuration: &mut Configuration, found: &mut Vec<Diagnostic>) {
    channels(configuration);
    tunnels(configuration);
    bundles(configuration);
    for interface in configuration.interfaces.iter() {
        found.extend(unknown(configuration, interface));
    }
}

/// Sets the rates of the serial interfaces that consist of time slots.
fn channels(configuration: &mut Configuration) {
    let groups = configuration.controllers.iter().flat_map(|controller| &controller.groups);
    let rates: BTreeMap<String, (usize, u64)> =
        groups.map(|group| (group.interface.clone(), (group.line, group.kilobits))).collect();
    for interface in configuration.interfaces.iter_mut() {
        if let Some((line, kilobits)) = rates.get(&interface.name) {
            interface.clock_rate.get_or_insert(At::new(*line, kilobits * 1000));
        }
    }
}

/// Sets the default bandwidth of tunnels: 9 kb/s up to 15.0, later 100 kb/s. The value is used only in
/// calculations, because packets of a tunnel leave through another interface.
fn tunnels(configuration: &mut Configuration) {
    let kilobits = if configuration.version.is_none_or(|version| version > (15, 0)) { 100 } else { 9 };
    for interface in configuration.interfaces.iter_mut() {
        if interface.name.starts_with("Tunnel") {
            interface.default_kilobits = Some(kilobits);
        }
    }
}

/// Sets the bandwidth of Port-channels and Multilinks: the sum over the members that are up, or over all
/// members if none is up.
fn bundles(configuration: &mut Configuration) {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for interface in configuration.interfaces.iter() {
        let bundle = match (interface.channel_group, interface.multilink_group) {
            (Some(group), _) => format!("{}{}", configuration.bundle_name(), group.value),
            (None, Some(group)) => format!("Multilink{}", group.value),
            (None, None) => continue,
        };
        if bundle == interface.name {
            continue;
        }
        let (up, all) = sums.entry(bundle).or_default();
        let rate = rate(interface).unwrap_or(0);
        *all += rate;
        *up += if interface.shutdown.is_none() { rate } else { 0 };
    }
    for interface in configuration.interfaces.iter_mut() {
        let Some((up, all)) = sums.get(&interface.name) else { continue };
        let sum = if *up > 0 { *up } else { *all };
        interface.nominal_kilobits = Some(sum).filter(|sum| *sum > 0).or(interface.nominal_kilobits);
    }
}

/// Returns the rate of a bundle member, kilobits per second.
pub(crate) fn rate(interface: &Interface) -> Option<u64> {
    let clock = interface.clock_rate.map(|clock| clock.value / 1000);
    let speed = interface.speed.map(|speed| speed.value * 1000);
    if interface.hardware == Hardware::Ethernet {
        return speed.or(interface.nominal_kilobits);
    }
    let stated = interface.bandwidth.map(|bandwidth| bandwidth.value);
    clock.or(stated).or(interface.nominal_kilobits).or(interface.default_kilobits)
}

/// Reports an interface whose bandwidth is unknown.
fn unknown(configuration: &Configuration, interface: &Interface) -> Option<Diagnostic> {
    let stated = interface.bandwidth.or(interface.bandwidth_reference).is_some()
        || interface.nominal_kilobits.or(interface.default_kilobits).is_some()
        || interface.clock_rate.is_some()
        || interface.speed.is_some();
    let inherited =
        interface.parent.as_ref().is_some_and(|parent| configuration.interfaces.get(parent).is_some());
    if stated || inherited {
        return None;
    }
    let name = &interface.name;
    let router = "the router knows the rate of its hardware; perhop assumes 1544 kb/s: write `bandwidth`";
    if interface.hardware == Hardware::Unknown {
        let message = format!("{name} is an interface type that perhop does not know");
        return Some(Diagnostic::new(&rules::BANDWIDTH_UNKNOWN, interface.line, message, router));
    }
    let policies = &interface.service_policies;
    let circuits = interface.pvcs.iter().any(|pvc| pvc.service_policies.output.is_some());
    (policies.input.is_some() || policies.output.is_some() || circuits).then(|| {
        Diagnostic::new(
            &rules::BANDWIDTH_UNKNOWN,
            interface.line,
            format!("the bandwidth of {name} is unknown"),
            router,
        )
    })
}
