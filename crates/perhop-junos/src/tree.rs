//! [`Tree`]: the statements of a configuration, one word per node.
//!
//! Braces and `set` lines build the same tree: `schedulers { voice { priority high; } }` and
//! `set schedulers voice priority high` are the path `schedulers`, `voice`, `priority`, `high`.

use std::collections::BTreeMap;
use std::sync::Arc;

use perhop_lint::LineState;

use crate::words::{Places, Words};

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// The root node. It has no word, and all statements are below it.
    pub(crate) const ROOT: NodeId = NodeId(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The interpretation of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The state of the lines of its statement.
    pub(crate) state: LineState,
    /// The reason.
    pub(crate) note: Option<Arc<str>>,
    /// Whether the mark applies to all statements below.
    pub(crate) is_deep: bool,
}

#[derive(Clone, Debug)]
struct Node {
    parent: NodeId,
    symbol: u32,
    line: usize,
    depth: u16,
    /// The number of the last statement that contains the node. Of several values of a leaf, the last one
    /// applies.
    touched: u32,
    children: Vec<NodeId>,
    inactive: bool,
    removed_by: Option<usize>,
    /// The node of a group or range of which this node is a copy.
    origin: Option<NodeId>,
    /// Whether this node has been copied to another place.
    is_copied: bool,
    mark: Option<Mark>,
}

/// A statement of the text: its line and its last node.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) line: usize,
    pub(crate) node: NodeId,
    /// The reason why the statement is not part of the tree.
    pub(crate) problem: Option<Problem>,
}

/// A statement outside the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The statement has more levels than perhop reads.
    TooDeep,
    /// The command moves a statement that does not exist.
    NothingToMove,
    /// The command deletes or deactivates a statement that does not exist.
    NothingToChange,
    /// The command changes statements, and perhop does not implement it.
    OtherCommand,
}

/// The maximum number of levels of a statement. Real statements have fewer than 25.
pub(crate) const MOST_LEVELS: u16 = 64;

/// The statements of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    words: Words,
    places: Places,
    pub(crate) statements: Vec<Statement>,
    clock: u32,
    /// The number of nodes visited by moves of statements.
    moves: usize,
    /// The values of [`REPEATING`] statements, once for each occurrence in the text.
    mentions: BTreeMap<NodeId, Vec<NodeId>>,
    /// Nodes of the configuration, each with an equal statement of a group that was merged into it.
    merged: Vec<(NodeId, NodeId)>,
}

/// The statement whose list can contain a value twice, because each value belongs to a value of another list.
/// The items are the name of the statement and the number of this name in [`Words`].
const REPEATING: (&str, u32) = ("drop-probability", 1);

/// Maximum number of nodes that moves visit. It limits the time for a text with many moves.
const MOST_MOVES: usize = 20_000_000;

impl Tree {
    pub(crate) fn new() -> Tree {
        let root = Node {
            parent: NodeId::ROOT,
            symbol: 0,
            line: 0,
            depth: 0,
            touched: 0,
            children: Vec::new(),
            inactive: false,
            removed_by: None,
            origin: None,
            is_copied: false,
            mark: None,
        };
        Tree {
            nodes: vec![root],
            words: Words::new(&["", REPEATING.0]),
            places: Places::default(),
            statements: Vec::new(),
            clock: 0,
            moves: 0,
            mentions: BTreeMap::new(),
            merged: Vec::new(),
        }
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn word(&self, id: NodeId) -> &str {
        self.words.word(self.node(id).symbol)
    }

    /// Returns the word of a node as a shared copy, which stays valid while the caller changes the tree.
    pub(crate) fn kept_word(&self, id: NodeId) -> Arc<str> {
        self.words.word(self.node(id).symbol).clone()
    }

    /// Whether a statement has `word`.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.known(word).is_some()
    }

    pub(crate) fn line(&self, id: NodeId) -> usize {
        self.node(id).line
    }

    pub(crate) fn parent(&self, id: NodeId) -> NodeId {
        self.node(id).parent
    }

    /// Begins a statement. The nodes that are added next count as mentioned last.
    pub(crate) fn begin_statement(&mut self) {
        self.clock += 1;
    }

    /// Returns the child of `parent` with `word`. Adds the child if it does not exist. `None` below
    /// [`MOST_LEVELS`] levels.
    pub(crate) fn add(&mut self, parent: NodeId, word: &str, line: usize) -> Option<NodeId> {
        let symbol = self.words.symbol(word);
        self.add_symbol(parent, symbol, line)
    }

    fn add_symbol(&mut self, parent: NodeId, symbol: u32, line: usize) -> Option<NodeId> {
        let clock = self.clock;
        if let Some(known) = self.places.get(parent.0, symbol).map(NodeId) {
            self.node_mut(known).touched = clock;
            self.mention(parent, known);
            return Some(known);
        }
        let depth = self.node(parent).depth + 1;
        if depth > MOST_LEVELS {
            return None;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(Node {
            parent,
            symbol,
            line,
            depth,
            touched: clock,
            children: Vec::new(),
            inactive: false,
            removed_by: None,
            origin: None,
            is_copied: false,
            mark: None,
        });
        self.places.insert(parent.0, symbol, id.0);
        self.node_mut(parent).children.push(id);
        self.mention(parent, id);
        Some(id)
    }

    fn mention(&mut self, parent: NodeId, id: NodeId) {
        if self.node(parent).symbol == REPEATING.1 {
            self.mentions.entry(parent).or_default().push(id);
        }
    }

    /// Returns the values of a [`REPEATING`] statement, once for each occurrence in the text.
    pub(crate) fn mentioned(&self, statement: NodeId) -> Vec<NodeId> {
        let source = self.node(statement).origin.unwrap_or(statement);
        let all = self.mentions.get(&source).cloned().unwrap_or_default();
        all.into_iter().filter(|id| self.removed_by(*id).is_none()).collect()
    }

    /// Returns the statement `path` below `from`. Adds the statement if it does not exist.
    pub(crate) fn enter(&mut self, from: NodeId, path: &[&str], line: usize) -> NodeId {
        self.begin_statement();
        path.iter().fold(from, |node, word| self.add(node, word, line).unwrap_or(node))
    }

    /// Adds a copy of `origin` below `parent`, unless the parent has a child with that word. Returns the
    /// child.
    pub(crate) fn copy(&mut self, parent: NodeId, origin: NodeId) -> Option<NodeId> {
        let (symbol, line) = (self.node(origin).symbol, self.node(origin).line);
        let before = self.nodes.len();
        let id = self.add_symbol(parent, symbol, line)?;
        self.node_mut(origin).is_copied = true;
        if self.nodes.len() > before {
            let inactive = self.node(origin).inactive;
            let copied = self.node_mut(id);
            (copied.origin, copied.inactive) = (Some(origin), inactive);
        } else {
            self.merged.push((id, origin));
        }
        Some(id)
    }

    /// Copies the marks of statements to the statements of groups that were merged into them.
    pub(crate) fn mark_merged(&mut self) {
        for (place, origin) in std::mem::take(&mut self.merged) {
            let mark = self.node(place).mark.clone();
            if self.node(origin).mark.is_none() {
                self.node_mut(origin).mark = mark;
            }
        }
    }

    /// Whether the node is a copy from a group or range.
    pub(crate) fn is_copy(&self, id: NodeId) -> bool {
        self.node(id).origin.is_some()
    }

    /// Whether a part of the configuration has inherited the node.
    pub(crate) fn was_copied(&self, id: NodeId) -> bool {
        self.node(id).is_copied
    }

    /// Returns the child with `word`, also an inactive one.
    pub(crate) fn any_child(&self, parent: NodeId, word: &str) -> Option<NodeId> {
        self.places.get(parent.0, self.words.known(word)?).map(NodeId)
    }

    /// Returns the active child with `word`.
    pub(crate) fn child(&self, parent: NodeId, word: &str) -> Option<NodeId> {
        self.any_child(parent, word).filter(|id| !self.node(*id).inactive)
    }

    /// Returns the descendant of `from` along `path`.
    pub(crate) fn at(&self, from: NodeId, path: &[&str]) -> Option<NodeId> {
        path.iter().try_fold(from, |node, word| self.child(node, word))
    }

    /// Returns the active children in the order of the text.
    pub(crate) fn children(&self, parent: NodeId) -> Vec<NodeId> {
        let is_active = |id: &NodeId| {
            let node = self.node(*id);
            !node.inactive && node.removed_by.is_none()
        };
        self.node(parent).children.iter().copied().filter(is_active).collect()
    }

    /// Returns the children that apply to a statement with one value, in the order of their last mention.
    /// These are the children from the configuration itself, otherwise from the first group with such
    /// children.
    pub(crate) fn own_children(&self, parent: NodeId) -> Vec<NodeId> {
        let mut all = self.children(parent);
        if all.iter().any(|id| !self.is_copy(*id)) {
            all.retain(|id| !self.is_copy(*id));
        } else if let Some(first) = all.first().and_then(|id| self.node(*id).origin) {
            let group = self.parent(first);
            all.retain(|id| self.node(*id).origin.is_some_and(|origin| self.parent(origin) == group));
        }
        let mentioned = |id: NodeId| self.node(self.node(id).origin.unwrap_or(id)).touched;
        all.sort_by_key(|id| mentioned(*id));
        all
    }

    /// Returns the last value of a statement with one value.
    pub(crate) fn last_value(&self, statement: NodeId) -> Option<NodeId> {
        self.own_children(statement).pop()
    }

    /// Sets whether a statement is inactive.
    pub(crate) fn set_inactive(&mut self, id: NodeId, inactive: bool) {
        self.node_mut(id).inactive = inactive;
    }

    /// Removes a statement with all statements inside it. `line` is the line of the command.
    pub(crate) fn remove(&mut self, id: NodeId, line: usize) {
        if id == NodeId::ROOT {
            return;
        }
        let (parent, symbol) = (self.node(id).parent, self.node(id).symbol);
        self.places.remove(parent.0, symbol);
        self.node_mut(id).removed_by = Some(line);
    }

    /// Removes the statements below `id`.
    pub(crate) fn clear(&mut self, id: NodeId, line: usize) {
        for child in self.children(id) {
            self.remove(child, line);
        }
    }

    /// Moves `id` in front of its sibling `other`, or behind it. Returns `false` without a move if the moves
    /// of the text exceed [`MOST_MOVES`].
    pub(crate) fn move_to(&mut self, id: NodeId, other: NodeId, place: Place) -> bool {
        let parent = self.node(id).parent;
        self.moves += self.node(parent).children.len();
        if self.moves > MOST_MOVES {
            return false;
        }
        let mut children = std::mem::take(&mut self.node_mut(parent).children);
        children.retain(|child| *child != id);
        if let Some(index) = children.iter().position(|child| *child == other) {
            children.insert(if place == Place::After { index + 1 } else { index }, id);
        }
        self.node_mut(parent).children = children;
        true
    }

    /// Marks a node. A copy also marks its origin.
    pub(crate) fn mark(&mut self, id: NodeId, state: LineState) {
        self.set_mark(id, Mark { state, note: None, is_deep: false });
    }

    /// Marks a node and all nodes below it, with a reason.
    pub(crate) fn mark_deep(&mut self, id: NodeId, state: LineState, note: &str) {
        let note = (!note.is_empty()).then(|| Arc::from(note));
        self.set_mark(id, Mark { state, note, is_deep: true });
    }

    fn set_mark(&mut self, id: NodeId, mark: Mark) {
        let origin = self.node(id).origin;
        // A statement of a group may be modeled in one place and refused in another: the worse state applies.
        if let Some(origin) = origin {
            let known = self.node(origin).mark.as_ref();
            if known.is_none_or(|known| rank(known.state) < rank(mark.state)) {
                self.set_mark(origin, mark.clone());
            }
        }
        // If a statement is read again, a mark for a fault remains.
        let known = self.node_mut(id).mark.as_ref().map(|mark| mark.state);
        if known != Some(LineState::Suspicious) {
            self.node_mut(id).mark = Some(mark);
        }
    }

    /// Returns the mark of a node itself.
    pub(crate) fn mark_of(&self, id: NodeId) -> Option<&Mark> {
        self.node(id).mark.as_ref()
    }

    /// Iterates over all nodes: a parent precedes its children.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// Returns the line that removes the node itself, and whether the node itself is inactive.
    pub(crate) fn own_changes(&self, id: NodeId) -> (Option<usize>, bool) {
        (self.node(id).removed_by, self.node(id).inactive)
    }

    /// Returns the line that removes the statement or an enclosing statement.
    pub(crate) fn removed_by(&self, id: NodeId) -> Option<usize> {
        self.ids_upward(id).find_map(|id| self.node(id).removed_by)
    }

    /// Returns the number of words from the root to a node.
    pub(crate) fn depth(&self, id: NodeId) -> u16 {
        self.node(id).depth
    }

    /// Iterates from a node to the root.
    pub(crate) fn ids_upward(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let current = next?;
            next = (current != NodeId::ROOT).then(|| self.node(current).parent);
            Some(current)
        })
    }

    /// Returns the words from the root to a node as shared copies, which stay valid while the tree changes.
    pub(crate) fn kept_path(&self, id: NodeId) -> Vec<Arc<str>> {
        let mut words: Vec<Arc<str>> = self.ids_upward(id).map(|id| self.kept_word(id)).collect();
        words.pop();
        words.reverse();
        words
    }

    /// Returns the words from the root to a node.
    pub(crate) fn path(&self, id: NodeId) -> Vec<&str> {
        let mut words: Vec<&str> = self.ids_upward(id).map(|id| self.word(id)).collect();
        words.pop();
        words.reverse();
        words
    }
}

/// The place of a moved statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Before,
    After,
}

/// The rank of a state. A state in which perhop may differ from the router has precedence.
pub(crate) fn rank(state: LineState) -> u8 {
    match state {
        LineState::Irrelevant => 0,
        LineState::Modelled => 1,
        LineState::NotModelled => 2,
        LineState::NotRecognized => 3,
        LineState::Suspicious => 4,
    }
}
