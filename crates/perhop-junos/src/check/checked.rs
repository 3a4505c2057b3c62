//! [`Checked`]: a parsed configuration with the data that rules read.

use perhop_lint::{Diagnostic, Rule};

use crate::cos::ClassOfService;
use crate::firewall::Firewall;
use crate::interfaces::Interface;
use crate::tree::Tree;

/// A parsed configuration.
#[derive(Clone, Copy)]
pub(crate) struct Checked<'c> {
    pub(crate) tree: &'c Tree,
    pub(crate) cos: &'c ClassOfService,
    pub(crate) firewall: &'c Firewall,
    pub(crate) interfaces: &'c [Interface],
}

/// Returns a finding in a line; `None` for a statement without a line, such as a built-in statement.
pub(super) fn finding(rule: &'static Rule, line: usize, message: String, router: &str) -> Option<Diagnostic> {
    (line > 0).then(|| Diagnostic::new(rule, line, message, router))
}
