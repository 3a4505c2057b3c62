//! [`Poll`]: waits for several descriptors.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use libc::c_int;

use crate::socket::system::checked;

/// A ready descriptor of a [`Poll`].
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Ready {
    /// The token with which the descriptor was added.
    pub(in crate::host) token: u64,
    /// Whether there is room to write, or an error is pending.
    pub(in crate::host) writable: bool,
}

/// Waits for several descriptors.
#[derive(Debug)]
pub(in crate::host) struct Poll(OwnedFd);

/// The maximum number of descriptors returned by one call.
const BATCH: c_int = 64;

impl Poll {
    pub(in crate::host) fn new() -> io::Result<Poll> {
        // SAFETY: the call takes a number only; it returns an open descriptor with no other owner.
        unsafe { checked(libc::epoll_create1(libc::EPOLL_CLOEXEC)).map(|fd| Poll(OwnedFd::from_raw_fd(fd))) }
    }
    fn control(&self, operation: c_int, fd: RawFd, events: c_int, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: `event` is readable for the whole call.
        checked(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &raw mut event) }).map(drop)
    }
    /// Watches `fd` for data to read, with this `token`.
    pub(in crate::host) fn add(&self, fd: BorrowedFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd.as_raw_fd(), libc::EPOLLIN | libc::EPOLLRDHUP, token)
    }
    /// Watches `fd`, which was already added, for data to read and for room to write.
    pub(in crate::host) fn watch_both(&self, fd: BorrowedFd, token: u64) -> io::Result<()> {
        let both = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLOUT;
        self.control(libc::EPOLL_CTL_MOD, fd.as_raw_fd(), both, token)
    }
    /// Watches `fd`, which was already added, only for data to read.
    pub(in crate::host) fn watch_reading(&self, fd: BorrowedFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd.as_raw_fd(), libc::EPOLLIN | libc::EPOLLRDHUP, token)
    }
    /// Waits for at most `milliseconds`. Returns the ready descriptors.
    pub(in crate::host) fn wait(&self, milliseconds: u64) -> io::Result<Vec<Ready>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH as usize];
        let timeout = milliseconds.min(60_000) as c_int;
        // SAFETY: `events` is writable for the whole call and has the given length.
        let answer = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), BATCH, timeout) };
        let count = match checked(answer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => other? as usize,
        };
        let failed = libc::EPOLLERR | libc::EPOLLHUP;
        let ready = |event: &libc::epoll_event| {
            let events = event.events.cast_signed();
            Ready { token: event.u64, writable: events & (libc::EPOLLOUT | failed) != 0 }
        };
        Ok(events[..count].iter().map(ready).collect())
    }
}
