//! Linux queueing: parsing of `tc` commands and output, and conversion to policies of the devices.
//!
//! ```text
//! text → parse → Configuration (the resulting objects of the kernel, a state for every line, diagnostics)
//!      → convert → Router { ports: a device each }
//! ```
//!
//! Accepts scripts of `tc` commands, files for `tc -batch`, and the output of `tc qdisc show`,
//! `tc class show` and `tc filter show`. [`parse`] never fails and never panics. A table (`syntax`) has every
//! option. If an option is not modeled, the line contains the reason.
//!
//! [`write`] converts policies to a script of commands.
//!
//! Read in this order: `shell` and `session`; `options` and the tables in `syntax`; `commands`, `show` and
//! `filter`, which change the `model` of the kernel; `convert`, which converts the model to policies.

mod arithmetic;
mod commands;
mod configuration;
mod convert;
mod filter;
mod front_end;
mod json;
mod kernel;
mod log;
mod marks;
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

/// Whether a diagnostic is more severe than a note.
pub fn is_serious(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity != Severity::Note
}
