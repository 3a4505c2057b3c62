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
mod configuration;
mod convert;
mod filter;
mod front_end;
mod json;
mod kernel;
mod log;
mod model;
mod nearest;
mod options;
mod reference;
pub mod rules;
mod session;
mod shell;
mod show;
mod syntax;
mod units;
mod variables;
mod words;

use perhop_lint::{Diagnostic, LineState, Severity, pictured};

pub use configuration::Configuration;
pub use convert::convert;
pub use front_end::Tc;
pub use reference::reference;

/// Reads commands or output of `tc`.
///
/// Never fails and never panics, whatever `text` is.
pub fn parse(text: &str) -> Configuration {
    session::Session::new().read(&pictured(text))
}

/// Whether `text` is for `tc` or from it, rather than anything else: a line that it knows, and fewer that
/// nobody does.
pub fn is_configuration(text: &str) -> bool {
    recognized(text).is_some()
}

/// Returns the configuration that `text` is, or `None` where it looks like anything else.
pub(crate) fn recognized(text: &str) -> Option<Configuration> {
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
    let begins_json =
        |line: &str| json::begins(line) && text.contains("\"handle\"") || line.contains("\"pref\"");
    if !text.lines().any(|line| begins(&line) || begins_json(line)) {
        return None;
    }
    let configuration = parse(text);
    let count = |known: bool| {
        let lines = configuration.lines.iter().filter(|line| !line.is_blank('#'));
        lines.filter(|line| (line.state != LineState::NotRecognized) == known).count()
    };
    let is_known = count(true) > count(false) && !configuration.devices.is_empty();
    is_known.then_some(configuration)
}

/// Whether a diagnostic is more than a note.
pub fn is_serious(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity != Severity::Note
}
