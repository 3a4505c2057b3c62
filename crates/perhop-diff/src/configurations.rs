//! [`compare`]: everything that differs between two configurations of a device.

use std::collections::BTreeMap;

use perhop_device::{DeviceModel, FrontEnds, ParseOptions};
use perhop_qos::ConfigError;
use serde_json::Value;

use crate::accounting::{ChangedProperties, Precision, account};
use crate::answer::{Changed, Difference, LineChange, LineEffect, Renamed};
use crate::compare::Comparison;
use crate::effects::Ablation;
use crate::lines::changed_lines;
use crate::packets::{ComparedPaths, MovedPackets, Sides, examples, moved_packets};
use crate::parts::{DEVICE, Device, MATCH};
use crate::sets::Matches;

/// Two configurations of a device, and the parts to compare.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The texts, the old one first.
    pub texts: [&'a str; 2],
    /// The names of the configurations in messages.
    pub names: [&'a str; 2],
    /// The options for reading both configurations.
    pub options: &'a ParseOptions,
    /// The interface on which packets arrive; by default any.
    pub at: Option<&'a str>,
    /// The interfaces to compare; by default all.
    pub only: Option<&'a [String]>,
}

/// Returns everything that differs between two configurations.
///
/// # Errors
/// An option is invalid. The path begins at a field of [`ParseOptions`].
pub fn compare(front_ends: FrontEnds, question: &Question) -> Result<Difference, ConfigError> {
    let Question { texts, options, only, .. } = *question;
    let platform = options.platform.as_deref();
    let chosen = [front_ends.choose(texts[0], platform)?, front_ends.choose(texts[1], platform)?];
    let models = [chosen[0].parse(texts[0], options)?, chosen[1].parse(texts[1], options)?];
    let models = [&models[0], &models[1]];
    let devices = models.map(Device::from_model);
    let sides = Sides::pair(models);
    let mut matches = Matches::at(&sides.interfaces);
    let names = names_of_ports(&devices);
    let compared: Vec<String> = names.into_iter().filter(|name| is_compared(question, name)).collect();
    let (comparison, remarks) = compared_devices(question, &devices, &compared, &mut matches);
    let paths =
        ComparedPaths { exits: only.unwrap_or(&compared), at: question.at, queues: &comparison.queues };
    let MovedPackets { moved, mut not_looked_at } = moved_packets(&sides, &paths);
    let is_exact = not_looked_at.is_empty() && matches.too_complex == 0;
    let precision = if is_exact { Precision::Exact } else { Precision::Partial };
    let examples = examples(&sides, &comparison.changed, &compared, &mut matches);
    let selected = only.map(|_| compared.as_slice());
    let changed = ChangedProperties::collect(&comparison, &moved, selected, precision);
    let mut ablations =
        [0, 1].map(|side| Ablation::prepare(chosen[side], options, texts[side], models[side]));
    let (lines, unread) = account(changed_lines(models), &mut ablations, &changed);
    let (not_compared, lines): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line.effect == LineEffect::NotCompared);
    not_looked_at.extend(omitted_parts(question, &matches, &lines, unread));
    let mut difference = Difference {
        moved,
        examples,
        lines,
        not_compared,
        assumed: assumed(question, models),
        not_looked_at,
        remarks,
        changed: comparison.changed,
        renamed: comparison.renamed,
    };
    if difference.is_empty() && only.is_none() {
        difference.changed.extend(otherwise_different(&devices, precision));
    }
    Ok(difference)
}

impl Difference {
    /// Whether nothing differs. Irrelevant lines and lines that affect only other interfaces do not count.
    pub fn is_empty(&self) -> bool {
        let is_aside =
            |line: &LineChange| matches!(line.effect, LineEffect::Irrelevant | LineEffect::Elsewhere);
        let lines = self.lines.iter().all(is_aside);
        lines
            && self.not_compared.is_empty()
            && self.changed.is_empty()
            && self.moved.is_empty()
            && self.renamed.is_empty()
    }
}

/// Returns the names of the ports of both devices: the ports of the old device, then the new ports.
fn names_of_ports(devices: &[Device; 2]) -> Vec<String> {
    let mut known = std::collections::BTreeSet::new();
    let names = devices.iter().flat_map(|device| device.ports.iter().map(|(name, _)| name));
    names.filter(|name| known.insert(*name)).cloned().collect()
}

fn is_compared(question: &Question, name: &str) -> bool {
    question.only.is_none_or(|only| only.iter().any(|wanted| wanted == name) || question.at == Some(name))
}

/// Compares the devices and their ports with these names. Also returns remarks about the ports that only one
/// of the devices has.
fn compared_devices(
    question: &Question,
    devices: &[Device; 2],
    names: &[String],
    matches: &mut Matches,
) -> (Comparison, Vec<String>) {
    let mut comparison = Comparison::default();
    let mut remarks = Vec::new();
    comparison.devices(&devices[0], &devices[1], matches);
    let ports: [BTreeMap<&String, &Value>; 2] =
        [0, 1].map(|side: usize| devices[side].ports.iter().map(|(name, port)| (name, port)).collect());
    for name in names {
        let both = [0, 1].map(|side: usize| ports[side].get(name).copied());
        comparison.ports(name, both, matches);
        for (port, text) in both.iter().zip(question.names) {
            if port.is_none() {
                remarks.push(format!("{text} has no interface {name}"));
            }
        }
    }
    (comparison, remarks)
}

/// Returns the assumptions in place of facts that the configurations do not contain.
fn assumed(question: &Question, models: [&DeviceModel; 2]) -> Vec<String> {
    let mut found = Vec::new();
    for (model, name) in models.into_iter().zip(question.names) {
        if !model.platform.certain {
            found.push(format!("{name} is a configuration of {}", model.platform.name));
        }
    }
    for (class, criteria) in &question.options.assume {
        found.push(format!("class {class} matches {criteria}"));
    }
    found.push(match question.at {
        Some(at) => format!("packets arrive on {at} and may leave via any interface"),
        None => {
            "packets may arrive and leave via any interface; an input policy applies to them only if it has \
             changed"
                .to_owned()
        }
    });
    found
}

/// Returns the parts that the comparison ignores.
fn omitted_parts(question: &Question, matches: &Matches, lines: &[LineChange], unread: usize) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(only) = question.only {
        let elsewhere = lines.iter().filter(|line| line.effect == LineEffect::Elsewhere).count();
        let names = only.join(", ");
        found.push(format!(
            "interfaces other than {names} ({elsewhere} changed lines concern only such other interfaces)"
        ));
    }
    if matches.too_complex > 0 {
        found.push(format!(
            "the packets of {} match conditions that are too complex to compare",
            matches.too_complex
        ));
    }
    if unread > 0 {
        found.push(format!("which parts each of {unread} changed lines affects"));
    }
    found
}

/// Returns a change if the models differ although no part differs.
///
/// If all packets were compared exactly, matches with different texts match the same packets.
fn otherwise_different(devices: &[Device; 2], precision: Precision) -> Option<Changed> {
    let sorted = |device: &Device| {
        let mut ports: Vec<(String, String)> =
            device.ports.iter().map(|(name, port)| (name.clone(), comparable(port, precision))).collect();
        ports.sort();
        ports
    };
    let (old, new) = (sorted(&devices[0]), sorted(&devices[1]));
    let first = old.iter().zip(&new).find(|(before, after)| before != after)?;
    Some(Changed {
        interface: first.1.0.clone(),
        part: DEVICE.to_owned(),
        what: "the policies in the form that the device prints".to_owned(),
        before: Some(Value::from("one form")),
        after: Some(Value::from("another form")),
        packet: None,
    })
}

/// Returns a port as text, in which all stages that are named after their line have the same name.
fn comparable(port: &Value, precision: Precision) -> String {
    let mut port = port.clone();
    if precision == Precision::Exact {
        erase_matches(&mut port);
    }
    for side in ["input", "output"] {
        if let Some(stages) = port[side]["conditioners"].as_array_mut() {
            for stage in stages {
                if stage["name"].as_str().is_some_and(crate::align::is_numbered) {
                    stage["name"] = Value::Null;
                }
            }
        }
    }
    port.to_string()
}

fn erase_matches(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.shift_remove(MATCH);
            map.values_mut().for_each(erase_matches);
        }
        Value::Array(all) => all.iter_mut().for_each(erase_matches),
        _ => {}
    }
}

/// Returns the changed and renamed parts between the `side` policies of an interface. A missing policy is
/// `null`. The interfaces that the policies name are among `interfaces`.
pub fn compare_policies(
    interface: &str,
    side: &str,
    policies: [&Value; 2],
    interfaces: &[String],
) -> (Vec<Changed>, Vec<Renamed>) {
    let mut comparison = Comparison::default();
    comparison.policies(interface, side, policies, &mut Matches::at(interfaces));
    (comparison.changed, comparison.renamed)
}
