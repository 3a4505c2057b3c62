//! Queueing of Linux: commands and output of `tc` in, the policies that the devices carry out.
//!
//! ```text
//! text → parse → Configuration (what is in the kernel then, a state for every line, diagnostics)
//!      → convert → Router { ports: a device each }
//! ```
//!
//! A script of `tc` commands, a file for `tc -batch`, and what `tc qdisc show`, `tc class show` and
//! `tc filter show` print are read alike. [`parse`] never fails and never panics. Every option is accounted
//! for by a table (`syntax`): it is modelled, or the line says why not.
//!
//! Reading order: `shell` and `session`; `options` and the tables in `syntax`; `commands`, `show`
//! and `filter`, which change the `model` of the kernel; `convert`, which makes policies of it.

mod arithmetic;
mod commands;
mod convert;
mod filter;
mod log;
mod model;
mod nearest;
mod options;
mod reference;
mod session;
mod shell;
mod show;
mod syntax;
mod units;
mod words;

use perhop_lint::{Diagnostic, Line, LineState, Severity};

pub use convert::{Port, Router, Wire, convert};
pub use reference::reference;

use log::Log;
use model::Device;

/// What a file says.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Every line, with what became of it.
    pub lines: Vec<Line>,
    /// What is wrong or doubtful, by line.
    pub diagnostics: Vec<Diagnostic>,
    devices: Vec<Device>,
    log: Log,
    /// By line less one: the line that opened its block, and its device.
    owners: Vec<(Option<usize>, Option<usize>)>,
}

impl Configuration {
    fn new(
        devices: Vec<Device>,
        log: Log,
        owners: Vec<(Option<usize>, Option<usize>)>,
        texts: &[(usize, String)],
    ) -> Configuration {
        let lines = session::lines(&log, &owners, texts);
        let mut configuration = Configuration { lines, diagnostics: Vec::new(), devices, log, owners };
        configuration.settle();
        configuration
    }
    /// Brings lines and diagnostics up to what has been said.
    fn settle(&mut self) {
        for line in &mut self.lines {
            let (state, note) = self.log.of(line.number);
            (line.state, line.note) = (state, note);
        }
        self.diagnostics.clone_from(&self.log.diagnostics);
        self.diagnostics.sort();
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

/// Reads commands or output of `tc`.
///
/// Never fails and never panics, whatever `text` is.
pub fn parse(text: &str) -> Configuration {
    session::Session::new().read(text)
}

/// Whether `text` is for `tc` or from it, rather than anything else: a line that it knows, and fewer that
/// nobody does.
pub fn is_configuration(text: &str) -> bool {
    let begins = |line: &&str| {
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        let verbs = ["add", "change", "replace", "del", "delete"];
        match first {
            "qdisc" | "class" | "filter" => {
                verbs.contains(&second) || syntax::kind(second).is_some() || second == "parent"
            }
            _ => {
                line.contains("tc qdisc")
                    || line.contains("tc class")
                    || line.contains("tc filter")
                    || line.contains("$TC qdisc")
                    || line.contains("tc -")
            }
        }
    };
    if !text.lines().any(|line| begins(&line)) {
        return false;
    }
    let configuration = parse(text);
    let count = |known: bool| {
        let lines = configuration.lines.iter().filter(|line| !line.is_blank('#'));
        lines.filter(|line| (line.state != LineState::NotRecognized) == known).count()
    };
    count(true) > count(false) && !configuration.devices.is_empty()
}

/// Whether a diagnostic is more than a note.
pub fn is_serious(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity != Severity::Note
}
