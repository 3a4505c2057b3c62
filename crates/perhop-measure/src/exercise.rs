//! [`Exercise`]: the permitted changes of an exercise, and the requirements on its scenario and results.
//!
//! The playground and Python use this module, so their judgments are equal. The module reads the JSON of
//! scenarios and summaries.

use std::collections::BTreeSet;

use perhop_qos::units::{PacketRate, QueueSize, Rate, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The keys whose values may always be changed: names, the seed and the number of replications.
const FREE: [&str; 4] = ["name", "description", "seed", "replications"];
/// The key in a path that selects all members of a mapping or a list.
const EACH: &str = "*";

/// An exercise: the permitted changes of a scenario, and the requirements on the scenario and on its results.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Exercise {
    /// Paths of values that may be changed. All other values must not change.
    pub change: Vec<String>,
    /// Requirements on the scenario.
    pub conditions: Vec<Condition>,
    /// Requirements on the results of the run.
    pub goals: Vec<Goal>,
}

/// A bound on every value at a path of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The keys of the path, separated by dots. In a list, the key is the `name` of an element or its index.
    /// `*` selects all members.
    pub path: String,
    /// The comparison of the values with the bound.
    pub sign: Sign,
    /// The bound in the base unit of the value.
    pub value: f64,
}

/// A bound on a measurement of a class.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The name of the class.
    pub class: String,
    /// The column in the table of classes or of TCP in the summary.
    pub column: String,
    /// The comparison of the measurement with the bound.
    pub sign: Sign,
    /// The bound in the unit of the column.
    pub value: f64,
}

/// A comparison of a value with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Sign {
    /// The value is less than the bound.
    #[serde(rename = "<")]
    Below,
    /// The value is at most the bound.
    #[serde(rename = "<=")]
    AtMost,
    /// The value is greater than the bound.
    #[serde(rename = ">")]
    Above,
    /// The value is at least the bound.
    #[serde(rename = ">=")]
    AtLeast,
    /// The value equals the bound.
    #[serde(rename = "==")]
    Equal,
    /// The value does not equal the bound.
    #[serde(rename = "!=")]
    Unequal,
}

impl Sign {
    #[allow(clippy::float_cmp)] // exact comparison is requested
    fn is_satisfied_by(self, value: f64, bound: f64) -> bool {
        match self {
            Sign::Below => value < bound,
            Sign::AtMost => value <= bound,
            Sign::Above => value > bound,
            Sign::AtLeast => value >= bound,
            Sign::Equal => value == bound,
            Sign::Unequal => value != bound,
        }
    }
}

/// The judgment of one condition or goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The value; of several values, the first that does not satisfy the bound. `None` if there is no value;
    /// the bound is then not satisfied.
    pub measured: Option<f64>,
    /// Whether the bound is satisfied.
    pub met: bool,
}

/// The judgment of a scenario and its run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgment {
    /// Whether only permitted values were changed and every condition and goal is satisfied.
    pub met: bool,
    /// Paths of values that were changed without permission.
    pub changed: Vec<String>,
    /// The conditions, in their order.
    pub conditions: Vec<Judged>,
    /// The goals, in their order.
    pub goals: Vec<Judged>,
}

impl Exercise {
    /// Judges `scenario`, which is a changed copy of `start`, and the `summary` of its run. Both scenarios
    /// must contain all defaults.
    pub fn judge(&self, start: &Value, scenario: &Value, summary: &Value) -> Judgment {
        let allowed: Vec<&str> = self.change.iter().map(String::as_str).chain(FREE).collect();
        let mut changed = Vec::new();
        compare(Some(start), Some(scenario), "", &allowed, &mut changed);
        let conditions: Vec<Judged> =
            self.conditions.iter().map(|condition| condition.judge(scenario)).collect();
        let goals: Vec<Judged> = self.goals.iter().map(|goal| goal.judge(summary)).collect();
        let met = changed.is_empty() && conditions.iter().chain(&goals).all(|condition| condition.met);
        Judgment { met, changed, conditions, goals }
    }
}

impl Condition {
    fn judge(&self, scenario: &Value) -> Judged {
        let segments: Vec<&str> = self.path.split('.').collect();
        let mut found = Vec::new();
        collect(scenario, &segments, &mut found);
        let numbers: Option<Vec<f64>> = found.into_iter().map(number).collect();
        let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
            return Judged { measured: None, met: false };
        };
        let wrong = numbers.iter().find(|value| !self.sign.is_satisfied_by(**value, self.value));
        Judged { measured: wrong.or(numbers.first()).copied(), met: wrong.is_none() }
    }
}

impl Goal {
    fn judge(&self, summary: &Value) -> Judged {
        let measured = ["classes", "tcp"].iter().find_map(|table| {
            let row = summary[table].as_array()?.iter().find(|row| row["class"] == self.class.as_str())?;
            row[&self.column]["mean"].as_f64()
        });
        Judged { measured, met: measured.is_some_and(|value| self.sign.is_satisfied_by(value, self.value)) }
    }
}

/// Adds the values at the path `rest` inside `value` to `found`. Keys may contain dots, so the longest
/// matching key is used.
fn collect<'v>(value: &'v Value, rest: &[&str], found: &mut Vec<&'v Value>) {
    match rest {
        [] => found.push(value),
        [EACH, rest @ ..] => members(value).for_each(|(_, _, member)| collect(member, rest, found)),
        _ => {
            let mut lengths = (1..=rest.len()).rev();
            let next = lengths.find_map(|length| {
                let key = rest[..length].join(".");
                let mut all = members(value);
                all.find(|(name, place, _)| *name == key || place.as_ref() == Some(&key))
                    .map(|(_, _, member)| (member, length))
            });
            if let Some((member, length)) = next {
                collect(member, &rest[length..], found);
            }
        }
    }
}

/// Returns the members of a mapping or a list: the key or name, the index in a list, and the value.
fn members(value: &Value) -> Box<dyn Iterator<Item = (&str, Option<String>, &Value)> + '_> {
    match value {
        Value::Object(map) => Box::new(map.iter().map(|(key, member)| (key.as_str(), None, member))),
        Value::Array(list) => Box::new(list.iter().enumerate().map(|(place, member)| {
            (member["name"].as_str().unwrap_or_default(), Some(place.to_string()), member)
        })),
        _ => Box::new(std::iter::empty()),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| quantity(value.as_str()?).map(|(number, _)| number))
}

/// Parses a time, a rate or a size. Returns the number and the base unit, or `None` for any other text.
pub fn quantity(text: &str) -> Option<(f64, &'static str)> {
    if let Ok(time) = text.parse::<Time>() {
        return Some((time.as_seconds(), "s"));
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return Some((rate.as_bits_per_second() as f64, "b/s"));
    }
    if let Ok(rate) = text.parse::<PacketRate>() {
        return Some((rate.as_packets_per_second() as f64, "packets/s"));
    }
    match text.parse::<QueueSize>() {
        Ok(QueueSize::Packets(count)) => Some((count as f64, "packets")),
        Ok(QueueSize::Bytes(count)) => Some((count as f64, "bytes")),
        Err(_) => None,
    }
}

/// Adds the paths below `path` at which `before` and `after` differ to `changed`. Paths in `allowed` are
/// ignored.
fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &str,
    allowed: &[&str],
    changed: &mut Vec<String>,
) {
    if before == after || allowed.contains(&"") {
        return;
    }
    let nothing = Value::Object(Map::new());
    let (old, new) = (before.unwrap_or(&nothing), after.unwrap_or(&nothing));
    let names: Vec<[String; 2]> = match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            keys.into_iter().map(|key| [key.clone(), key.clone()]).collect()
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
            old.iter().enumerate().map(|(place, value)| [place.to_string(), name(value)]).collect()
        }
        _ => return changed.push(path.to_owned()),
    };
    for [key, name] in names {
        let member = |value: &Value| match value {
            Value::Array(list) => key.parse::<usize>().ok().and_then(|place| list.get(place)).cloned(),
            _ => value.get(&key).cloned(),
        };
        let inner: Vec<&str> = allowed.iter().filter_map(|path| within(path, &key, &name)).collect();
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        compare(member(old).as_ref(), member(new).as_ref(), &path, &inner, changed);
    }
}

/// Returns the rest of the path `allowed` after its first key, if this key selects the member with `key` or
/// `name`.
fn within<'p>(allowed: &'p str, key: &str, name: &str) -> Option<&'p str> {
    [key, name].into_iter().filter(|text| !text.is_empty()).find_map(|text| {
        let rest = allowed.strip_prefix(text)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn exercise(change: &[&str], conditions: &[(&str, &str, f64)]) -> Exercise {
        let conditions: Vec<Value> = conditions
            .iter()
            .map(|(path, sign, value)| json!({"path": path, "sign": sign, "value": value}))
            .collect();
        serde_json::from_value(json!({"change": change, "conditions": conditions, "goals": []})).unwrap()
    }

    fn scenario() -> Value {
        json!({
            "name": "one", "links": [{"rate": "2Mb/s"}, {"rate": "1Mb/s", "ring": {"packets": 4}}],
            "policies": {"wan.out": {"classes": [
                {"name": "voice", "police": {"rate": "256kb/s"}, "limit": "64 packets"},
                {"name": "rest", "police": {"rate": "1.5Mb/s"}},
            ]}},
        })
    }

    #[test]
    fn allowed_changes_are_paths_with_names_or_indices() {
        let mut after = scenario();
        (after["name"], after["seed"]) = (json!("another"), json!(7));
        after["links"][1]["ring"]["packets"] = json!(2);
        after["policies"]["wan.out"]["classes"][0]["limit"] = json!("8 packets");
        let judged = |change: &[&str]| exercise(change, &[]).judge(&scenario(), &after, &json!({})).changed;
        let [ring, limit] = ["links.1.ring.packets", "policies.wan.out.classes.0.limit"];
        assert_eq!(judged(&[]), [ring, limit]);
        assert_eq!(judged(&["links.1.ring"]), [limit]);
        assert_eq!(judged(&["links", "policies.wan.out.classes.voice"]), [""; 0]);
        assert_eq!(judged(&["links.0", "policies.wan.out.classes.rest"]), [ring, limit]);
        assert_eq!(judged(&["link", "links.1.rin", "policies"]), [ring]);
    }

    #[test]
    fn added_and_missing_values_are_changes() {
        let mut after = scenario();
        after["links"][0]["ring"] = json!({"packets": 9});
        after["policies"]["wan.out"]["classes"].as_array_mut().unwrap().pop();
        let judged = |change: &[&str]| exercise(change, &[]).judge(&scenario(), &after, &json!({})).changed;
        assert_eq!(judged(&[]), ["links.0.ring.packets", "policies.wan.out.classes"]);
        assert_eq!(judged(&["links.0.ring", "policies.wan.out"]), [""; 0]);
    }

    #[test]
    fn a_condition_applies_to_all_values_at_its_path() {
        let judged = |path, sign, value| {
            exercise(&[], &[(path, sign, value)]).judge(&scenario(), &scenario(), &json!({})).conditions[0]
                .clone()
        };
        let rates = "policies.wan.out.classes.*.police.rate";
        assert_eq!(judged(rates, "<=", 2e6), Judged { measured: Some(256e3), met: true });
        assert_eq!(judged(rates, "<=", 1e6), Judged { measured: Some(1.5e6), met: false });
        assert_eq!(judged("links.1.ring.packets", ">=", 4.0), Judged { measured: Some(4.0), met: true });
        assert_eq!(judged("links.0.ring.packets", ">=", 1.0), Judged { measured: None, met: false });
        let voice = "policies.wan.out.classes.voice.limit";
        assert_eq!(judged(voice, "==", 64.0), Judged { measured: Some(64.0), met: true });
        let name = Judged { measured: None, met: false };
        assert_eq!(judged("policies.wan.out.classes.voice.name", "!=", 0.0), name, "no number");
    }

    #[test]
    fn a_goal_applies_to_the_mean_in_the_summary() {
        let summary = json!({
            "classes": [{"class": "voice", "delay_p99_s": {"mean": 0.02}, "delay_p50_s": null}],
            "tcp": [{"class": "voice", "goodput_bps": {"mean": 5e6}}],
        });
        let goal = |class: &str, column: &str, sign: &str, value: f64| {
            let goal = json!({"class": class, "column": column, "sign": sign, "value": value});
            let all = json!({"change": [], "conditions": [], "goals": [goal]});
            let exercise: Exercise = serde_json::from_value(all).unwrap();
            let judged = exercise.judge(&Value::Null, &Value::Null, &summary);
            (judged.goals[0].measured, judged.met)
        };
        assert_eq!(goal("voice", "delay_p99_s", "<=", 0.02), (Some(0.02), true));
        assert_eq!(goal("voice", "delay_p99_s", "<", 0.02), (Some(0.02), false));
        assert_eq!(goal("voice", "goodput_bps", ">", 4e6), (Some(5e6), true));
        assert_eq!(goal("voice", "delay_p50_s", ">=", 0.0), (None, false));
        assert_eq!(goal("video", "delay_p99_s", ">=", 0.0), (None, false));
    }
}
