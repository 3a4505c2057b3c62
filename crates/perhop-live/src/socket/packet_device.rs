//! [`PacketDevice`]: a raw socket on one interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::packet_ring::PacketRing;
use super::send_batch::{Outcome, SendBatch};
use super::system;

/// The number of bytes of sent frames that may be in the kernel. It is more than one batch of jumbo frames.
const SEND_BUFFER_BYTES: libc::c_int = 4 << 20;

/// A raw socket on one interface, with a ring of received frames and a batch of frames to send.
pub(super) struct PacketDevice {
    socket: OwnedFd,
    /// The frames that arrived, with times of the real-time clock.
    pub(super) ring: PacketRing,
    /// The frames to send.
    pub(super) batch: SendBatch,
    lost: u64,
}

impl PacketDevice {
    /// Opens a socket on interface `index`, for frames of up to `frame_bytes`.
    pub(super) fn open(index: libc::c_int, frame_bytes: usize) -> io::Result<PacketDevice> {
        let socket = system::open_socket(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
        let borrowed = socket.as_fd();
        let on: libc::c_int = 1;
        // Frames that leave via the interface are not arrivals, so the socket must not receive them.
        system::set_option(borrowed, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &on)?;
        // Frames must not wait in a queue of the kernel before the wire, because such a queue is not part of
        // the policy.
        system::set_option(borrowed, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &on)?;
        let buffer = system::set_option(borrowed, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER_BYTES);
        if buffer.is_err() {
            // Without the privilege to force the size, the kernel's limit applies.
            system::set_option(borrowed, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER_BYTES)?;
        }
        let ring = PacketRing::attach(borrowed, frame_bytes)?;
        let promiscuous = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        // The socket must receive frames to any address, because forwarded frames are addressed to other
        // nodes. The kernel reverts this setting when the socket is closed.
        system::set_option(borrowed, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
        system::bind(borrowed, &system::link_address(index))?;
        Ok(PacketDevice { socket, ring, batch: SendBatch::new(frame_bytes), lost: 0 })
    }
    /// The descriptor that becomes readable when a frame arrives.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
    /// Sends the batch.
    pub(super) fn send(&mut self) -> Outcome {
        self.batch.send(self.socket.as_fd())
    }
    /// Frames lost because the ring was full, since the socket was opened.
    pub(super) fn lost(&mut self) -> u64 {
        self.lost += u64::from(system::packets_lost(self.socket.as_fd()));
        self.lost
    }
}
