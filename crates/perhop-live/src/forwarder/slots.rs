//! [`Slots`]: memory for waiting frames, reused without allocation.

use perhop_qos::packet::Packet;

use crate::frame::Layout;

/// The number of a slot. In this crate, [`Packet::payload`] has this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(pub(crate) u32);

impl SlotId {
    /// The slot of the frame of `packet`.
    #[inline]
    pub(crate) fn from_packet(packet: &Packet) -> SlotId {
        SlotId(packet.payload as u32)
    }
}

/// The waiting frames.
#[derive(Debug)]
pub(crate) struct Slots {
    /// All slots, one after the other. The system provides memory for a slot at its first use.
    bytes: Vec<u8>,
    /// The size of a slot, bytes.
    size: usize,
    held: Vec<Held>,
    /// The free slots. The last slot is used next, because it may still be in the cache.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    length: u32,
    layout: Layout,
}

impl Slots {
    /// Creates `count` slots of `size` bytes each.
    pub(crate) fn new(count: u32, size: usize) -> Slots {
        let frames = count as usize;
        let free = (0..count).rev().collect();
        Slots { bytes: vec![0; frames * size], size, held: vec![Held::default(); frames], free }
    }
    /// Whether a frame of `length` bytes fits into a slot.
    pub(crate) fn fits(&self, length: usize) -> bool {
        length <= self.size
    }
    /// Stores `frame`, which [fits](Slots::fits), in a free slot. Returns `None` if no slot is free.
    #[inline]
    pub(crate) fn store(&mut self, frame: &[u8], layout: Layout) -> Option<SlotId> {
        let slot = self.free.pop()?;
        let start = slot as usize * self.size;
        self.bytes[start..start + frame.len()].copy_from_slice(frame);
        self.held[slot as usize] = Held { length: frame.len() as u32, layout };
        Some(SlotId(slot))
    }
    /// The frame in `slot`, and the layout of its packet.
    #[inline]
    pub(crate) fn frame(&mut self, slot: SlotId) -> (&mut [u8], Layout) {
        let start = slot.0 as usize * self.size;
        let Held { length, layout } = self.held[slot.0 as usize];
        (&mut self.bytes[start..start + length as usize], layout)
    }
    /// Returns a shared reference to the frame in `slot`, and the layout of its packet.
    pub(crate) fn stored(&self, slot: SlotId) -> (&[u8], Layout) {
        let start = slot.0 as usize * self.size;
        let Held { length, layout } = self.held[slot.0 as usize];
        (&self.bytes[start..start + length as usize], layout)
    }
    /// Frees `slot`.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: SlotId) {
        debug_assert!(self.free.len() < self.held.len(), "a slot was given back twice");
        self.free.push(slot.0);
    }
    /// The number of slots in use.
    pub(crate) fn taken(&self) -> usize {
        self.held.len() - self.free.len()
    }
}
