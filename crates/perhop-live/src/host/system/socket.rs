//! Sockets: options, addresses, connections.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::from_mut;

use libc::{c_int, c_void, socklen_t};

use super::address::{RawAddress, to_address};
use crate::socket::system::{checked, option};

/// The domain of sockets for `address`.
pub(in crate::host) fn domain(address: IpAddr) -> c_int {
    if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }
}

/// The pending error of a connection, if any.
pub(in crate::host) fn pending_error(fd: BorrowedFd) -> Option<io::Error> {
    match option(fd, libc::SOL_SOCKET, libc::SO_ERROR, 0) {
        Ok(0) => None,
        Ok(code) => Some(io::Error::from_raw_os_error(code)),
        Err(error) => Some(error),
    }
}

/// Binds `fd` to the local `address`.
pub(in crate::host) fn bind(fd: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(address);
    // SAFETY: the address is readable for the whole call and has the given length.
    checked(unsafe { libc::bind(fd.as_raw_fd(), raw.pointer(), raw.length) }).map(drop)
}

/// Connects `fd` to `address`, or starts to connect it.
pub(in crate::host) fn connect(fd: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(address);
    // SAFETY: as for `bind`.
    match checked(unsafe { libc::connect(fd.as_raw_fd(), raw.pointer(), raw.length) }) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// Makes `fd` a listener.
pub(in crate::host) fn listen(fd: &OwnedFd, waiting: c_int) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    checked(unsafe { libc::listen(fd.as_raw_fd(), waiting) }).map(drop)
}

/// Accepts the next connection of `fd`; returns it with the peer's address.
pub(in crate::host) fn accept(fd: &OwnedFd) -> io::Result<(OwnedFd, SocketAddr)> {
    // SAFETY: all-zero bytes are a valid value; the storage is writable for the whole call up to `length`;
    // the call returns an open descriptor with no other owner.
    let (accepted, storage) = unsafe {
        let mut storage: libc::sockaddr_storage = zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as socklen_t;
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let answer = libc::accept4(fd.as_raw_fd(), from_mut(&mut storage).cast(), &raw mut length, flags);
        (OwnedFd::from_raw_fd(checked(answer)?), storage)
    };
    let from = to_address(&storage).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    Ok((accepted, from))
}

/// Closes the sending direction of a connection: FIN follows the written data.
pub(in crate::host) fn finish(fd: BorrowedFd) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    checked(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Reads from a connection; 0 bytes at its end, `None` if nothing is available.
pub(in crate::host) fn read(fd: BorrowedFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: `bytes` is writable for the whole call and has the given length.
    let count = unsafe {
        libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast::<c_void>(), bytes.len(), libc::MSG_DONTWAIT)
    };
    unless_it_would_block(count)
}

/// Whether more data follow a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum Next {
    /// More data of this message follow, so an incomplete segment waits for them.
    More,
    /// No more data follow for now.
    Nothing,
}

/// Writes to a connection; `None` if there is no room.
pub(in crate::host) fn write(fd: BorrowedFd, bytes: &[u8], next: Next) -> io::Result<Option<usize>> {
    let more = if next == Next::More { libc::MSG_MORE } else { 0 };
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | more;
    // SAFETY: `bytes` is readable for the whole call and has the given length.
    let count = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast::<c_void>(), bytes.len(), flags) };
    unless_it_would_block(count)
}

/// The number of bytes that a call transferred; `None` if it would block.
pub(super) fn unless_it_would_block(count: isize) -> io::Result<Option<usize>> {
    if count >= 0 {
        return Ok(Some(count as usize));
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) }
}
