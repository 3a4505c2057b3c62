//! Frames with the headers of given packets.

use std::net::IpAddr;

use perhop_live::frame::internet_checksum;
use perhop_qos::packet::{FlowKey, Packet, Protocol};

/// A packet from port 49152 of `source` to port 9 of `destination`.
pub(crate) fn packet(source: &str, destination: &str, protocol: Protocol, length: u32) -> Packet {
    let [source, destination] = [source, destination].map(|text| text.parse::<IpAddr>().unwrap().into());
    Packet::new(FlowKey { source, destination, source_port: 49152, destination_port: 9, protocol }, length)
}

/// Returns Ethernet, IP and transport header of `packet`, filled with zeros to the packet's length and padded
/// to the minimum of Ethernet (without its checksum).
pub(crate) fn ethernet(packet: &Packet) -> Vec<u8> {
    let mut frame = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2];
    frame.extend(if packet.source.to_ip().is_ipv4() { [0x08, 0x00] } else { [0x86, 0xdd] });
    frame.extend(internet(packet));
    frame.resize(frame.len().max(60), 0);
    frame
}

/// `packet` from its IP header on.
fn internet(packet: &Packet) -> Vec<u8> {
    let services = packet.dscp.value() << 2 | packet.marks.ecn() as u8;
    let mut bytes = match (packet.source.to_ip(), packet.destination.to_ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let [high, low] = (packet.length as u16).to_be_bytes();
            let mut header =
                vec![0x45, services, high, low, 0x12, 0x34, 0x40, 0, 64, packet.protocol.0, 0, 0];
            header.extend(source.octets());
            header.extend(destination.octets());
            let checksum = internet_checksum(&header);
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            header
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let [high, low] = (packet.length as u16 - 40).to_be_bytes();
            let mut header = vec![0x60 | services >> 4, services << 4 | 0x0a, 0xbc, 0xde];
            header.extend([high, low, packet.protocol.0, 64]);
            header.extend(source.octets());
            header.extend(destination.octets());
            header
        }
        mixed => panic!("no packet is from and to {mixed:?}"),
    };
    if matches!(packet.protocol, Protocol::UDP | Protocol::TCP) {
        bytes.extend(packet.source_port.to_be_bytes());
        bytes.extend(packet.destination_port.to_be_bytes());
    }
    assert!(bytes.len() <= packet.length as usize, "{} bytes hold no such packet", packet.length);
    bytes.resize(packet.length as usize, 0);
    bytes
}
