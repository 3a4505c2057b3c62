//! [`play`]: counts the packets of a call that are lost or arrive after their playout, and the runs of
//! consecutive missing packets.

use crate::counters::{LoggedPacket, upper_edge_s};

/// The counts of the packets of a call after the de-jitter buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// The number of packets that arrived.
    pub arrived: u64,
    /// The number of packets that arrived after their playout.
    pub late: u64,
    /// The number of packets between the first and the last arrival that were lost or late.
    pub missing: u64,
    /// The number of runs of consecutive missing packets.
    pub runs: u64,
}

impl Played {
    /// Returns `BurstR` of G.107: the mean length of runs of missing packets divided by 1 / (1 - p), which is
    /// the mean length if losses are random with probability p.
    pub fn burst_ratio(&self) -> f64 {
        if self.runs == 0 {
            return 1.0;
        }
        let played = (self.arrived - self.late) as f64;
        let missing = self.missing as f64;
        missing / self.runs as f64 * played / (played + missing)
    }
}

/// Plays the packets of a call, in order of arrival. The playout of each packet is `playout_s` seconds after
/// the packet was sent.
///
/// Delays are rounded to the bins of histograms, so that the number of late packets agrees with the histogram
/// of the class.
pub fn play<'a>(packets: impl IntoIterator<Item = &'a LoggedPacket>, playout_s: f64) -> Played {
    let mut played = Played::default();
    let mut before: Option<u32> = None;
    let mut in_run = false;
    for packet in packets {
        let passed = before.map_or(0, |number| packet.number.saturating_sub(number));
        let lost = u64::from(passed.saturating_sub(1));
        if lost > 0 {
            played.runs += u64::from(!in_run);
            played.missing += lost;
            in_run = true;
        }
        let is_late = upper_edge_s(packet.delay) > playout_s;
        played.arrived += 1;
        if is_late {
            played.late += 1;
            played.missing += 1;
            played.runs += u64::from(!in_run);
        }
        in_run = is_late;
        before = Some(before.map_or(packet.number, |number| number.max(packet.number)));
    }
    played
}

#[cfg(test)]
mod tests {
    use perhop_qos::units::Time;

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_milliseconds(ms)
    }

    /// Packets that are sent every 20 ms, with these numbers and delays in milliseconds.
    fn packets(sent: &[(u32, u64)]) -> Vec<LoggedPacket> {
        sent.iter()
            .map(|(number, delay)| LoggedPacket {
                flow: 0,
                number: *number,
                sent: ms(20 * u64::from(*number)),
                bytes: 200,
                delay: ms(*delay),
            })
            .collect()
    }

    #[test]
    fn packets_after_the_playout_are_late() {
        let log = packets(&[(0, 10), (1, 15), (2, 16), (3, 12), (4, 40), (5, 9)]);
        let played = play(&log, 0.015_5);
        assert_eq!((played.arrived, played.late, played.missing, played.runs), (6, 2, 2, 2));
    }

    /// In 0 1 . . 4 5 6! 7, packets 2 and 3 are lost, and packet 6 is late. Three of eight packets are
    /// missing, in two runs.
    #[test]
    fn lost_and_late_packets_make_runs() {
        let log = packets(&[(0, 10), (1, 10), (4, 10), (5, 10), (6, 30), (7, 10)]);
        let played = play(&log, 0.020_5);
        assert_eq!((played.missing, played.runs), (3, 2));
        assert!((played.burst_ratio() - 1.5 * 5.0 / 8.0).abs() < 1e-12);
        // A late packet next to a lost packet belongs to the same run.
        let log = packets(&[(0, 10), (1, 10), (4, 30), (5, 10)]);
        let played = play(&log, 0.020_5);
        assert_eq!((played.missing, played.runs), (3, 1));
    }

    /// Random losses with probability p have runs of mean length 1 / (1 - p), so `BurstR` is 1.
    #[test]
    fn losses_at_random_have_a_burst_ratio_of_one() {
        let mut state = 1u64;
        let mut is_lost = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 10 < 2
        };
        let kept: Vec<(u32, u64)> = (0..50_000).filter(|_| !is_lost()).map(|number| (number, 10)).collect();
        let ratio = play(&packets(&kept), 0.020_5).burst_ratio();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }
}
