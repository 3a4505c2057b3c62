//! [`Comparer`]: the walks of one packet through both snapshots, hop by hop.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::PacketText;
use perhop_analysis::rates::{Given, rates};
use perhop_network::snapshot::{Hop, Snapshot, Walk, WalkEnd, WalkPath};
use perhop_network::trace::{Cause, Stage};
use perhop_qos::packet::Address;
use perhop_qos::{ConfigError, Dscp, Packet, Rate};
use serde_json::Value;

use super::pairs::{DevicePair, Ends};
use crate::answer::Difference;
use crate::parts::{MATCH, QUEUE};
use crate::prove::ports::PortOf;
use crate::treatment::{Aspect, plain};

/// Two snapshots, and the differences between their common devices.
pub(super) struct Comparer<'s, 'a> {
    pub(super) snapshots: [&'s Snapshot<'a>; 2],
    pub(super) differences: &'s BTreeMap<&'s str, &'s Difference>,
    pub(super) changed: &'s [(DevicePair<'s, 'a>, Difference)],
    /// The devices with a changed configuration that treat all packets equally.
    pub(super) equal: BTreeSet<String>,
}

/// The comparison of the walks of one packet.
pub(super) struct Walked {
    pub(super) pair: (String, String),
    pub(super) dscp: String,
    pub(super) packet: String,
    /// The aspects of the treatment that differ.
    pub(super) what: Vec<Aspect>,
    /// The reasons why a walk ends without a known result.
    pub(super) unknown: Vec<String>,
    pub(super) assumed: Vec<String>,
    pub(super) not_looked_at: Vec<String>,
}

impl Comparer<'_, '_> {
    /// Compares the walks of a UDP packet with a codepoint. The UDP ports belong to no known application.
    pub(super) fn walk(&self, ends: Ends, dscp: Dscp) -> Result<Walked, ConfigError> {
        let text = "udp 0.0.0.0:49152 > 0.0.0.0:49152 len 200";
        let packet: PacketText =
            text.parse().map_err(|message: String| ConfigError::new("packet", message))?;
        let [source, destination] = ends.map(|site| Address::from(site.address));
        self.compare(ends, &Packet { source, destination, dscp, ..packet.packet })
    }

    /// Compares the walks of a packet between two sites.
    pub(super) fn compare(&self, ends: Ends, packet: &Packet) -> Result<Walked, ConfigError> {
        let walks = [self.snapshots[0].walk(packet)?, self.snapshots[1].walk(packet)?];
        let mut what = Vec::new();
        let paths = [&walks[0].paths, &walks[1].paths];
        if paths[0].len() != paths[1].len() {
            let count = |paths: &Vec<WalkPath>| format!("{} ways", paths.len());
            add(
                &mut what,
                "number of paths (meters choose one)",
                Some(count(paths[0])),
                Some(count(paths[1])),
            );
        }
        for (old, new) in paths[0].iter().zip(paths[1]) {
            for aspect in self.aspects([old, new]) {
                if !what.contains(&aspect) {
                    what.push(aspect);
                }
            }
        }
        let unknown = walks.iter().zip(["old", "new"]).flat_map(|(walk, name)| unknown(walk, name)).collect();
        let [old, new] = walks;
        Ok(Walked {
            pair: (ends[0].name.clone(), ends[1].name.clone()),
            dscp: packet.dscp.to_string(),
            packet: old.packet,
            what,
            unknown,
            assumed: [old.assumed, new.assumed].concat(),
            not_looked_at: [old.not_looked_at, new.not_looked_at].concat(),
        })
    }

    /// Returns the aspects in which two paths of a packet differ.
    fn aspects(&self, paths: [&WalkPath; 2]) -> Vec<Aspect> {
        let mut found = Vec::new();
        let routes = paths.map(|path| route(path, |hop| hop.device.clone()));
        let ports = paths.map(|path| route(path, with_ports));
        if routes[0] == routes[1] {
            compare_texts(&mut found, "path", ports);
        } else {
            compare_texts(&mut found, "path", routes);
        }
        compare_texts(&mut found, "end", paths.map(|path| end(&path.end)));
        compare_texts(&mut found, "arrives with", paths.map(|path| format!("dscp {}", path.dscp)));
        for hop in &paths[0].hops {
            let Some(other) = paths[1].hops.iter().find(|other| other.device == hop.device) else { continue };
            self.hop(&mut found, [hop, other]);
        }
        found
    }

    /// Adds the aspects in which a packet is treated differently by one device.
    fn hop(&self, found: &mut Vec<Aspect>, hops: [&Hop; 2]) {
        if self.equal.contains(&hops[0].device) {
            return;
        }
        let Some(difference) = self.differences.get(hops[0].device.as_str()) else {
            let queues = hops.map(|hop| hop.queue.clone().unwrap_or_default());
            compare_texts(found, &format!("{}: queue", hops[0].device), queues);
            return;
        };
        let device = &hops[0].device;
        let marks = hops.map(|hop| hop.packet.split(" dscp ").nth(1).unwrap_or_default().to_owned());
        let marks = marks.map(|text| text.split_whitespace().next().unwrap_or_default().to_owned());
        compare_texts(found, &format!("{device}: departing dscp"), marks);
        let names = hops.map(policers);
        for (interface, part) in names.iter().flatten() {
            add_changes(found, device, difference, interface, part);
        }
        let lost = |own: usize, other: usize| {
            let own: Vec<String> = names[own]
                .iter()
                .filter(|name| !names[other].contains(name))
                .map(|(interface, part)| format!("{interface} {part}"))
                .collect();
            (!own.is_empty()).then(|| own.join(", "))
        };
        let (before, after) = (lost(0, 1), lost(1, 0));
        if before.is_some() || after.is_some() {
            let known = found.iter().any(|aspect| aspect.what.contains(" conditioner "));
            if !known {
                add(found, &format!("{device}: policers"), before, after);
            }
        }
        self.queue(found, difference, hops);
    }

    /// Adds the differences between the queues that a packet joins.
    fn queue(&self, found: &mut Vec<Aspect>, difference: &Difference, hops: [&Hop; 2]) {
        let [Some(leaves), Some(after)] = hops.map(|hop| hop.leaves.as_deref()) else { return };
        let device = &hops[0].device;
        let queues = hops.map(|hop| hop.queue.clone().unwrap_or_default());
        let renamed = difference.renamed.iter().any(|renamed| {
            renamed.interface == leaves
                && renamed.before == format!("{QUEUE}{}", queues[0])
                && renamed.after == format!("{QUEUE}{}", queues[1])
        });
        if !renamed {
            compare_texts(found, &format!("{device} {leaves}: queue"), queues.clone());
        }
        let part = format!("{QUEUE}{}", queues[1]);
        let guarantees = self.guarantees(device, [leaves, after], &queues);
        compare_texts(found, &format!("{device} {leaves} {part}: guarantee"), guarantees);
        if queues[0] == queues[1] || renamed {
            add_changes(found, device, difference, leaves, &part);
        }
    }

    fn guarantees(&self, device: &str, ports: [&str; 2], queues: &[String; 2]) -> [String; 2] {
        let pair = self.changed.iter().map(|(pair, _)| pair).find(|pair| pair[0].name == device);
        [0, 1].map(|side: usize| {
            let model = pair.and_then(|pair| pair[side].device.model());
            let port = model.and_then(|model| {
                let port = model.router.ports.iter().find(|port| port.name == ports[side])?;
                if port.unmodeled_queues.is_some() {
                    return None;
                }
                Some(PortOf { model, port })
            });
            port.and_then(|port| guarantee(port, &queues[side])).unwrap_or_else(|| "not known".to_owned())
        })
    }
}

fn guarantee(port: PortOf, queue: &str) -> Option<String> {
    let none = BTreeMap::new();
    let level = rates(&port.port.output, Given { line: port.line(), limits: &none })?;
    let own = level.leaves().into_iter().find(|own| own.path == queue)?;
    let text = |rate: Option<f64>| {
        rate.map_or("not known".to_owned(), |rate| {
            Rate::from_bits_per_second(rate.round() as u64).to_string()
        })
    };
    let priority = if own.has_priority { "priority, " } else { "" };
    Some(format!("{priority}guaranteed {}, at most {}", text(own.promised), text(own.maximum)))
}

/// Adds the changed properties of a part.
fn add_changes(found: &mut Vec<Aspect>, device: &str, difference: &Difference, interface: &str, part: &str) {
    let own =
        difference.changed.iter().filter(|changed| changed.interface == interface && changed.part == part);
    for changed in own.filter(|changed| changed.what != MATCH) {
        let text = |value: &Option<Value>| {
            value.as_ref().map(|value| plain(&without_labels(value))).filter(|text| !text.is_empty())
        };
        let what = format!("{device} {interface} {part}: {}", changed.what);
        let what = what.trim_end_matches(": ").to_owned();
        let (mut first, mut second) = (text(&changed.before), text(&changed.after));
        if changed.what.is_empty() {
            first = first.or_else(|| changed.before.as_ref().map(|_| "present".to_owned()));
            second = second.or_else(|| changed.after.as_ref().map(|_| "present".to_owned()));
        }
        let aspect = Aspect { what, first, second };
        if aspect.first != aspect.second && !found.contains(&aspect) {
            found.push(aspect);
        }
    }
}

fn add(found: &mut Vec<Aspect>, what: &str, first: Option<String>, second: Option<String>) {
    found.push(Aspect { what: what.to_owned(), first, second });
}

fn compare_texts(found: &mut Vec<Aspect>, what: &str, texts: [String; 2]) {
    if texts[0] != texts[1] {
        let [first, second] = texts.map(|text| Some(text).filter(|text| !text.is_empty()));
        add(found, what, first, second);
    }
}

fn route(path: &WalkPath, name: impl Fn(&Hop) -> String) -> String {
    path.hops.iter().map(name).collect::<Vec<_>>().join(" > ")
}

fn with_ports(hop: &Hop) -> String {
    let port = |name: &Option<String>| name.clone().unwrap_or_default();
    format!("{}:{}:{}", port(&hop.arrives), hop.device, port(&hop.leaves)).trim_matches(':').to_owned()
}

/// Returns the interfaces and names of the conditioners with a meter that match a packet in a device.
fn policers(hop: &Hop) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for stage in &hop.stages {
        if let Stage::Conditioner { side, name, interface, meter: Some(_), .. } = stage {
            let side = serde_json::to_value(side).unwrap_or_default();
            let part = format!("{} conditioner {name}", side.as_str().unwrap_or_default());
            found.push((interface.clone(), part));
        }
    }
    found
}

/// Removes internal labels of a device, because their numbers have no effect.
fn without_labels(value: &Value) -> Value {
    match value {
        Value::Array(all) => {
            let kept = all.iter().filter(|value| value.get("label").is_none());
            Value::Array(kept.map(without_labels).collect())
        }
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), without_labels(value))).collect())
        }
        other => other.clone(),
    }
}

fn end(end: &WalkEnd) -> String {
    match end {
        WalkEnd::Delivered { device, .. } => format!("delivered at {device}"),
        WalkEnd::Dropped { device, cause } => {
            let cause = match cause {
                Cause::AccessList => "an access list",
                Cause::Conditioner => "a conditioner",
                Cause::Route => "a route",
            };
            format!("dropped at {device} by {cause}")
        }
        WalkEnd::LeavesSnapshot { device, interface, .. } => {
            format!("leaves the network via {device}:{interface}")
        }
        WalkEnd::PathUnknown { device, .. } => format!("path unknown at {device}"),
        WalkEnd::Loop { device } => format!("loops at {device}"),
    }
}

fn unknown(walk: &Walk, name: &str) -> Vec<String> {
    let reason = |path: &WalkPath| match &path.end {
        WalkEnd::PathUnknown { device, .. } => Some(format!("{name}: path unknown at {device}")),
        WalkEnd::LeavesSnapshot { device, interface, .. } => {
            Some(format!("{name}: the path behind {device}:{interface}, outside the folder"))
        }
        _ => None,
    };
    walk.paths.iter().filter_map(reason).collect()
}
