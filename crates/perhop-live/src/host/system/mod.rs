//! What the hosts' traffic programs ask of the operating system: clocks, sleep, sockets, waiting.
//!
//! The only file of [`host`](crate::host) with `unsafe`: every block is one call into the C library, whose
//! arguments live as long as the call.

#![allow(unsafe_code)] // the C library's calls; each block says why it is sound

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{from_mut, from_ref};

use libc::{c_int, c_void, socklen_t};

/// Nanoseconds of the clock that all namespaces share and nobody sets.
pub(super) fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

fn clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable for the whole call; these clocks exist on every Linux, so it is filled.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How far the clock of packets' timestamps is ahead of [`monotonic`], nanoseconds: the tightest of some looks.
pub(super) fn timestamps_ahead() -> u64 {
    let look = || {
        let before = monotonic();
        let real = clock(libc::CLOCK_REALTIME);
        let after = monotonic();
        (after - before, real - before.midpoint(after))
    };
    (0..16).map(|_| look()).min().map_or(0, |(_, ahead)| ahead)
}

/// Sleeps until [`monotonic`] shows `deadline`, and wakes as precisely as the system's timers are.
pub(super) fn sleep_until(deadline: u64) {
    let time = libc::timespec {
        tv_sec: (deadline / 1_000_000_000).cast_signed(),
        tv_nsec: (deadline % 1_000_000_000).cast_signed(),
    };
    // SAFETY: `time` is readable for the whole call, and no remainder is asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}

/// Lets this thread's sleeps end when they should, instead of up to 50 µs later to save wake-ups.
pub(super) fn wake_precisely() {
    // SAFETY: this option takes one number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0) };
}

/// The result of a C call that answers -1 on failure.
fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// A new socket that does not block.
pub(super) fn socket(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the call takes numbers only; what it answers is an open descriptor that nobody else owns.
    unsafe { checked(libc::socket(domain, kind, protocol)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// The domain of sockets for `address`.
pub(super) fn domain(address: IpAddr) -> c_int {
    if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }
}

/// An option of a socket whose value is a number.
pub(super) fn set(fd: &OwnedFd, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    set_bytes(fd, level, option, &value.to_ne_bytes())
}

/// An option of a socket whose value is `bytes`.
pub(super) fn set_bytes(fd: &OwnedFd, level: c_int, option: c_int, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: `bytes` is readable for the whole call, and its length is what is told.
    let answer = unsafe {
        libc::setsockopt(fd.as_raw_fd(), level, option, bytes.as_ptr().cast(), bytes.len() as socklen_t)
    };
    checked(answer).map(drop)
}

/// Reads an option of a socket into `bytes`; how many of them it filled.
pub(super) fn get_bytes(fd: BorrowedFd, level: c_int, option: c_int, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = bytes.len() as socklen_t;
    // SAFETY: `bytes` is writable for the whole call and `length` says how far.
    let answer = unsafe {
        libc::getsockopt(fd.as_raw_fd(), level, option, bytes.as_mut_ptr().cast(), &raw mut length)
    };
    checked(answer).map(|_| length as usize)
}

/// Why a connection could not be made, where it could not.
pub(super) fn pending_error(fd: BorrowedFd) -> Option<io::Error> {
    let mut bytes = [0; 4];
    match get_bytes(fd, libc::SOL_SOCKET, libc::SO_ERROR, &mut bytes) {
        Ok(_) => Some(i32::from_ne_bytes(bytes)).filter(|code| *code != 0).map(io::Error::from_raw_os_error),
        Err(error) => Some(error),
    }
}

/// An address as the C library has it.
struct RawAddress {
    storage: libc::sockaddr_storage,
    length: socklen_t,
}

impl RawAddress {
    fn new(address: SocketAddr) -> RawAddress {
        // SAFETY: all-zero bytes are a valid value of this plain structure.
        let mut storage: libc::sockaddr_storage = unsafe { zeroed() };
        let length = match address {
            SocketAddr::V4(v4) => {
                let raw = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: v4.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage is made to hold, and is aligned for, every kind of address.
                unsafe { from_mut(&mut storage).cast::<libc::sockaddr_in>().write(raw) };
                size_of::<libc::sockaddr_in>()
            }
            SocketAddr::V6(v6) => {
                let raw = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: v6.port().to_be(),
                    sin6_flowinfo: 0,
                    sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                    sin6_scope_id: v6.scope_id(),
                };
                // SAFETY: as above.
                unsafe { from_mut(&mut storage).cast::<libc::sockaddr_in6>().write(raw) };
                size_of::<libc::sockaddr_in6>()
            }
        };
        RawAddress { storage, length: length as socklen_t }
    }
    fn pointer(&self) -> *const libc::sockaddr {
        from_ref(&self.storage).cast()
    }
}

/// The address in `storage`, if it is one of IP.
fn to_address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that this is what the storage holds.
            let raw = unsafe { &*from_ref(storage).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddr::new(ip.into(), u16::from_be(raw.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let raw = unsafe { &*from_ref(storage).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(raw.sin6_addr.s6_addr);
            Some(SocketAddr::new(ip.into(), u16::from_be(raw.sin6_port)))
        }
        _ => None,
    }
}

/// Gives `fd` the local `address`.
pub(super) fn bind(fd: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(address);
    // SAFETY: the address is readable for the whole call, and its length is what is told.
    checked(unsafe { libc::bind(fd.as_raw_fd(), raw.pointer(), raw.length) }).map(drop)
}

/// Connects `fd` to `address`, or begins to.
pub(super) fn connect(fd: &OwnedFd, address: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(address);
    // SAFETY: as for `bind`.
    match checked(unsafe { libc::connect(fd.as_raw_fd(), raw.pointer(), raw.length) }) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// Lets others connect to `fd`.
pub(super) fn listen(fd: &OwnedFd, waiting: c_int) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    checked(unsafe { libc::listen(fd.as_raw_fd(), waiting) }).map(drop)
}

/// The next connection to `fd`, and who connects.
pub(super) fn accept(fd: &OwnedFd) -> io::Result<(OwnedFd, SocketAddr)> {
    // SAFETY: all-zero bytes are a valid value; the storage is writable for the whole call and `length` says how
    // far; what is answered is an open descriptor that nobody else owns.
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

/// Ends one direction of a connection: what was written is followed by FIN.
pub(super) fn finish(fd: BorrowedFd) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    checked(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Room for control messages, aligned as their headers must be.
#[repr(align(8))]
struct Control([u8; 128]);

/// Sends `bytes` to where `fd` is connected, with the traffic-class octet `class`.
pub(super) fn send(fd: &OwnedFd, domain: c_int, bytes: &[u8], class: u8) -> io::Result<()> {
    let (level, kind) = match domain {
        libc::AF_INET => (libc::IPPROTO_IP, libc::IP_TOS),
        _ => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    };
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: the message points to `part`, `bytes` and `control`, which outlive the call; the kernel only reads
    // them. One header with one number fits the room for control messages, whose length is set to just that.
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

/// A packet, or the part of it that there was room for.
#[derive(Debug)]
pub(super) struct Received {
    /// How long it is, whatever there was room for.
    pub(super) length: usize,
    /// Its source, of a datagram.
    pub(super) from: Option<SocketAddr>,
    /// When the kernel had it, by the clock of timestamps; `None` if it does not say.
    pub(super) at: Option<u64>,
    /// The octet of DSCP and ECN, of a datagram.
    pub(super) class: u8,
    /// It was leaving this host, of a packet socket.
    pub(super) outgoing: bool,
}

/// The next packet at `fd`, into `bytes`; `None` if there is none.
pub(super) fn receive(fd: BorrowedFd, bytes: &mut [u8]) -> io::Result<Option<Received>> {
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the message points to `part`, `bytes`, `control` and `name`, which outlive the call and have the
    // lengths that are told; all-zero bytes are valid values of the plain structures. Afterwards the headers of
    // the control messages are walked with the C library's own macros, within the length that the kernel wrote.
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
        if length < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
        }
        let mut received = Received {
            length: length as usize,
            from: to_address(&name),
            at: None,
            class: 0,
            outgoing: is_outgoing(&name),
        };
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
    // SAFETY: the family says that this is what the storage holds.
    let raw = unsafe { &*from_ref(name).cast::<libc::sockaddr_ll>() };
    raw.sll_pkttype == libc::PACKET_OUTGOING
}

/// A socket that sees every packet that enters or leaves by the interface with number `interface`, of those that
/// `filter` (classic BPF) lets through.
pub(super) fn packet_socket(interface: u32, filter: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    // Protocol 0 receives nothing yet: no packet gets past the filter before it stands.
    let fd = socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)?;
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program points to `filter`, which outlives the call and is only read; its bytes are read as such.
    let bytes =
        unsafe { std::slice::from_raw_parts(from_ref(&program).cast::<u8>(), size_of::<libc::sock_fprog>()) };
    set_bytes(&fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, bytes)?;
    // SAFETY: all-zero bytes are a valid value of this plain structure, which is readable for the whole call.
    let answer = unsafe {
        let mut raw: libc::sockaddr_ll = zeroed();
        raw.sll_family = libc::AF_PACKET as u16;
        raw.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        raw.sll_ifindex = interface.cast_signed();
        libc::bind(fd.as_raw_fd(), from_ref(&raw).cast(), size_of::<libc::sockaddr_ll>() as socklen_t)
    };
    checked(answer).map(|_| fd)
}

/// Numbers of the interfaces that have `address`.
pub(super) fn interfaces_of(address: IpAddr) -> io::Result<Vec<u32>> {
    let mut list = MaybeUninit::<*mut libc::ifaddrs>::uninit();
    // SAFETY: the call fills `list` or fails; the list is walked before it is freed, its pointers are null or valid
    // until then, and names end with a zero byte.
    unsafe {
        checked(libc::getifaddrs(list.as_mut_ptr()))?;
        let first = list.assume_init();
        let (mut entry, mut found) = (first, Vec::new());
        while let Some(interface) = entry.as_ref() {
            let storage = interface.ifa_addr.cast::<libc::sockaddr>();
            if !storage.is_null() && address_at(storage) == Some(address) {
                found.push(libc::if_nametoindex(interface.ifa_name));
            }
            entry = interface.ifa_next;
        }
        libc::freeifaddrs(first);
        Ok(found)
    }
}

/// The IP address at `pointer`.
///
/// # Safety
/// `pointer` leads to an address that is as long as its family says.
unsafe fn address_at(pointer: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller promises it; no more is read than the family's structure has.
    unsafe {
        match i32::from((*pointer).sa_family) {
            libc::AF_INET => {
                let raw = pointer.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes()).into())
            }
            libc::AF_INET6 => {
                let raw = pointer.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(raw.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

/// Packets that a packet socket had no room for, since this was asked last.
pub(super) fn packets_lost(fd: BorrowedFd) -> u32 {
    let mut bytes = [0; 8];
    match get_bytes(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut bytes) {
        Ok(8) => u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        _ => 0,
    }
}

/// What is ready at a descriptor of a [`Poll`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    /// What it was added as.
    pub(super) token: u64,
    /// There is room to write, or an error to notice.
    pub(super) writable: bool,
}

/// Waits for many descriptors at once.
#[derive(Debug)]
pub(super) struct Poll(OwnedFd);

/// At most so many are told at once.
const BATCH: c_int = 64;

impl Poll {
    pub(super) fn new() -> io::Result<Poll> {
        // SAFETY: the call takes a number only; what it answers is an open descriptor that nobody else owns.
        unsafe { checked(libc::epoll_create1(libc::EPOLL_CLOEXEC)).map(|fd| Poll(OwnedFd::from_raw_fd(fd))) }
    }
    fn control(&self, operation: c_int, fd: RawFd, events: c_int, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: `event` is readable for the whole call.
        checked(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &raw mut event) }).map(drop)
    }
    /// Watches `fd` for something to read, and tells it as `token`.
    pub(super) fn add(&self, fd: BorrowedFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd.as_raw_fd(), libc::EPOLLIN | libc::EPOLLRDHUP, token)
    }
    /// Watches `fd`, which was added, for something to read and for room to write too.
    pub(super) fn watch_both(&self, fd: BorrowedFd, token: u64) -> io::Result<()> {
        let both = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLOUT;
        self.control(libc::EPOLL_CTL_MOD, fd.as_raw_fd(), both, token)
    }
    /// Watches `fd`, which was added, for something to read alone.
    pub(super) fn watch_reading(&self, fd: BorrowedFd, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd.as_raw_fd(), libc::EPOLLIN | libc::EPOLLRDHUP, token)
    }
    /// Waits for at most `milliseconds`; what is ready by then.
    pub(super) fn wait(&self, milliseconds: u64) -> io::Result<Vec<Ready>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH as usize];
        let timeout = milliseconds.min(60_000) as c_int;
        // SAFETY: `events` is writable for the whole call and as long as is told.
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

/// Reads from a connection; 0 bytes is its end, `None` that there is nothing yet.
pub(super) fn read(fd: BorrowedFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: `bytes` is writable for the whole call and as long as is told.
    let count = unsafe {
        libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast::<c_void>(), bytes.len(), libc::MSG_DONTWAIT)
    };
    unless_it_would_block(count)
}

/// What follows a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// More of the same message: a segment that it does not fill waits for it.
    More,
    /// Nothing, for now.
    Nothing,
}

/// Writes to a connection; `None` if there is no room.
pub(super) fn write(fd: BorrowedFd, bytes: &[u8], next: Next) -> io::Result<Option<usize>> {
    let more = if next == Next::More { libc::MSG_MORE } else { 0 };
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | more;
    // SAFETY: `bytes` is readable for the whole call and as long as is told.
    let count = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast::<c_void>(), bytes.len(), flags) };
    unless_it_would_block(count)
}

fn unless_it_would_block(count: isize) -> io::Result<Option<usize>> {
    if count >= 0 {
        return Ok(Some(count as usize));
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) }
}
