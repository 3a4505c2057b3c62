//! [`Kernel`]: the state of the devices after the commands that were read, and the log of the lines.

use crate::log::Log;
use crate::marks::Marks;
use crate::model::Device;
use crate::rules;

/// The simulated state of Linux while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) devices: Vec<Device>,
    pub(crate) log: Log,
    /// The marks that lines set.
    pub(crate) marks: Marks,
    /// The device of the current line.
    pub(crate) device_of_line: Option<usize>,
}

impl Kernel {
    /// Returns the index of the device `name`. Creates the device if it does not exist.
    pub(crate) fn device(&mut self, name: &str, number: usize) -> usize {
        let found = self.devices.iter().position(|device| device.name == name);
        let index = found.unwrap_or_else(|| {
            self.devices.push(Device { name: name.to_owned(), line: number, ..Device::default() });
            self.devices.len() - 1
        });
        self.device_of_line = Some(index);
        index
    }

    /// Reports that tc refuses the command in a line, before Linux receives it.
    pub(crate) fn refuse_by_tc(&mut self, number: usize, message: impl Into<String>) {
        self.log.found(&rules::TC_COMMAND_REFUSED, number, message, "tc refuses the command");
    }

    /// Reports that Linux refuses the command in a line.
    pub(crate) fn refuse(&mut self, number: usize, message: impl Into<String>) {
        let linux = "Linux refuses the command: nothing changes";
        self.log.found(&rules::TC_COMMAND_REFUSED, number, message, linux);
    }
}
