//! [`ClassTree`]: the classes of one discipline, with the rules that select them.

use std::collections::BTreeMap;

use super::classes::Rule;
use crate::model::{Class, Qdisc};

/// Limit on the levels of disciplines and classes together (`TC_HTB_MAXDEPTH` is 8; hfsc has no limit). A
/// level has three levels of JSON, so a policy remains below the limit of `serde_json`, 128.
pub(super) const MOST_LEVELS: usize = 31;

/// Returns the message that a discipline or a class exceeds [`MOST_LEVELS`].
pub(super) fn nested_too_deeply() -> String {
    format!("queueing disciplines and classes are nested more than {MOST_LEVELS} levels deep")
}

/// Place of the default class, after all rules.
const LAST: usize = usize::MAX - 1;

/// The classes of one discipline. Each class is in the tree once.
pub(super) struct ClassTree<'a> {
    /// The children of each class and of the discipline. Classes without packets are last.
    children: BTreeMap<Option<u32>, Vec<&'a Class>>,
    /// The first rule that selects a class or one of its inner classes.
    first: BTreeMap<u32, usize>,
    /// The leaves in the order of classification.
    order: Vec<u32>,
    /// The classes at the first level beyond the limit.
    too_deep: Vec<&'a Class>,
    /// The number of levels that the tree may have inside the enclosing disciplines and classes.
    room: usize,
}

impl<'a> ClassTree<'a> {
    /// Builds the tree of `qdisc`, which is inside `around` levels. `rules` select classes; all other packets
    /// belong to `default`.
    pub(super) fn new(
        qdisc: &'a Qdisc,
        rules: &[Rule],
        default: Option<u32>,
        around: usize,
    ) -> ClassTree<'a> {
        let mut children: BTreeMap<Option<u32>, Vec<&Class>> = BTreeMap::new();
        for class in &qdisc.classes {
            children.entry(class.parent).or_default().push(class);
        }
        let mut first = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            first.entry(rule.target).or_insert(index);
        }
        if let Some(default) = default {
            first.insert(default, LAST);
        }
        let room = MOST_LEVELS.saturating_sub(around);
        let mut tree = ClassTree { children, first, order: Vec::new(), too_deep: Vec::new(), room };
        tree.place(None, 0);
        let key = |class: &&Class| tree.first.get(&class.id).map_or((usize::MAX, 0), |at| (*at, class.id));
        for inner in tree.children.values_mut() {
            inner.sort_by_key(key);
        }
        tree.put_in_order(None, 0);
        tree
    }

    /// Whether the class `id` has no inner classes.
    pub(super) fn is_leaf(&self, id: u32) -> bool {
        !self.children.contains_key(&Some(id))
    }
    /// Returns the leaves in the order of classification.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }
    /// Iterates over the children of `parent` with packets, in the order of classification.
    pub(super) fn with_packets(&self, parent: Option<u32>) -> impl Iterator<Item = &'a Class> {
        self.inside(parent).iter().copied().filter(|class| self.first.contains_key(&class.id))
    }
    /// Iterates over the children of `parent` that no rule selects.
    pub(super) fn without_packets(&self, parent: Option<u32>) -> impl Iterator<Item = &'a Class> {
        self.inside(parent).iter().copied().filter(|class| !self.first.contains_key(&class.id))
    }
    /// Whether classes at level `depth` are too deep.
    pub(super) fn is_full(&self, depth: usize) -> bool {
        depth == self.room
    }
    /// Returns the classes that are too deep, without their inner classes.
    pub(super) fn too_deep(&self) -> &[&'a Class] {
        &self.too_deep
    }

    fn inside(&self, parent: Option<u32>) -> &[&'a Class] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    /// Assigns each class the place of the first rule that selects the class or an inner class. The default
    /// class and its ancestors are last.
    fn place(&mut self, parent: Option<u32>, depth: usize) -> Option<usize> {
        if self.is_full(depth) {
            self.too_deep.extend(self.children.get(&parent).into_iter().flatten());
            return None;
        }
        let mut places = Vec::new();
        for class in self.inside(parent).to_vec() {
            let inner = self.place(Some(class.id), depth + 1);
            let all = self.first.get(&class.id).copied().into_iter().chain(inner);
            if let Some(place) = earliest_without_last(all) {
                self.first.insert(class.id, place);
                places.push(place);
            }
        }
        earliest_without_last(places.into_iter())
    }

    fn put_in_order(&mut self, parent: Option<u32>, depth: usize) {
        if self.is_full(depth) {
            return;
        }
        for class in self.with_packets(parent).collect::<Vec<_>>() {
            if self.is_leaf(class.id) {
                self.order.push(class.id);
            } else {
                self.put_in_order(Some(class.id), depth + 1);
            }
        }
    }
}

/// Returns the earliest of `places`, or `LAST` if one of them is `LAST`.
fn earliest_without_last(places: impl Iterator<Item = usize>) -> Option<usize> {
    places
        .reduce(|earliest, other| if earliest == LAST || other == LAST { LAST } else { earliest.min(other) })
}
