//! [`Packet`]: the descriptor of a packet, with the header fields that the data plane reads.

mod address;
mod codepoint;
mod color;
mod marks;
mod name_or_number;
mod protocol;
mod tcp;

pub use address::Address;
pub use codepoint::{Dscp, IpPrecedence};
pub use color::Color;
pub use marks::{Ecn, Encapsulation, Ingress, InterfaceId, LinkMark, Marks};
pub(crate) use name_or_number::TextOrNumber;
pub use protocol::Protocol;
pub use tcp::TcpHeader;

use std::fmt;

use crate::units::Time;

/// The key of a flow: addresses, ports and protocol (the five-tuple).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// The source address.
    pub source: Address,
    /// The destination address.
    pub destination: Address,
    /// The UDP or TCP source port. It is 0 if the packet has no port.
    pub source_port: u16,
    /// The UDP or TCP destination port. It is 0 if the packet has no port.
    pub destination_port: u16,
    /// The IP protocol.
    pub protocol: Protocol,
}

impl FlowKey {
    /// The key of the flow in the opposite direction.
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

/// Writes `udp 10.0.0.1 port 49152 to 10.0.0.2 port 9`.
impl fmt::Display for FlowKey {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (source, destination) = (self.source.to_ip(), self.destination.to_ip());
        let (from, to) = (self.source_port, self.destination_port);
        write!(formatter, "{} {source} port {from} to {destination} port {to}", self.protocol)
    }
}

/// The descriptor of a packet: the header fields that determine its treatment, without the bytes of the
/// packet.
///
/// The descriptor has 64 bytes, one cache line. The driver uses `payload`: the simulator stores the flow and
/// the segment in it, and the live forwarder the slot of the frame. This crate reads one byte of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The source address.
    pub source: Address,
    /// The destination address.
    pub destination: Address,
    /// The time at which the sender passed the packet to its first port.
    pub sent_at: Time,
    /// Data of the driver. The data plane reads only bits 32 to 39, the number of
    /// [`rehashes`](Packet::rehashes).
    pub payload: u64,
    /// The IP bytes, from the IP header to the end of the IP payload.
    pub length: u32,
    /// The source port.
    pub source_port: u16,
    /// The destination port.
    pub destination_port: u16,
    /// The IP protocol.
    pub protocol: Protocol,
    /// The differentiated services codepoint.
    pub dscp: Dscp,
    /// The ECN field, and the marks of tags and labels.
    pub marks: Marks,
    /// The color that this node has assigned to the packet.
    pub color: Color,
    /// The label of this node. Conditioners set it and classifiers read it. It is 0 on arrival.
    pub label: u8,
    /// The input interface at this node, and which link-layer marks are present.
    pub input: Ingress,
    /// The number of links that the packet has crossed. The time to live has decreased by this number.
    pub hops: u8,
}

const _: () = assert!(size_of::<Packet>() == 64, "a packet descriptor is one cache line");

impl Packet {
    /// Returns a packet of `length` IP bytes of the flow `key`. All other fields have their defaults.
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
    /// The five-tuple of the packet.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            source: self.source,
            destination: self.destination,
            source_port: self.source_port,
            destination_port: self.destination_port,
            protocol: self.protocol,
        }
    }
    /// The number of times, modulo 256, that the sender's socket has changed its flow hash before it sent
    /// this packet. It is 0 if unknown.
    #[inline]
    pub fn rehashes(&self) -> u8 {
        (self.payload >> 32) as u8
    }
    /// Changes the flow hash of the sender's socket. Packets that are created from this one have the new
    /// hash.
    pub fn rehash(&mut self) {
        let count = u64::from(self.rehashes().wrapping_add(1));
        self.payload = self.payload & !(0xff << 32) | count << 32;
    }
    /// Sets the codepoint. An AF codepoint also sets the color (RFC 2597 §6).
    pub fn mark(&mut self, dscp: Dscp) {
        self.dscp = dscp;
        if dscp.is_assured_forwarding() {
            self.color = dscp.color();
        }
    }
    /// The class of service, if the packet arrived with a tag or this node has set it.
    #[inline]
    pub fn cos(&self) -> Option<LinkMark> {
        self.input.has_tag().then(|| self.marks.cos())
    }
    /// The traffic class (EXP), if the packet arrived with labels or this node has set it.
    #[inline]
    pub fn exp(&self) -> Option<LinkMark> {
        self.input.has_labels().then(|| self.marks.exp())
    }
    /// Sets the class of service in the tag of the packet when the packet leaves.
    pub fn set_cos(&mut self, cos: LinkMark) {
        self.marks = self.marks.with_cos(cos);
        self.input = self.input.with_tag();
    }
    /// Sets the traffic class (EXP) in the labels of the packet when the packet leaves.
    pub fn set_exp(&mut self, exp: LinkMark) {
        self.marks = self.marks.with_exp(exp);
        self.input = self.input.with_labels();
    }
    /// Resets the fields that are local to this node for a packet that arrives from the wire through `input`.
    /// The codepoint determines the color, and the label is 0.
    pub fn arrive(&mut self, input: Ingress) {
        self.input = input;
        self.label = 0;
        self.color = self.dscp.color();
    }
    /// Updates the marks of a packet that leaves on a link with this `encapsulation`. A new tag has class of
    /// service 0. A new label has the IP precedence as its traffic class (RFC 3270 §2.6.3; RFC 5462). Marks
    /// that the link does not carry are removed.
    pub fn depart(&mut self, encapsulation: Encapsulation) {
        if encapsulation.tag && !self.input.has_tag() {
            self.marks = self.marks.with_cos(LinkMark::default());
        }
        if encapsulation.labels && !self.input.has_labels() {
            self.marks = self.marks.with_exp(self.dscp.precedence().into());
        }
        self.input = self.input.carrying(encapsulation);
    }
}
