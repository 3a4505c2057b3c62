//! [`LineText`]: the text of a line, which shares the memory of its file.
//!
//! A network has millions of lines. A separate string for each line would double the memory of the text.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The text of a file, shared by its lines.
#[derive(Clone, Debug)]
pub struct FileText(Arc<str>);

impl FileText {
    /// Copies the text of a file.
    pub fn new(text: &str) -> FileText {
        FileText(text.into())
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `part` as the text of a line. A part that is not inside this text gets its own memory.
    pub fn line(&self, part: &str) -> LineText {
        let start = part.as_ptr().addr().wrapping_sub(self.0.as_ptr().addr());
        let is_inside = start.checked_add(part.len()).is_some_and(|end| end <= self.0.len());
        if !is_inside {
            return part.into();
        }
        LineText { file: Arc::clone(&self.0), start, length: part.len() }
    }
}

/// The text of a line.
#[derive(Clone)]
pub struct LineText {
    file: Arc<str>,
    /// The place of the first byte in `file`.
    start: usize,
    /// The number of bytes.
    length: usize,
}

impl LineText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.file[self.start..self.start + self.length]
    }
}

impl Deref for LineText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for LineText {
    fn from(text: &str) -> LineText {
        LineText { file: text.into(), start: 0, length: text.len() }
    }
}

impl PartialEq for LineText {
    fn eq(&self, other: &LineText) -> bool {
        **self == **other
    }
}

impl Eq for LineText {}

impl PartialEq<str> for LineText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for LineText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl fmt::Debug for LineText {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl fmt::Display for LineText {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self)
    }
}

impl Serialize for LineText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::FileText;

    #[test]
    fn lines_share_the_memory_of_their_file() {
        let file = FileText::new("hostname A\n ip mtu 1400\r\n\nend");
        let lines: Vec<_> = file.as_str().lines().map(|line| file.line(line.trim())).collect();
        assert_eq!(lines, ["hostname A", "ip mtu 1400", "", "end"]);
        assert!(lines.iter().all(|line| Arc::ptr_eq(&line.file, &file.0)));
    }

    #[test]
    fn a_changed_line_has_its_own_memory() {
        let file = FileText::new("a\tb");
        let line = file.line(&file.as_str().replace('\t', " "));
        assert_eq!(line, "a b");
        assert!(!Arc::ptr_eq(&line.file, &file.0));
    }
}
