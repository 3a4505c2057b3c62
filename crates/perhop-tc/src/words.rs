//! [`Words`]: the words of a `tc` command or of its output.

/// The source of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A command of a user or a script.
    Command,
    /// Output of `show`, which has units and counters that commands do not accept.
    Output,
}

/// Words, read from left to right.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    words: &'a [String],
    pub(crate) origin: Origin,
}

impl<'a> Words<'a> {
    pub(crate) fn new(words: &'a [String], origin: Origin) -> Words<'a> {
        Words { words, origin }
    }
    pub(crate) fn peek(&self) -> Option<&'a str> {
        self.words.first().map(String::as_str)
    }
    pub(crate) fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }
    /// Reads the next word if it is `word`. Returns whether it was read.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        if is_next {
            self.next();
        }
        is_next
    }
    /// Removes the next `count` words and returns them.
    pub(crate) fn split(&mut self, count: usize) -> Words<'a> {
        let (first, rest) = self.words.split_at(count.min(self.words.len()));
        self.words = rest;
        Words { words: first, origin: self.origin }
    }
    /// Returns the word after the next one.
    pub(crate) fn second(&self) -> Option<&'a str> {
        self.words.get(1).map(String::as_str)
    }
    /// Returns the word after the first `name`, without consuming either.
    pub(crate) fn value_after(&self, name: &str) -> Option<&'a str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + 1).map(String::as_str)
    }
    /// Consumes and returns the remaining words.
    pub(crate) fn rest(&mut self) -> &'a [String] {
        std::mem::take(&mut self.words)
    }
    pub(crate) fn is_shown(&self) -> bool {
        self.origin == Origin::Output
    }
}

/// Whether `word` is an abbreviation of `full`, by iproute2's `matches`.
pub(crate) fn abbreviates(word: &str, full: &str) -> bool {
    !word.is_empty() && full.starts_with(word)
}
