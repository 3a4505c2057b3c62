//! [`not_simulated`]: one warning for all lines that are not simulated.

use perhop_lint::{Line, LineState, rules};

use crate::finding::Finding;

/// One warning for all lines that would affect packets but are not simulated.
pub(crate) fn not_simulated(all: &[Line]) -> Option<Finding> {
    let not_simulated = |state| matches!(state, LineState::NotModelled | LineState::NotRecognized);
    let lines: Vec<_> = all.iter().filter(|line| not_simulated(line.state)).collect();
    let first = lines.first()?;
    let rule = match first.state {
        LineState::NotModelled => &rules::COMMAND_NOT_MODELLED,
        _ => &rules::COMMAND_UNKNOWN,
    };
    let others = match lines.len() - 1 {
        0 => String::new(),
        1 => " and another line".to_owned(),
        count => format!(" and {count} other lines"),
    };
    Some(Finding {
        rule,
        line: first.number,
        interfaces: None,
        message: format!("`{}`{others}: not simulated", first.text.trim()),
        help: "`perhop check` of the configuration lists the state of every line".to_owned(),
    })
}
