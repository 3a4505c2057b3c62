//! Outputs of devices with counters: a front end prints them for a run and reads them from a device. The
//! counters of both can be compared.

mod comparison;
mod configured;
mod counters;
mod measured;
mod offered;
mod reading;

use std::collections::BTreeSet;

use perhop_qos::{ConfigError, Dscp};
use serde_json::Value;

pub use comparison::{Comparison, Tolerances, compare};
pub use configured::{ConfiguredCommand, ShownObject};
pub use counters::{ColorCounters, PortCounters, PrecedenceCounters, QueueCounters, QueueSample, Traffic};
pub use offered::{OfferedClass, OfferedRate, offered_rates};
pub use reading::{ClassReading, EarlyDropReading, PolicyReading};

use crate::model::DeviceModel;
use crate::port::Port;

/// A command of a device that prints counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowCommand {
    /// The name of the command for users of perhop.
    pub name: &'static str,
    /// The whole command, as a user types it on the device.
    pub whole: &'static str,
    /// The object that the command shows, as a noun phrase for messages: `a policy at an interface`.
    pub about: &'static str,
    /// Whether [`Shows::read_show`] reads the output of the command.
    pub is_read: bool,
    /// Whether the command needs samples of queues.
    pub needs_samples: bool,
}

/// Choices of the user for an output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShowOptions {
    /// The release whose layout is written; by default the layout of the platform.
    pub style: Option<String>,
    /// The duration of the traffic so far, seconds; `None` for settled rates.
    pub after_s: Option<f64>,
}

/// A port of a device in a network, with its counters.
#[derive(Clone, Debug)]
pub struct CountedPort<'a> {
    /// The port.
    pub port: &'a Port,
    /// The node at the other end of the link; `None` if the network has no link at this port.
    pub link_to: Option<&'a str>,
    /// The counters; all are 0 without a link.
    pub counters: PortCounters,
}

/// A device with the counters of some of its ports.
#[derive(Clone, Debug)]
pub struct CountedDevice<'a> {
    /// The device.
    pub model: &'a DeviceModel,
    /// The ports to print.
    pub ports: Vec<CountedPort<'a>>,
    /// The codepoints of packets in the network, from their sources or by marking.
    pub codepoints: &'a BTreeSet<Dscp>,
}

/// The output of a command for one port.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownPort {
    /// The text as the device prints it.
    pub text: String,
    /// The numbers in the text, unrounded, by name.
    pub document: Value,
}

/// Prints and reads the outputs of a vendor's devices.
pub trait Shows: Sync {
    /// Returns the commands whose output this front end prints.
    fn commands(&self) -> &'static [ShowCommand];

    /// Whether `command` has output for `port`.
    fn is_shown(&self, command: &ShowCommand, port: &Port) -> bool;

    /// Returns the output of `command` for each port of `device`.
    ///
    /// # Errors
    /// An option is invalid.
    fn print_show(
        &self,
        command: &ShowCommand,
        device: &CountedDevice,
        options: &ShowOptions,
    ) -> Result<Vec<ShownPort>, ConfigError>;

    /// Returns the policies in the output of a device, in the order of the output. Unknown lines are skipped.
    /// Returns an empty list if `output` is not an output of [`Shows::commands`].
    ///
    /// # Errors
    /// `output` is an output of a command, but no line shows to which policy some classes belong.
    fn read_show(&self, output: &str) -> Result<Vec<PolicyReading>, ConfigError>;

    /// Returns the names of the commands whose output [`Shows::read_show`] can read.
    fn commands_in(&self, _output: &str) -> Vec<&'static str> {
        self.commands().iter().filter(|command| command.is_read).map(|command| command.name).collect()
    }

    /// Returns the offered traffic of the leaf classes of a policy at `port`, as the output shows it.
    fn offered(&self, policy: &PolicyReading, port: &Port) -> Vec<OfferedClass>;

    /// Returns the commands whose output shows a configuration without counters.
    fn configured_commands(&self) -> &'static [ConfiguredCommand] {
        &[]
    }

    /// Returns the output of one of [`Shows::configured_commands`] for the object `name`, or for all objects.
    /// The list is empty if the configuration has no such object.
    fn print_configured(
        &self,
        _command: &ConfiguredCommand,
        _model: &DeviceModel,
        _name: Option<&str>,
    ) -> Vec<ShownObject> {
        Vec::new()
    }
}
