//! [`ValuePath`]: where in a scenario a value stands.

use std::fmt;

/// Keys and list indices from the top of a document down to one value.
///
/// Written with dots (`links.0.rate`), it is also what `--set` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValuePath(Vec<String>);

impl ValuePath {
    /// The document as a whole.
    pub fn root() -> ValuePath {
        ValuePath::default()
    }
    /// The value under `key` (or list index) of the value here.
    #[allow(clippy::needless_pass_by_value)] // keys are &str, indices usize: both are passed as they stand
    pub fn join(&self, key: impl ToString) -> ValuePath {
        let mut segments = self.0.clone();
        segments.push(key.to_string());
        ValuePath(segments)
    }
    /// Further down, by each of `keys` in turn.
    pub fn extend<K: ToString>(&self, keys: impl IntoIterator<Item = K>) -> ValuePath {
        keys.into_iter().fold(self.clone(), |path, key| path.join(key))
    }
    /// The value that this one is part of; the root's parent is the root.
    pub fn parent(&self) -> ValuePath {
        ValuePath(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }
    /// The last key.
    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }
    /// The keys, outermost first.
    pub fn segments(&self) -> &[String] {
        &self.0
    }
    /// Whether this is the document as a whole.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether this is `other` or stands inside it.
    pub fn is_within(&self, other: &ValuePath) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl From<&str> for ValuePath {
    fn from(key: &str) -> ValuePath {
        ValuePath(vec![key.to_owned()])
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0.join("."))
    }
}
