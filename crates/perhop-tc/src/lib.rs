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
//! [`write`] goes the other way: policies in, a script of commands out.
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
mod recognition;
mod red_average;
mod reference;
pub mod rules;
mod session;
mod shell;
mod show;
mod statistics;
mod syntax;
mod units;
mod variables;
mod words;
mod write;

use perhop_lint::{Diagnostic, Severity};

pub use configuration::Configuration;
pub use convert::convert;
pub use front_end::Tc;
pub use recognition::{is_configuration, parse};
pub use reference::reference;

/// Whether a diagnostic is more than a note.
pub fn is_serious(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity != Severity::Note
}
