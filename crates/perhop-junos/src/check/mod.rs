//! Rules about statements that are valid, but probably not what their author intends.

mod checked;
mod filters;
mod losses;
mod queues;
mod unused;

use perhop_lint::Diagnostic;

pub(crate) use checked::Checked;

/// Returns the findings of all rules in a configuration.
pub(crate) fn check(checked: Checked) -> Vec<Diagnostic> {
    let mut found = queues::check(checked);
    found.extend(filters::check(checked));
    found.extend(losses::check(checked));
    found.extend(unused::check(checked));
    found
}
