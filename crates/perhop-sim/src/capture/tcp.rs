//! Fields of a TCP header on the wire: sequence numbers of 32 bits instead of offsets.

use std::net::IpAddr;

use perhop_capture::TcpFields;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use crate::session::Carried;
use crate::tcp::Segment;
use perhop_scenario::tcp::{Flags, Parameters};

/// The difference between the initial sequence numbers of consecutive connections.
const SPACING: u32 = 1 << 20;
/// One tick of the clock for TCP timestamps (RFC 7323 §5.4: 1 ms to 1 s).
const TICK: Time = Time::from_milliseconds(1);

/// Returns the header of the segment in `carried`, which `packet` carries. The segment is from connection
/// `number` of its session.
///
/// Windows above 65,535 bytes are written as 65,535, because the simulated SYN has no room for a window scale
/// option.
pub(super) fn fields(carried: &Carried, number: u32, parameters: &Parameters, packet: &Packet) -> TcpFields {
    let &Segment { sequence, acknowledgment, window, flags, ref sack, .. } = &carried.segment;
    let numbers = Numbers::new(number, parameters, packet);
    let (syn, ack) = (flags.contains(Flags::SYN), flags.contains(Flags::ACK));
    TcpFields {
        // The sequence number of the SYN is one less than that of the first byte.
        sequence: if syn { numbers.first } else { numbers.sequence_at(sequence) },
        acknowledgment: ack.then(|| numbers.sequence_at(acknowledgment)),
        syn,
        fin: flags.contains(Flags::FIN),
        ece: flags.contains(Flags::ECE),
        cwr: flags.contains(Flags::CWR),
        ae: flags.contains(Flags::AE),
        window: u16::try_from(window).unwrap_or(u16::MAX),
        segment_size: syn.then(|| (parameters.mss - numbers.uncounted).min(u32::from(u16::MAX)) as u16),
        timestamps: carried
            .segment
            .timestamps()
            .map(|stamps| (ticks(stamps.value), if ack { ticks(stamps.echo) } else { 0 })),
        selective: sack
            .iter()
            .map(|(start, end)| (numbers.sequence_at(start), numbers.sequence_at(end)))
            .collect(),
    }
}

/// Returns the header of `segment` of a recording, with the sequence numbers of the file. Options are not
/// preserved.
pub(super) fn replayed_fields(segment: &Segment) -> TcpFields {
    TcpFields {
        sequence: segment.sequence as u32,
        acknowledgment: segment.has(Flags::ACK).then_some(segment.acknowledgment as u32),
        syn: segment.has(Flags::SYN),
        fin: segment.has(Flags::FIN),
        ece: segment.has(Flags::ECE),
        cwr: segment.has(Flags::CWR),
        ae: segment.has(Flags::AE),
        window: segment.window as u16,
        ..TcpFields::default()
    }
}

fn ticks(time: Time) -> u32 {
    (time.as_picoseconds() / TICK.as_picoseconds()) as u32
}

/// Conversion of offsets to sequence numbers.
struct Numbers {
    /// Sequence number of the SYN.
    first: u32,
    /// The number of offsets in the stream that a full segment covers.
    full: u32,
    /// The number of offsets of a full segment that count headers, not payload.
    uncounted: u32,
}

impl Numbers {
    fn new(connection: u32, parameters: &Parameters, packet: &Packet) -> Numbers {
        let families =
            [packet.source, packet.destination].map(|address| matches!(address.to_ip(), IpAddr::V4(_)));
        let ip_header = if families == [true, true] { 20 } else { 40 };
        let full = parameters.payload();
        let uncounted = parameters.uncounted(ip_header).min(full - 1);
        Numbers { first: connection.wrapping_mul(SPACING), full, uncounted }
    }
    /// Returns the sequence number of the byte at `offset`. If the segment size includes headers (ns-2), a
    /// segment has fewer payload bytes than offsets, and covers fewer sequence numbers.
    fn sequence_at(&self, offset: u64) -> u32 {
        let (full, uncounted) = (u64::from(self.full), u64::from(self.uncounted));
        let bytes = offset / full * (full - uncounted) + (offset % full).saturating_sub(uncounted);
        self.first.wrapping_add(1).wrapping_add(bytes as u32)
    }
}
