//! [`Failure`]: the reason why no scenario can be inferred.

use perhop_qos::ConfigError;
use perhop_scenario::Diagnostics;

/// The reason why no scenario can be inferred.
#[derive(Debug)]
pub enum Failure {
    /// The request does not fit the configuration, or the given traffic is invalid.
    Invalid {
        /// The fault, in one sentence.
        message: String,
        /// The remedy.
        help: String,
        /// The index of the line of the given traffic with the fault.
        row: Option<usize>,
    },
    /// An option of the configuration is invalid. Its path begins at a field of `ParseOptions`.
    Option(ConfigError),
    /// The device itself would refuse features of these interfaces.
    Refused {
        /// The errors.
        found: Diagnostics,
        /// The interfaces of the path.
        interfaces: Vec<String>,
    },
}

impl Failure {
    /// Returns a failure that no line of the given traffic causes.
    pub(crate) fn invalid(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Invalid { message: message.into(), help: help.into(), row: None }
    }

    /// Returns a failure of line `row` of the given traffic.
    pub(crate) fn of_row(row: usize, message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Invalid { message: message.into(), help: help.into(), row: Some(row) }
    }
}
