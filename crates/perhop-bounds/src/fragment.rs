//! Fragments of datagrams at an interface (RFC 791 §2.3).

use crate::lengths::{Lengths, Measure};
use crate::stream::Stream;

/// The length of an IPv4 header without options, bytes (RFC 791 §3.1).
const HEADER: u32 = 20;
/// The unit of fragment offsets, bytes (RFC 791 §3.1).
const UNIT: u32 = 8;

/// Returns the packets that an interface with this `mtu` sends for `stream`. Short packets are unchanged.
/// Longer packets are replaced by fragments if `may_cut` is true.
pub(crate) fn fragments(stream: Stream, mtu: Option<u32>, may_cut: bool) -> Vec<Stream> {
    let Some(mtu) = mtu.filter(|mtu| *mtu < stream.lengths.most()) else { return vec![stream] };
    let some = |fits: bool| Lengths::among(stream.lengths.each().filter(|length| (*length <= mtu) == fits));
    let mut pieces: Vec<Stream> =
        some(true).map(|lengths| stream.with_lengths(lengths)).into_iter().collect();
    if let Some(longer) = some(false).filter(|_| may_cut) {
        let room = ((mtu - HEADER) / UNIT * UNIT).max(UNIT);
        let grown = longer.greatest(|length| {
            let count = (length - HEADER).div_ceil(room);
            f64::from(length + (count - 1) * HEADER) / f64::from(length)
        });
        let mut first = stream.with_lengths(Lengths::Between(HEADER + 1, room + HEADER));
        // All fragments of a packet arrive together, so the curve is scaled to the bytes of the fragments.
        // Limits in other units are removed, because they count unfragmented packets.
        first.own = stream.own.map(|own| own.scaled(grown));
        first.limits.retain(|limit| limit.measure == Measure::Ip);
        for limit in &mut first.limits {
            limit.curve = limit.curve.scaled(grown);
        }
        // Only the first fragment of a datagram contains the ports.
        let mut others = first.clone();
        (others.packet.source_port, others.packet.destination_port) = (0, 0);
        pieces.extend([first, others]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use perhop_qos::packet::Packet;

    use super::*;
    use crate::arrival::Arrival;

    #[test]
    fn a_datagram_of_1500_bytes_in_three_pieces() {
        let stream = Stream {
            traffic: 0,
            answers: false,
            flows: 1,
            packet: Packet { source_port: 7, ..Packet::default() },
            lengths: Lengths::among([100, 1500]).unwrap(),
            own: Some(Arrival::token_bucket(1500.0, 0.0)),
            limits: Vec::new(),
        };
        // A payload of 1480 bytes needs three fragments with at most 552 bytes of payload each. The two
        // additional headers have 40 bytes.
        let pieces = fragments(stream.clone(), Some(576), true);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[0].lengths, Lengths::exactly(100));
        assert_eq!(pieces[1].lengths, Lengths::Between(21, 572));
        assert!((pieces[1].own.as_ref().unwrap().burst() - 1540.0).abs() < 1e-9);
        assert_eq!((pieces[1].packet.source_port, pieces[2].packet.source_port), (7, 0));
        assert_eq!(fragments(stream.clone(), Some(576), false).len(), 1);
        assert_eq!(fragments(stream, Some(1500), true).len(), 1);
    }
}
