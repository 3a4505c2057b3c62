//! [`PacketRing`]: received frames in memory shared with the kernel, one slot for each (`TPACKET_V2`).
//!
//! Version 3 is not used, because it puts frames into blocks. The kernel passes a block to the process when
//! the block is full or when a timer of at least a millisecond expires. In a measurement, a single frame was
//! received 10 µs after it was sent with version 2, and 500 µs with version 3 (99th percentile: 1 ms). At low
//! rates, a forwarder with version 3 would therefore measure this timer.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use libc::{
    TP_STATUS_CSUMNOTREADY, TP_STATUS_KERNEL, TP_STATUS_USER, TP_STATUS_VLAN_TPID_VALID, TP_STATUS_VLAN_VALID,
};

use super::mapping::Mapping;
use super::system;

/// Memory of a ring: 4096 frames of up to 1,900 bytes, which is 40 ms at 100,000 frames per second.
const RING_BYTES: usize = 8 << 20;
/// Memory is passed to the kernel in contiguous blocks; a slot does not cross the boundary of a block.
const BLOCK_BYTES: usize = 1 << 17;
/// The length of a VLAN tag. The kernel removes the tag of a frame, and this number of bytes before the frame
/// remains free for it.
const TAG_BYTES: usize = 4;
const TAG_ROOM: libc::c_int = 4;
/// The length of header, padding and room for the tag before the frame in a slot.
const HEAD_BYTES: usize = 80;
/// The protocol number of IEEE 802.1Q, which is used if the kernel does not report the protocol number.
const TAG_PROTOCOL: u16 = 0x8100;
/// The length of the two addresses that begin an Ethernet frame.
const ADDRESSES_BYTES: usize = 12;

/// A ring of received frames.
#[derive(Debug)]
pub(super) struct PacketRing {
    memory: Mapping,
    slot_bytes: usize,
    /// Offset of the next slot.
    next: usize,
}

/// A frame of a ring.
pub(super) struct Received<'a> {
    /// The frame with its VLAN tag; only its beginning if the frame did not fit into a slot.
    pub(super) frame: &'a [u8],
    /// The length of the whole frame, bytes.
    pub(super) length: usize,
    /// Whether the transport checksum is missing, because the sender expected a network card to compute it
    /// and no network card sent the frame.
    pub(super) checksum_is_missing: bool,
}

impl PacketRing {
    /// Creates a ring for frames of up to `frame_bytes` on `socket`, which must not be bound yet.
    pub(super) fn attach(socket: BorrowedFd, frame_bytes: usize) -> io::Result<PacketRing> {
        let slot_bytes = (HEAD_BYTES + TAG_BYTES + frame_bytes).next_power_of_two().clamp(2048, BLOCK_BYTES);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: (RING_BYTES / BLOCK_BYTES) as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: (RING_BYTES / slot_bytes) as u32,
        };
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        system::set_option(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        system::set_option(socket, libc::SOL_PACKET, libc::PACKET_RESERVE, &TAG_ROOM)?;
        system::set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        Ok(PacketRing { memory: Mapping::shared(socket, 0, RING_BYTES)?, slot_bytes, next: 0 })
    }

    /// Arrival of the oldest frame, nanoseconds of the real-time clock; `None` if there is none.
    #[inline]
    pub(super) fn head(&self) -> Option<u64> {
        if self.memory.word(self.next).load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return None;
        }
        let header: libc::tpacket2_hdr = self.memory.read(self.next);
        Some(u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec))
    }

    /// Passes the oldest frame to `each`, and then returns its slot to the kernel. A frame must have arrived
    /// ([`head`](Self::head)).
    #[inline]
    pub(super) fn take<R>(&mut self, each: impl FnOnce(Received) -> R) -> R {
        let header: libc::tpacket2_hdr = self.memory.read(self.next);
        let (mut start, mut kept) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let mut length = header.tp_len as usize;
        let tagged = header.tp_status & TP_STATUS_VLAN_VALID != 0 && kept >= ADDRESSES_BYTES;
        if tagged {
            start -= TAG_BYTES;
            kept += TAG_BYTES;
            length += TAG_BYTES;
        }
        assert!(start + kept <= self.slot_bytes, "a frame ends behind its slot");
        // SAFETY: the status of the slot gave it to this process (`head`), and it goes back to the kernel
        // only below.
        let frame = unsafe { self.memory.bytes(self.next + start, kept) };
        if tagged {
            restore_tag(frame, &header);
        }
        let checksum_is_missing = header.tp_status & TP_STATUS_CSUMNOTREADY != 0;
        let answer = each(Received { frame, length, checksum_is_missing });
        self.memory.word(self.next).store(TP_STATUS_KERNEL, Ordering::Release);
        self.next += self.slot_bytes;
        if self.next == self.memory.length() {
            self.next = 0;
        }
        answer
    }
}

/// Restores the tag that the kernel removed. Moves the addresses into the free bytes before the frame.
fn restore_tag(frame: &mut [u8], header: &libc::tpacket2_hdr) {
    let named = header.tp_status & TP_STATUS_VLAN_TPID_VALID != 0;
    let protocol = if named { header.tp_vlan_tpid } else { TAG_PROTOCOL };
    frame.copy_within(TAG_BYTES..TAG_BYTES + ADDRESSES_BYTES, 0);
    frame[ADDRESSES_BYTES..ADDRESSES_BYTES + 2].copy_from_slice(&protocol.to_be_bytes());
    frame[ADDRESSES_BYTES + 2..ADDRESSES_BYTES + TAG_BYTES]
        .copy_from_slice(&header.tp_vlan_tci.to_be_bytes());
}
