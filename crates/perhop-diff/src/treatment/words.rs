//! [`Counterexample`]: a packet that two sides treat differently, with both treatments as text.

use perhop_analysis::{Field, Witness};
use perhop_qos::{Color, Dscp, Rate};
use serde::Serialize;
use serde_json::Value;

use super::forward::Treatments;
use super::tree::{Place, Tree, TreeId};

/// A packet, and its treatments by two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counterexample {
    /// The packet as it arrives, in the notation of `perhop trace --packet`.
    pub packet: String,
    /// A second packet, if the two sides differ only in whether both packets share a policer, a queue or a
    /// limit.
    pub with: Option<String>,
    /// The treatments, aspect by aspect.
    pub treatment: Vec<Aspect>,
    /// Whether the difference may have no effect, because the shared policer polices each flow separately.
    #[serde(skip)]
    pub(crate) is_doubtful: bool,
}

/// An aspect of a packet's treatment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Aspect {
    /// The name of the aspect: marks, policer, queue, guarantee, buffer, limits, fate.
    pub what: String,
    /// The value in the first configuration; `None` if the treatment has no such aspect.
    pub first: Option<String>,
    /// The value in the second configuration.
    pub second: Option<String>,
}

/// Aspects with their values, in order.
type Rows = Vec<(String, String)>;

const FATE: &str = "fate";

impl Counterexample {
    /// Describes a packet that has different trees on the two sides.
    pub(super) fn from_trees(
        witness: &Witness,
        sides: [&Treatments; 2],
        trees: [TreeId; 2],
    ) -> Counterexample {
        let rows = [rows(sides[0], trees[0]), rows(sides[1], trees[1])];
        let mut treatment: Vec<Aspect> = Vec::new();
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in rows.iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let value = |side: usize| {
                let own = rows[side].iter().find(|(own, _)| own == name);
                own.map(|(_, value)| value.clone())
            };
            treatment.push(Aspect { what: name.clone(), first: value(0), second: value(1) });
        }
        Counterexample { packet: witness.to_string(), with: None, treatment, is_doubtful: false }
    }

    /// Describes two packets that share an element only on the side `sharing`.
    pub(super) fn from_sharing(
        what: &str,
        sharing: usize,
        packets: [&Witness; 2],
        is_doubtful: bool,
    ) -> Counterexample {
        let share = |side: usize| {
            let text = if side == sharing { "both packets share one" } else { "each packet has its own" };
            Some(text.to_owned())
        };
        let aspect = Aspect { what: what.to_owned(), first: share(0), second: share(1) };
        Counterexample {
            packet: packets[0].to_string(),
            with: Some(packets[1].to_string()),
            treatment: vec![aspect],
            is_doubtful,
        }
    }
}

fn rows(side: &Treatments, tree: TreeId) -> Rows {
    let row = |name: &str, value: String| (name.to_owned(), value);
    match side.tree(tree) {
        Tree::Dropped => vec![row(FATE, "dropped".to_owned())],
        Tree::Leaves { marks, place } => {
            let mut found = vec![row(FATE, "passes".to_owned()), row("marks", marks_in_words(marks))];
            match place {
                Place::Onward => {}
                Place::NoClass => found.push(row("queue", "no class matches the packet".to_owned())),
                Place::Queue { queue, row: threshold } => {
                    let queue = side.queue(*queue);
                    found.push(row("queue", queue.name.clone()));
                    found.push(row("guarantee", guarantee(queue)));
                    found.push(row("schedulers", queue.kinds()));
                    let shares = queue.shares.iter().map(plain);
                    let shares: Vec<String> = shares.filter(|text| !text.is_empty()).collect();
                    if !shares.is_empty() {
                        found.push(row("shares", shares.join("; ")));
                    }
                    let limits = plain(&queue.limits);
                    if !limits.is_empty() {
                        found.push(row("limits", limits));
                    }
                    found.push(row("buffer", plain(&queue.buffer)));
                    let own = plain(&queue.rows[*threshold]);
                    if !own.is_empty() {
                        found.push(row("thresholds", own));
                    }
                }
            }
            found
        }
        Tree::Metered { meter, colors } => {
            let own = side.meter(*meter);
            let branches: Vec<(String, Rows)> = colors
                .iter()
                .map(|(color, tree)| (Color::new(*color).to_string(), rows(side, *tree)))
                .collect();
            let mut found = vec![row("policer", format!("{}: {}", own.name, plain(&own.config)))];
            found.extend(merged(&branches));
            found
        }
    }
}

/// Joins the rows of the colors of a meter. A common value is written once.
fn merged(branches: &[(String, Rows)]) -> Rows {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in branches.iter().flat_map(|(_, rows)| rows) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let joined = |name: &String| {
        let values: Vec<(&String, Option<&String>)> = branches
            .iter()
            .map(|(color, rows)| (color, rows.iter().find(|(own, _)| own == name).map(|(_, value)| value)))
            .collect();
        let first = values.first().and_then(|(_, value)| *value);
        // A dropped packet has neither marks nor a queue, so such colors are skipped.
        let others: Vec<_> = values.iter().filter(|(_, value)| value.is_some()).collect();
        if others.iter().all(|(_, value)| *value == others[0].1) && (first.is_some() || others.len() == 1) {
            return others[0].1.cloned().unwrap_or_default();
        }
        let text = |(color, value): &&(&String, Option<&String>)| {
            format!("{color}: {}", value.map_or("-", String::as_str))
        };
        others.iter().map(text).collect::<Vec<_>>().join("; ")
    };
    names.into_iter().map(|name| (name.clone(), joined(name))).collect()
}

fn marks_in_words(marks: &[(Field, u128)]) -> String {
    let mut found = Vec::new();
    for (field, value) in marks {
        let text = match field {
            Field::Dscp => format!("dscp {}", Dscp::new(*value as u8).unwrap_or_default()),
            Field::HasCos if *value == 0 => "no VLAN tag".to_owned(),
            Field::HasExp if *value == 0 => "no MPLS label".to_owned(),
            Field::Cos => format!("cos {value}"),
            Field::Exp => format!("exp {value}"),
            Field::Color => format!("color {}", Color::new(*value as usize)),
            Field::Label => format!("label {value}"),
            _ => continue,
        };
        found.push(text);
    }
    if found.is_empty() { "as it arrives".to_owned() } else { found.join(", ") }
}

fn guarantee(queue: &super::queues::Queue) -> String {
    let own = &queue.guarantee;
    let rate = |rate: Option<f64>| {
        rate.map_or("not known".to_owned(), |rate| {
            Rate::from_bits_per_second(rate.round() as u64).to_string()
        })
    };
    let priority = if own.has_priority { "priority, " } else { "" };
    let rest = own.excess.map(|part| format!(", {:.1} % of the excess", 100.0 * part)).unwrap_or_default();
    format!("{priority}guaranteed {}, at most {}{rest}", rate(own.promised), rate(own.maximum))
}

/// Returns a value of a policy as text.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(all) => joined(all.iter().map(plain)),
        Value::Object(fields) => joined(
            fields
                .iter()
                .filter(|(key, value)| {
                    // Default values are not shown.
                    !(value.is_null() || *key == "overhead" && value.as_i64() == Some(0))
                })
                .map(|(key, value)| match value {
                    Value::Object(_) | Value::Array(_) => match plain(value) {
                        text if text.is_empty() => key.clone(),
                        text => format!("{key} ({text})"),
                    },
                    _ => format!("{key} {}", plain(value)),
                }),
        ),
        other => other.to_string(),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
