//! The system calls for sockets and waiting. Each call is in a safe function, which guarantees valid pointers
//! and lengths.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_wrap)] // C's integers: seconds, letters and small numbers

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use libc::c_int;

/// A value of the kernel's interface.
///
/// # Safety
/// The type must have the layout of C, every sequence of bytes must be a value of the type, and it must not
/// contain a pointer that Rust would follow.
pub(crate) unsafe trait Plain {}

/// Declares that these types are plain.
macro_rules! plain {
    ($($type:ty),*) => {
        $(
            // SAFETY: integers, and structures of them with the layout of C; addresses are for the kernel.
            unsafe impl Plain for $type {}
        )*
    };
}

plain!(c_int, u32, u64, [u8], [u8; 512], libc::sock_fprog, libc::sockaddr_ll, libc::packet_mreq);
plain!(libc::tpacket_req, libc::tpacket_stats, libc::tpacket2_hdr);
plain!(libc::sockaddr_xdp, libc::xdp_umem_reg, libc::xdp_mmap_offsets, libc::xdp_statistics, libc::xdp_desc);

/// The result of a system call: an error if it is negative.
pub(crate) fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Opens a socket that does not block and is not inherited.
pub(crate) fn open_socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: takes no pointers; the returned descriptor has no other owner.
    unsafe { checked(libc::socket(family, kind, protocol)).map(|socket| OwnedFd::from_raw_fd(socket)) }
}

/// Sets option `name` of `level`.
pub(crate) fn set_option<T: Plain + ?Sized>(
    socket: impl AsFd,
    level: c_int,
    name: c_int,
    value: &T,
) -> io::Result<()> {
    let (length, value) = (size_of_val(value) as libc::socklen_t, std::ptr::from_ref(value).cast());
    // SAFETY: `value` outlives the call and is `length` bytes long.
    checked(unsafe { libc::setsockopt(socket.as_fd().as_raw_fd(), level, name, value, length) }).map(drop)
}

/// Reads option `name` of `level` into `value`. The kernel may fill only the beginning of `value`.
pub(crate) fn option<T: Plain>(socket: BorrowedFd, level: c_int, name: c_int, mut value: T) -> io::Result<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` outlives the call, is `length` bytes long, and any bytes are a value of it (`Plain`).
    let answer = unsafe {
        let place = std::ptr::from_mut(&mut value).cast();
        libc::getsockopt(socket.as_raw_fd(), level, name, place, &raw mut length)
    };
    checked(answer).map(|_| value)
}

/// Binds `socket` to an address of its family.
pub(crate) fn bind<T: Plain>(socket: BorrowedFd, address: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `address` outlives the call and is `length` bytes long.
    let answer = unsafe { libc::bind(socket.as_raw_fd(), std::ptr::from_ref(address).cast(), length) };
    checked(answer).map(drop)
}

/// The link-layer address for all protocols on interface `index`.
pub(crate) fn link_address(index: c_int) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

/// Packets that a packet socket dropped because its ring was full, since the last call.
pub(crate) fn packets_lost(socket: BorrowedFd) -> u32 {
    let none = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    option(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, none).map_or(0, |counts| counts.tp_drops)
}

/// The number of the interface called `name`, in the network namespace of `socket`.
pub(super) fn interface_index(socket: BorrowedFd, name: &str) -> io::Result<c_int> {
    let mut request = interface_request(name)?;
    // SAFETY: this request reads a name and writes an integer into `request`, which outlives the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFINDEX as _, &raw mut request) })?;
    // SAFETY: the kernel has filled in this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_ifindex })
}

/// The MTU of the interface called `name`, bytes after the Ethernet header.
pub(super) fn interface_mtu(socket: BorrowedFd, name: &str) -> io::Result<u32> {
    let mut request = interface_request(name)?;
    // SAFETY: this request reads a name and writes an integer into `request`, which outlives the call.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) })?;
    // SAFETY: the kernel has filled in this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_mtu } as u32)
}

/// Attaches `descriptor`, an open `/dev/net/tun`, to the TUN interface called `name`.
pub(super) fn attach_tunnel(descriptor: BorrowedFd, name: &str) -> io::Result<()> {
    let mut request = interface_request(name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: this request reads a name and flags from `request`, which outlives the call.
    checked(unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }).map(drop)
}

/// Notifies the kernel that an `AF_XDP` socket has frames to send.
pub(super) fn kick(socket: BorrowedFd) -> io::Result<()> {
    // SAFETY: no data and no address are passed.
    let answer = unsafe {
        libc::sendto(socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
    };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Creates a request for the interface called `name`.
fn interface_request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all zero is a value of this structure of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}

/// The entry of one descriptor for [`poll`].
pub(super) fn interest(descriptor: RawFd, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd: descriptor, events, revents: 0 }
}

/// Waits for an event on one of `interests`, at most for `timeout`. Returns the number of descriptors with
/// events.
///
/// If a signal interrupts the wait, no descriptor has an event.
pub(super) fn poll(interests: &mut [libc::pollfd], timeout: Duration) -> io::Result<usize> {
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    };
    // SAFETY: both pointers are to memory that outlives the call; no signal mask is passed.
    let answer = unsafe {
        libc::ppoll(
            interests.as_mut_ptr(),
            interests.len() as libc::nfds_t,
            &raw const timeout,
            std::ptr::null(),
        )
    };
    match checked(answer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        other => other.map(|ready| ready as usize),
    }
}

/// Reading of the system's clock `clock`, nanoseconds.
pub(crate) fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call. The call cannot fail for the clocks that every Linux has.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Makes sleeps of this thread end on time. By default, the kernel may add 50 µs to combine wake-ups.
pub(crate) fn sharpen_timers() -> io::Result<()> {
    // SAFETY: takes integers only.
    checked(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) }).map(drop)
}

/// Requests a `SIGTERM` from the kernel for the time at which the thread that started this process ends.
pub(crate) fn die_with_parent() -> io::Result<()> {
    // SAFETY: takes integers only.
    checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) }).map(drop)
}

/// Prevents this thread and the threads that it starts later from gaining rights by starting a program.
pub(crate) fn gain_no_privileges() -> io::Result<()> {
    let (yes, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: takes integers only.
    checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, none, none, none) }).map(drop)
}

/// Calls `making`. The files that it creates are accessible by this user only.
pub(crate) fn with_private_files<T>(making: impl FnOnce() -> T) -> T {
    // SAFETY: takes an integer, and cannot fail.
    let before = unsafe { libc::umask(0o177) };
    let made = making();
    // SAFETY: takes an integer, and cannot fail.
    unsafe { libc::umask(before) };
    made
}

/// Ends present and future waits for connections of a socket.
pub(crate) fn stop_listening(socket: BorrowedFd) {
    // SAFETY: takes integers only.
    unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) };
}

/// Sets the real-time priority of this thread (`SCHED_FIFO`, lowest priority), which is higher than the
/// priority of all threads without real-time priority.
pub(crate) fn run_in_real_time() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: `parameters` outlives the call; 0 is this thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }).map(drop)
}

/// Creates a descriptor that is readable after a number was written to it.
pub(super) fn event_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    let descriptor = checked(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the descriptor was just opened, so it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Processor time of this process, in user and kernel mode.
pub(crate) fn processor_time() -> Duration {
    Duration::from_nanos(nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// The file with the resident memory of this process. The file remains open, because a confined process
/// cannot open files.
#[derive(Debug)]
pub(crate) struct ResidentMemory(Option<File>);

impl ResidentMemory {
    /// Opens the file for this process.
    pub(crate) fn open() -> ResidentMemory {
        ResidentMemory(File::open("/proc/self/statm").ok())
    }
    /// The resident memory, bytes; 0 if the kernel does not report it.
    pub(crate) fn bytes(&self) -> u64 {
        let mut text = [0; 128];
        let length = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let pages = std::str::from_utf8(&text[..length])
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
        // SAFETY: takes an integer only.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        pages.unwrap_or(0) * page.max(0) as u64
    }
}

/// Whether a descriptor is a pipe or a socket, which has another end.
pub(super) fn has_other_end(descriptor: BorrowedFd) -> bool {
    // SAFETY: all zero is a value of this structure of integers.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `found` outlives the call.
    let answer = unsafe { libc::fstat(descriptor.as_raw_fd(), &raw mut found) };
    answer == 0 && matches!(found.st_mode & libc::S_IFMT, libc::S_IFIFO | libc::S_IFSOCK)
}
