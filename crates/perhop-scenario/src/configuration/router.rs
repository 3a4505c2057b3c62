//! [`RouterConfiguration`]: the configuration of a router as written in a scenario.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use perhop_qos::buffer::DropSpacing;
use perhop_qos::ring::{RingAdmission, RingRelease};
use perhop_qos::units::{ByteSize, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input_file::{ROUTER, reason};

/// The configuration of a router in its own language: `file` or `text`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouterConfiguration {
    /// File with the configuration, relative to the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The configuration itself, instead of `file`. Results contain it in this form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Further commands, one per element. They have the effect of commands that are entered at the configured
    /// router: a repeated setting replaces the earlier one. `[policy-map wan, class voice, bandwidth 500]`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Match criteria of classes, in the syntax of `match`; alternatives are joined by ` or `. They replace
    /// the class-maps of these classes, or supply missing class-maps. `{ VOICE: dscp ef }`
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assume: BTreeMap<String, String>,
    /// Properties of the router's hardware, which a configuration does not contain.
    #[serde(default)]
    pub platform: PlatformConfig,
}

/// Properties of a router's hardware, which a configuration does not contain. The profile supplies keys that
/// are not set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlatformConfig {
    /// Queueing generation of the router: `pre-hqf`, `7500-vip`, `hqf` (IOS from 12.4(20)T on) or `ios-xe`;
    /// `cisco-7200-pa-a3` and `cisco-7500-vip` are `pre-hqf` and `7500-vip` with an ATM port adapter; `linux`
    /// is for commands or output of `tc`. By default the generation is detected from the configuration; if
    /// that is not possible, it is `hqf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Alias of `settings: {particle: …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particle: Option<ByteSize>,
    /// Alias of `settings: {circuit-ring: …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit_ring: Option<u32>,
    /// Whether a packet may enter a tx-ring that has less room than the packet needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_admission: Option<RingAdmission>,
    /// The instant at which a packet releases its place in the tx-ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_release: Option<RingRelease>,
    /// Alias of `settings: {slots-of: …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots_of: Option<Rate>,
    /// Queue limit of a class, packets, if the configuration does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u64>,
    /// Share of the bandwidth that classes may reserve, percent, if the configuration does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservable_percent: Option<u64>,
    /// Distribution of the distances between drops of random early detection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<DropSpacing>,
    /// Properties that only one vendor's hardware has, by name. For IOS: `particle`, the size of a particle
    /// in the tx-ring of a virtual circuit, IP bytes; `circuit-ring`, the size of that ring, particles, if
    /// the configuration does not set it; `slots-of`, the line rate if circuits are paced in whole cell
    /// slots: the rate of a circuit is then the line rate divided by a whole number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Setting>,
}

/// The value of a vendor-specific hardware property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Setting {
    /// A whole number.
    Number(u64),
    /// A text or a number with its unit.
    Text(String),
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Setting::Number(number) => number.fmt(formatter),
            Setting::Text(text) => text.fmt(formatter),
        }
    }
}

/// Decodes a configuration file. A file with a UTF-16 byte order mark is UTF-16; the redirection `>` of
/// Windows PowerShell writes such files. All other files are UTF-8. Invalid UTF-8 is replaced, because old
/// configurations have Latin-1 text in descriptions and banners.
pub fn configuration_text(bytes: &[u8]) -> String {
    let utf_16 = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => utf_16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf_16(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

impl RouterConfiguration {
    /// Returns the text of the configuration, without `add`.
    ///
    /// # Errors
    /// Neither or both of `file` and `text` are set, or the file cannot be read. The error is the key and the
    /// message.
    pub fn read(&self, base: &Path) -> Result<String, (&'static str, String)> {
        match (&self.file, &self.text) {
            (Some(_), Some(_)) => Err(("text", "`file` and `text` are both set".into())),
            (None, None) => Err(("", "neither `file` nor `text` is set".into())),
            (None, Some(text)) => Ok(text.clone()),
            (Some(file), None) => {
                let path = base.join(file);
                match ROUTER.read(&path) {
                    Ok(bytes) => Ok(configuration_text(&bytes)),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        Err(("file", format!("there is no file `{}`", path.display())))
                    }
                    Err(error) => {
                        Err(("file", format!("cannot read `{}`: {}", path.display(), reason(&error))))
                    }
                }
            }
        }
    }
    /// Returns this configuration with `text` in place of `file`. If the file cannot be read, the
    /// configuration is unchanged.
    pub(crate) fn embedded(&self, base: &Path) -> RouterConfiguration {
        match self.read(base) {
            Ok(text) => RouterConfiguration { file: None, text: Some(text), ..self.clone() },
            Err(_) => self.clone(),
        }
    }
}
