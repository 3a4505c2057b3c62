//! [`Witness`]: a packet of a set. Of all packets in the set, it has the most usual values of fields.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_qos::packet::{Address, InterfaceId, LinkMark, Protocol};
use perhop_qos::{Color, Dscp, Packet};

use crate::decision_diagram::{Set, TooComplex};
use crate::fields::Field;
use crate::plain::Plain;
use crate::space::PacketSpace;

/// A packet of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The packet.
    pub packet: Packet,
    /// The interface on which the packet arrives; `None` if the node has no interfaces.
    pub input: Option<String>,
}

/// Returns an IPv4 address as the first 32 bits of its field.
const fn ipv4(address: u32) -> u128 {
    (address as u128) << 96
}

/// The preferred properties of a packet. A property is used if a packet of the set has it: addresses for
/// documentation (RFC 5737, RFC 3849), UDP or TCP with a dynamic source port (RFC 6335 §6), 500 bytes, and no
/// marks. A property is a field with its least and greatest value, and the address family to which it
/// applies.
const PREFERRED: [(Field, u128, u128, Option<u128>); 15] = [
    (Field::HasCos, 0, 0, None),
    (Field::HasExp, 0, 0, None),
    (Field::Family, 0, 0, None),
    (Field::Protocol, Protocol::UDP.0 as u128, Protocol::UDP.0 as u128, None),
    (Field::Protocol, Protocol::TCP.0 as u128, Protocol::TCP.0 as u128, None),
    (Field::Source, ipv4(0xc000_0201), ipv4(0xc000_0201), Some(0)),
    (Field::Destination, ipv4(0xc633_6401), ipv4(0xc633_6401), Some(0)),
    (Field::Source, 0x2001_0db8 << 96 | 1, 0x2001_0db8 << 96 | 1, Some(1)),
    (Field::Destination, 0x2001_0db8 << 96 | 2, 0x2001_0db8 << 96 | 2, Some(1)),
    (Field::SourcePort, 50_000, 50_000, None),
    (Field::SourcePort, 49_152, 65_535, None),
    (Field::DestinationPort, 9, 9, None),
    (Field::Length, 500, 500, None),
    (Field::Length, 64, 1500, None),
    (Field::Dscp, 0, 0, None),
];

impl PacketSpace {
    /// Returns a packet of `set`; `None` if the set contains no possible packet. A possible packet has at
    /// least an IP header, and arrives on an interface of this node.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn witness(&mut self, set: Set) -> Result<Option<Witness>, TooComplex> {
        self.chosen(set, PacketSpace::plainest)
    }
    /// Returns any packet of `set`; `None` if the set contains no possible packet. This is much faster than
    /// [`PacketSpace::witness`], which searches for the plainest packet.
    ///
    /// # Errors
    /// The set is too complex.
    pub fn any_packet(&mut self, set: Set) -> Result<Option<Witness>, TooComplex> {
        self.chosen(set, |space, set, plain| space.and(set, plain.existing))
    }
    fn chosen(
        &mut self,
        set: Set,
        choose: fn(&mut PacketSpace, Set, &Plain) -> Result<Set, TooComplex>,
    ) -> Result<Option<Witness>, TooComplex> {
        let plain = match self.plain.take() {
            Some(plain) => plain,
            None => self.make_plain()?,
        };
        let found = choose(self, set, &plain);
        self.plain = Some(plain);
        let set = found?;
        Ok(self.member(set).map(|ones| self.of_member(&ones)))
    }
    /// Returns the packets of `set` that can exist, restricted to the preferred packets.
    fn plainest(&mut self, set: Set, plain: &Plain) -> Result<Set, TooComplex> {
        let mut set = self.and(set, plain.existing)?;
        for preferred in &plain.preferred {
            let narrower = self.and(set, *preferred)?;
            if narrower != Set::NONE {
                set = narrower;
            }
        }
        Ok(set)
    }
    fn make_plain(&mut self) -> Result<Plain, TooComplex> {
        let mut sets = Vec::with_capacity(PREFERRED.len());
        for (field, first, last, family) in PREFERRED {
            let mut preferred = self.within(field, first, last)?;
            if let Some(family) = family {
                let family = self.equals(Field::Family, family)?;
                preferred = self.and(preferred, family)?;
            }
            sets.push(preferred);
        }
        Ok(Plain { existing: self.existing()?, preferred: sets })
    }
    /// Returns the packets that can exist.
    fn existing(&mut self) -> Result<Set, TooComplex> {
        let interfaces = self.interfaces().len().max(1) as u128;
        let inputs = self.within(Field::Input, 0, interfaces - 1)?;
        // RFC 791 §3.1 and RFC 8200 §3: the shortest headers.
        let (ipv4, longer) =
            (self.within(Field::Length, 20, 0xffff)?, self.within(Field::Length, 40, 0xffff)?);
        let ipv6 = self.equals(Field::Family, 1)?;
        let short = self.minus(ipv4, ipv6)?;
        let long = self.and(longer, ipv6)?;
        let lengths = self.or(short, long)?;
        self.and(inputs, lengths)
    }

    /// Whether `packet` is in `set`. An IPv6 packet has two IPv6 addresses.
    pub fn contains(&self, set: Set, packet: &Packet) -> bool {
        let values = Field::ALL.map(|field| value_of(packet, field));
        self.member_is(set, |variable| {
            Field::ALL.iter().zip(values).any(|(field, value)| field.bit_of(value, variable) == Some(true))
        })
    }

    fn of_member(&self, ones: &[u32]) -> Witness {
        let value = |field: Field| field.value(ones);
        let is_ipv6 = value(Field::Family) == 1;
        let address = |field| {
            let bits = value(field);
            Address::from(if is_ipv6 {
                IpAddr::V6(Ipv6Addr::from_bits(bits))
            } else {
                IpAddr::V4(Ipv4Addr::from_bits((bits >> 96) as u32))
            })
        };
        let protocol = Protocol(value(Field::Protocol) as u8);
        let has_ports = matches!(protocol, Protocol::TCP | Protocol::UDP);
        let port = |field| if has_ports { value(field) as u16 } else { 0 };
        let number = value(Field::Input) as u16;
        let mut packet = Packet {
            source: address(Field::Source),
            destination: address(Field::Destination),
            protocol,
            source_port: port(Field::SourcePort),
            destination_port: port(Field::DestinationPort),
            dscp: Dscp::new(value(Field::Dscp) as u8).unwrap_or_default(),
            length: value(Field::Length) as u32,
            input: InterfaceId(number).into(),
            color: Color::new(value(Field::Color) as usize),
            label: value(Field::Label) as u8,
            ..Packet::default()
        };
        let mark = |field| LinkMark::new(value(field) as u8).unwrap_or_default();
        if value(Field::HasCos) == 1 {
            packet.set_cos(mark(Field::Cos));
        }
        if value(Field::HasExp) == 1 {
            packet.set_exp(mark(Field::Exp));
        }
        Witness { packet, input: self.interfaces().get(usize::from(number)).cloned() }
    }
}

/// Returns the value of `field` in `packet`.
pub(crate) fn value_of(packet: &Packet, field: Field) -> u128 {
    let address = |address: Address| match address.to_ip() {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let mark = |mark: Option<LinkMark>| mark.map_or(0, |mark| u128::from(mark.value()));
    match field {
        Field::Family => u128::from(packet.source.to_ip().is_ipv6()),
        Field::Protocol => packet.protocol.0.into(),
        Field::Destination => address(packet.destination),
        Field::Source => address(packet.source),
        Field::DestinationPort => packet.destination_port.into(),
        Field::SourcePort => packet.source_port.into(),
        Field::Dscp => packet.dscp.value().into(),
        Field::Length => packet.length.into(),
        Field::Input => packet.input.interface().0.into(),
        Field::Color => packet.color.index() as u128,
        Field::Label => packet.label.into(),
        Field::HasCos => packet.cos().is_some().into(),
        Field::Cos => mark(packet.cos()),
        Field::HasExp => packet.exp().is_some().into(),
        Field::Exp => mark(packet.exp()),
    }
}

/// Writes `udp 192.0.2.1:50000 > 198.51.100.1:9 dscp ef len 200 cos 5 in Gi0/1`. The values are those that
/// [`PacketText`](crate::PacketText) can parse.
impl fmt::Display for Witness {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Packet { source, destination, protocol, source_port, destination_port, dscp, length, .. } =
            self.packet;
        let end = |address: Address, port: u16| match (address.to_ip(), protocol) {
            (IpAddr::V4(ip), Protocol::TCP | Protocol::UDP) => format!("{ip}:{port}"),
            (IpAddr::V6(ip), Protocol::TCP | Protocol::UDP) => format!("[{ip}]:{port}"),
            (ip, _) => ip.to_string(),
        };
        let (from, to) = (end(source, source_port), end(destination, destination_port));
        write!(formatter, "{protocol} {from} > {to} dscp {dscp} len {length}")?;
        if let Some(cos) = self.packet.cos() {
            write!(formatter, " cos {cos}")?;
        }
        if let Some(exp) = self.packet.exp() {
            write!(formatter, " exp {exp}")?;
        }
        if self.packet.color != Color::GREEN {
            write!(formatter, " color {}", self.packet.color)?;
        }
        if self.packet.label != 0 {
            write!(formatter, " label {}", self.packet.label)?;
        }
        match &self.input {
            Some(name) => write!(formatter, " in {name}"),
            None => Ok(()),
        }
    }
}
