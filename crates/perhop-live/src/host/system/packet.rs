//! Single packets: datagrams with their traffic class and time of arrival, and the packets of packet sockets.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{from_mut, from_ref};

use libc::{c_int, socklen_t};

use super::address::to_address;
use super::socket::unless_it_would_block;
use crate::socket::system::{bind, link_address, open_socket, set_option};

/// A buffer for control messages, with the alignment of their headers.
#[repr(align(8))]
struct Control([u8; 128]);

/// Sends `bytes` to the peer of `fd`, with the traffic-class octet `class`.
pub(in crate::host) fn send(fd: &OwnedFd, domain: c_int, bytes: &[u8], class: u8) -> io::Result<()> {
    let (level, kind) = match domain {
        libc::AF_INET => (libc::IPPROTO_IP, libc::IP_TOS),
        _ => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    };
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: the message points to `part`, `bytes` and `control`, which outlive the call; the kernel only
    // reads them. One header with one number fits the buffer for control messages, whose length is set to
    // exactly that.
    let answer = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as usize;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = level;
        (*header).cmsg_type = kind;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as usize;
        libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(c_int::from(class));
        libc::sendmsg(fd.as_raw_fd(), &raw const message, 0)
    };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A packet, or the part that fits into the buffer.
#[derive(Debug)]
pub(in crate::host) struct Received {
    /// The length of the whole packet.
    pub(in crate::host) length: usize,
    /// The source of a datagram.
    pub(in crate::host) from: Option<SocketAddr>,
    /// The time at which the kernel received the packet, on the clock of timestamps; `None` without a
    /// timestamp.
    pub(in crate::host) at: Option<u64>,
    /// The octet of DSCP and ECN of a datagram.
    pub(in crate::host) class: u8,
    /// Whether a packet socket saw the packet leave this host.
    pub(in crate::host) outgoing: bool,
}

/// Reads the next packet at `fd` into `bytes`; `None` if there is none.
pub(in crate::host) fn receive(fd: BorrowedFd, bytes: &mut [u8]) -> io::Result<Option<Received>> {
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the message points to `part`, `bytes`, `control` and `name`, which outlive the call and have
    // the given lengths; all-zero bytes are valid values of the plain structures. Afterwards the headers of
    // the control messages are walked with the C library's own macros, within the length that the kernel
    // wrote.
    unsafe {
        let mut name: libc::sockaddr_storage = zeroed();
        let mut message: libc::msghdr = zeroed();
        message.msg_name = from_mut(&mut name).cast();
        message.msg_namelen = size_of::<libc::sockaddr_storage>() as socklen_t;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let length = libc::recvmsg(fd.as_raw_fd(), &raw mut message, libc::MSG_TRUNC | libc::MSG_DONTWAIT);
        let Some(length) = unless_it_would_block(length)? else { return Ok(None) };
        let mut received =
            Received { length, from: to_address(&name), at: None, class: 0, outgoing: is_outgoing(&name) };
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        while !header.is_null() {
            let data = libc::CMSG_DATA(header);
            match ((*header).cmsg_level, (*header).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    received.at = Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
                }
                (libc::IPPROTO_IP, libc::IP_TOS) => received.class = data.read(),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    received.class = data.cast::<c_int>().read_unaligned() as u8;
                }
                _ => {}
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
        Ok(Some(received))
    }
}

/// Whether a packet socket saw a packet leave.
fn is_outgoing(name: &libc::sockaddr_storage) -> bool {
    if i32::from(name.ss_family) != libc::AF_PACKET {
        return false;
    }
    // SAFETY: the family is that of this structure.
    let raw = unsafe { &*from_ref(name).cast::<libc::sockaddr_ll>() };
    raw.sll_pkttype == libc::PACKET_OUTGOING
}

/// Opens a socket that sees every packet that enters or leaves via the interface with number `interface` and
/// passes `filter` (classic BPF).
pub(in crate::host) fn packet_socket(interface: u32, filter: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    // With protocol 0 the socket receives nothing yet, so no packet arrives before the filter is set.
    let fd = open_socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)?;
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    set_option(&fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)?;
    bind(fd.as_fd(), &link_address(interface.cast_signed()))?;
    Ok(fd)
}
