//! [`Words`] and [`Places`]: the words of a tree as numbers, and the children of its nodes.
//!
//! Hash maps of numbers are used because maps ordered by words would take half of the time of reading.

#[expect(clippy::disallowed_types, reason = "the map is used for look-ups and never iterated")]
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// The distinct words of a text, numbered in order.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    #[expect(clippy::disallowed_types, reason = "the map is used for look-ups and never iterated")]
    symbols: HashMap<Arc<str>, u32>,
    all: Vec<Arc<str>>,
}

impl Words {
    /// Creates the list of some words.
    pub(crate) fn new(first: &[&str]) -> Words {
        let all: Vec<Arc<str>> = first.iter().map(|word| Arc::from(*word)).collect();
        Words { symbols: all.iter().cloned().zip(0..).collect(), all }
    }

    /// Returns the number of a word. Adds a new word.
    pub(crate) fn symbol(&mut self, word: &str) -> u32 {
        if let Some(known) = self.known(word) {
            return known;
        }
        let next = self.all.len() as u32;
        let kept: Arc<str> = Arc::from(word);
        self.all.push(kept.clone());
        self.symbols.insert(kept, next);
        next
    }

    /// Returns the number of a word of the text.
    pub(crate) fn known(&self, word: &str) -> Option<u32> {
        self.symbols.get(word).copied()
    }

    pub(crate) fn word(&self, symbol: u32) -> &Arc<str> {
        &self.all[symbol as usize]
    }
}

/// Nodes by the number of their parent and their word.
#[derive(Clone, Debug, Default)]
#[expect(clippy::disallowed_types, reason = "the map is used for look-ups and never iterated")]
pub(crate) struct Places(HashMap<u64, u32, BuildHasherDefault<PlaceHasher>>);

impl Places {
    pub(crate) fn get(&self, parent: u32, symbol: u32) -> Option<u32> {
        self.0.get(&place(parent, symbol)).copied()
    }

    pub(crate) fn insert(&mut self, parent: u32, symbol: u32, node: u32) {
        self.0.insert(place(parent, symbol), node);
    }

    pub(crate) fn remove(&mut self, parent: u32, symbol: u32) {
        self.0.remove(&place(parent, symbol));
    }
}

fn place(parent: u32, symbol: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(symbol)
}

/// A fast hasher of places. The numbers of places ascend in the order of the text, so a hostile text cannot
/// choose colliding numbers.
#[derive(Clone, Copy, Debug, Default)]
struct PlaceHasher(u64);

impl Hasher for PlaceHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, §6.4), with the upper bits moved to
        // the lower ones.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}
