//! [`differences`]: the differences between two policies. Conditions are compared by their packets, shares by
//! their proportions.

use perhop_analysis::{Field, PacketSpace, Set};
use perhop_qos::Dscp;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig};
use perhop_qos::queue::PrecedenceSource;
use serde_json::{Map, Value, json};

mod labels;
mod shares;

pub use labels::with_renumbered_labels;
use shares::{are_close, are_proportional, without_shares};

/// The text for a part that one of the policies lacks.
const NOTHING: &str = "nothing";
/// Maximum number of shown characters of a value.
const MOST_SHOWN: usize = 60;
const ACTIONS: [&str; 4] = ["green", "yellow", "red", "actions"];
/// Schedulers that divide the whole rate in proportion to one number per class.
const PROPORTIONAL: [&str; 5] = ["scfq", "wfq", "wf2q-plus", "drr", "wrr"];
/// Limit on the ranges of codepoints; there are at most 64 codepoints.
const MOST_RANGES: usize = 64;

/// A part in which two policies differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The keys on the path to the part, with class names in brackets.
    pub path: String,
    /// The value of the first policy.
    pub first: String,
    /// The value of the second policy.
    pub second: String,
}

/// Returns the differences between two policies. Ignores the names of classes that match all packets, because
/// the device chooses these names.
pub fn differences(first: &PolicyConfig, second: &PolicyConfig) -> Vec<Difference> {
    let value = |policy: &PolicyConfig| {
        let mut value = serde_json::to_value(policy).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            fields.entry("overhead").or_insert(json!(0));
        }
        value
    };
    let mut found = Vec::new();
    compare(&value(first), &value(second), "", &mut found);
    found
}

fn compare(first: &Value, other: &Value, path: &str, found: &mut Vec<Difference>) {
    match (first, other) {
        (Value::Object(left), Value::Object(right)) => {
            let more = right.keys().filter(|key| !left.contains_key(*key));
            for key in left.keys().chain(more) {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare_key(key, (left, right), &below, found);
            }
        }
        (Value::Array(left), Value::Array(right)) => compare_lists(left, right, path, found),
        (Value::Number(left), Value::Number(right)) if left.is_f64() || right.is_f64() => {
            let (left, right) = (left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0));
            if !are_close(left, right, 1e-9) {
                add(path, first, other, found);
            }
        }
        _ if first == other => {}
        _ => add(path, first, other, found),
    }
}

fn compare_key(
    key: &str,
    (first, other): (&Map<String, Value>, &Map<String, Value>),
    path: &str,
    found: &mut Vec<Difference>,
) {
    let (left, right) = (first.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null));
    let count = |fields: &Map<String, Value>| fields.get("classes").and_then(Value::as_array).map(Vec::len);
    match key {
        "name" if !first.contains_key("match") && !other.contains_key("match") => {}
        "match" => {
            if !are_same_packets(left, right) {
                add(path, left, right, found);
            }
        }
        // A buffer can also have the key `red`. Its value is an object, not a list of actions.
        _ if ACTIONS.contains(&key) && !left.is_object() && !right.is_object() => {
            if effective(left) != effective(right) {
                add(path, left, right, found);
            }
        }
        // A single class gets the whole rate under every scheduler.
        "scheduler" if count(first) == Some(1) && count(other) == Some(1) => {}
        "classes" => {
            let is_proportional = [first, other].iter().all(|fields| {
                let scheduler = fields.get("scheduler").and_then(Value::as_str);
                scheduler.is_some_and(|scheduler| PROPORTIONAL.contains(&scheduler))
            });
            let is_equal = is_proportional && are_proportional(first, other);
            compare_classes(left, right, path, is_equal, found);
        }
        _ => compare(left, right, path, found),
    }
}

fn are_same_packets(first: &Value, other: &Value) -> bool {
    if first == other {
        return true;
    }
    let read = |value: &Value| -> Option<Option<MatchConfig>> {
        if value.is_null() { Some(None) } else { serde_json::from_value(value.clone()).ok().map(Some) }
    };
    let (Some(first), Some(other)) = (read(first), read(other)) else { return false };
    same_packets(first.as_ref(), other.as_ref())
}

/// Whether two conditions match the same packets; `None` matches all. Conditions that are too complex count
/// as different.
pub fn same_packets(first: Option<&MatchConfig>, other: Option<&MatchConfig>) -> bool {
    let mut space = PacketSpace::naming(first.into_iter().chain(other));
    let mut set = |condition: Option<&MatchConfig>| match condition {
        None => Some(Set::ALL),
        Some(condition) => space.taken_by(condition).ok(),
    };
    let (first, other) = (set(first), set(other));
    first.is_some() && first == other
}

/// Returns the actions that have an effect, with the outcome last. An action that the next action overrides
/// is removed.
fn effective(actions: &Value) -> Vec<&Value> {
    static TRANSMIT: Value = Value::Null;
    let own: Vec<&Value> = actions.as_array().map(|list| list.iter().collect()).unwrap_or_default();
    let is_end = |action: &Value| matches!(action.as_str(), Some("transmit" | "drop" | "continue"));
    let (steps, end) = match own.split_last() {
        Some((last, steps)) if is_end(last) && last.as_str() != Some("transmit") => (steps.to_vec(), *last),
        Some((last, steps)) if is_end(last) => (steps.to_vec(), &TRANSMIT),
        _ => (own, &TRANSMIT),
    };
    let kind = |action: &Value| match action {
        Value::Object(fields) => fields.keys().next().cloned().unwrap_or_default(),
        other => other.to_string(),
    };
    let mut kept: Vec<&Value> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if steps.get(index + 1).is_none_or(|next| kind(next) != kind(step)) {
            kept.push(step);
        }
    }
    kept.push(end);
    kept
}

fn compare_classes(
    first: &Value,
    other: &Value,
    path: &str,
    share_equally: bool,
    found: &mut Vec<Difference>,
) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (mut left, mut right) = (list(first), list(other));
    if share_equally {
        (left, right) = (without_shares(left), without_shares(right));
    }
    let is_alone = left.len() == 1 && right.len() == 1;
    let plain = |classes: Vec<Value>| -> Vec<Value> {
        classes.into_iter().map(|class| plain(class, is_alone)).collect()
    };
    compare_lists(&plain(left), &plain(right), path, found);
}

/// Normalizes a class: adds the default buffer, converts thresholds to thresholds by codepoint, and removes
/// the share of a class without siblings.
fn plain(class: Value, is_alone: bool) -> Value {
    let Value::Object(mut fields) = unwrapped(class) else { return Value::Null };
    if !["buffer", "fair-queueing", "queueing"].iter().any(|key| fields.contains_key(*key)) {
        fields.insert("buffer".to_owned(), json!({"tail-drop": {"limit": "64 packets"}}));
    }
    if is_alone {
        fields.insert("share".to_owned(), json!({}));
    }
    let Ok(config) = serde_json::from_value::<ClassConfig>(Value::Object(fields.clone())) else {
        return Value::Object(fields);
    };
    let wred = fields.get("buffer").and_then(|buffer| buffer.get("wred")).cloned();
    let (Some(Value::Object(mut wred)), PrecedenceSource::ByDscp(groups)) = (wred, &config.precedence) else {
        return Value::Object(fields);
    };
    let rows = wred.get("precedences").and_then(Value::as_array).cloned().unwrap_or_default();
    let last = groups.len().checked_sub(1).and_then(|at| rows.get(at)).cloned().unwrap_or(json!({}));
    let row = |dscp: u8| {
        let group = groups.iter().position(|group| group.0.iter().any(|own| own.value() == dscp));
        group.and_then(|at| rows.get(at)).cloned().unwrap_or_else(|| last.clone())
    };
    let by_value: Map<String, Value> = codepoints(config.matches.as_ref())
        .into_iter()
        .map(|dscp| (dscp.value().to_string(), row(dscp.value())))
        .collect();
    wred.insert("precedences".to_owned(), Value::Object(by_value));
    fields.insert("precedence".to_owned(), json!("dscp"));
    fields.insert("buffer".to_owned(), json!({"wred": wred}));
    Value::Object(fields)
}

/// Returns the possible codepoints of packets that meet a condition.
pub fn codepoints(condition: Option<&MatchConfig>) -> Vec<Dscp> {
    let mut space = PacketSpace::naming(condition);
    let set = condition.map_or(Ok(Set::ALL), |condition| space.taken_by(condition));
    let ranges = set.and_then(|set| space.values(set, Field::Dscp, MOST_RANGES));
    let ranges = ranges.unwrap_or_else(|_| vec![0..=63]);
    ranges.into_iter().flatten().filter_map(|value| Dscp::new(value as u8)).collect()
}

/// Returns the only inner class of a class that neither shapes nor polices. Returns other classes unchanged.
fn unwrapped(class: Value) -> Value {
    let only = |class: &Value| -> Option<Map<String, Value>> {
        let [inner] = class.get("queueing")?.get("classes")?.as_array()?.as_slice() else { return None };
        let inner = inner.as_object()?;
        (!inner.contains_key("match") && !inner.contains_key("shape")).then(|| inner.clone())
    };
    if class.get("shape").is_some() || class.get("police").is_some() {
        return class;
    }
    let Some(mut inner) = only(&class) else { return class };
    inner.insert("share".to_owned(), json!({}));
    for key in ["match", "share"] {
        if let Some(own) = class.get(key).filter(|own| own.as_object().is_some_and(|own| !own.is_empty())) {
            inner.insert(key.to_owned(), own.clone());
        }
    }
    Value::Object(inner)
}

fn compare_lists(first: &[Value], other: &[Value], path: &str, found: &mut Vec<Difference>) {
    if !first.iter().chain(other).any(Value::is_object) {
        if first != other {
            add(path, &json!(first), &json!(other), found);
        }
        return;
    }
    for number in 0..first.len().max(other.len()) {
        let (left, right) = (first.get(number), other.get(number));
        let name = left.or(right).and_then(|part| part.get("name")).and_then(Value::as_str);
        let below = format!("{path}[{}]", name.map_or_else(|| number.to_string(), str::to_owned));
        match (left, right) {
            (Some(left), Some(right)) => compare(left, right, &below, found),
            _ => add(&below, left.unwrap_or(&Value::Null), right.unwrap_or(&Value::Null), found),
        }
    }
}

fn add(path: &str, first: &Value, other: &Value, found: &mut Vec<Difference>) {
    found.push(Difference { path: path.to_owned(), first: shown(first), second: shown(other) });
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => return NOTHING.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= MOST_SHOWN {
        return text;
    }
    text.chars().take(MOST_SHOWN).chain(['…']).collect()
}
