//! [`Packet`]: the descriptor that travels through the data plane, and the header fields it carries.

mod address;
mod codepoint;
mod color;
mod name_or_number;
mod protocol;

pub use address::Address;
pub use codepoint::{Dscp, IpPrecedence};
pub use color::Color;
pub(crate) use name_or_number::TextOrNumber;
pub use protocol::Protocol;

use std::fmt;

use crate::units::Time;

/// Explicit congestion notification field (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotCapable = 0,
    /// ECT(1).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
    /// Congestion experienced.
    CongestionExperienced = 3,
}

/// What identifies a flow: addresses, ports and protocol (the five-tuple).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Where the packet comes from.
    pub source: Address,
    /// Where it goes.
    pub destination: Address,
    /// UDP or TCP source port; 0 where there is none.
    pub source_port: u16,
    /// UDP or TCP destination port; 0 where there is none.
    pub destination_port: u16,
    /// IP protocol.
    pub protocol: Protocol,
}

impl FlowKey {
    /// The flow of what its receiver sends back.
    pub fn reversed(self) -> FlowKey {
        FlowKey {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            protocol: self.protocol,
        }
    }
}

/// `udp 10.0.0.1 port 49152 to 10.0.0.2 port 9`.
impl fmt::Display for FlowKey {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (source, destination) = (self.source.to_ip(), self.destination.to_ip());
        let (from, to) = (self.source_port, self.destination_port);
        write!(formatter, "{} {source} port {from} to {destination} port {to}", self.protocol)
    }
}

/// The interface by which a packet came into the node, numbered by the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub u16);

/// A packet's descriptor: the header fields that decide its treatment, never its bytes.
///
/// 64 bytes, one cache line. `payload` belongs to the driver (the simulator's flow and segment,
/// the live path's frame slot); nothing in this crate reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Source address.
    pub source: Address,
    /// Destination address.
    pub destination: Address,
    /// When the sender handed it to its first port.
    pub sent_at: Time,
    /// Opaque to the data plane.
    pub payload: u64,
    /// IP bytes: IP header to the end of the IP payload.
    pub length: u32,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// IP protocol.
    pub protocol: Protocol,
    /// Differentiated services codepoint.
    pub dscp: Dscp,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// This node's color of the packet.
    pub color: Color,
    /// This node's own label, which conditioners set and classifiers read; 0 on arrival.
    pub label: u8,
    /// Interface of arrival at this node.
    pub input: InterfaceId,
    /// Links it has crossed: what the IP header's time to live has counted down.
    pub hops: u8,
}

const _: () = assert!(size_of::<Packet>() == 64, "a packet descriptor is one cache line");

impl Packet {
    /// A packet of `length` IP bytes of flow `key`, everything else at its default.
    pub fn new(key: FlowKey, length: u32) -> Packet {
        Packet {
            source: key.source,
            destination: key.destination,
            source_port: key.source_port,
            destination_port: key.destination_port,
            protocol: key.protocol,
            length,
            ..Packet::default()
        }
    }
    /// Its five-tuple.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            source: self.source,
            destination: self.destination,
            source_port: self.source_port,
            destination_port: self.destination_port,
            protocol: self.protocol,
        }
    }
    /// What a node does first with a packet from the wire: it came in by `input`, and all that is
    /// known of its color is what its codepoint says; labels of other nodes mean nothing here.
    pub fn arrive(&mut self, input: InterfaceId) {
        self.input = input;
        self.label = 0;
        self.color = self.dscp.color();
    }
}
