//! [`RouterConfiguration`] as written in a scenario, and [`ConfigurationLanguage`], which interprets it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use perhop_lint::Rule;
use perhop_qos::buffer::DropSpacing;
use perhop_qos::error::ConfigError;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
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
    /// Further commands, one per element, as if they were entered at the configured router: a repeated
    /// setting replaces the earlier one. `[policy-map wan, class voice, bandwidth 500]`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Classes by criteria as `match` takes them, in place of their class-maps or where these are missing;
    /// alternatives are joined by ` or `. `{ VOICE: dscp ef }`
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assume: BTreeMap<String, String>,
    /// Properties of the router's hardware, which are not part of a configuration.
    #[serde(default)]
    pub platform: PlatformConfig,
}

/// Properties of a router's hardware, which are not part of a configuration. Keys that are not set come from
/// the profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlatformConfig {
    /// Which generation of queueing the router runs: `pre-hqf`, `7500-vip`, `hqf` (IOS from 12.4(20)T on) or
    /// `ios-xe`; `cisco-7200-pa-a3` and `cisco-7500-vip` are the first two with an ATM port adapter; `linux`
    /// for commands or output of `tc`. By default what the configuration tells of itself, and `hqf` where it
    /// tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Size of a particle in the transmit ring of a virtual circuit, IP bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particle: Option<ByteSize>,
    /// Size of a virtual circuit's transmit ring, particles, where the configuration does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit_ring: Option<u32>,
    /// Whether a packet may enter a ring that has some room, but not enough for the whole packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_admission: Option<RingAdmission>,
    /// When a packet gives its particles of a virtual circuit's transmit ring back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_release: Option<RingRelease>,
    /// Line rate in bits per second, if virtual circuits are paced in whole cell slots of the line: the
    /// circuit's rate is then the line rate divided by a whole number. By default a circuit has exactly its
    /// configured rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots_of: Option<Rate>,
    /// Queue limit of a class, packets, where the configuration does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u64>,
    /// Share of the bandwidth that classes may reserve, percent, where the configuration does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservable_percent: Option<u64>,
    /// Distribution of the distances between drops of random early detection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<DropSpacing>,
}

/// Decodes a configuration file: UTF-16 if it begins with that byte order mark, as Windows PowerShell's `>`
/// writes; else UTF-8. Invalid UTF-8 is replaced: old configurations have Latin-1 in descriptions and
/// banners.
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

/// A language of router configurations.
pub trait ConfigurationLanguage: Sync {
    /// Interprets `text`, the text of `configuration`, for its platform and with its assumptions.
    ///
    /// # Errors
    /// When the platform is unknown, or an assumption is no criterion; its path begins at the configuration.
    /// Errors in the text are among the findings.
    fn read(&self, text: &str, configuration: &RouterConfiguration) -> Result<ConfiguredRouter, ConfigError>;
    /// The full name of an interface whose name may be abbreviated.
    fn interface_name(&self, written: &str) -> String;
}

/// The interpretation of a router's configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfiguredRouter {
    /// Interfaces and virtual circuits.
    pub ports: Vec<ConfiguredPort>,
    /// Errors and warnings, among them what is not simulated.
    pub findings: Vec<Finding>,
}

/// One interface or virtual circuit of a configured router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfiguredPort {
    /// Name, unique in the router.
    pub name: String,
    /// Name of the interface, also for a virtual circuit on it.
    pub interface: String,
    /// Line of the configuration with which its section begins, from 1.
    pub line: usize,
    /// Addresses with the prefix lengths of their subnets.
    pub addresses: Vec<(Ipv4Addr, u8)>,
    /// Policy for arriving packets.
    pub input: PolicyConfig,
    /// Policy for departing packets.
    pub output: PolicyConfig,
    /// Rate of the wire, bits per second, if configured.
    pub rate: Option<Rate>,
    /// Framing on the wire, if configured.
    pub framing: Option<Framing>,
    /// Headers between the IP packet and the framing, as configured.
    pub headers: HeaderStack,
    /// Transmit ring, if configured.
    pub ring: Option<RingConfig>,
    /// Longest IP packet that it sends, if configured.
    pub mtu: Option<ByteSize>,
    /// Largest maximum segment size of TCP connections through it, if configured.
    pub adjust_mss: Option<ByteSize>,
    /// Whether the interface is administratively down.
    pub shutdown: bool,
}

/// A diagnostic about a line of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// By which rule it was found, which says how bad it is.
    pub rule: &'static Rule,
    /// Line of the text, from 1; the lines of `add` follow it.
    pub line: usize,
    /// The interfaces that it concerns; `None` for the whole router. An error that concerns no interface on a
    /// link of the scenario is reported as a warning. Findings about the same interfaces share one list.
    pub interfaces: Option<Arc<[String]>>,
    /// What is wrong.
    pub message: String,
    /// How to correct it, or what is simulated instead.
    pub help: String,
}

impl RouterConfiguration {
    /// The text without `add`.
    ///
    /// # Errors
    /// When there is no text, or the file cannot be read: the key and the message.
    pub(super) fn read(&self, base: &Path) -> Result<String, (&'static str, String)> {
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
    /// This configuration with the text of its file in place of the file's name.
    pub(crate) fn embedded(&self, base: &Path) -> RouterConfiguration {
        match self.read(base) {
            Ok(text) => RouterConfiguration { file: None, text: Some(text), ..self.clone() },
            Err(_) => self.clone(),
        }
    }
}
