//! [`Configuration`]: the content of a file, line by line.

use perhop_lint::{Diagnostic, Line};

use crate::kernel::Kernel;
use crate::log::Log;
use crate::marks::Marks;
use crate::model::Device;

/// For a line: the line that opened its block, and the index of its device.
pub(crate) type Owner = (Option<usize>, Option<usize>);

/// The content of a file.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Every line, with its state.
    pub lines: Vec<Line>,
    /// The diagnostics, by line.
    pub diagnostics: Vec<Diagnostic>,
    pub(crate) devices: Vec<Device>,
    pub(crate) log: Log,
    pub(crate) marks: Marks,
    /// The line that opened the block of each line, and the device of each line. The index is the line number
    /// minus 1.
    owners: Vec<Owner>,
    /// Whether the line numbers are the numbers of JSON objects.
    pub(crate) counts_items: bool,
}

impl Configuration {
    pub(crate) fn new(kernel: Kernel, owners: Vec<Owner>, texts: &[(usize, String)]) -> Configuration {
        let Kernel { devices, log, marks, .. } = kernel;
        let lines = lines(&log, &owners, texts);
        let diagnostics = Vec::new();
        let mut configuration =
            Configuration { lines, diagnostics, devices, log, marks, owners, counts_items: false };
        configuration.settle();
        configuration
    }
    /// Updates the states of the lines and the diagnostics from the log.
    pub(crate) fn settle(&mut self) {
        for line in &mut self.lines {
            let (state, note) = self.log.line_state(line.number);
            (line.state, line.note) = (state, note);
        }
        self.diagnostics.clone_from(&self.log.diagnostics);
        self.diagnostics.sort();
    }
    /// Whether the line numbers are the numbers of JSON objects, because the text is JSON on a single line.
    pub fn counts_items(&self) -> bool {
        self.counts_items
    }
    /// Returns the device that a line concerns.
    pub fn device_of(&self, line: usize) -> Option<&str> {
        let (_, device) = self.owners.get(line.checked_sub(1)?)?;
        self.devices.get((*device)?).map(|device| device.name.as_str())
    }
    /// Iterates over the lines that can cause a difference between perhop and Linux.
    pub fn differing(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.state.differs())
    }
}

/// Returns the lines of a file with their states.
fn lines(log: &Log, owners: &[Owner], texts: &[(usize, String)]) -> Vec<Line> {
    let line = |(number, text): &(usize, String)| {
        let (state, note) = log.line_state(*number);
        let block = owners.get(number - 1).and_then(|(block, _)| *block);
        Line { number: *number, state, text: text.as_str().into(), note, block }
    };
    texts.iter().map(line).collect()
}
