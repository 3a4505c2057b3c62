//! [`Named`]: elements in file order with lookup by name.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// Elements in file order with lookup by name. Names are case-sensitive, as on the router.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    items: Vec<Option<T>>,
    places: BTreeMap<String, usize>,
}

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named { items: Vec::new(), places: BTreeMap::new() }
    }
}

impl<T> Named<T> {
    /// Returns the element `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).and_then(|place| self.items[*place].as_ref())
    }
    /// Iterates in file order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }
    /// Iterates mutably in file order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.places.len()
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the index of the element `name`.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
    /// Returns the index of the element `name`, created by `new` if missing.
    pub(crate) fn place(&mut self, name: &str, new: impl FnOnce() -> T) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.items.push(Some(new()));
        self.places.insert(name.to_owned(), self.items.len() - 1);
        self.items.len() - 1
    }
    /// Returns the element with this index, unless it was removed.
    pub(crate) fn at(&self, place: usize) -> Option<&T> {
        self.items.get(place).and_then(Option::as_ref)
    }
    /// Returns the element with this index mutably, unless it was removed.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut T> {
        self.items.get_mut(place).and_then(Option::as_mut)
    }
    /// Removes the element `name`. Returns whether it existed.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let place = self.places.remove(name);
        place.is_some_and(|place| self.items[place].take().is_some())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
