//! [`Variables`]: the values of a script that stand in it.

use std::collections::BTreeMap;

/// The variables of a script, as far as their values stand in it.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

/// Longer values are not kept: a line that doubles a variable would otherwise fill the memory.
const LONGEST: usize = 4096;

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
    /// Sets a variable; one whose value is not known is no longer known.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        if value.contains(['$', '`']) || value.len() > LONGEST {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }
}
