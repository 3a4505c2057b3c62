//! [`dissect`] converts the bytes of a packet to its descriptor.

use std::net::IpAddr;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpHeaderSlice};
use perhop_qos::packet::{Address, Dscp, Ecn, FlowKey, Packet, Protocol};

use crate::headers::TcpFields;
use crate::link_layer::Carried;

/// Returns the descriptor of the IP packet in a frame, and the fixed part of its TCP header, if any. Returns
/// `None` if the frame contains no IP packet. `on_wire` is the length of the frame without its link headers,
/// bytes. This length is used if the IP header does not contain the length of the packet.
pub(crate) fn dissect(carried: &Carried, on_wire: u32) -> Option<(Packet, Option<TcpFields>)> {
    let Carried { ether_type, bytes, cos, exp } = *carried;
    let sliced = LaxSlicedPacket::from_ether_type(ether_type, bytes);
    let (key, length, dscp, ecn, carried) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let first = header.fragments_offset().value() == 0;
            let ends = [header.source_addr().into(), header.destination_addr().into()];
            let carried = first.then_some(ip.payload().payload);
            let key = flow_key(ends, ip.payload_ip_number().0, carried);
            (key, u32::from(header.total_len()), header.dcp().value(), header.ecn().value(), carried)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let ends = [header.source_addr().into(), header.destination_addr().into()];
            let length = match header.payload_length() {
                0 => 0,
                length => u32::from(length) + 40,
            };
            let carried = (!ip.is_payload_fragmented()).then_some(ip.payload().payload);
            let key = flow_key(ends, ip.payload().ip_number.0, carried);
            (key, length, header.dscp().value(), header.ecn().value(), carried)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let dscp = Dscp::new(dscp)?;
    let mut packet = Packet {
        dscp,
        color: dscp.color(),
        marks: Ecn::from_bits(ecn).into(),
        ..Packet::new(key, if length == 0 { on_wire } else { length })
    };
    if let Some(cos) = cos {
        packet.set_cos(cos);
    }
    if let Some(exp) = exp {
        packet.set_exp(exp);
    }
    let tcp = carried.filter(|_| key.protocol == Protocol::TCP).and_then(tcp_fields);
    Some((packet, tcp))
}

/// Protocols whose header begins with two port numbers: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// Returns the flow of a packet between `ends`. `carried` begins with the transport header. `carried` is
/// `None` for fragments without this header, and the flow then has no ports.
fn flow_key([source, destination]: [IpAddr; 2], protocol: u8, carried: Option<&[u8]>) -> FlowKey {
    let ports = carried.filter(|_| WITH_PORTS.contains(&protocol));
    let (source_port, destination_port) = match ports.and_then(|bytes| bytes.first_chunk::<4>()) {
        Some([a, b, c, d]) => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
        None => (0, 0),
    };
    FlowKey {
        source: Address::from(source),
        destination: Address::from(destination),
        source_port,
        destination_port,
        protocol: Protocol(protocol),
    }
}

fn tcp_fields(carried: &[u8]) -> Option<TcpFields> {
    let header = TcpHeaderSlice::from_slice(carried).ok()?;
    Some(TcpFields {
        sequence: header.sequence_number(),
        acknowledgment: header.ack().then(|| header.acknowledgment_number()),
        syn: header.syn(),
        fin: header.fin(),
        ece: header.ece(),
        cwr: header.cwr(),
        ae: header.ns(),
        window: header.window_size(),
        ..TcpFields::default()
    })
}
