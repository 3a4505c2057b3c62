//! [`ConfiguredCommand`]: outputs of devices that show a configuration as the device applies it.

use serde::Serialize;
use serde_json::Value;

/// A command of a device that prints objects of its configuration, without counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfiguredCommand {
    /// The name of the command for users of perhop.
    pub name: &'static str,
    /// The whole command, as a user types it on the device.
    pub whole: &'static str,
    /// The kind of object that the command prints, as a noun phrase.
    pub object: &'static str,
}

/// The output of a command for one object of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownObject {
    /// The name of the object.
    pub name: String,
    /// The text as the device prints it.
    pub text: String,
    /// The content of the text as a JSON document.
    pub document: Value,
}
