//! [`Flights`]: the packets in flight on all links.

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use crate::prefetch::{lines_of, prefetch};

/// A packet that has left the queues of its port and has not arrived yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Flight {
    /// The packet.
    pub packet: Packet,
    /// The time at which the last bit of the packet reaches the far end.
    pub arrives: Time,
}

/// The packets in flight on all links of a network. The packets of each link are in order of arrival.
///
/// All links share one list of places. The list grows up to the maximum number of packets in flight at the
/// same time, and never shrinks. The place of the packet that arrived most recently is reused first, because
/// this place is still in the cache.
#[derive(Debug, Default)]
pub struct Flights {
    slots: Vec<Slot>,
    /// The first free place.
    free: Place,
}

/// The packets in flight on one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    first: Place,
    /// The place of the last packet. It is valid only if `first` is a place.
    last: Place,
}

#[derive(Debug)]
#[repr(C)]
struct Slot {
    flight: Flight,
    /// The place of the next packet on the same link, or the next free place.
    next: Place,
}

/// The index of a packet in [`Flights`], or no index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u32);

impl Place {
    /// The value that means that there is no place.
    const NONE: Place = Place(u32::MAX);

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl Default for Place {
    fn default() -> Place {
        Place::NONE
    }
}

impl InFlight {
    /// Whether no packet is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == Place::NONE
    }
}

impl Flights {
    /// Adds `flight` after the other packets in flight on the same link, `on`.
    #[inline]
    pub fn push_back(&mut self, on: &mut InFlight, flight: Flight) {
        let place = self.free;
        if let Some(slot) = self.slots.get_mut(place.index()) {
            self.free = std::mem::take(&mut slot.next);
            slot.flight = flight;
            self.join(on, place);
        } else {
            self.add_slot(on, flight);
        }
    }
    /// Does the same as [`Flights::push_back`] if no place is free.
    #[cold]
    #[inline(never)]
    fn add_slot(&mut self, on: &mut InFlight, flight: Flight) {
        let place = Place(self.slots.len() as u32);
        if self.slots.len() == self.slots.capacity() {
            // If the memory doubled instead, a third of it would be unused on average.
            self.slots.reserve_exact(self.slots.len() / 4 + 16);
        }
        self.slots.push(Slot { flight, next: Place::NONE });
        self.join(on, place);
    }
    #[inline]
    fn join(&mut self, on: &mut InFlight, place: Place) {
        if on.is_empty() {
            on.first = place;
        } else {
            self.slots[on.last.index()].next = place;
        }
        on.last = place;
    }
    /// Returns the packet that arrives first on a link.
    #[inline]
    pub fn front(&self, on: &InFlight) -> Option<&Flight> {
        self.slots.get(on.first.index()).map(|slot| &slot.flight)
    }
    /// Starts to load the packet that arrives first on a link.
    #[inline]
    pub fn prefetch_front(&self, on: &InFlight) {
        if let Some(slot) = self.slots.get(on.first.index()) {
            prefetch(slot, lines_of::<Slot>());
        }
    }
    /// Starts to load the time of the packet that arrives second on a link.
    #[inline]
    pub fn prefetch_second(&self, on: &InFlight) {
        let second = self.slots.get(on.first.index()).and_then(|slot| self.slots.get(slot.next.index()));
        if let Some(slot) = second {
            prefetch(&slot.flight.arrives, 1);
        }
    }
    /// Removes the packet that arrives first, which must exist.
    #[inline]
    pub fn drop_front(&mut self, on: &mut InFlight) {
        let place = on.first;
        on.first = std::mem::replace(&mut self.slots[place.index()].next, self.free);
        self.free = place;
    }
    /// Returns all packets in flight on a link, in order of arrival.
    pub fn iter(&self, on: &InFlight) -> impl Iterator<Item = &Flight> {
        let mut place = on.first;
        std::iter::from_fn(move || {
            let slot = self.slots.get(place.index())?;
            place = slot.next;
            Some(&slot.flight)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the packets of several links with one queue per link.
        #[test]
        fn packets_arrive_in_order(steps in prop::collection::vec((0usize..3, any::<bool>()), 1..300)) {
            let mut flights = Flights::default();
            let mut links: [(InFlight, VecDeque<Flight>); 3] = Default::default();
            let mut most = 0;
            for (number, (link, is_arrival)) in (0..).zip(steps) {
                let (on, plain) = &mut links[link];
                if !is_arrival {
                    let flight = Flight { arrives: Time::from_picoseconds(number), ..Flight::default() };
                    plain.push_back(flight);
                    flights.push_back(on, flight);
                } else if plain.pop_front().is_some() {
                    flights.drop_front(on);
                }
                prop_assert_eq!(flights.front(on), plain.front());
                prop_assert_eq!(on.is_empty(), plain.is_empty());
                prop_assert!(flights.iter(on).eq(plain.iter()));
                most = most.max(links.iter().map(|(_, plain)| plain.len()).sum());
                prop_assert_eq!(flights.slots.len(), most, "places are used again");
            }
        }
    }
}
