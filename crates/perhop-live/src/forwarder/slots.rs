//! [`Slots`]: room for the frames that wait here, taken and given back without asking the system for memory.

use perhop_qos::packet::Packet;

use crate::frame::Layout;

/// Which slot: what [`Packet::payload`] is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(pub(crate) u32);

impl SlotId {
    /// Where the frame of `packet` waits.
    #[inline]
    pub(crate) fn of(packet: &Packet) -> SlotId {
        SlotId(packet.payload as u32)
    }
}

/// The frames that wait here.
#[derive(Debug)]
pub(crate) struct Slots {
    /// One slot after the other. The system lends memory for those that were used once.
    bytes: Vec<u8>,
    /// Bytes of one slot.
    size: usize,
    held: Vec<Held>,
    /// The one given back last is taken next: it may still be in the cache.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    length: u32,
    layout: Layout,
}

impl Slots {
    /// `count` slots of `size` bytes each.
    pub(crate) fn new(count: u32, size: usize) -> Slots {
        let frames = count as usize;
        let free = (0..count).rev().collect();
        Slots { bytes: vec![0; frames * size], size, held: vec![Held::default(); frames], free }
    }
    /// Whether a frame of `length` bytes fits into a slot.
    pub(crate) fn fits(&self, length: usize) -> bool {
        length <= self.size
    }
    /// Puts `frame`, which [fits](Slots::fits), into a slot that nobody has; `None` when all are taken.
    #[inline]
    pub(crate) fn store(&mut self, frame: &[u8], layout: Layout) -> Option<SlotId> {
        let slot = self.free.pop()?;
        let start = slot as usize * self.size;
        self.bytes[start..start + frame.len()].copy_from_slice(frame);
        self.held[slot as usize] = Held { length: frame.len() as u32, layout };
        Some(SlotId(slot))
    }
    /// The frame in `slot`, and where its packet stands.
    #[inline]
    pub(crate) fn frame(&mut self, slot: SlotId) -> (&mut [u8], Layout) {
        let start = slot.0 as usize * self.size;
        let Held { length, layout } = self.held[slot.0 as usize];
        (&mut self.bytes[start..start + length as usize], layout)
    }
    /// As [`frame`](Slots::frame), to be read.
    pub(crate) fn stored(&self, slot: SlotId) -> (&[u8], Layout) {
        let start = slot.0 as usize * self.size;
        let Held { length, layout } = self.held[slot.0 as usize];
        (&self.bytes[start..start + length as usize], layout)
    }
    /// Gives `slot` back.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: SlotId) {
        debug_assert!(self.free.len() < self.held.len(), "a slot was given back twice");
        self.free.push(slot.0);
    }
    /// Slots that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.held.len() - self.free.len()
    }
}
