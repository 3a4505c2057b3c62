//! [`Comparison`]: the changed and renamed parts of two devices.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::align::{is_numbered, renames};
use crate::answer::{Changed, PartName, Renamed};
use crate::forwarding::ACCESS_LIST;
use crate::parts::{DEVICE, Device, MATCH, Part, QUEUE, array, conditioner_names, parts_of_port, text};
use crate::sets::{MatchDifference, Matches};

/// The changes so far, with the names of the changed parts in each configuration.
#[derive(Default)]
pub(crate) struct Comparison {
    pub(crate) changed: Vec<Changed>,
    pub(crate) renamed: Vec<Renamed>,
    /// The renamed queues with the same meaning, from old to new name, by interface.
    pub(crate) queues: BTreeMap<String, BTreeMap<String, String>>,
    /// The new name of each renamed part, by interface and old name.
    names: BTreeMap<PartName, String>,
}

/// Decides how two values of a property differ. Returns `None` if the property is not a set of packets.
type Decide<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) -> Option<MatchDifference> + 'a;

impl Comparison {
    /// Compares the properties of the devices themselves.
    pub(crate) fn devices(&mut self, old: &Device, new: &Device, matches: &mut Matches) {
        let sides = [&old.properties, &new.properties];
        self.properties("", DEVICE, sides, &mut |what, before, after| {
            let lists = before.zip(after).filter(|_| what.starts_with(ACCESS_LIST));
            lists.map(|(before, after)| matches.compare_lists(before, after))
        });
    }

    /// Compares the port `interface` of two devices; it may be missing in one of them.
    pub(crate) fn ports(&mut self, interface: &str, sides: [Option<&Value>; 2], matches: &mut Matches) {
        for side in ["input", "output"] {
            let policies = sides.map(|port| port.map_or(&Value::Null, |port| &port[side]));
            self.record_renames(interface, side, policies);
            self.compare_order(interface, side, policies);
            let names = sides.map(|port| port.map_or(&Value::Null, |port| &port["policies"][side]["name"]));
            self.policy_name(interface, side, names);
        }
        let parts = sides.map(|port| port.map(parts_of_port).unwrap_or_default());
        self.parts(interface, parts, matches);
    }

    /// Compares the `side` policies of an interface; one of them may be missing.
    pub(crate) fn policies(
        &mut self,
        interface: &str,
        side: &str,
        policies: [&Value; 2],
        matches: &mut Matches,
    ) {
        self.record_renames(interface, side, policies);
        self.compare_order(interface, side, policies);
        let parts = policies.map(|policy| crate::parts::parts_of_policy(side, policy));
        self.parts(interface, parts, matches);
    }

    /// Records the renamed parts of the `side` policies.
    fn record_renames(&mut self, interface: &str, side: &str, [old, new]: [&Value; 2]) {
        for (before, after) in renames(side, old, new) {
            if let (Some(old_queue), Some(new_queue)) =
                (before.strip_prefix(QUEUE), after.strip_prefix(QUEUE))
            {
                let queues = self.queues.entry(interface.to_owned()).or_default();
                queues.insert(old_queue.to_owned(), new_queue.to_owned());
            }
            let key = PartName { interface: interface.to_owned(), part: before.clone() };
            self.names.insert(key, after.clone());
            if !(is_numbered(&before) && is_numbered(&after)) {
                self.renamed.push(Renamed { interface: interface.to_owned(), before, after });
            }
        }
    }

    /// Returns the new name of a part of the old configuration.
    pub(crate) fn new_name(&self, interface: &str, part: &str) -> String {
        let key = PartName { interface: interface.to_owned(), part: part.to_owned() };
        self.names.get(&key).cloned().unwrap_or(key.part)
    }

    /// Compares the order of stages and classes. A packet belongs to the first one that matches.
    fn compare_order(&mut self, interface: &str, side: &str, policies: [&Value; 2]) {
        let stages = policies.map(|policy| conditioner_names(side, array(&policy["conditioners"])));
        let place = format!("{side} conditioner ");
        self.compare_order_of_names(interface, &format!("{side} policy"), &place, stages);
        self.compare_order_of_classes(interface, policies.map(|policy| &policy["queueing"]), ["", ""]);
    }

    fn compare_order_of_classes(&mut self, interface: &str, queueing: [&Value; 2], prefixes: [&str; 2]) {
        let classes = queueing.map(|queueing| array(&queueing["classes"]));
        let named = |at: usize| {
            let name = |class: &Value| format!("{QUEUE}{}{}", prefixes[at], text(class, "name"));
            classes[at].iter().map(name).collect::<Vec<String>>()
        };
        let names = [named(0), named(1)];
        let around = prefixes[1].trim_end_matches('/');
        let part = if around.is_empty() { "queues".to_owned() } else { format!("queues of {around}") };
        self.compare_order_of_names(interface, &part, QUEUE, names.clone());
        for (name, class) in names[0].iter().zip(classes[0]) {
            let other = self.new_name(interface, name);
            let Some(at) = names[1].iter().position(|name| *name == other) else { continue };
            if class["queueing"].is_null() || classes[1][at]["queueing"].is_null() {
                continue;
            }
            let inner = [name, &other].map(|name| format!("{}/", name.trim_start_matches(QUEUE)));
            let inside = [&class["queueing"], &classes[1][at]["queueing"]];
            self.compare_order_of_classes(interface, inside, [&inner[0], &inner[1]]);
        }
    }

    /// Compares the order of the common names of both lists.
    fn compare_order_of_names(&mut self, interface: &str, part: &str, prefix: &str, names: [Vec<String>; 2]) {
        let [old, new] = names;
        let old: Vec<String> = old.iter().map(|name| self.new_name(interface, name)).collect();
        let common = |all: &[String], other: &[String]| -> Vec<Value> {
            let known: std::collections::BTreeSet<&String> = other.iter().collect();
            all.iter()
                .filter(|name| known.contains(name))
                .map(|name| json!(name.replace(prefix, "")))
                .collect()
        };
        let (before, after) = (common(&old, &new), common(&new, &old));
        if before != after {
            self.push(interface, part, "order", Some(json!(before)), Some(json!(after)));
        }
    }

    /// Compares the names of attached policies.
    fn policy_name(&mut self, interface: &str, side: &str, [old, new]: [&Value; 2]) {
        let part = format!("{side} policy");
        match (old.as_str(), new.as_str()) {
            (Some(before), Some(after)) if before != after => {
                let (before, after) = (format!("{part} {before}"), format!("{part} {after}"));
                self.renamed.push(Renamed { interface: interface.to_owned(), before, after });
            }
            (None, Some(_)) | (Some(_), None) => {
                let name = |name: &Value| (!name.is_null()).then(|| name.clone());
                self.push(interface, &part, "name", name(old), name(new));
            }
            _ => {}
        }
    }

    /// Compares the parts of an interface.
    fn parts(&mut self, interface: &str, [old, new]: [Vec<Part>; 2], matches: &mut Matches) {
        let mut left: BTreeMap<&str, &Part> = new.iter().map(|part| (part.name.as_str(), part)).collect();
        for part in &old {
            let name = self.new_name(interface, &part.name);
            match left.remove(name.as_str()) {
                Some(other) => {
                    let is_queue = name.starts_with(QUEUE);
                    let sides = [&part.properties, &other.properties];
                    self.properties(interface, &name, sides, &mut |what, before, after| {
                        (what == MATCH).then(|| matches.compare(is_queue, before, after))
                    });
                }
                None => self.push(interface, &part.name, "", Some(all_properties(part)), None),
            }
        }
        for part in new.iter().filter(|part| left.contains_key(part.name.as_str())) {
            self.push(interface, &part.name, "", None, Some(all_properties(part)));
        }
    }

    /// Compares the properties of a part. For a match, `decide` returns whether the sets of packets differ,
    /// with an example packet.
    fn properties(
        &mut self,
        interface: &str,
        part: &str,
        [old, new]: [&Map<String, Value>; 2],
        decide: &mut Decide,
    ) {
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for what in old.keys().chain(added) {
            let (before, after) = (old.get(what), new.get(what));
            if before == after {
                continue;
            }
            let packet = match decide(what, before, after) {
                Some(MatchDifference::None) => continue,
                Some(MatchDifference::Packet(packet)) => Some(packet),
                Some(MatchDifference::Text) | None => None,
            };
            self.push(interface, part, what, before.cloned(), after.cloned());
            if let Some(changed) = self.changed.last_mut() {
                changed.packet = packet;
            }
        }
    }

    fn push(&mut self, interface: &str, part: &str, what: &str, before: Option<Value>, after: Option<Value>) {
        self.changed.push(Changed {
            interface: interface.to_owned(),
            part: part.to_owned(),
            what: what.to_owned(),
            before,
            after,
            packet: None,
        });
    }
}

/// Returns all properties of a part that exists in one configuration only, except the match.
fn all_properties(part: &Part) -> Value {
    let mut properties = part.properties.clone();
    properties.shift_remove(MATCH);
    Value::Object(properties)
}
