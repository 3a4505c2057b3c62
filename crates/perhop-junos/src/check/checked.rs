//! [`Checked`]: a configuration that rules look at.

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

/// Returns a finding in a line; none for a statement without a line, as a built-in one.
pub(super) fn finding(rule: &'static Rule, line: usize, message: String, router: &str) -> Option<Diagnostic> {
    (line > 0).then(|| Diagnostic::new(rule, line, message, router))
}
