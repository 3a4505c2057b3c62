//! [`Headers`] and [`Lines`]: the contents of lines, created once for all equal lines of all devices.
//!
//! Devices with the same task have mostly equal lines. A separate content for each line would need more
//! memory than the configurations.

use std::collections::BTreeSet;
#[expect(clippy::disallowed_types, reason = "the maps are used for look-ups and never iterated")]
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::tree::Node;
use super::ports::Ports;
use super::words::{Content, Entry, canonical, first_line, is_left_out};

/// The number of maps. With this number, two threads rarely need the same map at the same time.
const SHARDS: usize = 64;

#[expect(clippy::disallowed_types, reason = "the maps are used for look-ups and never iterated")]
type Shard<'t, V> = Mutex<HashMap<&'t str, Arc<V>>>;

/// Values that are computed from texts, once for each text.
struct Once<'t, V>(Vec<Shard<'t, V>>);

impl<'t, V> Once<'t, V> {
    fn new() -> Once<'t, V> {
        Once((0..SHARDS).map(|_| Shard::default()).collect())
    }

    fn get(&self, text: &'t str, make: impl FnOnce() -> V) -> Arc<V> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let shard = &self.0[hasher.finish() as usize % SHARDS];
        let mut known = shard.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(text).or_insert_with(|| Arc::new(make())))
    }
}

/// Contents of the first lines of blocks.
pub(super) struct Headers<'t, 'n> {
    names: &'n BTreeSet<&'n str>,
    known: Once<'t, Content>,
}

impl<'t, 'n> Headers<'t, 'n> {
    /// Creates an empty store. `names` are the names that blocks of all devices define.
    pub(super) fn new(names: &'n BTreeSet<&'n str>) -> Headers<'t, 'n> {
        Headers { names, known: Once::new() }
    }

    /// Returns the entry of a node's line, which is the first line of a block.
    pub(super) fn header(&self, node: &Node<'t>) -> Entry {
        let (line, text) = node.line;
        let text = text.trim_start();
        Entry { line, content: self.known.get(text, || Content::new(&first_line(text), self.names)) }
    }
}

/// The contents of a line inside a block.
pub(super) struct Inner {
    /// Whether the line is not compared.
    pub(super) is_left_out: bool,
    /// Whether a line with this shape opens a block on at least one device, or the line opens a class. A
    /// class may be empty.
    pub(super) opens: bool,
    /// The content of the line, or one content for each criterion of the line.
    pub(super) contents: Vec<(Arc<Content>, Option<Ports>)>,
}

/// Contents of lines inside blocks and of first lines.
pub(super) struct Lines<'t, 'n> {
    pub(super) headers: Headers<'t, 'n>,
    /// The shapes of the first lines of blocks.
    pub(super) opening: BTreeSet<String>,
    known: Once<'t, Inner>,
}

impl<'t, 'n> Lines<'t, 'n> {
    pub(super) fn new(headers: Headers<'t, 'n>, opening: BTreeSet<String>) -> Lines<'t, 'n> {
        Lines { headers, opening, known: Once::new() }
    }

    /// Returns the contents of a node's line, which is inside a block.
    pub(super) fn inner(&self, node: &Node<'t>) -> Arc<Inner> {
        let text = node.line.1.trim_start();
        self.known.get(text, || {
            if is_left_out(text) {
                return Inner { is_left_out: true, opens: false, contents: Vec::new() };
            }
            let opens = text.starts_with("class ") || self.opening.contains(&self.headers.header(node).shape);
            let content = |words: Vec<String>| (Arc::new(self.content(&words)), Ports::read(&words));
            Inner { is_left_out: false, opens, contents: canonical(text).into_iter().map(content).collect() }
        })
    }

    /// Returns the content of a line with these words.
    pub(super) fn content(&self, words: &[String]) -> Content {
        Content::new(words, self.headers.names)
    }
}
