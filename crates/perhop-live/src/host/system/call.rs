//! The results of calls into the C library.

use std::io;

use libc::c_int;

/// The result of a C call that answers -1 on failure.
pub(super) fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
