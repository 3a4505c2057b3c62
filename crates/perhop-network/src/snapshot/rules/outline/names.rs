//! [`NameUses`]: the number of devices that define each name.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the letters of a name that consists of letters and `number`: `tunnel` for `tunnel7`.
pub(super) fn stem<'n>(name: &'n str, number: &str) -> Option<&'n str> {
    name.strip_suffix(number).filter(|stem| stem.ends_with(|letter: char| letter.is_ascii_alphabetic()))
}

/// The number of devices that define each name.
#[derive(Default)]
pub(super) struct NameUses(BTreeMap<String, usize>);

impl NameUses {
    /// Counts the devices that define each name. `devices` contains the names of each device.
    pub(super) fn count<'n>(devices: impl Iterator<Item = &'n BTreeSet<String>>) -> NameUses {
        let mut found = NameUses::default();
        for name in devices.flatten() {
            match found.0.get_mut(name) {
                Some(count) => *count += 1,
                None => {
                    found.0.insert(name.clone(), 1);
                }
            }
        }
        found
    }

    /// Generates the names in ascending order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the number of devices that define a name.
    pub(super) fn of_name(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }
}
