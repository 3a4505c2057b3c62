//! [`Session`]: processes the lines of a file in order, like the shell and `tc`.

mod devices;

use perhop_lint::LineState;

use crate::commands;
use crate::configuration::{Configuration, Owner};
use crate::json::{self, Item};
use crate::kernel::Kernel;
use crate::nearest::suggestion;
use crate::rules;
use crate::shell::{self, LogicalLine};
use crate::show::{Shown, Shows};
use crate::variables::Variables;
use crate::words::{Origin, Words, abbreviates};

/// The state of reading a file.
pub(crate) struct Session {
    kernel: Kernel,
    variables: Variables,
    /// The closing words of open loops, conditions and functions.
    blocks: Vec<&'static str>,
    /// For each line: the line that opened its block, and its device. The index is the line number minus 1.
    owners: Vec<Owner>,
    shown: Shown,
}

/// The opening and closing words of shell blocks.
const BLOCKS: [(&str, &str); 6] = [
    ("if", "fi"),
    ("for", "done"),
    ("while", "done"),
    ("until", "done"),
    ("case", "esac"),
    ("function", "}"),
];

/// Commands without effect on packets, and descriptions of the commands.
const IRRELEVANT: [(&str, &str); 18] = [
    ("set", "an option of the shell"),
    ("echo", "output"),
    ("printf", "output"),
    ("exit", "the end of a script"),
    ("return", "the end of a script"),
    ("true", ""),
    (":", ""),
    ("sleep", "time"),
    ("modprobe", "a module"),
    ("rmmod", "a module"),
    ("shift", "an option of the shell"),
    ("trap", "an option of the shell"),
    ("unset", "a variable"),
    ("cd", "a folder"),
    ("ping", "traffic"),
    ("which", "output"),
    ("test", "a condition without a body"),
    ("[", "a condition without a body"),
];

const SETTINGS: &str = "the line changes settings of the kernel";

/// Commands that affect packets or devices and that perhop does not read.
const UNREAD: [(&str, &str); 10] = [
    ("iptables", "the line has rules that may mark packets: match the headers with tc filters instead"),
    ("ip6tables", "the line has rules that may mark packets: match the headers with tc filters instead"),
    ("nft", "the line has rules that may mark packets: match the headers with tc filters instead"),
    ("ipset", "the line defines address sets for rules that perhop does not read"),
    ("sysctl", SETTINGS),
    ("source", "another file"),
    (".", "another file"),
    ("brctl", "bridges"),
    ("bridge", "bridges"),
    ("eval", "only the shell knows the command that eval runs"),
];

impl Session {
    pub(crate) fn new() -> Session {
        Session {
            kernel: Kernel::default(),
            variables: Variables::default(),
            blocks: Vec::new(),
            owners: Vec::new(),
            shown: Shown::default(),
        }
    }

    /// Reads all lines of `text`.
    pub(crate) fn read(mut self, text: &str) -> Configuration {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json = json::split(text).unwrap_or_default();
        if let Some(items) = json.numbered() {
            return self.items(&items);
        }
        let plain = if json.items.is_empty() { text } else { json.rest.as_str() };
        for logical in shell::logical_lines(plain) {
            let block = match json.items.get(&logical.first) {
                Some(items) => {
                    for item in items {
                        self.item(logical.first, item.as_ref());
                    }
                    None
                }
                None => self.line(&logical),
            };
            if let Some(line) = json.begun.get(&logical.first).filter(|line| **line < logical.first) {
                let (state, _) = self.kernel.log.line_state(*line);
                self.kernel.log.state(logical.first, state);
            }
            let (state, _) = self.kernel.log.line_state(logical.first);
            for number in logical.first + 1..=logical.last {
                self.kernel.log.state(number, state);
                self.kernel.log.note(number, format!("continues line {}", logical.first));
            }
            for number in logical.first..=logical.last {
                let device = self.kernel.device_of_line.filter(|_| number >= logical.first);
                let opener = if number > logical.first { Some(logical.first) } else { block };
                self.owners.push((opener, device));
            }
        }
        let lines = text.lines().enumerate();
        let lines: Vec<(usize, String)> =
            lines.map(|(index, text)| (index + 1, text.trim_end().to_owned())).collect();
        Configuration::new(self.kernel, self.owners, &lines)
    }

    /// Reads JSON items that share a line. Their numbers replace line numbers.
    fn items(mut self, items: &[&Result<Item, String>]) -> Configuration {
        let mut texts = Vec::new();
        for (number, item) in (1..).zip(items) {
            self.kernel.device_of_line = None;
            self.item(number, item.as_ref());
            self.owners.push((None, self.kernel.device_of_line));
            let text = item.as_ref().map_or("", |item| item.lines.first().map_or("", String::as_str));
            texts.push((number, text.trim().to_owned()));
        }
        let mut configuration = Configuration::new(self.kernel, self.owners, &texts);
        configuration.counts_items = true;
        configuration
    }

    /// Reads a discipline, class or filter in JSON.
    fn item(&mut self, number: usize, item: Result<&Item, &String>) {
        match item {
            Ok(item) => {
                for line in &item.lines {
                    if self.shown.read(&mut self.kernel, number, line) == Shows::Nothing {
                        let name = line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
                        self.kernel.log.not_modelled(number, format!("`{name}` is not known"));
                    }
                }
                for what in &item.missing {
                    let note = format!("the JSON of tc does not contain {what}: save the output without -j");
                    self.kernel.log.not_modelled(number, note);
                }
            }
            Err(why) => {
                self.kernel.log.state(number, LineState::NotRecognized);
                self.kernel.log.note(number, why);
            }
        }
        self.shown.close();
    }

    /// Reads a line. Returns the line that opened its block.
    fn line(&mut self, logical: &LogicalLine) -> Option<usize> {
        let (number, text) = (logical.first, logical.text.as_str());
        self.kernel.device_of_line = None;
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            // The line is a command at a root prompt, or a comment above an output:
            // `# tc -s class show dev eth0`.
            let comment: Vec<String> =
                trimmed.trim_start_matches('#').split_whitespace().map(str::to_owned).collect();
            if comment.first().is_some_and(|word| word == "tc")
                && comment.iter().any(|word| matches!(word.as_str(), "show" | "ls" | "list"))
            {
                self.shown.close();
                self.shown.read_device(&mut Words::new(&comment, Origin::Command));
            }
            self.kernel.log.state(number, LineState::Irrelevant);
            return None;
        }
        match self.shown.read(&mut self.kernel, number, text) {
            Shows::Nothing => {}
            Shows::Object => return None,
            Shows::MoreOf(line) => return Some(line),
        }
        self.shown.close();
        for mut words in shell::commands(shell::without_prompt(text), &self.variables) {
            self.command(number, &mut words);
        }
        if names_setting(text) && self.kernel.log.line_state(number).0 == LineState::Irrelevant {
            self.kernel.log.not_modelled(number, format!("not read: {SETTINGS}"));
        }
        None
    }

    /// Executes a command.
    fn command(&mut self, number: usize, words: &mut Vec<String>) {
        while let Some((name, value)) = words.first().and_then(|word| assignment(word)) {
            self.variables.set(name, value);
            self.kernel.log.state(number, LineState::Irrelevant);
            words.remove(0);
        }
        while words.first().is_some_and(|word| word == "export" || word == "local" || word == "readonly") {
            words.remove(0);
            while let Some((name, value)) = words.first().and_then(|word| assignment(word)) {
                self.variables.set(name, value);
                words.remove(0);
            }
            words.clear();
            self.kernel.log.state(number, LineState::Irrelevant);
        }
        shell::without_prefix(words);
        let Some(first) = words.first().cloned() else {
            self.kernel.log.state(number, LineState::Irrelevant);
            return;
        };
        self.kernel.marks.read(words);
        if self.structure(number, &first, words) {
            return;
        }
        let name = first.rsplit('/').next().unwrap_or(&first).to_owned();
        match name.as_str() {
            "tc" | "$TC" | "${TC}" => {
                words.remove(0);
                self.tc(number, words);
            }
            "qdisc" | "class" | "filter" => self.tc(number, words),
            "ip" => self.ip(number, words),
            "ethtool" => self.ethtool(number, words),
            other => self.other(number, other),
        }
    }

    fn other(&mut self, number: usize, name: &str) {
        if let Some((_, what)) = IRRELEVANT.iter().find(|(known, _)| *known == name) {
            self.mark_irrelevant(number, what);
        } else if let Some((_, what)) = UNREAD.iter().find(|(known, _)| *known == name) {
            self.kernel.log.not_modelled(number, format!("perhop does not read `{name}`: {what}"));
        } else {
            let known = ["tc", "qdisc", "class", "filter", "ip"];
            let help = suggestion(name, known);
            self.kernel.log.state(number, LineState::NotRecognized);
            self.kernel.log.note(number, format!("`{name}` is not a command of tc: {help}"));
        }
    }

    fn mark_irrelevant(&mut self, number: usize, what: &str) {
        self.kernel.log.state(number, LineState::Irrelevant);
        if !what.is_empty() {
            self.kernel.log.note(number, what);
        }
    }

    /// Skips loops, conditions and functions, because perhop does not run scripts.
    fn structure(&mut self, number: usize, first: &str, words: &[String]) -> bool {
        let opens = BLOCKS.iter().find(|(opener, _)| *opener == first).map(|(_, end)| *end);
        let is_body = first == "{" || (words.len() > 1 && words[1] == "{" && !first.starts_with("tc"));
        let end = opens.or_else(|| is_body.then_some("}"));
        if self.blocks.last().is_some_and(|end| *end == first) {
            self.blocks.pop();
            self.kernel.log.not_modelled(number, "perhop is not a shell and does not run this line");
            return true;
        }
        if let Some(end) = end {
            if self.blocks.len() < 64 {
                self.blocks.push(end);
            }
            self.kernel.log.not_modelled(number, "perhop is not a shell and does not read the lines inside");
            return true;
        }
        if self.blocks.is_empty() {
            return false;
        }
        self.kernel.log.not_modelled(
            number,
            "the command is inside a loop, a condition or a function, which perhop does not run: write the \
             command outside of it",
        );
        true
    }

    /// Executes a `tc` command, after the word `tc`.
    fn tc(&mut self, number: usize, words: &[String]) {
        let mut words = Words::new(words, Origin::Command);
        while let Some(option) = words.peek().filter(|word| word.starts_with('-')) {
            words.next();
            match option.trim_start_matches('-') {
                "n" | "netns" | "N" | "cf" | "conf" | "oneline_of" => {
                    words.next();
                }
                "b" | "batch" => {
                    let file = words.next().unwrap_or("-");
                    let note =
                        format!("perhop does not read the commands in `{file}`: pass that file to perhop");
                    return self.kernel.log.not_modelled(number, note);
                }
                _ => {}
            }
        }
        let Some(object) = words.next() else {
            return self.mark_irrelevant(number, "help");
        };
        let objects = ["qdisc", "class", "filter", "chain", "action", "monitor", "exec"];
        let Some(object) =
            objects.into_iter().find(|candidate| abbreviates(object, candidate) || object == "actions")
        else {
            let help = suggestion(object, objects);
            let message = format!("`tc {object}` is unknown: {help}");
            return self.kernel.log.found(
                &rules::TC_COMMAND_REFUSED,
                number,
                message,
                "tc refuses the command",
            );
        };
        match object {
            "qdisc" | "class" | "filter" => self.object(number, object, &mut words),
            "monitor" => self.mark_irrelevant(number, "output"),
            _ => self.kernel.log.not_modelled(number, format!("perhop does not read `tc {object}`")),
        }
    }

    fn object(&mut self, number: usize, object: &str, words: &mut Words) {
        let verb = words.next().unwrap_or("show");
        let verbs = ["add", "change", "replace", "link", "delete", "list", "show", "lst", "get", "help"];
        let Some(verb) = verbs.into_iter().find(|candidate| abbreviates(verb, candidate)) else {
            let help = suggestion(verb, verbs);
            let message = format!("`tc {object} {verb}` is unknown: {help}");
            return self.kernel.log.found(
                &rules::TC_COMMAND_REFUSED,
                number,
                message,
                "tc refuses the command",
            );
        };
        if matches!(verb, "list" | "show" | "lst" | "get" | "help") {
            self.shown.read_device(words);
            return self.mark_irrelevant(number, "output");
        }
        if verb != "delete" {
            self.kernel.log.state(number, LineState::Modelled);
        }
        match object {
            "qdisc" => commands::qdisc(&mut self.kernel, number, verb, words),
            "class" => commands::class(&mut self.kernel, number, verb, words),
            _ => commands::filter(&mut self.kernel, number, verb, words),
        }
    }
}

/// Whether a line names a file of the kernel's settings.
fn names_setting(text: &str) -> bool {
    ["/proc/sys/", "/sys/class/"].into_iter().any(|folder| text.contains(folder))
}

/// Parses `NAME=value`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut letters = name.chars();
    let first = letters.next()?;
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then_some((name, value))
}
