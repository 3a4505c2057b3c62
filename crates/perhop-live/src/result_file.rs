//! [`ResultFile`]: the file of a result, which is opened before the process is confined.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that contains a complete document or no document.
///
/// A confined process cannot create or rename files. Therefore the first byte of the document is written
/// last. Until then, the file is empty or begins with a zero byte, so it is not valid JSON.
#[derive(Debug)]
pub(crate) struct ResultFile {
    file: File,
    path: PathBuf,
    is_begun: bool,
}

impl ResultFile {
    /// Creates an empty file at `path` that only this user can access. Replaces an existing file.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<ResultFile> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Ok(ResultFile { file, path: path.to_owned(), is_begun: false })
    }
    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// From now on, drop does not remove the file, because a confined process cannot remove it.
    pub(crate) fn begin(&mut self) {
        self.is_begun = true;
    }
    /// Writes the document.
    ///
    /// # Errors
    /// The document cannot be written. The file then contains no document.
    pub(crate) fn write(mut self, text: &str) -> io::Result<()> {
        self.is_begun = true;
        let (first, rest) = text.as_bytes().split_at(text.len().min(1));
        self.file.write_all_at(rest, first.len() as u64)?;
        self.file.write_all_at(first, 0)
    }
}

impl Drop for ResultFile {
    /// Removes the file if the run did not begin.
    fn drop(&mut self) {
        if !self.is_begun {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_replaces_the_old_file_and_belongs_to_its_user() {
        use std::os::unix::fs::PermissionsExt;

        let path = std::env::temp_dir().join(format!("perhop-result-{}", std::process::id()));
        fs::write(&path, "a longer text than the document").expect("writable");
        let file = ResultFile::create(&path).expect("writable");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        file.write("{\"a\": 1}").expect("there is room");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "{\"a\": 1}");
        drop(ResultFile::create(&path).expect("writable"));
        assert!(!path.exists());
    }
}
