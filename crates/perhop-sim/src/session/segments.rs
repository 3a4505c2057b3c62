//! [`Segments`]: the TCP segments under way. A packet carries the place of its own.

use perhop_qos::packet::{Packet, Protocol};

use crate::tcp::Segment;
use perhop_measure::tcp::SERVER;
use perhop_scenario::{Recorded, TcpNumbers};

/// A segment under way, and whose it is.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)] // beside the segment's first fields
pub(crate) struct Carried {
    /// The place of the end that it goes to, and which of the connections that had this place it is of.
    pub(crate) end: u32,
    pub(crate) generation: u32,
    /// Number of its packet in the flow.
    pub(crate) number: u32,
    pub(crate) segment: Segment,
}

/// The place of ends that are not simulated: those of recordings.
const NOWHERE: u32 = u32::MAX;

impl Carried {
    /// Packet `number` of a recording's flow: its header's numbers as they were, for no connection.
    pub(crate) fn replayed(recorded: &Recorded, number: u32) -> Carried {
        let TcpNumbers { sequence, acknowledgment, window, flags } = recorded.tcp;
        let segment = Segment {
            sequence: u64::from(sequence),
            acknowledgment: u64::from(acknowledgment),
            window: u32::from(window),
            flags,
            ..Segment::default()
        };
        Carried { segment, end: NOWHERE, generation: 0, number }
    }
    /// Whether the client sent it.
    pub(crate) fn is_clients(&self) -> bool {
        self.end as usize % 2 == SERVER
    }
    /// Whether it is a recording's.
    pub(crate) fn is_replayed(&self) -> bool {
        self.end == NOWHERE
    }
}

/// The segments under way. Places are used again: as many as are under way at most.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    carried: Vec<Carried>,
    free: Vec<u32>,
}

impl Segments {
    /// A place for a segment, as the low half of a packet's payload word. It still holds the last segment
    /// that was under way there.
    pub(crate) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.add_place())
    }
    #[cold]
    fn add_place(&mut self) -> u32 {
        self.carried.push(Carried::default());
        (self.carried.len() - 1) as u32
    }
    /// What is in a `place` that was [taken](Self::take).
    pub(crate) fn at(&mut self, place: u32) -> &mut Carried {
        &mut self.carried[place as usize]
    }
    /// Nothing is under way in `place`: it is used again.
    pub(crate) fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }
    /// A place for `carried`, as the low half of a packet's payload word.
    pub(crate) fn hold(&mut self, carried: Carried) -> u32 {
        let place = self.take();
        *self.at(place) = carried;
        place
    }
    /// What `packet` carries, if that is a segment.
    pub(crate) fn of(&self, packet: &Packet) -> Option<&Carried> {
        (packet.protocol == Protocol::TCP).then(|| &self.carried[packet.payload as u32 as usize])
    }
    /// `packet` has arrived or was dropped, and with it the segment, if it carried one: its place is used
    /// again.
    pub(crate) fn release(&mut self, packet: &Packet) {
        if packet.protocol == Protocol::TCP {
            self.give_back(packet.payload as u32);
        }
    }
    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.carried.len() - self.free.len()
    }
}
