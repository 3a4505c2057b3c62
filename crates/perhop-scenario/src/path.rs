//! [`ValuePath`]: the position of a value in a scenario.

use std::fmt;

/// Keys and list indices from the top of a document to one value.
///
/// A path is displayed with dots (`links.0.rate`), as in `--set`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValuePath(Vec<String>);

impl ValuePath {
    /// Returns the path of the whole document.
    pub fn root() -> ValuePath {
        ValuePath::default()
    }
    /// Returns the path of the element with `key` (or list index).
    #[allow(clippy::needless_pass_by_value)] // keys are &str, indices usize
    pub fn join(&self, key: impl ToString) -> ValuePath {
        let mut segments = self.0.clone();
        segments.push(key.to_string());
        ValuePath(segments)
    }
    /// Returns the path extended by each of `keys` in turn.
    pub fn extend<K: ToString>(&self, keys: impl IntoIterator<Item = K>) -> ValuePath {
        keys.into_iter().fold(self.clone(), |path, key| path.join(key))
    }
    /// Returns the path of the enclosing value; the root's parent is the root.
    pub fn parent(&self) -> ValuePath {
        ValuePath(self.0[..self.0.len().saturating_sub(1)].to_vec())
    }
    /// Returns the last key.
    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }
    /// Returns the keys, outermost first.
    pub fn segments(&self) -> &[String] {
        &self.0
    }
    /// Returns the path as a JSON Pointer (RFC 6901).
    pub(super) fn pointer(&self) -> String {
        let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
        self.0.iter().flat_map(|key| ["/".to_owned(), escaped(key)]).collect()
    }
    /// Whether this is the whole document.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether this is `other` or a path inside it.
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
