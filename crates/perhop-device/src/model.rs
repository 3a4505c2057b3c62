//! [`DeviceModel`]: everything that a configuration says of a device.

use std::sync::Arc;

use perhop_lint::{Diagnostic, Line};
use serde::Serialize;

use crate::port::Router;

/// Everything that a configuration says of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceModel {
    /// The platform whose rules apply.
    pub platform: RecognizedPlatform,
    /// Every line of the text with its state, in order.
    pub lines: Vec<Line>,
    /// The character with which a comment begins.
    pub comment: char,
    /// The errors, warnings and notes about the text.
    pub diagnostics: Vec<Concern>,
    /// The ports with their policies.
    pub router: Router,
}

/// A diagnostic with the interfaces that it concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct Concern {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The names of the interfaces, shared between diagnostics; `None` for the whole device.
    pub interfaces: Option<Arc<[String]>>,
}

/// The platform whose rules apply to a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecognizedPlatform {
    /// Its name, one of [`FrontEnd::platforms`](crate::FrontEnd::platforms).
    #[serde(rename = "profile")]
    pub name: String,
    /// The operating system that wrote the configuration.
    pub dialect: String,
    /// Whether perhop models the queueing of that system and its hardware.
    pub supported: bool,
    /// Whether the user chose the platform.
    pub chosen: bool,
    /// Whether the configuration leaves no doubt about the platform, or the user chose it.
    pub certain: bool,
    /// The lines that show the platform, the clearest first; none where it is assumed.
    pub because: Vec<Evidence>,
}

/// A line that shows the language or the platform of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// The conclusion from it.
    pub says: String,
}
