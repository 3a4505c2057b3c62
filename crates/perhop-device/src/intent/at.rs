//! [`At`]: a value with its line.

use serde::Serialize;

/// A value and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct At<T> {
    /// The line, from 1.
    pub line: usize,
    /// The value.
    pub value: T,
}

impl<T> At<T> {
    /// Returns `value` with its `line`.
    pub fn new(line: usize, value: T) -> At<T> {
        At { line, value }
    }
}
