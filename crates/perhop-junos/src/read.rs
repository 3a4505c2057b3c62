//! [`read`]: a text in braces or `set` lines as a [`Tree`].

use crate::set_lines::{self, Session};
use crate::tokens::{Comment, Token, tokens};
use crate::tree::{NodeId, Problem, Statement, Tree};

/// A text as a tree of statements.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) tree: Tree,
    /// The first prompt that names a second device.
    pub(crate) other_device: Option<OtherDevice>,
    /// The first line with a directive of a template.
    pub(crate) template: Option<usize>,
    /// The line that opens the innermost block around each line, by line number minus 1.
    pub(crate) blocks: Vec<Option<usize>>,
    /// Whether the text has statements in braces or `set` lines.
    pub(crate) is_configuration: bool,
}

/// The pieces of a second device in one text.
#[derive(Clone, Debug)]
pub(crate) struct OtherDevice {
    pub(crate) name: String,
    /// The lines of all devices except the first.
    pub(crate) lines: Vec<usize>,
}

/// Reads a text. Every text has a tree.
pub(crate) fn read(text: &str) -> Read {
    let mut reader = Reader::new();
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line);
    }
    reader.finish_statement(Opens::Nothing);
    reader.read
}

/// The current statement.
#[derive(Debug)]
struct Unfinished {
    at: NodeId,
    /// The node whose values a list in brackets contains.
    list: Option<NodeId>,
    /// The last node of each line, and of each item of a list.
    ends: Vec<(usize, NodeId)>,
    change: Option<Change>,
    is_too_deep: bool,
    has_words: bool,
}

/// The word before a statement that changes the statement: `inactive:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Inactive,
    Delete,
    Replace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opens {
    Nothing,
    Block,
}

struct Reader {
    read: Read,
    frames: Vec<(NodeId, usize)>,
    unfinished: Unfinished,
    comment: Comment,
    device: Option<String>,
    /// The label before the first device.
    label: Option<String>,
    /// Whether the lines since the last prompt belong to a device other than the first.
    is_other_device: bool,
    /// The statement that encloses the following lines, set by `edit` or by a prompt with a path.
    base: NodeId,
}

impl Reader {
    fn new() -> Reader {
        let read = Read {
            tree: Tree::new(),
            other_device: None,
            template: None,
            blocks: Vec::new(),
            is_configuration: false,
        };
        Reader {
            read,
            frames: Vec::new(),
            unfinished: Unfinished::at(NodeId::ROOT),
            comment: Comment::None,
            device: None,
            label: None,
            is_other_device: false,
            base: NodeId::ROOT,
        }
    }

    fn line(&mut self, number: usize, text: &str) {
        self.read.blocks.push(self.frames.last().map(|(_, line)| *line));
        let trimmed = text.trim();
        if self.comment == Comment::None {
            if is_template(trimmed) && self.read.template.is_none() {
                self.read.template = Some(number);
            }
            let is_top = self.frames.is_empty() && !self.unfinished.has_words;
            if let Some(device) = label(trimmed).filter(|_| is_top) {
                return self.labeled(number, device);
            }
            if is_top && trimmed.starts_with("show ") && !trimmed.ends_with(['{', ';']) {
                return self.command(number, trimmed);
            }
            if let Some((device, command)) = prompt(trimmed) {
                self.close();
                return self.prompt(number, device, command);
            }
        }
        if let Some(other) = self.read.other_device.as_mut().filter(|_| self.is_other_device) {
            other.lines.push(number);
            return;
        }
        if self.comment == Comment::None && self.frames.is_empty() && !self.unfinished.has_words {
            if is_banner(trimmed) {
                self.base = NodeId::ROOT;
                return;
            }
            if set_lines::is_command(trimmed) {
                self.read.is_configuration = true;
                return self.set(number, trimmed);
            }
        }
        self.braces(number, text);
    }

    /// Reads a label of a device. Prompts after the first label contain the name of the device itself.
    fn labeled(&mut self, number: usize, label: &str) {
        let is_first = self.device.is_none() && self.label.is_none();
        if is_first || self.label.as_deref() == Some(label) {
            self.label = Some(label.to_owned());
            self.is_other_device = false;
            return;
        }
        let name = label.to_owned();
        let other = self.read.other_device.get_or_insert(OtherDevice { name, lines: Vec::new() });
        other.lines.push(number);
        self.is_other_device = true;
    }

    fn prompt(&mut self, number: usize, device: &str, command: &str) {
        let is_first = self.device.get_or_insert_with(|| device.to_owned()) == device;
        if !is_first {
            let name = device.to_owned();
            let other = self.read.other_device.get_or_insert(OtherDevice { name, lines: Vec::new() });
            other.lines.push(number);
            self.is_other_device = true;
            return;
        }
        self.is_other_device = false;
        self.command(number, command);
    }

    /// Reads a command of the operational mode or of the configuration mode.
    fn command(&mut self, number: usize, command: &str) {
        self.base = NodeId::ROOT;
        let words: Vec<&str> = command.split('|').next().unwrap_or_default().split_whitespace().collect();
        match words.as_slice() {
            ["show", "configuration", path @ ..] if !command.contains("display set") => {
                let path: Vec<&str> = path.iter().copied().filter(|word| *word != "no-more").collect();
                self.base = self.read.tree.enter(NodeId::ROOT, &path, number);
                self.unfinished = Unfinished::at(self.base);
            }
            _ if set_lines::is_command(command) => self.set(number, command),
            _ => {}
        }
    }

    fn set(&mut self, number: usize, text: &str) {
        let mut session = Session { tree: &mut self.read.tree, base: &mut self.base };
        set_lines::read(&mut session, number, text);
        self.unfinished = Unfinished::at(self.base);
    }

    fn braces(&mut self, number: usize, text: &str) {
        let (found, comment) = tokens(text, self.comment);
        self.comment = comment;
        for token in found {
            match token {
                Token::Word(word) => self.word(number, word),
                Token::ListOpen => self.unfinished.list = Some(self.unfinished.at),
                Token::ListClose => self.unfinished.list = None,
                Token::End => self.finish_statement(Opens::Nothing),
                Token::Open => {
                    self.read.is_configuration = true;
                    self.finish_statement(Opens::Block);
                    let at = self.unfinished.at;
                    self.frames.push((at, number));
                    self.unfinished = Unfinished::at(at);
                }
                Token::Close => {
                    self.finish_statement(Opens::Nothing);
                    self.frames.pop();
                    self.unfinished = Unfinished::at(self.around());
                }
            }
        }
    }

    fn around(&self) -> NodeId {
        self.frames.last().map_or(self.base, |(node, _)| *node)
    }

    fn word(&mut self, number: usize, word: &str) {
        if !self.unfinished.has_words {
            let change = match word {
                "inactive:" => Some(Change::Inactive),
                "delete:" => Some(Change::Delete),
                "replace:" => Some(Change::Replace),
                "protect:" | "active:" => return,
                _ => None,
            };
            if change.is_some() {
                self.unfinished.change = change;
                return;
            }
            self.unfinished.at = self.around();
            let is_base = self.frames.is_empty() && self.base != NodeId::ROOT;
            // `show configuration apply-groups` prints a statement with its name, but a block without its
            // name.
            if is_base && self.read.tree.word(self.base) == word {
                self.unfinished.at = self.read.tree.parent(self.base);
            }
            self.unfinished.has_words = true;
            self.read.tree.begin_statement();
        }
        let parent = self.unfinished.list.unwrap_or(self.unfinished.at);
        if let Some(node) = self.read.tree.add(parent, word, number) {
            self.unfinished.at = node;
            let ends = &mut self.unfinished.ends;
            match ends.last_mut() {
                Some(last) if last.0 == number && self.unfinished.list.is_none() => last.1 = node,
                _ => ends.push((number, node)),
            }
        } else {
            self.unfinished.is_too_deep = true;
            self.unfinished.ends.push((number, parent));
        }
    }

    fn finish_statement(&mut self, opens: Opens) {
        let around = self.around();
        let done = std::mem::replace(&mut self.unfinished, Unfinished::at(around));
        let problem = done.is_too_deep.then_some(Problem::TooDeep);
        let line = done.ends.first().map_or(0, |(line, _)| *line);
        self.read.tree.statements.extend(done.ends.iter().map(|(line, node)| Statement {
            line: *line,
            node: *node,
            problem,
        }));
        match done.change.filter(|_| done.has_words) {
            Some(Change::Inactive) => self.read.tree.set_inactive(done.at, true),
            Some(Change::Delete) => self.read.tree.remove(done.at, line),
            Some(Change::Replace) => self.read.tree.clear(done.at, line),
            None => {}
        }
        if opens == Opens::Block && done.has_words {
            self.unfinished.at = done.at;
        }
        self.read.is_configuration |= done.has_words && opens == Opens::Nothing && !self.frames.is_empty();
    }

    /// Closes all blocks, at a prompt.
    fn close(&mut self) {
        self.finish_statement(Opens::Nothing);
        self.frames.clear();
        self.base = NodeId::ROOT;
        self.unfinished = Unfinished::at(NodeId::ROOT);
    }
}

impl Unfinished {
    fn at(at: NodeId) -> Unfinished {
        Unfinished { at, list: None, ends: Vec::new(), change: None, is_too_deep: false, has_words: false }
    }
}

/// Whether a line has a directive of a template.
fn is_template(text: &str) -> bool {
    let has = |open: &str, close: &str| text.split_once(open).is_some_and(|(_, rest)| rest.contains(close));
    !text.starts_with('#') && (has("{{", "}}") || has("{%", "%}"))
}

/// Whether a line only separates the pieces of a recorded session: `[edit]`, `{master:0}` or dashes.
fn is_banner(text: &str) -> bool {
    let is_rule = text.len() > 2 && text.chars().all(|c| matches!(c, '-' | '=' | '_'));
    is_rule
        || (text.starts_with("[edit") && text.ends_with(']'))
        || (text.starts_with('{') && text.ends_with('}') && !text.contains(';') && text.len() > 2)
}

/// Returns the device of a line such as `R1:` between pieces.
fn label(text: &str) -> Option<&str> {
    let name = text.strip_suffix(':')?;
    let is_change = matches!(name, "inactive" | "protect" | "replace" | "delete" | "active");
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (!name.is_empty() && is_name && !is_change).then_some(name)
}

/// Returns the device and the command of a line that begins with a prompt such as `user@host>`.
fn prompt(text: &str) -> Option<(&str, &str)> {
    let (head, rest) = text.split_once(['>', '#', '%'])?;
    let (user, device) = head.split_once('@')?;
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
    };
    (is_name(user) && is_name(device)).then(|| (device, rest.trim()))
}
