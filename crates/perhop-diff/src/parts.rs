//! The parts of a device: a flat list with the properties of each part, by name.
//!
//! The parts come from the serialized model, so new fields are compared automatically. The properties that
//! `forwarding` returns are added. Line numbers are removed, because equal configurations can have different
//! line numbers.

use std::collections::BTreeMap;

use perhop_device::{DeviceModel, Port};
use serde_json::{Map, Value, json};

use crate::forwarding;

/// A part of a device: a queue, a conditioner, or an interface without its policies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The name of the part, unique in its interface.
    pub(crate) name: String,
    /// The properties by name, in order.
    pub(crate) properties: Map<String, Value>,
}

/// The name of the property that describes the packets of a queue or conditioner.
pub(crate) const MATCH: &str = "match";
/// The prefix of the names of queues.
pub(crate) const QUEUE: &str = "queue ";
/// The name of the part with the properties of an interface.
pub(crate) const INTERFACE: &str = "interface";

/// The serialized ports by name, and the properties of the device itself.
pub(crate) struct Device {
    pub(crate) ports: Vec<(String, Value)>,
    pub(crate) properties: Map<String, Value>,
}

impl Device {
    pub(crate) fn from_model(model: &DeviceModel) -> Device {
        let mut router = serde_json::to_value(&model.router).unwrap_or_default();
        erase_lines(&mut router);
        let mut properties = Map::new();
        properties.insert("platform".to_owned(), json!(model.platform.name));
        let mut ports = Vec::new();
        if let Value::Object(router) = router {
            for (key, value) in router {
                match (key.as_str(), value) {
                    ("ports", Value::Array(all)) => ports = all,
                    // The name of a device does not affect packets.
                    ("hostname", _) => {}
                    (_, value) => insert(&mut properties, key, value),
                }
            }
        }
        properties.extend(forwarding::device_properties(&model.router.forwarding));
        let named = |(mut port, typed): (Value, &Port)| {
            let own = forwarding::port_properties(&typed.forwarding);
            port.as_object_mut().into_iter().for_each(|port| port.extend(own.clone()));
            (typed.name.clone(), port)
        };
        Device { ports: ports.into_iter().zip(&model.router.ports).map(named).collect(), properties }
    }
}

/// Removes line numbers, because equal configurations can have different line numbers.
fn erase_lines(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| key != "line" && key != "lines");
            map.values_mut().for_each(erase_lines);
        }
        Value::Array(all) => all.iter_mut().for_each(erase_lines),
        _ => {}
    }
}

pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Inserts a property with a value. Empty values count as missing.
fn insert(properties: &mut Map<String, Value>, key: String, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::Bool(is_set) => !is_set && key != "has_known_line",
        Value::Array(all) => all.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(_) => false,
    };
    if !is_empty {
        properties.insert(key, value);
    }
}

/// Returns the parts of a port: the properties of the interface first, then the parts of the input and the
/// output policy.
pub(crate) fn parts_of_port(port: &Value) -> Vec<Part> {
    let mut properties = Map::new();
    for (key, value) in port.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("name" | "interface" | "input" | "output" | "policies", _) => {}
            ("addresses", Value::Array(all)) => {
                let written =
                    |value: &Value| json!(format!("{}/{}", value[0].as_str().unwrap_or("?"), value[1]));
                insert(&mut properties, key.clone(), all.iter().map(written).collect());
            }
            ("wire", Value::Object(wire)) => {
                for (inner, value) in wire {
                    insert(&mut properties, format!("wire {inner}"), value.clone());
                }
            }
            ("counted_bytes", Value::Object(counted)) => {
                for (inner, value) in counted {
                    insert(&mut properties, format!("bytes counted by {inner}"), value.clone());
                }
            }
            _ => insert(&mut properties, key.replace('_', " "), value.clone()),
        }
    }
    let mut parts = vec![Part { name: INTERFACE.to_owned(), properties }];
    for side in ["input", "output"] {
        parts.extend(parts_of_policy(side, &port[side]));
    }
    parts
}

/// Returns the parts of the `input` or `output` policy of a port.
pub(crate) fn parts_of_policy(side: &str, policy: &Value) -> Vec<Part> {
    let mut own = Map::new();
    for (key, value) in policy.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "conditioners" | "queueing") {
            insert(&mut own, key.clone(), value.clone());
        }
    }
    let mut parts = Vec::new();
    if !own.is_empty() {
        parts.push(Part { name: format!("{side} policy"), properties: own });
    }
    let conditioners = array(&policy["conditioners"]);
    for (name, conditioner) in conditioner_names(side, conditioners).into_iter().zip(conditioners) {
        parts.push(Part { name, properties: without(conditioner, &["name"]) });
    }
    queues(&policy["queueing"], "", &mut parts);
    parts
}

/// Returns the part names of conditioners. A repeated name is followed by its number.
pub(crate) fn conditioner_names(side: &str, conditioners: &[Value]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let named = conditioners.iter().enumerate().map(|(index, conditioner)| {
        let name = conditioner["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        let again = if *count > 1 { format!(" ({count})") } else { String::new() };
        format!("{side} conditioner {name}{again}")
    });
    named.collect()
}

/// Adds the classes of `queueing` and their inner classes, with the names of the enclosing classes as prefix.
fn queues(queueing: &Value, prefix: &str, parts: &mut Vec<Part>) {
    if queueing.is_null() {
        return;
    }
    let own = without(queueing, &["scheduler", "classes"]);
    if !own.is_empty() {
        let around = prefix.trim_end_matches('/');
        let name = if around.is_empty() { "queues".to_owned() } else { format!("queues of {around}") };
        parts.push(Part { name, properties: own });
    }
    for class in array(&queueing["classes"]) {
        let name = format!("{prefix}{}", text(class, "name"));
        let mut properties = Map::new();
        properties.insert("scheduler".to_owned(), queueing["scheduler"].clone());
        properties.extend(without(class, &["name", "queueing"]));
        parts.push(Part { name: format!("{QUEUE}{name}"), properties });
        queues(&class["queueing"], &format!("{name}/"), parts);
    }
}

pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the properties of `value` without `keys`.
fn without(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let mut properties = Map::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        if !keys.contains(&key.as_str()) {
            insert(&mut properties, key.clone(), value.clone());
        }
    }
    properties
}

/// A property of a part: interface, part, name of the property.
pub(crate) type Property = (String, String, String);

/// Returns all properties of a device by name.
pub(crate) fn properties_of_device(device: &Device) -> BTreeMap<Property, Value> {
    let mut all = BTreeMap::new();
    for (key, value) in &device.properties {
        all.insert((String::new(), DEVICE.to_owned(), key.clone()), value.clone());
    }
    for (name, port) in &device.ports {
        for part in parts_of_port(port) {
            // A part counts even if it has no properties.
            all.insert((name.clone(), part.name.clone(), String::new()), Value::Null);
            for (key, value) in part.properties {
                all.insert((name.clone(), part.name.clone(), key), value);
            }
        }
    }
    all
}

/// The name of the part with the properties of the device itself.
pub(crate) const DEVICE: &str = "device";
