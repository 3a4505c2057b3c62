//! [`ExpressDevice`]: the frames of an interface, received with `AF_XDP` before the kernel's network stack
//! processes them.
//!
//! Frames are in one area of memory that is shared with the kernel (the *umem*), divided into chunks. Four
//! rings pass chunks between process and kernel. The process passes free chunks (fill ring) and chunks to
//! send (send ring) to the kernel. The kernel returns received chunks (receive ring) and sent chunks
//! (completion ring). The socket uses the copying mode, which works on every interface, including veth pairs.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::clock::Clock;
use super::express_program::Redirection;
use super::express_ring::Ring;
use super::mapping::Mapping;
use super::packet_ring::Received;
use super::send_batch::{BATCH_FRAMES, Outcome};
use super::system;

/// The number of chunks for each direction, and the length of the rings; a power of two.
const CHUNKS: u32 = 4096;
/// The number of bytes that the kernel reserves at the beginning of a chunk. A chunk must not be longer than
/// a page.
const HEADROOM_BYTES: usize = 256;
const LONGEST_CHUNK_BYTES: usize = 4096;
/// The number of calls for two batches. The kernel sends 32 frames per call.
const KICKS: usize = 2 * BATCH_FRAMES / 32;

/// An interface whose frames are received and sent with `AF_XDP`.
pub(super) struct ExpressDevice {
    socket: OwnedFd,
    frames: Mapping,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    sending: Ring<libc::xdp_desc>,
    completed: Ring<u64>,
    /// Chunks that are free for sending.
    free: Vec<u64>,
    /// Frames in the send ring about which the kernel was not notified yet.
    waiting: Outcome,
    /// The time at which the oldest frame was first seen, because the kernel does not report the time of
    /// arrival.
    seen_ns: Cell<Option<u64>>,
    /// The program on the interface.
    _redirection: Redirection,
}

impl ExpressDevice {
    /// Opens the first queue of interface `index`, for frames of up to `frame_bytes`.
    pub(super) fn open(index: libc::c_int, frame_bytes: usize) -> io::Result<ExpressDevice> {
        let chunk_bytes = (HEADROOM_BYTES + frame_bytes).next_power_of_two().max(2048);
        if chunk_bytes > LONGEST_CHUNK_BYTES {
            let longest = LONGEST_CHUNK_BYTES - HEADROOM_BYTES;
            let message = format!("AF_XDP carries frames of up to {longest} bytes; lower the MTU");
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let socket = system::open_socket(libc::AF_XDP, libc::SOCK_RAW, 0)?;
        let frames = Mapping::anonymous(2 * CHUNKS as usize * chunk_bytes)?;
        let area = libc::xdp_umem_reg {
            addr: frames.address(),
            len: frames.length() as u64,
            chunk_size: chunk_bytes as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        let borrowed = socket.as_fd();
        system::set_option(borrowed, libc::SOL_XDP, libc::XDP_UMEM_REG, &area)?;
        let chunk = |number: u32| u64::from(number) * chunk_bytes as u64;
        let mut fill = Ring::attach(borrowed, libc::XDP_UMEM_FILL_RING, CHUNKS)?;
        let completed = Ring::attach(borrowed, libc::XDP_UMEM_COMPLETION_RING, CHUNKS)?;
        let received = Ring::attach(borrowed, libc::XDP_RX_RING, CHUNKS)?;
        let sending = Ring::attach(borrowed, libc::XDP_TX_RING, CHUNKS)?;
        for number in 0..CHUNKS {
            fill.push(chunk(number));
        }
        fill.submit();
        let redirection = Redirection::install(index)?;
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as libc::__u16,
            sxdp_flags: libc::XDP_COPY,
            sxdp_ifindex: index as u32,
            sxdp_queue_id: 0,
            sxdp_shared_umem_fd: 0,
        };
        system::bind(borrowed, &address)?;
        redirection.redirect_to(borrowed)?;
        Ok(ExpressDevice {
            socket,
            frames,
            fill,
            received,
            sending,
            completed,
            free: (CHUNKS..2 * CHUNKS).map(chunk).collect(),
            waiting: Outcome::default(),
            seen_ns: Cell::new(None),
            _redirection: redirection,
        })
    }
    /// The descriptor that becomes readable when a frame arrives.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
    /// Time at which the oldest frame was first seen, nanoseconds of `clock`.
    #[inline]
    pub(super) fn head(&self, clock: &Clock) -> Option<u64> {
        self.received.head()?;
        if self.seen_ns.get().is_none() {
            self.seen_ns.set(Some(clock.now_ns()));
        }
        self.seen_ns.get()
    }
    /// Passes the oldest frame, which must exist, to `each`.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn take(&mut self, each: impl FnOnce(Received)) {
        let Some(descriptor) = self.received.head() else { return };
        let length = descriptor.len as usize;
        // SAFETY: the kernel has put this chunk into the receive ring, so it belongs to this process until it
        // is pushed into the fill ring below.
        let frame = unsafe { self.frames.bytes(descriptor.addr as usize, length) };
        each(Received { frame, length, checksum_is_missing: false });
        self.received.pop();
        self.seen_ns.set(None);
        self.fill.push(descriptor.addr);
        self.fill.submit();
    }
    /// Whether no frame waits for sending.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.sent == 0
    }
    /// Whether the waiting frames must be sent before another frame can be added.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.waiting.sent >= BATCH_FRAMES as u64
    }
    /// Copies `frame`, which must fit, to a free chunk for sending. The frame is lost if no chunk is free.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn push(&mut self, frame: &[u8]) {
        let Some(chunk) = self.free.pop() else {
            self.waiting.refused += 1;
            return;
        };
        // SAFETY: a free chunk is not in any ring, so the kernel does not access it.
        unsafe { self.frames.bytes(chunk as usize, frame.len()) }.copy_from_slice(frame);
        self.sending.push(libc::xdp_desc { addr: chunk, len: frame.len() as u32, options: 0 });
        self.waiting.sent += 1;
        self.waiting.sent_bytes += frame.len() as u64;
    }
    /// Sends the waiting frames.
    pub(super) fn send(&mut self) -> Outcome {
        self.sending.submit();
        let mut outcome = std::mem::take(&mut self.waiting);
        for _ in 0..KICKS {
            match system::kick(self.socket.as_fd()) {
                // Frames that the kernel has not sent remain in the ring.
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    outcome.error = error.raw_os_error().unwrap_or(0);
                    break;
                }
                _ if self.sending.is_taken() => break,
                _ => {}
            }
        }
        while let Some(chunk) = self.completed.head() {
            self.completed.pop();
            self.free.push(chunk);
        }
        outcome
    }
    /// Discards the waiting frames. Returns their number.
    pub(super) fn discard(&mut self) -> u64 {
        std::mem::take(&mut self.waiting).sent
    }
    /// Frames lost because no chunk was free or a ring was full, since the socket was opened.
    pub(super) fn lost(&self) -> u64 {
        let none = libc::xdp_statistics {
            rx_dropped: 0,
            rx_invalid_descs: 0,
            tx_invalid_descs: 0,
            rx_ring_full: 0,
            rx_fill_ring_empty_descs: 0,
            tx_ring_empty_descs: 0,
        };
        system::option(self.socket.as_fd(), libc::SOL_XDP, libc::XDP_STATISTICS, none)
            .map_or(0, |counts| counts.rx_dropped + counts.rx_ring_full)
    }
}
