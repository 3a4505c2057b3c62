//! [`Answer`]: JSON followed by columns of numbers.

use perhop_scenario::{Diagnostic, Diagnostics, Severity, ValuePath};
use serde::Serialize;
use serde_json::{Value, json};

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The values; NaN for a missing value.
    pub values: Vec<f64>,
}

impl Column {
    /// Creates a column with the name `name`.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Column {
        Column { name: name.into(), values: values.into_iter().collect() }
    }
}

/// A reply to the page: JSON followed by columns of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// `{"ok": …}`, or `{"error": {"message", "help", "diagnostics"}}`.
    pub value: Value,
    /// The columns.
    pub columns: Vec<Column>,
}

impl Answer {
    /// Creates a successful reply.
    pub fn ok(value: impl Serialize) -> Answer {
        match serde_json::to_value(value) {
            Ok(value) => Answer { value: json!({ "ok": value }), columns: Vec::new() },
            Err(error) => Answer::failed(&error.to_string(), ""),
        }
    }
    /// Returns this answer with `columns`.
    #[must_use]
    pub fn with(self, columns: Vec<Column>) -> Answer {
        Answer { columns, ..self }
    }
    /// Creates the reply for an error. `help` states how to correct it.
    pub fn failed(message: &str, help: &str) -> Answer {
        let value = json!({ "error": { "message": message, "help": help, "diagnostics": [] } });
        Answer { value, columns: Vec::new() }
    }
    /// Creates the reply for errors in a scenario.
    pub fn refused(diagnostics: &Diagnostics) -> Answer {
        let list = diagnostics.to_json();
        let message = list[0]["message"].clone();
        let value = json!({ "error": { "message": message, "help": list[0]["help"], "diagnostics": list } });
        Answer { value, columns: Vec::new() }
    }
    /// Creates the reply for an error that was found when the scenario was built.
    pub fn unbuildable(error: perhop_qos::ConfigError) -> Answer {
        let path = ValuePath::root().extend(&error.path);
        let mut diagnostic = Diagnostic::new(Severity::Error, &path, error.message);
        diagnostic.help = error.help;
        Answer::refused(&diagnostic.into())
    }

    /// Encodes the answer. First comes the length of the JSON as four bytes, little-endian. The JSON follows,
    /// with the names and lengths of the columns as `columns`, padded with spaces to a multiple of eight. The
    /// columns are last, with eight bytes per number.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut value = self.value.clone();
        let names: Vec<(&str, usize)> =
            self.columns.iter().map(|column| (column.name.as_str(), column.values.len())).collect();
        value["columns"] = json!(names);
        let mut text = value.to_string();
        while !(text.len() + 4).is_multiple_of(8) {
            text.push(' ');
        }
        let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        for number in self.columns.iter().flat_map(|column| &column.values) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}
