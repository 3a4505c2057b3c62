//! [`mark_platform_lines`]: the states of lines that have an effect only on some platforms.

use std::collections::BTreeSet;

use perhop_lint::LineState;

use crate::ast::Configuration;
use crate::platform::Platform;

/// Changes lines to the state "modeled" if they have an effect on `platform`. The tables of commands list
/// them as not modeled.
pub(crate) fn mark_platform_lines(configuration: &mut Configuration, platform: &Platform) {
    if platform.percent_limit_bytes().is_none() {
        return;
    }
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    // A limit in percent has no effect if the class also has a limit in bytes or time.
    let heeded = classes.filter(|class| class.queue_limit.is_none()).filter_map(|class| class.percent_limit);
    let heeded: BTreeSet<usize> = heeded.map(|at| at.line).collect();
    for line in configuration.lines.iter_mut().filter(|line| heeded.contains(&line.number)) {
        (line.state, line.note) = (LineState::Modelled, None);
    }
}
