//! [`Flights`]: the packets on a wire, in order of arrival.

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

/// A packet that has left the scheduler's hands and has not arrived yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) arrives: Time,
    pub(crate) packet: Packet,
}

/// Packets in order of arrival, in a ring that grows to its high-water mark once; after that nothing is allocated.
///
/// Its length is a power of two, and its front is read without being taken: unlike `VecDeque`, which moves every packet
/// through an `Option`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights {
    slots: Vec<Flight>,
    first: usize,
    held: usize,
}

impl Flights {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }
    /// The one that arrives next.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Flight> {
        if self.held > 0 { self.slots.get(self.first) } else { None }
    }
    /// `packet` arrives at `arrives`, after all others.
    #[inline]
    pub(crate) fn push_back(&mut self, arrives: Time, packet: &Packet) {
        if self.held == self.slots.len() {
            self.grow();
        }
        let place = (self.first + self.held) & (self.slots.len() - 1);
        self.slots[place] = Flight { arrives, packet: *packet };
        self.held += 1;
    }
    /// Forgets the front, which there must be.
    #[inline]
    pub(crate) fn drop_front(&mut self) {
        self.held -= 1;
        // Where it runs empty it begins at the start again: what mostly holds few packets stays in few cache lines.
        self.first = if self.held == 0 { 0 } else { (self.first + 1) & (self.slots.len() - 1) };
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Flight> {
        let (wrapped, from_first) = self.slots.split_at(self.first);
        from_first.iter().chain(wrapped).take(self.held)
    }

    /// Twice as many slots, the packets from the start on.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.slots.rotate_left(self.first);
        self.first = 0;
        self.slots.resize((2 * self.slots.len()).max(4), Flight::default());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_arrive_in_the_order_in_which_they_left(steps in prop::collection::vec(0u32..5, 1..300)) {
            let (mut plain, mut flights) = (VecDeque::new(), Flights::default());
            for (number, step) in steps.into_iter().enumerate() {
                if step < 3 {
                    let packet = Packet { length: number as u32, ..Packet::default() };
                    let arrives = Time::from_seconds(number as u64);
                    plain.push_back(Flight { arrives, packet });
                    flights.push_back(arrives, &packet);
                } else if plain.pop_front().is_some() {
                    flights.drop_front();
                }
                prop_assert_eq!(flights.front(), plain.front());
                prop_assert_eq!(flights.is_empty(), plain.is_empty());
                prop_assert!(flights.iter().eq(plain.iter()));
            }
        }
    }
}
