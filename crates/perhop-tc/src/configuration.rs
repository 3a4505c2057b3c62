//! [`Configuration`]: what a file says, line by line.

use perhop_lint::{Diagnostic, Line};

use crate::kernel::Kernel;
use crate::log::Log;
use crate::model::Device;

/// Whom a line belongs to: the line that opened its block, and its device.
pub(crate) type Owner = (Option<usize>, Option<usize>);

/// What a file says.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Every line, with what became of it.
    pub lines: Vec<Line>,
    /// What is wrong or doubtful, by line.
    pub diagnostics: Vec<Diagnostic>,
    pub(crate) devices: Vec<Device>,
    pub(crate) log: Log,
    /// By line less one: the line that opened its block, and its device.
    owners: Vec<Owner>,
    /// Whether objects of JSON are counted in place of lines.
    pub(crate) counts_items: bool,
}

impl Configuration {
    pub(crate) fn new(kernel: Kernel, owners: Vec<Owner>, texts: &[(usize, String)]) -> Configuration {
        let Kernel { devices, log, .. } = kernel;
        let lines = lines(&log, &owners, texts);
        let diagnostics = Vec::new();
        let mut configuration =
            Configuration { lines, diagnostics, devices, log, owners, counts_items: false };
        configuration.settle();
        configuration
    }
    /// Brings lines and diagnostics up to what has been said.
    pub(crate) fn settle(&mut self) {
        for line in &mut self.lines {
            let (state, note) = self.log.of(line.number);
            (line.state, line.note) = (state, note);
        }
        self.diagnostics.clone_from(&self.log.diagnostics);
        self.diagnostics.sort();
    }
    /// Whether its lines are the objects of JSON that has no lines, by their numbers.
    pub fn counts_items(&self) -> bool {
        self.counts_items
    }
    /// The device that a line is about.
    pub fn device_of(&self, line: usize) -> Option<&str> {
        let (_, device) = self.owners.get(line.checked_sub(1)?)?;
        self.devices.get((*device)?).map(|device| device.name.as_str())
    }
    /// The lines that may make what perhop runs differ from Linux.
    pub fn differing(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.state.differs())
    }
}

/// The lines of a file with what became of them.
fn lines(log: &Log, owners: &[Owner], texts: &[(usize, String)]) -> Vec<Line> {
    let line = |(number, text): &(usize, String)| {
        let (state, note) = log.of(*number);
        let block = owners.get(number - 1).and_then(|(block, _)| *block);
        Line { number: *number, state, text: text.clone(), note, block }
    };
    texts.iter().map(line).collect()
}
