//! [`FrontEnd`]: the interface of a vendor's language.

use std::collections::BTreeMap;

use perhop_lint::{Line, Rule};
use perhop_qos::buffer::DropSpacing;
use perhop_qos::packet::Packet;
use perhop_qos::ring::{RingAdmission, RingRelease};
use perhop_qos::{ConfigError, Rate};
use serde::Serialize;

use crate::intent::VisibleHeader;
use crate::model::{DeviceModel, Evidence};
use crate::platform_rule::PlatformRule;
use crate::policy_uses::{MadeInterface, PolicyUses};
use crate::show::Shows;
use crate::switch_memory::{MemoryOptions, PortMemory, SwitchMemory};
use crate::tables::DeviceTables;
use crate::writing::{PoliciesToWrite, Written};

/// The language of a vendor's devices.
pub trait FrontEnd: Sync {
    /// Returns the name of the language for messages.
    fn name(&self) -> &'static str;

    /// Returns the names of the platforms of this language.
    fn platforms(&self) -> &'static [&'static str];

    /// Whether `name` is a platform of this language: a listed platform or one of its products.
    fn has_platform(&self, name: &str) -> bool {
        self.platforms().contains(&name)
    }

    /// Returns the queueing rules of a platform; an empty list if no data file has the rules.
    fn platform_rules(&self, _platform: &str) -> Vec<PlatformRule> {
        Vec::new()
    }

    /// Returns the evidence that `text` is in this language, or `None` if there is none.
    fn recognize(&self, text: &str) -> Option<Recognition>;

    /// Returns the device that `text` configures. Faults in the text become diagnostics; this method never
    /// fails because of the text, and never panics.
    ///
    /// # Errors
    /// An option is invalid. The path begins at a field of [`ParseOptions`].
    fn parse(&self, text: &str, options: &ParseOptions) -> Result<DeviceModel, ConfigError>;

    /// Returns the full name of an interface whose name may be abbreviated.
    fn interface_name(&self, written: &str) -> String {
        written.to_owned()
    }

    /// Returns the rules that only this front end applies.
    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }

    /// Returns an interface of at least `rate`, or the fastest interface, for a device whose configuration
    /// has no usable interface.
    fn added_interface(&self, rate: Rate) -> AddedInterface;

    /// Whether packets can arrive and leave through the interface `name`; false for loopbacks and the control
    /// plane.
    fn has_line(&self, _name: &str) -> bool {
        true
    }

    /// Returns a lookup for the device that `text` configures. The lookup finds the classes of a packet, and
    /// the lines that determine these classes. `None` if the classes of the language are queues.
    ///
    /// # Errors
    /// An option is invalid.
    fn class_lines(
        &self,
        _text: &str,
        _options: &ParseOptions,
    ) -> Result<Option<Box<dyn ClassLines>>, ConfigError> {
        Ok(None)
    }

    /// Returns the policies that each part of a configuration defines or names; empty if the language has
    /// policies only at interfaces.
    fn policy_uses(&self, _lines: &[Line]) -> Vec<PolicyUses> {
        Vec::new()
    }

    /// Returns an interface of `rate` with the output policy `policy`; `None` if no command sets the rate of
    /// an interface.
    fn interface_for(&self, _policy: &str, _rate: Rate) -> Option<MadeInterface> {
        None
    }

    /// Returns the RED thresholds in `commands`, which can have placeholders such as `{min}` for numbers. The
    /// caller adds the commands to `text`.
    fn open_thresholds(&self, _text: &str, _commands: &[String]) -> Vec<OpenThresholds> {
        Vec::new()
    }

    /// Returns the writer of this language and its name for users; `None` if perhop cannot write the
    /// language.
    fn writer(&self) -> Option<(&'static str, &dyn Writer)> {
        None
    }

    /// Returns the routes and neighbors in the output of a device; empty if the text has no such output.
    fn read_tables(&self, _output: &str) -> DeviceTables {
        DeviceTables::default()
    }

    /// Returns the packet memory of a switch. `text` is its configuration, or its output about the memory.
    /// `None` if the text is neither, or if perhop does not model the memory of the device.
    ///
    /// # Errors
    /// The product is not known, its memory is not modeled, or an output is incomplete.
    fn switch_memory(
        &self,
        _text: &str,
        _options: &MemoryOptions,
    ) -> Result<Option<SwitchMemory>, ConfigError> {
        Ok(None)
    }

    /// Returns the output in which a switch shows the memory of `port`; `None` if it has no such command.
    fn print_memory(&self, _port: &PortMemory) -> Option<String> {
        None
    }

    /// Returns the printer and the reader of device outputs; `None` if perhop supports no outputs of this
    /// language.
    fn shows(&self) -> Option<&dyn Shows> {
        None
    }
}

/// The writer of a vendor's language.
pub trait Writer: Sync {
    /// Writes `policies` in this language, and lists the parts that are missing or different in the text. The
    /// front end can read the text. Parts without a counterpart in the language are omitted.
    ///
    /// # Errors
    /// The policies do not fit into one text, or the rate of an interface is missing.
    fn write(&self, policies: &PoliciesToWrite) -> Result<Written, ConfigError>;
}

/// The classes of packets in the policies of a device, with the deciding lines.
pub trait ClassLines: Send + Sync {
    /// Returns the classes of `policy` to which `packet` belongs, the outermost first; empty for an unknown
    /// policy. Interfaces are numbered by their index in `interfaces`.
    fn matched(
        &self,
        policy: &str,
        interfaces: &[String],
        packet: &Packet,
        visible: VisibleHeader,
    ) -> Vec<MatchedLines>;
}

/// Thresholds of random early detection, as written: numbers or placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenThresholds {
    /// The guaranteed rate of the class, bits per second.
    pub rate_bps: u64,
    /// The drop precedence.
    pub precedence: u8,
    /// The lower threshold.
    pub min: String,
    /// The upper threshold.
    pub max: String,
    /// The denominator of the probability at the upper threshold.
    pub denominator: Option<String>,
}

/// Evidence that a text is in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// The certainty of the front end.
    pub certainty: Certainty,
    /// The lines that are the evidence, the clearest line first.
    pub because: Vec<Evidence>,
}

/// The certainty of a recognition, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Most of the text could be in the language.
    Possible,
    /// The text is in this language, and not in another language that perhop reads.
    Certain,
}

/// The options of the user for reading a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParseOptions {
    /// The platform; by default detected from the text.
    pub platform: Option<String>,
    /// Match criteria by class name. They replace the definition of the class. ` or ` joins alternatives.
    pub assume: BTreeMap<String, String>,
    /// Hardware properties that replace the properties of the platform.
    pub hardware: HardwareOptions,
    /// Vendor-specific hardware properties, by name. The front end defines names and values.
    pub settings: BTreeMap<String, String>,
    /// Whether the findings name parts that no packet reaches.
    pub hidden_parts: HiddenParts,
}

/// Whether the findings include parts of a policy or an access list that no packet reaches. The search
/// compares sets of packets and can be slow. Commands that do not show findings skip it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HiddenParts {
    /// Hidden parts are reported.
    #[default]
    Report,
    /// The search is skipped.
    Skip,
}

/// Hardware properties that replace the properties of the platform. `None` keeps the platform's value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HardwareOptions {
    /// Whether a packet may enter a tx-ring that has less room than the packet needs.
    pub ring_admission: Option<RingAdmission>,
    /// The instant at which a packet releases its place in the tx-ring.
    pub ring_release: Option<RingRelease>,
    /// Queue limit of a class, packets, if the configuration does not set it.
    pub queue_limit: Option<u64>,
    /// Share of the bandwidth that classes may reserve, percent, if the configuration does not set it.
    pub reservable_percent: Option<u64>,
    /// Distribution of the distances between drops of random early detection.
    pub drop_spacing: Option<DropSpacing>,
}

/// An interface that is added to a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedInterface {
    /// The name of the interface.
    pub name: String,
    /// The command that adds the interface.
    pub command: String,
    /// The rate of the interface.
    pub rate: Rate,
}

/// A class to which a packet belongs, and the deciding lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchedLines {
    /// The name of the policy.
    pub policy: String,
    /// The first class that matches.
    pub class: String,
    /// The line of the class in the policy; `None` if the policy does not contain the class.
    pub line: Option<usize>,
    /// The lines of the criteria that match, and of the deciding entries of access lists.
    pub criteria: Vec<usize>,
}
