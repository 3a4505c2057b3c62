//! [`Queue`]: the packets that wait, and [`Occupancy`], the only place that counts them.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::{Color, Dscp, Packet};

/// A queue of a [`Port`](crate::Port), numbered in the order of the policy's leaf classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u16);

impl QueueId {
    /// As an index into the port's queues.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How full a queue is: packets and IP bytes, in all and by drop precedence.
///
/// A packet on the wire or in the transmit ring is no longer counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Packets in all.
    pub packets: u64,
    /// IP bytes in all.
    pub bytes: u64,
    /// Packets of each drop precedence.
    pub packets_of: [u64; Color::COUNT],
    /// IP bytes of each drop precedence.
    pub bytes_of: [u64; Color::COUNT],
}

impl Occupancy {
    fn add(&mut self, precedence: Color, length: u32) {
        self.packets += 1;
        self.bytes += u64::from(length);
        self.packets_of[precedence.index()] += 1;
        self.bytes_of[precedence.index()] += u64::from(length);
    }
    fn remove(&mut self, precedence: Color, length: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(length);
        self.packets_of[precedence.index()] -= 1;
        self.bytes_of[precedence.index()] -= u64::from(length);
    }
}

/// What tells a queue the drop precedence of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceSource {
    /// The color that this node's meters gave it, or that its AF codepoint carries.
    #[default]
    Color,
    /// The drop precedence of its AF codepoint, whatever the meters said (RFC 2597).
    Dscp,
    /// Its IP precedence, 0 to 7 (as WRED in routers).
    IpPrecedence,
}

impl PrecedenceSource {
    /// The drop precedence of `packet`.
    pub fn of(self, packet: &Packet) -> Color {
        match self {
            PrecedenceSource::Color => packet.color,
            PrecedenceSource::Dscp => Dscp::color(packet.dscp),
            PrecedenceSource::IpPrecedence => Color::new(packet.dscp.precedence().value().into()),
        }
    }
}

/// Packets in order of arrival, and their count.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    packets: VecDeque<Packet>,
    occupancy: Occupancy,
    precedence: PrecedenceSource,
}

impl Queue {
    /// An empty queue that counts by `precedence`.
    pub fn new(precedence: PrecedenceSource) -> Queue {
        // It grows to its high-water mark once; after that the packet path allocates nothing.
        Queue { packets: VecDeque::with_capacity(64), occupancy: Occupancy::default(), precedence }
    }
    /// How full it is.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }
    /// The drop precedence under which it counts `packet`.
    pub fn precedence_of(&self, packet: &Packet) -> Color {
        self.precedence.of(packet)
    }
    /// The packet that leaves next.
    pub fn head(&self) -> Option<&Packet> {
        self.packets.front()
    }
    /// Adds `packet` at the tail.
    pub fn push(&mut self, packet: Packet) {
        self.occupancy.add(self.precedence.of(&packet), packet.length);
        self.packets.push_back(packet);
    }
    /// Takes the packet at the head.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.occupancy.remove(self.precedence.of(&packet), packet.length);
        Some(packet)
    }
    /// The packets from head to tail.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }
}
