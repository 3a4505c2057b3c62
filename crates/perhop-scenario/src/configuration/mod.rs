//! Routers that come with a configuration of their own: [`RouterConfiguration`] as written, and
//! [`ConfigurationLanguage`], which says what it amounts to.
//!
//! Which language that is, nobody here knows: a front end brings it along
//! ([`Loader`](super::Loader)). What it reads is put into the scenario's own terms by `assemble`:
//! policies, rates, framings and rings at the interfaces that links name. After that the scenario is
//! one like any other.

mod assemble;

use std::net::Ipv4Addr;
use std::path::Path;

use perhop_qos::buffer::DropSpacing;
use perhop_qos::error::ConfigError;
use perhop_qos::framing::Framing;
use perhop_qos::policy::PolicyConfig;
use perhop_qos::ring::{RingAdmission, RingConfig};
use perhop_qos::units::{ByteSize, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnostic::Severity;
use super::document::reason;

pub(super) use assemble::{Assembled, assemble};

/// A router's own configuration, as it stands in the router: `file` or `text`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RouterConfiguration {
    /// The file that holds it; the path is relative to the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The configuration itself, in place of a file: so results keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Further commands, one by one, as if they were typed into the configured router: what they say again
    /// replaces what was said. `[policy-map wan, class voice, bandwidth 500]`
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// What depends on the router's hardware and stands in no configuration.
    #[serde(default)]
    pub platform: PlatformConfig,
}

/// What depends on a router's hardware and stands in no configuration; what is not said here is the profile's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlatformConfig {
    /// Name of a profile; by default a router of 1999 with an ATM port adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// IP bytes in a particle of the transmit ring of a virtual circuit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particle: Option<ByteSize>,
    /// Particles of a virtual circuit's transmit ring where its configuration does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit_ring: Option<u32>,
    /// When a packet may enter a ring that has room, but not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_admission: Option<RingAdmission>,
    /// Rate of the line in whose whole cell slots a virtual circuit is paced: its rate is then the line's over the
    /// next whole number. By default a circuit has exactly the rate of its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots_of: Option<Rate>,
    /// Packets in a class's queue where its configuration does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u64>,
    /// Percent of the bandwidth that classes may reserve where the configuration does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservable_percent: Option<u64>,
    /// How random early detection spreads its drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<DropSpacing>,
}

/// The text of a configuration's file: UTF-16 where it begins with the byte order mark of that, as what Windows
/// PowerShell's `>` writes; else UTF-8. Configurations of old are Latin-1 in places; nothing that matters is.
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

/// A language in which routers are configured.
pub trait ConfigurationLanguage {
    /// What `text` amounts to on `platform`.
    ///
    /// # Errors
    /// Where there is no such platform; what is wrong with the text is among the findings.
    fn read(&self, text: &str, platform: &PlatformConfig) -> Result<ConfiguredRouter, ConfigError>;
    /// The full name of an interface that may be written in short.
    fn interface_name(&self, written: &str) -> String;
}

/// A router as its configuration describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfiguredRouter {
    /// Its interfaces and virtual circuits.
    pub ports: Vec<ConfiguredPort>,
    /// What is wrong or doubtful, or not simulated.
    pub findings: Vec<Finding>,
}

/// One interface or virtual circuit of a configured router.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredPort {
    /// Its name, unique in the router.
    pub name: String,
    /// The name of the interface it is or belongs to.
    pub interface: String,
    /// The line of the configuration that opens it.
    pub line: usize,
    /// Addresses and lengths of their subnets' prefixes.
    pub addresses: Vec<(Ipv4Addr, u8)>,
    /// Conditions packets that arrive.
    pub input: PolicyConfig,
    /// Conditions and queues packets that leave.
    pub output: PolicyConfig,
    /// Bits per second on the wire, where the configuration says.
    pub rate: Option<Rate>,
    /// What surrounds an IP packet, where the configuration says.
    pub framing: Option<Framing>,
    /// The FIFO between scheduler and wire, where the configuration says.
    pub ring: Option<RingConfig>,
    /// Nothing passes.
    pub shutdown: bool,
}

/// Something about a configuration that its reader should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Line of the text, from 1; those that were added count on.
    pub line: usize,
    /// What was found.
    pub message: String,
    /// What happens in its place, or what would be right.
    pub help: String,
}

impl RouterConfiguration {
    /// The text, without what is added to it.
    ///
    /// # Errors
    /// Where there is none, or the file cannot be read: the key at fault, and why.
    fn read(&self, base: &Path) -> Result<String, (&'static str, String)> {
        match (&self.file, &self.text) {
            (Some(_), Some(_)) => {
                Err(("text", "the configuration is given twice, as a file and as text".into()))
            }
            (None, None) => Err(("", "a configuration without `file` or `text`".into())),
            (None, Some(text)) => Ok(text.clone()),
            (Some(file), None) => {
                let path = base.join(file);
                match std::fs::read(&path) {
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
    /// The same with the text of its file in it.
    pub(super) fn embedded(&self, base: &Path) -> RouterConfiguration {
        match self.read(base) {
            Ok(text) => RouterConfiguration { file: None, text: Some(text), ..self.clone() },
            Err(_) => self.clone(),
        }
    }
}
