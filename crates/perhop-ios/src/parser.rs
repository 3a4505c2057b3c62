//! [`parse`]: reads the lines of a file in order, and each line in its block.
//!
//! A block ends at the first line that does not belong to it. If the lines of a block are indented, as in the
//! router's output, the indentation decides. Configurations in papers and mails often have no indentation. In
//! this case, the command decides: the parser searches for it in the innermost block first, then in the
//! enclosing blocks.

use std::borrow::Cow;

use perhop_lint::{Diagnostic, FileText, Line, LineState, near, picture};

use crate::ast::Configuration;
use crate::check;
use crate::grammar::{Grammar, without_prompt};
use crate::mode::Mode;
use crate::nexus;
use crate::syntax::{self, Spelling};
use crate::words::{Finding, Form, Reader};

/// An open block.
struct Frame {
    mode: Mode,
    /// The line that opens the block.
    line: usize,
    /// The indentation of the opening line.
    indent: usize,
    layout: Layout,
}

/// The layout of the lines of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// No line of the block has been read.
    Unknown,
    /// The lines are indented deeper than the opening line.
    Indented,
    /// The lines have no indentation.
    Flat,
}

/// Reads a running-configuration. The result has the content and the state of every line of `text`.
///
/// Never fails and never panics, for any `text`.
pub fn parse(text: &str) -> Configuration {
    let mut configuration = read(text, Grammar::of_text(text));
    nexus::complete(&mut configuration, None);
    check::check(&mut configuration);
    configuration
}

/// Reads the lines of `text` in `grammar`, without the checks that compare several lines.
pub(crate) fn read(text: &str, grammar: Grammar) -> Configuration {
    let mut parser = Parser {
        configuration: Configuration { grammar, ..Configuration::default() },
        diagnostics: Vec::new(),
        frames: vec![Frame { mode: Mode::Global, line: 0, indent: 0, layout: Layout::Flat }],
        banner: None,
        adds_to: None,
        suggested: 0,
    };
    let file = FileText::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    for (index, line) in file.as_str().lines().enumerate() {
        parser.line(index + 1, &shown(line), &file);
    }
    let Parser { mut configuration, diagnostics, .. } = parser;
    configuration.lines.shrink_to_fit();
    configuration.diagnostics = diagnostics;
    configuration
}

/// Whether `text` looks like a router configuration: the parser recognizes more lines than it does not
/// recognize. Blank lines and comments do not count.
pub fn is_configuration(text: &str) -> bool {
    let configuration = read(text, Grammar::of_text(text));
    let (mut known, mut unknown) = (0usize, 0usize);
    for line in configuration.lines.iter().filter(|line| !line.is_blank('!')) {
        *if line.state == LineState::NotRecognized { &mut unknown } else { &mut known } += 1;
    }
    known > unknown
}

struct Parser {
    configuration: Configuration,
    diagnostics: Vec<Diagnostic>,
    /// The open blocks, outermost first. The first block is [`Mode::Global`], which is never closed.
    frames: Vec<Frame>,
    /// The delimiter that ends the current banner, if the parser is inside a banner.
    banner: Option<String>,
    /// An existing block, not among the open ones, that the current line extends.
    adds_to: Option<Mode>,
    /// The number of unknown commands for which the parser has searched a similar known command.
    suggested: usize,
}

/// Limit on the unknown commands for which the parser searches for a similar known command. A text with more
/// unknown commands is probably not a configuration.
const MOST_SUGGESTED: usize = 100;

impl Parser {
    fn line(&mut self, number: usize, text: &str, file: &FileText) {
        self.adds_to = None;
        let finding = self.finding(number, text);
        let is_reported = self.diagnostics.last().is_some_and(|diagnostic| diagnostic.line == number);
        let Finding { state, note } = finding;
        let state = if is_reported { LineState::Suspicious } else { state };
        // The opening line of a block belongs to the enclosing block.
        let own = |frame: &&Frame| frame.line < number;
        let block = self.frames.iter().rev().find(own).map(|frame| frame.line).filter(|line| *line > 0);
        let owner = self.adds_to.or_else(|| self.frames.get(1).map(|frame| frame.mode));
        self.configuration.owners.push(owner);
        let text = file.line(text.trim_end());
        self.configuration.lines.push(Line { number, state, text, note, block });
    }

    fn finding(&mut self, number: usize, text: &str) -> Finding {
        if let Some(delimiter) = &self.banner {
            if text.contains(delimiter.as_str()) {
                self.banner = None;
            }
            return Finding::irrelevant("text of a banner");
        }
        let indent = text.len() - text.trim_start().len();
        let mut words: Vec<&str> = without_prompt(text).split_whitespace().collect();
        without_remark(&mut words);
        let Some(first) = words.first() else { return Finding::IRRELEVANT };
        if first.starts_with('!') {
            self.comment();
            return Finding::IRRELEVANT;
        }
        let is_of_ios_xr = self.configuration.grammar == Grammar::IosXr;
        if is_typed_at_prompt(first) || is_of_ios_xr && is_session(&words) {
            return Finding::irrelevant("typed at the router's prompt: not part of the configuration");
        }
        self.dedent(indent);
        if let Some(finding) = self.structure(&words) {
            return finding;
        }
        let (form, words) = match words.as_slice() {
            [no, rest @ ..] if !rest.is_empty() && self.is_negation(no) => (Form::Negated, rest),
            all => (Form::Plain, all),
        };
        self.command(number, indent, form, words)
    }

    /// Ends an unindented block of irrelevant or unmodeled lines, or of a routing protocol, at a comment,
    /// because no other line marks its end.
    fn comment(&mut self) {
        if let Some(Frame {
            mode:
                Mode::Irrelevant
                | Mode::NotModelled(_)
                | Mode::RouterProcess(_)
                | Mode::RouterArea(..)
                | Mode::RouterPort(..)
                | Mode::Labels,
            layout: Layout::Flat,
            ..
        }) = self.frames.last()
        {
            self.frames.pop();
        }
    }

    /// Closes the blocks that do not contain a line with indentation `indent`.
    fn dedent(&mut self, indent: usize) {
        loop {
            let is_inside_process = self.is_inside_process();
            let Some(frame) = self.frames.last_mut() else { break };
            match frame.layout {
                Layout::Unknown if indent > frame.indent => frame.layout = Layout::Indented,
                // A block without lines.
                Layout::Unknown if is_inside_process => {
                    self.frames.pop();
                    continue;
                }
                Layout::Unknown => frame.layout = Layout::Flat,
                Layout::Indented if indent <= frame.indent => {
                    self.frames.pop();
                    continue;
                }
                Layout::Indented | Layout::Flat => {}
            }
            break;
        }
    }

    /// Whether the innermost block is inside the indented block of a routing process.
    fn is_inside_process(&self) -> bool {
        let outer = self.frames.len().checked_sub(2).map(|place| &self.frames[place]);
        outer.is_some_and(|frame| frame.layout == Layout::Indented && frame.mode.is_of_process())
    }

    /// Reads a line that controls the structure of the file; `None` for other lines.
    fn structure(&mut self, words: &[&str]) -> Option<Finding> {
        let first = words.first()?.to_ascii_lowercase();
        match (first.as_str(), words.len()) {
            ("exit-address-family" | "exit-vrf" | "exit-af-interface" | "exit-af-topology", 1) => {
                Some(Finding::IRRELEVANT)
            }
            ("exit" | "quit", 1) => {
                // An indented block does not end with `exit`. It ends with its indentation.
                if self.frames.len() > 1
                    && self.frames.last().is_some_and(|last| last.layout != Layout::Indented)
                {
                    self.frames.pop();
                }
                Some(Finding::IRRELEVANT)
            }
            ("end", 1) => {
                self.frames.truncate(1);
                Some(Finding::IRRELEVANT)
            }
            ("end-class-map" | "end-policy-map" | "end-policy" | "end-set" | "end-group", 1)
                if self.configuration.grammar == Grammar::IosXr =>
            {
                self.frames.truncate(1);
                Some(Finding::IRRELEVANT)
            }
            // These commands apply groups of configuration lines. Source: Cisco, "System Management
            // Configuration Guide for Cisco ASR 9000", flexible command line interface configuration groups.
            ("apply-group" | "apply-group-append" | "apply-group-remove" | "exclude-group", _)
                if self.configuration.grammar == Grammar::IosXr =>
            {
                Some(Finding::not_modelled("the lines of the group apply here, too"))
            }
            ("banner", _) => {
                self.frames.truncate(1);
                let kinds = ["motd", "login", "exec", "incoming", "prompt-timeout", "slip-ppp"];
                let text = if kinds.contains(words.get(1)?) { words.get(2)? } else { words.get(1)? };
                self.banner = banner_delimiter(text, words.last()?);
                Some(Finding::irrelevant("text of a banner"))
            }
            _ => None,
        }
    }

    /// Whether a line that begins with `word` removes a command. In a `table-map`, `default` is a command.
    fn is_negation(&self, word: &str) -> bool {
        let table = matches!(self.frames.last(), Some(Frame { mode: Mode::TableMap(_), .. }));
        word.eq_ignore_ascii_case("no") || word.eq_ignore_ascii_case("default") && !table
    }

    fn command(&mut self, number: usize, indent: usize, form: Form, words: &[&str]) -> Finding {
        if let Some(Frame { mode, layout: Layout::Indented, .. }) = self.frames.last()
            && let Some(finding) = mode.finding()
        {
            let opens = self.note(*mode, number, form, words);
            if let Some(mode) = opens {
                self.frames.push(Frame { mode, line: number, indent, layout: Layout::Unknown });
            }
            return finding;
        }
        let innermost = self.innermost(words);
        for spelling in [Spelling::Full, Spelling::Abbreviated] {
            for depth in (0..innermost).rev() {
                let mode = self.frames[depth].mode;
                let mut reader = Reader::new(words, form, number, &mut self.diagnostics);
                let reading = syntax::read(&mut self.configuration, mode, spelling, &mut reader);
                let (opens, adds_to) = (reader.opens, reader.adds_to);
                self.configuration.comparisons += reader.comparisons;
                if let Some(reading) = reading {
                    self.adds_to = adds_to;
                    // An indented line stays in its block even if the line would also be valid outside.
                    let inside = self.frames.last().is_some_and(|frame| frame.layout == Layout::Indented);
                    if opens.is_some() || !inside {
                        self.frames.truncate(depth + 1);
                    }
                    if let Some(mode) = opens {
                        self.frames.push(Frame { mode, line: number, indent, layout: Layout::Unknown });
                    }
                    return reading.unwrap_or_else(|refused| refused);
                }
            }
            if let Some(finding) = self.frames.last().and_then(|frame| frame.mode.finding()) {
                return finding;
            }
        }
        Finding { state: LineState::NotRecognized, note: self.suggestion(words) }
    }

    /// Returns the number of open blocks that can contain a line. A global command ends an unindented block
    /// even if the block has a shorter command with the same first word, `ip` or `ipv6`.
    fn innermost(&self, words: &[&str]) -> usize {
        match self.frames.last() {
            Some(Frame { mode, layout: Layout::Flat, .. })
                if syntax::is_only_global(self.configuration.grammar, *mode, words) =>
            {
                1
            }
            _ => self.frames.len(),
        }
    }

    /// Records the content of a line in a block whose lines all have the same state. Returns the block that
    /// it opens.
    fn note(&mut self, mode: Mode, number: usize, form: Form, words: &[&str]) -> Option<Mode> {
        for spelling in [Spelling::Full, Spelling::Abbreviated] {
            let mut reader = Reader::new(words, form, number, &mut self.diagnostics);
            if syntax::read(&mut self.configuration, mode, spelling, &mut reader).is_some() {
                return reader.opens;
            }
        }
        None
    }

    /// Returns a note with the command of the innermost block that an unknown command probably misspells.
    fn suggestion(&mut self, words: &[&str]) -> Option<String> {
        if self.suggested >= MOST_SUGGESTED {
            return None;
        }
        self.suggested += 1;
        let first = words.first()?;
        let known = syntax::first_words(self.configuration.grammar, self.frames.last()?.mode);
        // If the first word is known, a later word is unknown.
        near(first, known)
            .filter(|meant| !meant.eq_ignore_ascii_case(first))
            .map(|meant| format!("did you mean `{meant}`?"))
    }
}

impl Mode {
    /// Whether the block belongs to a routing process.
    fn is_of_process(self) -> bool {
        matches!(self, Mode::RouterProcess(_) | Mode::RouterArea(..) | Mode::RouterPort(..))
    }

    /// Returns the finding for all lines of a block whose lines are not parsed.
    fn finding(self) -> Option<Finding> {
        match self {
            Mode::Irrelevant => Some(Finding::IRRELEVANT),
            own if own.is_of_process() => Some(Finding::IRRELEVANT),
            Mode::NotModelled(effect) => Some(Finding::not_modelled(effect)),
            Mode::Labels => Some(Finding::not_modelled(syntax::LABELS)),
            _ => None,
        }
    }
}

/// Removes a remark after an exclamation mark, except from commands whose text may contain one.
fn without_remark(words: &mut Vec<&str>) {
    let keeps_text = ["description", "remark", "banner", "snmp-server", "username", "enable", "key"];
    match words.as_slice() {
        ["match", "protocol", ..] => return,
        [first, ..] if keeps_text.contains(first) => return,
        _ => {}
    }
    if let Some(place) = words.iter().skip(1).position(|word| word.starts_with('!')) {
        words.truncate(place + 1);
    }
}

/// Returns a line as a terminal displays it. In a recorded session, backspaces and the following text
/// overwrite `--More--`. Other control characters, which names cannot contain, are replaced by their symbols
/// (Unicode, Control Pictures).
fn shown(line: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~');
    if line.bytes().all(is_plain) || line.chars().all(|character| picture(character) == character) {
        return line.into();
    }
    let mut cells: Vec<char> = Vec::with_capacity(line.len());
    let mut cursor = 0_usize;
    for character in line.chars() {
        match character {
            '\u{8}' => cursor = cursor.saturating_sub(1),
            '\r' => cursor = 0,
            _ => {
                if cursor < cells.len() {
                    cells[cursor] = picture(character);
                } else {
                    cells.push(picture(character));
                }
                cursor += 1;
            }
        }
    }
    cells.into_iter().collect()
}

/// Whether a line begins with a prompt outside of configuration mode: `edge#show run`.
fn is_typed_at_prompt(first: &str) -> bool {
    first.split_once(['#', '>']).is_some_and(|(name, _)| {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !name.is_empty() && name.bytes().all(is_of_name)
    })
}

/// Whether a line of IOS XR is not part of the configuration: a command at the prompt of a node, or the time
/// that the router prints before an output, `Mon Feb  1 10:50:24.335 UTC`.
fn is_session(words: &[&str]) -> bool {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    match words {
        [prompt, ..] if prompt.starts_with("RP/") => true,
        [day, _, _, time, ..] => DAYS.contains(day) && time.matches(':').count() == 2,
        _ => false,
    }
}

/// Returns the delimiter of a banner whose text begins with `first`; `None` if the banner ends in the same
/// line, whose last word is `last`.
fn banner_delimiter(first: &str, last: &str) -> Option<String> {
    // If the delimiter is a control character, the router shows it as ^C.
    let length = if first.starts_with("^C") { 2 } else { first.chars().next()?.len_utf8() };
    let (delimiter, text) = first.split_at(length);
    let closed = text.contains(delimiter) || (first != last && last.ends_with(delimiter));
    (!closed).then(|| delimiter.to_owned())
}
