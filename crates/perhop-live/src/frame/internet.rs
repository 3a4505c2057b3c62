//! Parsing of IP headers: version 4 (RFC 791), version 6 with extension headers (RFC 8200), and ports.

use std::net::{Ipv4Addr, Ipv6Addr};

use perhop_qos::packet::{Address, Dscp, Ecn, Packet, Protocol};

use super::checksum::internet_checksum;
use super::refusal::Refusal;

/// The length of an IPv4 header without options, bytes.
pub(super) const V4_HEADER: usize = 20;
/// The length of an IPv6 header without extensions, bytes.
pub(super) const V6_HEADER: usize = 40;
/// The fragment offset in an IPv4 header, without its three flags.
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// Parses the IPv4 packet at the beginning of `bytes`.
#[inline]
pub(super) fn read_v4(bytes: &[u8]) -> Result<Packet, Refusal> {
    let Some(fixed) = bytes.first_chunk::<V4_HEADER>() else { return Err(Refusal::ShortHeader) };
    if fixed[0] >> 4 != 4 {
        return Err(Refusal::WrongVersion);
    }
    let header = usize::from(fixed[0] & 0xf) * 4;
    let length = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if header < V4_HEADER || length < header {
        return Err(Refusal::BadHeaderLength);
    }
    // Bytes after the packet are padding.
    let Some(whole) = bytes.get(..length) else { return Err(Refusal::ShortPacket) };
    // RFC 1812 §5.2.2: a router must verify the header checksum, and discard packets with a wrong checksum.
    let is_sound = if header == V4_HEADER {
        internet_checksum(fixed) == 0
    } else {
        internet_checksum(&whole[..header]) == 0
    };
    if !is_sound {
        return Err(Refusal::BadChecksum);
    }
    let protocol = Protocol(fixed[9]);
    let is_later_fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & FRAGMENT_OFFSET != 0;
    let (source_port, destination_port) =
        if is_later_fragment { (0, 0) } else { ports(protocol, &whole[header..])? };
    let address =
        |at: usize| Address::from_ipv4(Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]));
    let (dscp, ecn) = differentiated_services(fixed[1]);
    Ok(Packet {
        source: address(12),
        destination: address(16),
        length: length as u32,
        source_port,
        destination_port,
        protocol,
        dscp,
        marks: ecn.into(),
        color: dscp.color(),
        ..Packet::default()
    })
}

/// Parses the IPv6 packet at the beginning of `bytes`.
#[inline]
pub(super) fn read_v6(bytes: &[u8]) -> Result<Packet, Refusal> {
    let Some(fixed) = bytes.first_chunk::<V6_HEADER>() else { return Err(Refusal::ShortHeader) };
    if fixed[0] >> 4 != 6 {
        return Err(Refusal::WrongVersion);
    }
    let payload = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let Some(whole) = bytes.get(..V6_HEADER + payload) else { return Err(Refusal::ShortPacket) };
    if payload == 0 && fixed[6] == HOP_BY_HOP {
        // RFC 2675 §3: the length of the packet is in an option.
        return Err(Refusal::Jumbogram);
    }
    let (protocol, transport) = behind_extensions(fixed[6], &whole[V6_HEADER..])?;
    let (source_port, destination_port) = match transport {
        Some(transport) => ports(protocol, transport)?,
        None => (0, 0),
    };
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        Address::from_ipv6(Ipv6Addr::from(octets))
    };
    // RFC 8200 §3: the traffic class spans the first two bytes.
    let (dscp, ecn) = differentiated_services(fixed[0] << 4 | fixed[1] >> 4);
    Ok(Packet {
        source: address(8),
        destination: address(24),
        length: whole.len() as u32,
        source_port,
        destination_port,
        protocol,
        dscp,
        marks: ecn.into(),
        color: dscp.color(),
        ..Packet::default()
    })
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// Skips the extension headers at the beginning of `bytes`. `next` is the type of the first header. Returns
/// the protocol and the transport header, which is `None` in all fragments except the first.
fn behind_extensions(mut next: u8, mut bytes: &[u8]) -> Result<(Protocol, Option<&[u8]>), Refusal> {
    loop {
        let length = match next {
            // The length field has units of 8 bytes and does not count the first unit (RFC 8200 §4.3 and
            // §4.5, RFC 6275 §6.1.1, RFC 7401 §5.1, RFC 5533 §5.1).
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | HOST_IDENTITY | SHIM6 => {
                8 + 8 * usize::from(*bytes.get(1).ok_or(Refusal::ShortTransport)?)
            }
            FRAGMENT => 8,
            // RFC 4302 §2.2: the length field has units of 4 bytes, minus 2.
            AUTHENTICATION => 8 + 4 * usize::from(*bytes.get(1).ok_or(Refusal::ShortTransport)?),
            _ => return Ok((Protocol(next), Some(bytes))),
        };
        let extension = bytes.get(..length).ok_or(Refusal::ShortTransport)?;
        let is_later_fragment =
            next == FRAGMENT && u16::from_be_bytes([extension[2], extension[3]]) >> 3 != 0;
        next = extension[0];
        bytes = &bytes[length..];
        if is_later_fragment {
            return Ok((Protocol(next), None));
        }
    }
}

/// The transport protocol of the IPv6 `packet`, and the offset of the transport header; `None` if the header
/// is not found.
pub(super) fn transport_of_v6(packet: &[u8]) -> Option<(Protocol, usize)> {
    let (protocol, transport) = behind_extensions(*packet.get(6)?, packet.get(V6_HEADER..)?).ok()?;
    Some((protocol, packet.len() - transport?.len()))
}

/// Source and destination port at the beginning of the payload of an IP packet.
#[inline]
fn ports(protocol: Protocol, transport: &[u8]) -> Result<(u16, u16), Refusal> {
    if !matches!(protocol, Protocol::TCP | Protocol::UDP) {
        return Ok((0, 0));
    }
    match transport.first_chunk::<4>() {
        Some(&[a, b, c, d]) => Ok((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))),
        None => Err(Refusal::ShortTransport),
    }
}

/// The DSCP and the ECN field, which are the two parts of the former type of service (RFC 3168 §5, figure 5).
#[inline]
fn differentiated_services(byte: u8) -> (Dscp, Ecn) {
    (Dscp::new(byte >> 2).unwrap_or_default(), Ecn::from_bits(byte))
}
