//! [`Variables`]: the variables of a script whose values are known.

use std::collections::BTreeMap;

/// The variables whose values the script itself sets.
#[derive(Debug, Default)]
pub(crate) struct Variables(BTreeMap<String, String>);

/// Limit on the length of a value, so that a line that doubles a variable cannot exhaust the memory.
const LONGEST: usize = 4096;

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
    /// Sets a variable. If the value is unknown, removes the variable.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        if value.contains(['$', '`']) || value.len() > LONGEST {
            self.0.remove(name);
        } else {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }
}
