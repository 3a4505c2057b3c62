//! [`Reader`]: the words of a command line, read from left to right.

use std::ops::RangeInclusive;

use perhop_lint::{Diagnostic, LineState, Rule, near};

use crate::mode::Mode;

/// The form of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The command itself.
    Plain,
    /// The command after `no` or `default`, which restores the default.
    Negated,
}

/// The state of a line, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) state: LineState,
    pub(crate) note: Option<String>,
}

impl Finding {
    pub(crate) const MODELLED: Finding = Finding { state: LineState::Modelled, note: None };
    pub(crate) const IRRELEVANT: Finding = Finding { state: LineState::Irrelevant, note: None };

    pub(crate) fn modelled(note: impl Into<String>) -> Finding {
        Finding { state: LineState::Modelled, note: Some(note.into()) }
    }
    pub(crate) fn irrelevant(note: impl Into<String>) -> Finding {
        Finding { state: LineState::Irrelevant, note: Some(note.into()) }
    }
    pub(crate) fn not_modelled(note: impl Into<String>) -> Finding {
        Finding { state: LineState::NotModelled, note: Some(note.into()) }
    }
    pub(crate) fn not_recognized(note: impl Into<String>) -> Finding {
        Finding { state: LineState::NotRecognized, note: Some(note.into()) }
    }
}

/// The finding of the function that reads a command. An `Err` ends the reading of the line. In most cases,
/// the router would also refuse the line.
pub(crate) type Reading = Result<Finding, Finding>;

/// The words of a command line, and the results of reading it.
pub(crate) struct Reader<'a> {
    words: &'a [&'a str],
    next: usize,
    /// The form of the command.
    pub(crate) form: Form,
    /// The line's number.
    pub(crate) line: usize,
    /// The list to which the reader adds diagnostics.
    pub(crate) found: &'a mut Vec<Diagnostic>,
    /// The block whose commands the line is compared with.
    pub(crate) mode: Mode,
    /// Number of commands that the line was compared with.
    pub(crate) comparisons: u64,
    /// The block that the line opens, if any.
    pub(crate) opens: Option<Mode>,
    /// The existing block that the line extends, for example a numbered access list.
    pub(crate) adds_to: Option<Mode>,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the first word of line `line`.
    pub(crate) fn new(words: &'a [&'a str], form: Form, line: usize, found: &'a mut Vec<Diagnostic>) -> Self {
        Reader {
            words,
            next: 0,
            form,
            line,
            found,
            mode: Mode::Global,
            comparisons: 0,
            opens: None,
            adds_to: None,
        }
    }
    /// Creates a second reader at the first word of the same line. The second reader adds diagnostics to
    /// `found`.
    pub(crate) fn again<'b>(&self, found: &'b mut Vec<Diagnostic>) -> Reader<'b>
    where
        'a: 'b,
    {
        Reader::new(self.words, self.form, self.line, found)
    }
    /// Skips the first `count` words, which are the words of the command.
    pub(crate) fn skip(&mut self, count: usize) {
        self.next = count;
    }
    pub(crate) fn negated(&self) -> bool {
        self.form == Form::Negated
    }
    /// Returns the remaining words.
    pub(crate) fn rest(&self) -> &'a [&'a str] {
        &self.words[self.next.min(self.words.len())..]
    }
    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.rest().first().copied()
    }
    /// Reads the next word, if there is one.
    pub(crate) fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.next += 1;
        Some(word)
    }
    /// Reads the next word, which is required.
    pub(crate) fn word(&mut self, what: &str) -> Result<&'a str, Finding> {
        self.next()
            .ok_or_else(|| Finding::not_recognized(format!("{what} is missing at the end of the line")))
    }
    /// Reads the next word if it is `keyword` or an abbreviation of it. Returns whether the word was read.
    pub(crate) fn eat(&mut self, keyword: &'static str) -> bool {
        self.keyword(&[keyword]).is_some()
    }
    /// Reads the next word if it is one of `keywords` or an abbreviation, and returns the keyword.
    pub(crate) fn keyword(&mut self, keywords: &[&'static str]) -> Option<&'static str> {
        let found = choose(self.peek()?, keywords)?;
        self.next += 1;
        Some(found)
    }
    /// Reads the next word as one of `keywords` or an abbreviation, and returns the keyword.
    ///
    /// # Errors
    /// The next word is not among them.
    pub(crate) fn one_of(&mut self, keywords: &[&'static str]) -> Result<&'static str, Finding> {
        self.keyword(keywords).ok_or_else(|| self.misspelled(keywords))
    }
    /// Returns the finding for a next word that is not among `keywords`. The finding names the probable
    /// keyword, otherwise all keywords.
    pub(crate) fn misspelled(&self, keywords: &[&'static str]) -> Finding {
        match self.peek().and_then(|word| Some((word, near(word, keywords.iter().copied())?))) {
            Some((word, meant)) => {
                Finding::not_recognized(format!("unknown word `{word}`: did you mean `{meant}`?"))
            }
            None => self.unexpected(&keywords.join(", ")),
        }
    }
    /// Returns the finding that `expected` was expected instead of the next word.
    pub(crate) fn unexpected(&self, expected: &str) -> Finding {
        Finding::not_recognized(match self.peek() {
            Some(word) => format!("expected {expected}, found `{word}`"),
            None => format!("expected {expected} at the end of the line"),
        })
    }
    /// Reads the next word if it is a number.
    pub(crate) fn maybe_number(&mut self) -> Option<u64> {
        let number = self.peek()?.parse().ok()?;
        self.next += 1;
        Some(number)
    }
    /// Reads the next word as a number in `range`.
    pub(crate) fn number(&mut self, what: &str, range: RangeInclusive<u64>) -> Result<u64, Finding> {
        let number = self.maybe_number().ok_or_else(|| self.unexpected(what))?;
        if range.contains(&number) {
            return Ok(number);
        }
        let (first, last) = range.into_inner();
        Err(Finding::not_recognized(format!("{what} is {number}: the router accepts {first} to {last}")))
    }
    /// Requires the end of the line.
    pub(crate) fn end(&self) -> Result<(), Finding> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(Finding::not_recognized(format!("unexpected `{word}` at the end of the line"))),
        }
    }
    /// Adds a diagnostic of `rule` about this line: the fault, and the reaction of the router.
    pub(crate) fn report(
        &mut self,
        rule: &'static Rule,
        message: impl Into<String>,
        router: impl Into<String>,
    ) {
        self.found.push(Diagnostic::new(rule, self.line, message, router));
    }
    /// Adds a diagnostic of `rule` about two values of this line that are in the wrong order. The correction
    /// exchanges the values. A value that is not exactly one word of the line is not corrected.
    pub(crate) fn report_crossed(
        &mut self,
        rule: &'static Rule,
        (first, other): (impl ToString, impl ToString),
        message: impl Into<String>,
        router: impl Into<String>,
    ) {
        let (first, other) = (first.to_string(), other.to_string());
        let is_single = |value: &String| self.words.iter().filter(|word| *word == value).count() == 1;
        let words = if first != other && is_single(&first) && is_single(&other) {
            vec![(first.clone(), other.clone()), (other, first)]
        } else {
            Vec::new()
        };
        self.found.push(Diagnostic::new(rule, self.line, message, router).mended_by(words));
    }
}

/// Returns the keyword that equals `word`, or of which `word` is a unique abbreviation.
pub(crate) fn choose(word: &str, keywords: &[&'static str]) -> Option<&'static str> {
    if let Some(exact) = keywords.iter().find(|keyword| keyword.eq_ignore_ascii_case(word)) {
        return Some(exact);
    }
    let mut beginning = keywords.iter().filter(|keyword| abbreviates(word, keyword));
    match (beginning.next(), beginning.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Whether `word` is a prefix of `keyword` that is long enough.
pub(crate) fn abbreviates(word: &str, keyword: &str) -> bool {
    word.len() >= SHORTEST_ABBREVIATION
        && keyword.len() >= word.len()
        && keyword.is_char_boundary(word.len())
        && keyword[..word.len()].eq_ignore_ascii_case(word)
}

/// The minimum length of an abbreviation. The router accepts a single letter if it is unique in its command
/// set. perhop does not know the complete command set, so it requires more letters.
const SHORTEST_ABBREVIATION: usize = 3;
