//! [`Segments`]: the TCP segments in the network. A packet contains the place of its segment in this list.

use perhop_qos::packet::{Packet, Protocol};

use crate::tcp::Segment;
use perhop_measure::tcp::SERVER;
use perhop_scenario::{Recorded, TcpNumbers};

/// A segment in the network, and its recipient.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Carried {
    /// The place of the receiving end.
    pub(crate) end: u32,
    /// The generation of the place when the segment was sent.
    pub(crate) generation: u32,
    pub(crate) segment: Segment,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Carried>() == 64, "a segment in the network is one cache line");

/// The value of [`Carried::end`] for a segment of a recording, whose ends are not simulated.
const NOWHERE: u32 = u32::MAX;

impl Carried {
    /// Creates the segment of packet `number` of a recording's flow. It has the recorded header fields and no
    /// connection.
    pub(crate) fn replayed(recorded: &Recorded, number: u32) -> Carried {
        let TcpNumbers { sequence, acknowledgment, window, flags } = recorded.tcp;
        let segment = Segment {
            sequence: u64::from(sequence),
            acknowledgment: u64::from(acknowledgment),
            window: u32::from(window),
            flags,
            serial: number,
            ..Segment::default()
        };
        Carried { segment, end: NOWHERE, generation: 0 }
    }
    /// Whether the client sent the segment.
    pub(crate) fn is_clients(&self) -> bool {
        self.end as usize % 2 == SERVER
    }
    /// Whether the segment belongs to a recording.
    pub(crate) fn is_replayed(&self) -> bool {
        self.end == NOWHERE
    }
}

/// The number of places in a page.
const PAGE: usize = 256;

/// The segments in the network. Places are reused, so the number of places is the maximum number of segments
/// that existed at the same time.
///
/// The places are in pages. A vector would be copied each time it grows, and the freed memory of the old
/// vector would be too small for the next vector.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    pages: Vec<Box<[Carried; PAGE]>>,
    /// The number of places that have been used.
    used: usize,
    free: Vec<u32>,
}

impl Segments {
    /// Takes a place for a segment. The index of the place is the lower half of a packet's payload word. The
    /// place still contains its previous segment.
    pub(crate) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.add_place())
    }
    #[cold]
    fn add_place(&mut self) -> u32 {
        if self.used == self.pages.len() * PAGE {
            // The array is large, so it is not built on the stack.
            let page: Box<[Carried]> = std::iter::repeat_with(Carried::default).take(PAGE).collect();
            self.pages.extend(page.try_into());
        }
        self.used += 1;
        (self.used - 1) as u32
    }
    /// Returns the contents of a `place` that was [taken](Self::take).
    pub(crate) fn at(&mut self, place: u32) -> &mut Carried {
        &mut self.pages[place as usize / PAGE][place as usize % PAGE]
    }
    /// Frees `place`.
    pub(crate) fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }
    /// Stores `carried`. Returns the place, which is the lower half of a packet's payload word.
    pub(crate) fn hold(&mut self, carried: Carried) -> u32 {
        let place = self.take();
        *self.at(place) = carried;
        place
    }
    /// Returns the segment of `packet`; `None` if the packet does not carry TCP.
    pub(crate) fn carried_by(&self, packet: &Packet) -> Option<&Carried> {
        let place = packet.payload as u32 as usize;
        (packet.protocol == Protocol::TCP).then(|| &self.pages[place / PAGE][place % PAGE])
    }
    /// Frees the place of the segment of `packet`, if there is one. Call it when the packet was dropped.
    pub(crate) fn release(&mut self, packet: &Packet) {
        if packet.protocol == Protocol::TCP {
            self.give_back(packet.payload as u32);
        }
    }
    /// The number of segments in the network.
    pub(crate) fn len(&self) -> usize {
        self.used - self.free.len()
    }
}
