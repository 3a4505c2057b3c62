//! [`OpenError`]: the reason why an interface cannot be opened.

use std::{fmt, io};

/// The reason why an interface cannot be opened.
#[derive(Debug)]
pub struct OpenError {
    device: String,
    what: &'static str,
    error: io::Error,
}

impl OpenError {
    pub(super) fn new(device: &str, what: &'static str, error: io::Error) -> OpenError {
        OpenError { device: device.to_owned(), what, error }
    }
    /// The system's error number, if there is one.
    pub fn number(&self) -> Option<i32> {
        self.error.raw_os_error()
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let OpenError { device, what, error } = self;
        write!(formatter, "interface `{device}` {what}: {error}")?;
        match error.kind() {
            io::ErrorKind::PermissionDenied => {
                write!(formatter, "; raw sockets require CAP_NET_RAW in this network namespace")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
