//! [`HostError`]: the reason why the traffic of a host failed.

use std::io;

use perhop_qos::error::ConfigError;

/// The reason why the traffic of a host failed.
#[derive(Debug)]
pub enum HostError {
    /// The scenario is not valid for a live run.
    Config(ConfigError),
    /// A system call failed; the text describes its purpose.
    System(String, io::Error),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            HostError::Config(error) => error.fmt(formatter),
            HostError::System(what, error) => write!(formatter, "{what}: {error}"),
        }
    }
}

impl std::error::Error for HostError {}

/// Adds the purpose of a system call to its error.
pub(super) fn trying<T>(what: impl Fn() -> String, outcome: io::Result<T>) -> Result<T, HostError> {
    outcome.map_err(|error| HostError::System(what(), error))
}
