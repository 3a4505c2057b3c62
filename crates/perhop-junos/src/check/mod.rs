//! Rules about valid statements that probably differ from their author's intention.

mod filters;
mod losses;
mod queues;
mod unused;

use perhop_lint::{Diagnostic, Rule};

use crate::cos::ClassOfService;
use crate::firewall::Firewall;
use crate::interfaces::Interface;
use crate::tree::Tree;

/// A configuration that was read.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'c> {
    pub(crate) tree: &'c Tree,
    pub(crate) cos: &'c ClassOfService,
    pub(crate) firewall: &'c Firewall,
    pub(crate) interfaces: &'c [Interface],
}

/// Returns the findings of all rules in a configuration.
pub(crate) fn check(checked: Checked) -> Vec<Diagnostic> {
    let mut found = queues::check(checked);
    found.extend(filters::check(checked));
    found.extend(losses::check(checked));
    found.extend(unused::check(checked));
    found
}

/// Returns a finding in a line; none for a statement without a line, as a built-in one.
fn finding(rule: &'static Rule, line: usize, message: String, router: &str) -> Option<Diagnostic> {
    (line > 0).then(|| Diagnostic::new(rule, line, message, router))
}
