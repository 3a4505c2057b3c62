//! Replay of a recording.

use perhop_qos::units::Time;

use crate::agenda::Slot;
use perhop_scenario::Recorded;

/// Replays the packets of a recording once. The packets belong to several flows.
#[derive(Debug)]
pub struct Replay {
    packets: std::vec::IntoIter<Recorded>,
    /// The index of the recording's first flow in the simulation.
    first_flow: usize,
    start: Time,
    stops: Time,
    /// The slot of the replay on the agenda.
    pub slot: Slot,
}

/// A packet of a recording, with its flow in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayedPacket {
    /// The index of the flow in the simulation.
    pub flow: usize,
    /// The packet.
    pub recorded: Recorded,
}

impl Replay {
    /// Creates the replay of `packets` until `stops`. The times of packets are relative to `start`, and the
    /// numbers of their flows are relative to `first_flow`.
    pub fn new(packets: Vec<Recorded>, first_flow: usize, [start, stops]: [Time; 2], slot: Slot) -> Replay {
        Replay { packets: packets.into_iter(), first_flow, start, stops, slot }
    }
    /// Returns the time of the next packet; `None` after the last packet.
    pub fn due_at(&self) -> Option<Time> {
        let next = self.packets.as_slice().first()?;
        Some(self.start.saturating_add(next.time)).filter(|time| *time < self.stops)
    }
    /// Removes and returns the next packet.
    pub fn next_packet(&mut self) -> Option<ReplayedPacket> {
        let recorded = self.packets.next()?;
        Some(ReplayedPacket { flow: self.first_flow + recorded.flow as usize, recorded })
    }
}
