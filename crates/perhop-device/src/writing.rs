//! [`PoliciesToWrite`]: the input of a writer, and [`Written`]: its result.
//!
//! A writer starts from the [`PolicyConfig`] that runs, because every source has one: a configuration after
//! lowering, and a scenario, which has no Intent.

use perhop_qos::Rate;
use perhop_qos::policy::PolicyConfig;
use serde::{Deserialize, Serialize};

use crate::intent::Direction;

/// The policies of one file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct PoliciesToWrite {
    /// The name of the file, for messages and comments.
    pub file: String,
    /// The policies of the file.
    pub policies: Vec<PolicyToWrite>,
    /// The configuration of a device; `None` for a scenario.
    #[serde(default)]
    pub configuration: Option<SourceConfiguration>,
    /// The platform to write for, as the user chose it.
    #[serde(default)]
    pub platform: Option<String>,
}

/// The configuration that policies were read from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SourceConfiguration {
    /// The text of the configuration.
    pub text: String,
    /// The platform whose rules were applied.
    pub platform: String,
}

/// A policy, and its attachment if the file attaches it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PolicyToWrite {
    /// The name of the policy.
    pub name: String,
    /// The interface, as the device of the file names it.
    pub interface: Option<String>,
    /// The direction; `None` if the file does not attach the policy.
    pub direction: Option<Direction>,
    /// The rate to which shares and percentages refer, bits per second.
    pub rate: Option<Rate>,
    /// The policy that runs.
    pub policy: PolicyConfig,
}

impl PolicyToWrite {
    /// Returns the place of the policy for messages: `policy WAN at Serial0/0 output`.
    pub fn place(&self) -> String {
        let interface = self.interface.as_ref().map(|name| format!(" at {name}")).unwrap_or_default();
        let direction = match self.direction {
            Some(Direction::Input) => " input",
            Some(Direction::Output) => " output",
            None => "",
        };
        format!("policy {}{interface}{direction}", self.name)
    }
}

/// Policies in a vendor's language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The missing and different parts.
    #[serde(rename = "remarks")]
    pub not_expressed: Vec<NotExpressed>,
    /// The interface of each policy in the text, in the order of the policies; `None` if the text is for one
    /// interface that the user names.
    pub interfaces: Vec<Option<String>>,
}

/// A part of a policy that is missing or different in a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotExpressed {
    /// The part, in terms of the source language.
    pub construct: String,
    /// The policy, interface, direction and class.
    #[serde(rename = "where")]
    pub place: String,
    /// The reason for the difference.
    #[serde(rename = "why")]
    pub reason: String,
    /// A change to the policy that removes the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

impl NotExpressed {
    /// Returns the difference as one line.
    pub fn line(&self) -> String {
        let instead = self.instead.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        format!("{}: {}: {}{instead}", self.place, self.construct, self.reason)
    }
}
