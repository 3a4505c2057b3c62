//! [`PlatformRule`]: a rule of the queueing of a platform, with its evidence.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of evidence for a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceKind {
    /// The vendor documents the rule.
    Documented,
    /// A device has printed the rule.
    Printed,
    /// A person has measured the rule on a device.
    Measured,
    /// The rule follows from other evidence.
    Inferred,
    /// The author recalls the rule. No document confirms it.
    Recalled,
}

/// A rule of the queueing of a platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformRule {
    /// The name of the rule.
    pub rule: String,
    /// The subject of the rule, with the unit of a number.
    pub meaning: &'static str,
    /// The value.
    pub value: RuleValue,
    /// The kind of evidence.
    pub certainty: EvidenceKind,
    /// The document and section, the device's output or the measurement.
    pub source: String,
    /// A remark on the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The value of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RuleValue {
    /// A number.
    Number(i64),
    /// A word of a closed set.
    Word(String),
    /// A word under `kind`, with its numbers.
    WithNumbers(BTreeMap<String, RuleValue>),
}

impl fmt::Display for RuleValue {
    /// Writes `64`, `link-header` or `interval, microseconds 4000`.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RuleValue::Number(number) => number.fmt(formatter),
            RuleValue::Word(word) => word.fmt(formatter),
            RuleValue::WithNumbers(values) => {
                let kind = values.get("kind").map(ToString::to_string);
                let numbers = values.iter().filter(|(key, _)| *key != "kind");
                let parts = kind.into_iter().chain(numbers.map(|(key, value)| format!("{key} {value}")));
                formatter.write_str(&parts.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
