//! [`Cbr`]: packets at a constant bit rate.

use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use super::emission::Emission;
use super::spacing::Spacing;
use perhop_scenario::CbrConfig;

/// Packets of fixed size at regular intervals.
#[derive(Clone, Debug)]
#[repr(C)] // most frequently used first
pub struct Cbr {
    spacing: Spacing,
    next: Time,
    length: u32,
    /// The maximum relative deviation of a gap from the exact gap; `None` for exact gaps.
    jitter: Option<f64>,
    stream: Stream,
}

impl Cbr {
    /// Creates a source according to `config`, with the first packet at `start`.
    pub fn new(config: &CbrConfig, start: Time, stream: Stream) -> Cbr {
        let length = config.packet.ip_length();
        let counted = config.rate_counts.map(|framing| framing.wire_bytes(u64::from(length)));
        let spacing = Spacing::new(counted.unwrap_or(config.packet.counted()), config.rate);
        let jitter = Some(config.jitter).filter(|jitter| *jitter != 0.0);
        Cbr { spacing, next: start, length, jitter, stream }
    }
    #[inline]
    pub(super) fn next_packet(&mut self) -> Emission {
        let emission = Emission { at: self.next, length: self.length, dscp: None };
        let exact = self.spacing.gap();
        let gap = match self.jitter {
            None => exact,
            Some(jitter) => self.jittered(exact, jitter),
        };
        self.next += gap;
        emission
    }
    #[inline(never)] // rarely used, and longer than the rest
    fn jittered(&mut self, exact: Time, jitter: f64) -> Time {
        let factor = 1.0 + jitter * (2.0 * self.stream.uniform() - 1.0);
        Time::from_seconds_f64(exact.as_seconds() * factor)
    }
}

#[cfg(test)]
mod tests {
    use perhop_qos::framing::Framing;
    use perhop_qos::random::Streams;
    use perhop_qos::units::{ByteSize, Rate};

    use super::*;
    use perhop_scenario::PacketSize;

    #[test]
    fn a_rate_may_include_the_ethernet_framing() {
        // A frame of 1024 bytes with preamble and gap has 1044 bytes, which take 27.84 ms at 300 kb/s.
        let config = CbrConfig {
            rate: Rate::from_bits_per_second(300_000),
            packet: PacketSize::Ip(ByteSize::from_bytes(1006)),
            rate_counts: Some(Framing::EthernetWire),
            jitter: 0.0,
        };
        let mut source = Cbr::new(&config, Time::ZERO, Streams::new(1, 0).stream());
        let first = source.next_packet();
        assert_eq!((first.at, first.length), (Time::ZERO, 1006));
        assert_eq!(source.next_packet().at, Time::from_microseconds(27_840));
    }

    #[test]
    fn gaps_stay_within_the_jitter_and_keep_the_rate() {
        let config = CbrConfig {
            rate: Rate::from_bits_per_second(56_000),
            packet: PacketSize::Ip(ByteSize::from_bytes(160)),
            rate_counts: None,
            jitter: 0.1,
        };
        let mut source = Cbr::new(&config, Time::ZERO, Streams::new(1, 0).stream());
        let times: Vec<f64> = (0..10_001).map(|_| source.next_packet().at.as_seconds()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let exact = 160.0 * 8.0 / 56_000.0;
        assert!(gaps.iter().all(|gap| (gap / exact - 1.0).abs() <= 0.1 + 1e-9));
        assert!(gaps.iter().any(|gap| *gap < 0.92 * exact) && gaps.iter().any(|gap| *gap > 1.08 * exact));
        // The relative standard deviation of the mean gap is 0.1 / √3 / √10000 = 0.058 %.
        let mean = times[10_000] / 10_000.0;
        assert!((mean / exact - 1.0).abs() < 0.003, "{mean}");
    }
}
