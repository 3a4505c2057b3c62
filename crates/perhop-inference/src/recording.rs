//! A capture as traffic: the packets of each class of the router, at their recorded times.

use std::collections::BTreeMap;

use perhop_network::Devices;
use perhop_qos::action::Action;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::QueueingConfig;
use serde_json::{Map, Value, json};

use crate::document::Entry;
use crate::failure::Failure;
use crate::header::Header;
use crate::marks::has_property;
use crate::network::{Carried, CosOrigin, Network};
use crate::targets::stages;
use crate::traffic::{Flow, Traffic};
use crate::trial::load;

/// The marks of packets, and the headers that carry them, from the packet outwards.
const CARRIED: [(&str, Carried); 2] = [("mpls-exp", Carried::Mpls), ("cos", Carried::Vlan)];
/// The name of traffic whose class is not known.
const WHOLE: &str = "capture";
/// The shortest run of a capture, milliseconds.
const SHORTEST_MS: f64 = 100.0;

/// A capture that is replayed.
pub(crate) struct Recording<'a> {
    /// The path of the capture, as a scenario file writes it.
    path: &'a str,
    /// The time between the first and the last packet, seconds; 0 for a damaged capture.
    seconds: f64,
}

impl<'a> Recording<'a> {
    /// Reads the times of the packets in `content`. `path` is written into the scenario.
    pub(crate) fn new(path: &'a str, content: &[u8]) -> Recording<'a> {
        let packets = perhop_capture::read(content).map(|capture| capture.packets).unwrap_or_default();
        let times = || packets.iter().map(|packet| packet.time);
        let span = times().max().zip(times().min()).map_or(0, |(last, first)| last - first);
        Recording { path, seconds: span as f64 / 1e9 }
    }
}

/// A class, and the conditions that all its packets satisfy.
struct Class {
    queue: Option<String>,
    name: String,
    conditions: Vec<Value>,
}

/// Returns traffic that replays the packets of a capture.
///
/// # Errors
/// The capture is damaged, or none of its packets is replayed.
pub(crate) fn replayed(
    network: &mut Network,
    devices: &Devices,
    recording: &Recording,
) -> Result<Traffic, Failure> {
    (network.carried, network.cos) = (Vec::new(), CosOrigin::Packets);
    let own: Vec<String> = network.other_subnets().iter().map(ToString::to_string).collect();
    let mut remarks = Vec::new();
    let mut coming = Vec::new();
    if !own.is_empty() {
        let subnets = if own.len() > 1 { json!(own) } else { json!(own[0]) };
        coming.push(json!({"not": {"destination": subnets}}));
        remarks.push(format!("the run leaves out packets to the router's other subnets, {}", own.join(", ")));
    }
    let mut classes = classes(network);
    if classes.is_empty() {
        remarks.push(format!(
            "the run shows all packets as one class, `{WHOLE}`, because a class of the policy matches more \
             than packet headers"
        ));
        classes.push(Class { queue: None, name: WHOLE.to_owned(), conditions: Vec::new() });
    }
    let flows = classes.into_iter().map(|class| flow(recording.path, class, &coming)).collect();
    let flows = with_packets(network, devices, flows)?;
    let carried = CARRIED.iter().filter(|(key, _)| is_carried(network, devices, recording.path, key));
    let carried: Vec<Carried> = carried.map(|(_, header)| *header).collect();
    network.carried = carried;
    let milliseconds = ((1000.0 * recording.seconds).ceil() + 1.0).max(SHORTEST_MS);
    Ok(Traffic { flows, remarks, milliseconds: Some(milliseconds) })
}

/// Whether some packets of the capture have a header with the mark `key`.
fn is_carried(network: &Network, devices: &Devices, path: &str, key: &str) -> bool {
    // The list has all values, so every packet with the header matches, and no other packet.
    let conditions = vec![json!({key: (0..8).collect::<Vec<u8>>()})];
    let whole = Class { queue: None, name: WHOLE.to_owned(), conditions };
    check(network, devices, &[flow(path, whole, &[])]).is_ok()
}

fn flow(path: &str, class: Class, coming: &[Value]) -> Flow {
    let Class { queue, name, mut conditions } = class;
    conditions.extend_from_slice(coming);
    let mut source = json!({"file": path});
    match conditions.len() {
        0 => {}
        1 => source["match"] = conditions.swap_remove(0),
        _ => source["match"] = json!({"all": conditions}),
    }
    let mut entry = Map::new();
    for (key, value) in [("name", json!(name)), ("from", json!("")), ("to", json!(""))] {
        entry.insert(key.to_owned(), value);
    }
    entry.insert("source".to_owned(), json!({"pcap": source}));
    Flow {
        header: Header::default(),
        entry,
        queue,
        offered: [String::new(), "as captured".to_owned()],
        rate: 0.0,
    }
}

/// Returns the classes; an empty list if headers do not distinguish them.
fn classes(network: &Network) -> Vec<Class> {
    let is_told_by_headers = network
        .leaves
        .iter()
        .all(|leaf| leaf.matches.iter().all(|condition| !has_property(condition, &reads_more_than_headers)));
    let is_marked = stages(network).any(|(_, _, stage)| {
        let actions = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
        // A conditioner that marks packets changes which later classes they match.
        actions
            .into_iter()
            .flatten()
            .any(|action| !matches!(action, Action::Drop | Action::Continue | Action::Transmit))
    });
    let Some(queueing) = network.output().queueing.as_ref().filter(|_| is_told_by_headers && !is_marked)
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    walk(queueing, "", &[], &mut found);
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for class in &mut found {
        let count = names.entry(class.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            class.name = format!("{}-{count}", class.name);
        }
    }
    found
}

/// Whether a condition depends on more than the headers of a packet.
fn reads_more_than_headers(condition: &MatchConfig) -> bool {
    let is_of_node = condition.color.is_some() || condition.label.is_some() || condition.input.is_some();
    is_of_node || condition.cos.is_some() || condition.mpls_exp.is_some() || condition.length.is_some()
}

/// Adds the queues, each with all conditions for its packets. A packet belongs to the first matching class,
/// so the conditions exclude earlier classes.
fn walk(queueing: &QueueingConfig, prefix: &str, around: &[Value], found: &mut Vec<Class>) {
    let mut before: Vec<Value> = Vec::new();
    for class in &queueing.classes {
        let path = format!("{prefix}{}", class.name);
        let own = class.matches.as_ref().map(|condition| json!(condition));
        let mut conditions = around.to_vec();
        conditions.extend(own.clone());
        conditions.extend(before.iter().map(|earlier| json!({"not": earlier})));
        if let Some(inner) = &class.queueing {
            walk(inner, &format!("{path}/"), &conditions, found);
        } else {
            found.push(Class { queue: Some(path), name: class.name.clone(), conditions });
        }
        before.extend(own);
    }
}

/// Returns the flows that have packets in the capture.
///
/// # Errors
/// The network or its traffic is refused, for a reason other than flows without packets.
fn with_packets(network: &Network, devices: &Devices, flows: Vec<Flow>) -> Result<Vec<Flow>, Failure> {
    let Err(failure) = check(network, devices, &flows) else { return Ok(flows) };
    let Failure::Refused { found, .. } = &failure else { return Err(failure) };
    let diagnostics = found.to_json();
    let is_empty = |number: usize| {
        let path = format!("traffic.{number}.");
        diagnostics.as_array().into_iter().flatten().any(|diagnostic| {
            let starts =
                |key: &str, with: &str| diagnostic[key].as_str().is_some_and(|text| text.starts_with(with));
            // The diagnostic about a replay without packets in the capture.
            starts("path", &path) && starts("message", "none of the")
        })
    };
    let count = flows.len();
    let numbered = flows.into_iter().enumerate().filter(|(number, _)| !is_empty(*number));
    let kept: Vec<Flow> = numbered.map(|(_, flow)| flow).collect();
    if kept.is_empty() || kept.len() == count {
        return Err(failure);
    }
    check(network, devices, &kept)?;
    Ok(kept)
}

fn check(network: &Network, devices: &Devices, flows: &[Flow]) -> Result<(), Failure> {
    let entries: Vec<Entry> =
        flows.iter().map(|flow| Entry { keys: &flow.entry, header: &flow.header }).collect();
    load(network, devices, &entries, network.site.base).map(|_| ())
}
