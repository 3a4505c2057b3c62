//! [`Packets`]: first in, first out.

use crate::packet::Packet;

/// Packets in order of arrival, in a ring that grows to its high-water mark once; after that nothing is allocated.
///
/// Its length is a power of two, and its front is read without being taken: unlike `VecDeque`, which moves every packet
/// through an `Option`.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    slots: Vec<Slot>,
    first: usize,
    held: usize,
}

/// A packet in a cache line of its own.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Slot(Packet);

impl Packets {
    #[inline]
    pub(super) fn front(&self) -> Option<&Packet> {
        if self.held > 0 { self.slots.get(self.first).map(|slot| &slot.0) } else { None }
    }
    #[inline]
    pub(super) fn push_back(&mut self, packet: &Packet) {
        if self.held == self.slots.len() {
            self.grow();
        }
        let place = (self.first + self.held) & (self.slots.len() - 1);
        self.slots[place].0 = *packet;
        self.held += 1;
    }
    /// Forgets the packet at the front, which there must be.
    #[inline]
    pub(super) fn drop_front(&mut self) {
        self.held -= 1;
        // Where it runs empty it begins at the start again: what mostly holds few packets stays in few cache lines.
        self.first = if self.held == 0 { 0 } else { (self.first + 1) & (self.slots.len() - 1) };
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        let (wrapped, from_first) = self.slots.split_at(self.first);
        from_first.iter().chain(wrapped).take(self.held).map(|slot| &slot.0)
    }

    /// Twice as many slots, the packets from the start on.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        self.slots.resize((2 * self.slots.len()).max(4), Slot::default());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_leave_in_the_order_in_which_they_came(steps in prop::collection::vec(0u32..5, 1..300)) {
            let (mut plain, mut packets) = (VecDeque::new(), Packets::default());
            for (number, step) in steps.into_iter().enumerate() {
                if step < 3 {
                    let packet = Packet { length: number as u32, ..Packet::default() };
                    plain.push_back(packet);
                    packets.push_back(&packet);
                } else if plain.pop_front().is_some() {
                    packets.drop_front();
                }
                prop_assert_eq!(packets.front(), plain.front());
                prop_assert!(packets.iter().eq(plain.iter()));
            }
        }
    }
}
