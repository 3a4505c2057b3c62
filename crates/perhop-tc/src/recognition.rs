//! [`parse`], and [`is_configuration`]: whether a text consists of `tc` commands or output.

use perhop_lint::{LineState, pictured};

use crate::configuration::Configuration;
use crate::{json, session, syntax};

/// Reads commands or output of `tc`.
///
/// Never fails and never panics.
pub fn parse(text: &str) -> Configuration {
    session::Session::new().read(&pictured(text))
}

/// Whether `text` consists of `tc` commands or output: it has a known line, and fewer unknown than known
/// lines.
pub fn is_configuration(text: &str) -> bool {
    recognized(text).is_some()
}

/// Returns the configuration in `text`, or `None` if the text does not consist of `tc` commands or output.
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
    let whole_commands = text.lines().filter(|line| line.trim_start().starts_with("tc ")).count();
    // Without a device, every command has an error. The text still counts as tc commands if it has no other
    // lines.
    let is_known = count(true) > count(false) && !configuration.devices.is_empty()
        || whole_commands > 0 && whole_commands == count(true) + count(false);
    is_known.then_some(configuration)
}
