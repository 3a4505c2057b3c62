//! [`ConfigError`]: an invalid value of a configuration, its location, and a valid form.

use std::fmt;

/// An error in a configuration.
///
/// The path leads from the component that was being built to the invalid field, beginning with the outermost
/// key. The code that reads the file adds the name of the file and the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The keys and list indices (as digits) on the way to the field.
    pub path: Vec<String>,
    /// The problem, in one sentence.
    pub message: String,
    /// The correction, if known.
    pub help: Option<String>,
}

impl ConfigError {
    /// Returns an error at `field` of the component. An empty `field` means the component itself.
    pub fn new(field: &str, message: impl Into<String>) -> ConfigError {
        let path = if field.is_empty() { Vec::new() } else { field.split('.').map(str::to_owned).collect() };
        ConfigError { path, message: message.into(), help: None }
    }
    /// Adds `help`, which describes a valid form.
    pub fn help(self, help: impl Into<String>) -> ConfigError {
        ConfigError { help: Some(help.into()), ..self }
    }
    /// Returns the error for the enclosing component, which contains this component at `parent`.
    #[allow(clippy::needless_pass_by_value)] // keys are &str, indices usize: both are passed by value
    pub fn within(mut self, parent: impl ToString) -> ConfigError {
        self.path.insert(0, parent.to_string());
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path.join("."))?;
        }
        formatter.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(formatter, " ({help})"))
    }
}

impl std::error::Error for ConfigError {}
