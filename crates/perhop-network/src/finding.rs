//! [`Finding`]: a diagnostic about a line of a router's configuration.

use std::sync::Arc;

use perhop_device::DeviceModel;
use perhop_lint::{Line, LineState, Rule, Severity, rules};

/// Maximum number of unsimulated lines that a warning names.
const NAMED: usize = 4;

/// A diagnostic about a line of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The rule, which determines the severity.
    pub(crate) rule: &'static Rule,
    /// The number of the line, from 1. The lines of `add` follow the lines of the text.
    pub(crate) line: usize,
    /// The affected interfaces; `None` for the whole router. An error is reported as a warning if none of its
    /// interfaces is on a link of the scenario.
    pub(crate) interfaces: Option<Arc<[String]>>,
    /// The description of the fault, one sentence.
    pub(crate) message: String,
    /// The correction, or the behavior that is simulated instead.
    pub(crate) help: String,
}

/// Returns the errors and warnings of a device, and a warning for its lines that are not simulated.
pub(crate) fn findings(device: &DeviceModel) -> Vec<Finding> {
    let serious = device.diagnostics.iter().filter(|located| located.diagnostic.severity != Severity::Note);
    let mut found: Vec<Finding> = serious
        .map(|located| Finding {
            rule: located.diagnostic.rule,
            line: located.diagnostic.line,
            interfaces: located.interfaces.clone(),
            message: located.diagnostic.message.clone(),
            help: located.diagnostic.router.clone(),
        })
        .collect();
    found.extend(not_simulated(&device.lines));
    found
}

/// Returns one warning for all lines that affect packets but are not simulated.
fn not_simulated(all: &[Line]) -> Option<Finding> {
    let not_simulated = |state| matches!(state, LineState::NotModelled | LineState::NotRecognized);
    let lines: Vec<_> = all.iter().filter(|line| not_simulated(line.state)).collect();
    let first = lines.first()?;
    let rule = match first.state {
        LineState::NotModelled => &rules::COMMAND_NOT_MODELLED,
        _ => &rules::COMMAND_UNKNOWN,
    };
    // Lines with equal text are named once, with the count of these lines.
    let mut texts: Vec<(&str, usize)> = Vec::new();
    for line in &lines {
        let text = line.text.trim();
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => texts.push((text, 1)),
        }
    }
    let in_words = |(text, count): &(&str, usize)| match count {
        1 => format!("`{text}`"),
        count => format!("`{text}` ({count} lines)"),
    };
    let named: Vec<String> = texts.iter().take(NAMED).map(in_words).collect();
    let others = match texts.iter().skip(NAMED).map(|(_, count)| count).sum() {
        0 => String::new(),
        1 => " and another line".to_owned(),
        count => format!(" and {count} other lines"),
    };
    Some(Finding {
        rule,
        line: first.number,
        interfaces: None,
        message: format!("{}{others}: not simulated", named.join(", ")),
        help: "`perhop check` of the configuration lists the state of every line".to_owned(),
    })
}
