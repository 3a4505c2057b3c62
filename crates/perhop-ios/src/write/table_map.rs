//! [`TableMaps`]: the table-maps of copy actions.

use perhop_qos::action::{CopyConfig, CopyDefault};
use serde_json::Value;

/// The table-maps, without duplicates.
#[derive(Clone, Debug, Default)]
pub(super) struct TableMaps(Vec<Vec<String>>);

impl TableMaps {
    /// Returns the name of the table-map of a copy action.
    pub(super) fn name(&mut self, copy: &CopyConfig) -> String {
        let mut lines: Vec<String> =
            copy.map.iter().map(|(from, to)| format!("map from {} to {}", word(from), word(to))).collect();
        lines.push(format!("default {}", default(copy)));
        self.add(lines)
    }

    /// Returns the name of the table-map with these lines.
    pub(super) fn add(&mut self, lines: Vec<String>) -> String {
        let place = self.0.iter().position(|known| *known == lines).unwrap_or_else(|| {
            self.0.push(lines);
            self.0.len() - 1
        });
        format!("TABLE-{}", place + 1)
    }

    /// Returns the table-maps as lines of a configuration.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (number, lines) in (1..).zip(&self.0) {
            found.push(format!("table-map TABLE-{number}"));
            found.extend(lines.iter().map(|line| format!(" {line}")));
            found.push("!".to_owned());
        }
        found
    }
}

/// Returns the value as it is written in scenarios.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Returns the default of a copy: `copy`, `ignore` or a number.
pub(super) fn default(copy: &CopyConfig) -> String {
    match &copy.default {
        CopyDefault::Copy => "copy".to_owned(),
        CopyDefault::Ignore => "ignore".to_owned(),
        CopyDefault::Value(value) => word(value),
    }
}
