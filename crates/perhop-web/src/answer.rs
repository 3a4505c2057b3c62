//! [`Answer`]: JSON, and columns of numbers behind it.

use perhop_scenario::{Diagnostic, Diagnostics, Severity, ValuePath};
use serde::Serialize;
use serde_json::{Value, json};

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// NaN where there is none.
    pub values: Vec<f64>,
}

impl Column {
    /// A column called `name`.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Column {
        Column { name: name.into(), values: values.into_iter().collect() }
    }
}

/// What the page gets: JSON, and columns of numbers behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// `{"ok": …}`, or `{"error": {"message", "help", "diagnostics"}}`.
    pub value: Value,
    /// The columns.
    pub columns: Vec<Column>,
}

impl Answer {
    /// What was asked for.
    pub fn of(value: impl Serialize) -> Answer {
        match serde_json::to_value(value) {
            Ok(value) => Answer { value: json!({ "ok": value }), columns: Vec::new() },
            Err(error) => Answer::failed(&error.to_string(), ""),
        }
    }
    /// This answer with `columns`.
    #[must_use]
    pub fn with(self, columns: Vec<Column>) -> Answer {
        Answer { columns, ..self }
    }
    /// An error, and what to do about it.
    pub fn failed(message: &str, help: &str) -> Answer {
        let value = json!({ "error": { "message": message, "help": help, "diagnostics": [] } });
        Answer { value, columns: Vec::new() }
    }
    /// Errors in a scenario.
    pub fn refused(diagnostics: &Diagnostics) -> Answer {
        let list = diagnostics.to_json();
        let message = list[0]["message"].clone();
        let value = json!({ "error": { "message": message, "help": list[0]["help"], "diagnostics": list } });
        Answer { value, columns: Vec::new() }
    }
    /// A scenario whose error was found only when it was built.
    pub fn unbuildable(error: perhop_qos::ConfigError) -> Answer {
        let path = ValuePath::root().extend(&error.path);
        let mut diagnostic = Diagnostic::new(Severity::Error, &path, error.message);
        diagnostic.help = error.help;
        Answer::refused(&diagnostic.into())
    }

    /// The length of the JSON as four bytes, least significant first; the JSON, with the names and lengths of
    /// the columns as `columns`; spaces up to a multiple of eight; the columns, eight bytes a number.
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
