//! `show class-of-service interface`.

use std::collections::BTreeSet;

use perhop_device::intent::At;
use perhop_device::show::ShownObject;
use serde_json::{Value, json};

use super::applied::Applied;
use crate::cos::{Amount, Attached, CodePoints};
use crate::firewall::FilterFamily;
use crate::interfaces::{Interface, Scheduling, Unit};
use crate::lower::has_queues;

/// The queues of a port.
const QUEUES: usize = 8;

/// An object that a unit uses.
struct Row {
    object: &'static str,
    name: String,
    kind: &'static str,
    index: u32,
}

/// Returns the output for each interface with queues, or for the interface or unit `name`.
pub(super) fn interfaces(applied: &Applied, name: Option<&str>) -> Vec<ShownObject> {
    let attachments = &applied.cos.attachments;
    let mut names: BTreeSet<&str> = attachments.named_interfaces().collect();
    names.extend(applied.interfaces.iter().map(|interface| interface.name.as_str()));
    let (wanted, unit) = match name {
        Some(name) => match name.split_once('.') {
            Some((interface, unit)) => (Some(interface), Some(unit)),
            None => (Some(name), None),
        },
        None => (None, None),
    };
    let is_meant = |own: &&str| has_queues(own) && wanted.is_none_or(|name| name == *own);
    names.into_iter().filter(is_meant).filter_map(|own| interface(applied, own, unit)).collect()
}

/// Returns the output for an interface; with `unit`, returns only the part of the unit; `None` if the unit
/// does not exist.
fn interface(applied: &Applied, name: &str, unit: Option<&str>) -> Option<ShownObject> {
    let known = applied.interface(name);
    let mut lines = Vec::new();
    let mut document = json!({"name": name});
    if unit.is_none() {
        document = physical(applied, name, &mut lines);
    }
    let units = known.map(|interface| interface.units.as_slice()).unwrap_or_default();
    let units = units.iter().filter(|own| unit.is_none_or(|number| number == own.number));
    let mut shown = Vec::new();
    for own in units {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        shown.push(logical(applied, (name, known?), own, &mut lines));
    }
    if unit.is_some() && shown.is_empty() {
        return None;
    }
    document["units"] = shown.into();
    let name = unit.map_or_else(|| name.to_owned(), |unit| format!("{name}.{unit}"));
    Some(ShownObject { name, text: lines.join("\n") + "\n\n", document })
}

fn physical(applied: &Applied, name: &str, lines: &mut Vec<String>) -> Value {
    let attached = applied.cos.attachments.applied(name, None);
    let used = applied.cos.classes.queues().len();
    lines.push(format!("Physical interface: {name}, Index: 0"));
    lines.push(format!("Maximum usable queues: {QUEUES}, Queues in use: {used}"));
    let shaping = attached.shaping_rate.map(|at| at.value);
    lines.extend(shaping.map(|bits| format!("Shaping rate: {bits} bps")));
    let (map, index) = match (&attached.scheduler_map, &attached.profile) {
        (Some(map), _) => (Some(map.value.as_str()), 0),
        (None, Some(_)) => (None, 0),
        (None, None) => (Some("<default>"), applied.layout.index(2)),
    };
    lines.extend(map.map(|map| format!("  Scheduler map: {map}, Index: {index}")));
    let profiles = [("", &attached.profile), (" remaining", &attached.remaining)];
    for (which, profile) in profiles {
        let profile = profile.as_ref().map(|at| &at.value);
        lines
            .extend(profile.map(|name| format!("  Output traffic control profile{which}: {name}, Index: 0")));
    }
    if !applied.has_flow_control {
        lines.push("  Congestion-notification: Disabled".to_owned());
    }
    let written = |at: &Option<At<String>>| at.as_ref().map(|at| at.value.clone());
    json!({
        "name": name,
        "queues_in_use": used,
        "shaping_rate_bps": shaping,
        "scheduler_map": map,
        "output_traffic_control_profile": written(&attached.profile),
        "output_traffic_control_profile_remaining": written(&attached.remaining),
    })
}

fn logical(
    applied: &Applied,
    (name, interface): (&str, &Interface),
    unit: &Unit,
    lines: &mut Vec<String>,
) -> Value {
    let attachments = &applied.cos.attachments;
    let own = attachments.applied(name, Some(&unit.number));
    let attached = own.clone().or(&attachments.applied(name, None));
    let has_nodes = interface.scheduling != Scheduling::Port;
    let shaping = shaping(applied, &own).filter(|_| has_nodes);
    let mut rows = Vec::new();
    if has_nodes {
        rows.extend(nodes(&own));
    }
    rows.extend(classifiers(applied, unit, &attached));
    rows.extend(rewrites(applied, &attached));
    lines.push(format!("  Logical interface: {name}.{}, Index: 0", unit.number));
    lines.extend(shaping.map(|bits| format!("    Shaping rate: {bits}")));
    lines.push(row("Object", "Name", "Type", "Index"));
    lines.extend(rows.iter().map(|own| row(own.object, &own.name, own.kind, &own.index.to_string())));
    let objects: Vec<Value> = rows
        .iter()
        .map(|own| json!({"object": own.object, "name": own.name, "type": own.kind, "index": own.index}))
        .collect();
    let forwarding_class = attached.forwarding_class.map(|at| at.value);
    json!({
        "unit": unit.number,
        "shaping_rate_bps": shaping,
        "forwarding_class": forwarding_class,
        "objects": objects,
    })
}

/// Returns a row. The index ends in the same column even if the name is long.
fn row(object: &str, name: &str, kind: &str, index: &str) -> String {
    let left = format!("{object:<24}{name:<22} {kind}");
    format!("{left} {index:>width$}", width = 75usize.saturating_sub(left.len()))
}

/// Returns the absolute shaping rate of a unit.
fn shaping(applied: &Applied, own: &Attached) -> Option<u64> {
    let profile = own.profile.as_ref().and_then(|at| applied.cos.profiles.get(&at.value));
    match profile.map(|profile| profile.shaping) {
        Some(Some(At { value: Amount::Rate(bits), .. })) => Some(bits),
        Some(_) => None,
        None => own.shaping_rate.map(|at| at.value),
    }
}

/// Returns the scheduler map or the profile of a unit (`TechLibrary` cos-dedicated-queues-trio-status has the
/// row of a profile; the row of a map is recalled).
fn nodes(own: &Attached) -> Vec<Row> {
    let row = |object, name: &At<String>| Row { object, name: name.value.clone(), kind: "Output", index: 0 };
    match (&own.profile, &own.scheduler_map) {
        (Some(profile), _) => vec![row("Traffic-control-profile", profile)],
        (None, Some(map)) => vec![row("Scheduler-map", map)],
        (None, None) => Vec::new(),
    }
}

/// Returns the classifiers of a unit, including default ones; none for a unit with a fixed class, because the
/// output for such a unit is unknown.
fn classifiers(applied: &Applied, unit: &Unit, attached: &Attached) -> Vec<Row> {
    if attached.forwarding_class.is_some() {
        return Vec::new();
    }
    let built_in = |name: &str, kind, index| Row {
        object: "Classifier",
        name: name.to_owned(),
        kind,
        index: applied.layout.index(index),
    };
    let has = |kind| attached.classifiers.iter().any(|(known, _)| *known == kind);
    let mut rows = Vec::new();
    if unit.families.contains(&FilterFamily::Inet6) && !has(CodePoints::DscpIpv6) {
        rows.push(built_in("dscp-ipv6-compatibility", "dscp-ipv6", 9));
    }
    for (kind, at) in &attached.classifiers {
        let (name, index) = resolved(applied, *kind, &at.value);
        rows.push(Row { object: "Classifier", name, kind: classifier_type(*kind), index });
    }
    if !has(CodePoints::Dscp) && !has(CodePoints::InetPrecedence) && !has(CodePoints::Ieee8021) {
        rows.push(built_in("ipprec-compatibility", "ip", 13));
    }
    rows
}

fn rewrites(applied: &Applied, attached: &Attached) -> Vec<Row> {
    let row = |(kind, at): &(CodePoints, At<String>)| {
        let is_own = applied.cos.rewrites.get(*kind, &at.value).is_some();
        let name = if is_own { at.value.clone() } else { full_name(*kind, &at.value) };
        Row { object: "Rewrite", name, kind: rewrite_type(*kind), index: 0 }
    };
    attached.rewrites.iter().map(row).collect()
}

/// Returns the full name of a classifier and its index.
fn resolved(applied: &Applied, kind: CodePoints, name: &str) -> (String, u32) {
    if applied.cos.classifiers.get(kind, name).is_some() {
        return (name.to_owned(), 0);
    }
    let name = full_name(kind, name);
    let known = super::tables::BUILT_IN.iter().find(|(own, _, _)| *own == name);
    let index = known.map_or(0, |(_, _, index)| applied.layout.index(*index));
    (name, index)
}

/// Returns the full name of a built-in object that a configuration names `default`.
pub(super) fn full_name(kind: CodePoints, name: &str) -> String {
    let full = match (name, kind) {
        ("default", CodePoints::Dscp) => "dscp-default",
        ("default", CodePoints::DscpIpv6) => "dscp-ipv6-default",
        ("default", CodePoints::InetPrecedence) => "ipprec-default",
        ("default", CodePoints::Ieee8021 | CodePoints::Ieee8021ad) => "ieee8021p-default",
        ("default", CodePoints::Exp) => "exp-default",
        (name, _) => name,
    };
    full.to_owned()
}

fn classifier_type(kind: CodePoints) -> &'static str {
    match kind {
        CodePoints::InetPrecedence => "ip",
        CodePoints::Ieee8021 => "ieee8021p",
        CodePoints::Ieee8021ad => "ieee8021ad",
        CodePoints::Dscp | CodePoints::DscpIpv6 | CodePoints::Exp => kind.word(),
    }
}

fn rewrite_type(kind: CodePoints) -> &'static str {
    match kind {
        CodePoints::Exp => "exp (mpls-any)",
        CodePoints::Ieee8021 => "ieee8021p (outer)",
        other => classifier_type(other),
    }
}
