//! [`Ring`]: one of the four queues between an `AF_XDP` socket and the kernel.

use std::io;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use super::mapping::Mapping;
use super::system::{self, Plain};

/// A queue in memory that is shared with the kernel. One side adds entries, and the other side removes them.
///
/// Each side counts the entries that it has added or removed since the start, and writes this count to the
/// shared memory. A side that has read the count of the other side (acquire) sees all data that the other
/// side wrote before the count (release).
pub(super) struct Ring<T> {
    memory: Mapping,
    /// Offsets of the two counts.
    producer: usize,
    consumer: usize,
    /// Offset of the entries.
    entries: usize,
    mask: u32,
    /// The number of entries that this process has added or removed. The shared memory may still contain an
    /// older number.
    own: u32,
    kind: PhantomData<T>,
}

impl<T: Plain> Ring<T> {
    /// Requests the ring `option` of `socket` with `length` entries, a power of two, from the kernel.
    pub(super) fn attach(socket: BorrowedFd, option: libc::c_int, length: u32) -> io::Result<Ring<T>> {
        system::set_option(socket, libc::SOL_XDP, option, &length)?;
        let nothing = libc::xdp_ring_offset { producer: 0, consumer: 0, desc: 0, flags: 0 };
        let unknown = libc::xdp_mmap_offsets { rx: nothing, tx: nothing, fr: nothing, cr: nothing };
        let offsets = system::option(socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS, unknown)?;
        let (offset, page) = match option {
            libc::XDP_RX_RING => (offsets.rx, libc::XDP_PGOFF_RX_RING),
            libc::XDP_TX_RING => (offsets.tx, libc::XDP_PGOFF_TX_RING),
            libc::XDP_UMEM_FILL_RING => (offsets.fr, libc::XDP_UMEM_PGOFF_FILL_RING.cast_signed()),
            _ => (offsets.cr, libc::XDP_UMEM_PGOFF_COMPLETION_RING.cast_signed()),
        };
        let entries = offset.desc as usize;
        let memory = Mapping::shared(socket, page, entries + length as usize * size_of::<T>())?;
        let (producer, consumer) = (offset.producer as usize, offset.consumer as usize);
        Ok(Ring { memory, producer, consumer, entries, mask: length - 1, own: 0, kind: PhantomData })
    }
    fn place(&self) -> usize {
        self.entries + (self.own & self.mask) as usize * size_of::<T>()
    }

    /// The oldest entry that the kernel has added.
    #[inline]
    pub(super) fn head(&self) -> Option<T> {
        let producer_count = self.memory.word(self.producer).load(Ordering::Acquire);
        (producer_count != self.own).then(|| self.memory.read(self.place()))
    }
    /// Removes the oldest entry.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.own = self.own.wrapping_add(1);
        self.memory.word(self.consumer).store(self.own, Ordering::Release);
    }

    /// Adds an entry, for which there must be room. The kernel sees the entry after [`submit`](Ring::submit).
    #[inline]
    pub(super) fn push(&mut self, entry: T) {
        self.memory.write(self.place(), entry);
        self.own = self.own.wrapping_add(1);
    }
    /// Makes the added entries visible to the kernel.
    #[inline]
    pub(super) fn submit(&self) {
        self.memory.word(self.producer).store(self.own, Ordering::Release);
    }
    /// Whether the kernel has removed all added entries.
    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        self.memory.word(self.consumer).load(Ordering::Acquire) == self.own
    }
}
