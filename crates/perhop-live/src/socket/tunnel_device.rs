//! [`TunnelDevice`]: a TUN interface. Its other end is the network stack of the machine itself.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use super::clock::Clock;
use super::packet_ring::Received;
use super::send_batch::Outcome;
use super::system;

/// A TUN interface. This process reads the packets that the machine routes to the interface. Packets that
/// this process writes arrive at the machine.
pub(super) struct TunnelDevice {
    file: File,
    /// The packet that was read and not yet passed on.
    packet: Vec<u8>,
    length: usize,
    /// Time of reading, nanoseconds.
    seen_ns: Option<u64>,
    /// Result of sending since the last call of `send`.
    outcome: Outcome,
}

impl TunnelDevice {
    /// Opens the TUN interface `name`, and creates it if it does not exist.
    pub(super) fn open(name: &str) -> io::Result<TunnelDevice> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")?;
        system::attach_tunnel(file.as_fd(), name)?;
        let outcome = Outcome::default();
        Ok(TunnelDevice { file, packet: Vec::new(), length: 0, seen_ns: None, outcome })
    }
    /// Replaces the buffer by a buffer for packets of up to `packet_bytes`.
    pub(super) fn with_room_for(self, packet_bytes: usize) -> TunnelDevice {
        TunnelDevice { packet: vec![0; packet_bytes], ..self }
    }
    /// The descriptor that becomes readable when a packet arrives.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
    /// Reads the next packet, unless the buffer has a packet.
    pub(super) fn fetch(&mut self, clock: &Clock) {
        if self.seen_ns.is_none()
            && let Ok(length) = self.file.read(&mut self.packet)
        {
            self.length = length;
            self.seen_ns = Some(clock.now_ns());
        }
    }
    /// Time at which the packet in the buffer was read; `None` if the buffer is empty.
    pub(super) fn head(&self) -> Option<u64> {
        self.seen_ns
    }
    /// Passes the packet in the buffer to `each`.
    pub(super) fn take(&mut self, each: impl FnOnce(Received)) {
        self.seen_ns = None;
        let frame = &self.packet[..self.length];
        each(Received { frame, length: self.length, checksum_is_missing: false });
    }
    /// Passes `packet` to the machine immediately.
    pub(super) fn push(&mut self, packet: &[u8]) {
        match self.file.write_all(packet) {
            Ok(()) => {
                self.outcome.sent += 1;
                self.outcome.sent_bytes += packet.len() as u64;
            }
            Err(error) => {
                self.outcome.refused += 1;
                self.outcome.error = error.raw_os_error().unwrap_or(0);
            }
        }
    }
    /// Whether no packet was sent or refused since the last call of [`send`](Self::send).
    pub(super) fn is_empty(&self) -> bool {
        self.outcome.sent + self.outcome.refused == 0
    }
    /// Returns and resets the result of sending since the last call.
    pub(super) fn send(&mut self) -> Outcome {
        std::mem::take(&mut self.outcome)
    }
}
