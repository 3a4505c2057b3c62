//! [`ConfigError`]: what is wrong with a configuration, where, and what would be right.

use std::fmt;

/// A configuration that cannot be built.
///
/// The path leads from the component that was asked to build to the field at fault, outermost
/// first; whoever owns the file puts file name and line in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Keys and list indices (written as digits) down to the field at fault.
    pub path: Vec<String>,
    /// What was found, in one sentence.
    pub message: String,
    /// What would be right, where that can be said.
    pub help: Option<String>,
}

impl ConfigError {
    /// An error at `field` of the component being built; an empty `field` is the component itself.
    pub fn new(field: &str, message: impl Into<String>) -> ConfigError {
        let path = if field.is_empty() { Vec::new() } else { field.split('.').map(str::to_owned).collect() };
        ConfigError { path, message: message.into(), help: None }
    }
    /// This error with `help`: what would be right.
    pub fn help(self, help: impl Into<String>) -> ConfigError {
        ConfigError { help: Some(help.into()), ..self }
    }
    /// This error as the enclosing component reports it, where this one is at `parent`.
    #[allow(clippy::needless_pass_by_value)] // keys are &str, indices usize: both are passed as they stand
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
