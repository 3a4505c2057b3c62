//! The processing of a line by the shell, before `tc` reads it: continuation, quotes, variables, arithmetic,
//! `;`, `&&` and `||`, redirection. perhop does not execute commands. Values that only a running shell knows
//! are not expanded.

use crate::arithmetic;
use crate::variables::Variables;

/// A logical line. It has several lines of the file if they end with a backslash.
#[derive(Debug)]
pub(crate) struct LogicalLine {
    /// The first line of the file, from 1.
    pub(crate) first: usize,
    /// The last line of the file.
    pub(crate) last: usize,
    pub(crate) text: String,
}

/// Returns the logical lines of `text`.
pub(crate) fn logical_lines(text: &str) -> Vec<LogicalLine> {
    let mut found: Vec<LogicalLine> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let is_comment = !is_open && line.trim_start().starts_with('#');
        let (line, continues) = match line.strip_suffix('\\') {
            Some(rest) if !is_comment => (rest, true),
            _ => (line, false),
        };
        match found.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.text += " ";
                last.text += line;
                last.last = index + 1;
            }
            None => found.push(LogicalLine { first: index + 1, last: index + 1, text: line.to_owned() }),
        }
        is_open = continues;
    }
    found
}

/// Returns the words of each command of a line. Omits commands that run only after a failure.
pub(crate) fn commands(text: &str, variables: &Variables) -> Vec<Vec<String>> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, variables, words: Vec::new(), word: None };
    let mut found = Vec::new();
    let mut is_skipped = false;
    loop {
        let end = lexer.command();
        let words = std::mem::take(&mut lexer.words);
        if !words.is_empty() && !is_skipped {
            found.push(words);
        }
        match end {
            End::Line => return found,
            End::OnFailure => is_skipped = true,
            End::OnSuccess => {}
            End::Always => is_skipped = false,
        }
    }
}

/// The end of a command.
enum End {
    Line,
    Always,
    OnSuccess,
    OnFailure,
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    variables: &'a Variables,
    words: Vec<String>,
    word: Option<String>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }
    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }
    fn flush(&mut self) {
        self.words.extend(self.word.take());
    }

    /// Reads the words of one command.
    fn command(&mut self) -> End {
        while let Some(next) = self.peek(0) {
            self.at += 1;
            match next {
                '#' if self.word.is_none() => {
                    self.at = self.chars.len();
                }
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => {
                    if let Some(literal) = self.peek(0) {
                        self.at += 1;
                        self.push(&literal.to_string());
                    }
                }
                '$' | '`' => {
                    let value = self.expanded(next);
                    // A value that only a running shell knows counts as one word.
                    if value.starts_with(['$', '`']) { self.push(&value) } else { self.split(&value) }
                }
                '&' if self.peek(0) == Some('>') => self.flush(),
                '&' if self.peek(0) == Some('&') => {
                    self.at += 1;
                    return self.ended(End::OnSuccess);
                }
                '|' if self.peek(0) == Some('|') => {
                    self.at += 1;
                    return self.ended(End::OnFailure);
                }
                ';' | '(' | ')' | '&' | '|' => return self.ended(End::Always),
                '>' | '<' => self.redirected(),
                other if other.is_whitespace() => self.flush(),
                other => self.push(other.encode_utf8(&mut [0; 4])),
            }
        }
        self.ended(End::Line)
    }

    fn ended(&mut self, end: End) -> End {
        self.flush();
        end
    }

    fn single_quoted(&mut self) {
        self.push("");
        while let Some(next) = self.peek(0) {
            self.at += 1;
            if next == '\'' {
                return;
            }
            self.push(next.encode_utf8(&mut [0; 4]));
        }
    }

    fn double_quoted(&mut self) {
        self.push("");
        while let Some(next) = self.peek(0) {
            self.at += 1;
            match next {
                '"' => return,
                '\\' if matches!(self.peek(0), Some('"' | '\\' | '$' | '`')) => {
                    let literal = self.peek(0).unwrap_or_default();
                    self.at += 1;
                    self.push(literal.encode_utf8(&mut [0; 4]));
                }
                '$' | '`' => {
                    let value = self.expanded(next);
                    self.push(&value);
                }
                other => self.push(other.encode_utf8(&mut [0; 4])),
            }
        }
    }

    /// Splits an unquoted value at spaces.
    fn split(&mut self, value: &str) {
        if value.starts_with(char::is_whitespace) {
            self.flush();
        }
        for (index, part) in value.split_whitespace().enumerate() {
            if index > 0 {
                self.flush();
            }
            self.push(part);
        }
        if value.ends_with(char::is_whitespace) {
            self.flush();
        }
    }

    /// Skips a redirection: the number before the sign, and the file name after it.
    fn redirected(&mut self) {
        if !self.word.as_ref().is_some_and(|word| word.chars().all(|character| character.is_ascii_digit())) {
            self.flush();
        }
        self.word = None;
        while matches!(self.peek(0), Some('>' | '&' | ' ' | '\t')) {
            self.at += 1;
        }
        while self.peek(0).is_some_and(|next| !next.is_whitespace() && !";&|".contains(next)) {
            self.at += 1;
        }
    }

    /// Expands `$…`, or a command in backquotes, after its first character.
    fn expanded(&mut self, first: char) -> String {
        let start = self.at - 1;
        let rest = &self.chars[self.at..];
        let value = match (first, rest) {
            ('`', _) => {
                self.skip_behind('`');
                None
            }
            (_, ['(', '(', ..]) => {
                let inner = self.balanced('(', ')');
                let inner = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
                inner
                    .and_then(|inner| arithmetic::value(inner, self.variables))
                    .map(|value| value.to_string())
            }
            // `$[…]` is an older form of arithmetic in bash.
            (_, ['[', ..]) => {
                let inner = self.balanced('[', ']');
                arithmetic::value(&inner, self.variables).map(|value| value.to_string())
            }
            (_, ['(', ..]) => {
                self.balanced('(', ')');
                None
            }
            (_, ['{', ..]) => {
                let inner = self.balanced('{', '}');
                self.parameter(&inner)
            }
            (_, [next, ..]) if next.is_ascii_alphabetic() || *next == '_' => {
                let is_of_name = |character: &&char| character.is_ascii_alphanumeric() || **character == '_';
                let name: String = rest.iter().take_while(is_of_name).collect();
                self.at += name.len();
                self.variables.get(&name).map(str::to_owned)
            }
            (_, [_, ..]) => {
                self.at += 1;
                None
            }
            (_, []) => None,
        };
        value.unwrap_or_else(|| self.chars[start..self.at.min(self.chars.len())].iter().collect())
    }

    fn skip_behind(&mut self, end: char) {
        while let Some(next) = self.peek(0) {
            self.at += 1;
            if next == end {
                return;
            }
        }
    }

    /// Returns the text between the next bracket and its counterpart.
    fn balanced(&mut self, open: char, close: char) -> String {
        let (mut depth, start) = (0_usize, self.at + 1);
        while let Some(next) = self.peek(0) {
            self.at += 1;
            if next == open {
                depth += 1;
            } else if next == close {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return self.chars[start..self.at - 1].iter().collect();
                }
            }
        }
        self.chars[start.min(self.at)..self.at].iter().collect()
    }

    /// Expands `${NAME}`, also with a default value: `${NAME:-value}`.
    fn parameter(&self, inner: &str) -> Option<String> {
        let end = inner
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .unwrap_or(inner.len());
        let (name, rest) = inner.split_at(end);
        let known = self.variables.get(name).map(str::to_owned);
        match rest.strip_prefix(':').unwrap_or(rest).chars().next() {
            None | Some('?') => known,
            Some('-' | '=') => known.or_else(|| {
                let default = rest.trim_start_matches(':').get(1..)?;
                (!default.contains(['$', '`'])).then(|| default.trim_matches(['"', '\'']).to_owned())
            }),
            _ => None,
        }
    }
}

/// Removes a prefix that runs the rest of the line as a command: `sudo -n`, `ip netns exec NAME`.
pub(crate) fn without_prefix(words: &mut Vec<String>) {
    loop {
        match words.first().map(String::as_str) {
            Some("sudo" | "doas" | "exec" | "command" | "nohup" | "time" | "!") => {
                words.remove(0);
                while words.first().is_some_and(|word| word.starts_with('-')) {
                    words.remove(0);
                }
            }
            Some("ip") if words.len() > 4 && words[1].starts_with("net") && words[2].starts_with('e') => {
                words.drain(..4);
            }
            _ => return,
        }
    }
}

/// Removes the prompt of a recorded session: `root@host:~# `, `$ `.
pub(crate) fn without_prompt(text: &str) -> &str {
    let trimmed = text.trim_start();
    for mark in ["# ", "$ "] {
        if let Some((prompt, command)) = trimmed.split_once(mark)
            && (prompt.is_empty() || (prompt.contains('@') && !prompt.contains(' ')))
        {
            return command;
        }
    }
    trimmed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, variables: &[(&str, &str)]) -> Vec<Vec<String>> {
        let mut known = Variables::default();
        for (name, value) in variables {
            known.set(name, value);
        }
        commands(text, &known)
    }

    #[test]
    fn a_line_is_split_as_in_the_shell() {
        let known = [("DEV", "eth0"), ("UP", "20"), ("OPTS", "target 5ms")];
        let words_of = |text| words(text, &known).iter().map(|word| word.join("|")).collect::<Vec<_>>();
        assert_eq!(
            words_of("tc qdisc del dev \"$DEV\" root 2> /dev/null || true"),
            ["tc|qdisc|del|dev|eth0|root"]
        );
        assert_eq!(words_of("a 'b c' \"d $UP\" ; e # f"), ["a|b c|d 20", "e"]);
        assert_eq!(words_of("tc ${DEV}.1 ${X:-7} $OPTS"), ["tc|eth0.1|7|target|5ms"]);
        assert_eq!(words_of("rate $((UP * 1000 / 3))kbit $UNKNOWN"), ["rate|6666kbit|$UNKNOWN"]);
        assert_eq!(words_of("a >/dev/null 2>&1 && b &>x c"), ["a", "b|c"]);
        assert_eq!(words_of("x $(date +%s) `id` y"), ["x|$(date +%s)|`id`|y"]);
        assert_eq!(words_of("a || b; c"), ["a", "c"]);
        assert_eq!(words_of("rate $[9*$UP/10]kbit"), ["rate|18kbit"]);
    }

    #[test]
    fn a_backslash_continues_a_line() {
        let found = logical_lines("# a \\\nb \\\n  c\nd");
        let lines: Vec<_> =
            found.iter().map(|command| (command.first, command.last, command.text.as_str())).collect();
        assert_eq!(lines, [(1, 1, "# a \\"), (2, 3, "b    c"), (4, 4, "d")]);
    }
}
