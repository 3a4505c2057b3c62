//! [`Named`]: things in the order of the file, found by name.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// Things in the order of the file, found by name. Names are case-sensitive, as the router's are.
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
    /// The one called `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).and_then(|place| self.items[*place].as_ref())
    }
    /// All of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }
    /// All of them, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The place of the one called `name`, if it is there.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }
    /// The place of the one called `name`, which `new` makes if it is not there yet.
    pub(crate) fn place(&mut self, name: &str, new: impl FnOnce() -> T) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.items.push(Some(new()));
        self.places.insert(name.to_owned(), self.items.len() - 1);
        self.items.len() - 1
    }
    /// The one at `place`, unless it was removed.
    pub(crate) fn at(&self, place: usize) -> Option<&T> {
        self.items.get(place).and_then(Option::as_ref)
    }
    /// The one at `place`, to be changed, unless it was removed.
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut T> {
        self.items.get_mut(place).and_then(Option::as_mut)
    }
    /// Removes the one called `name`; whether it was there.
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
