//! [`play`]: what a de-jitter buffer makes of the packets of a call.

use perhop_qos::units::Time;
use perhop_scenario::{AdaptiveBuffer, JitterBuffer, VoiceConfig};

use crate::counters::LoggedPacket;

/// What became of the packets of a call behind its de-jitter buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that arrived after their playout.
    pub late: u64,
    /// Packets between the first and the last arrival that did not arrive, and late ones.
    pub missing: u64,
    /// Runs of consecutive missing packets.
    pub runs: u64,
    /// Sum of the times from sending to playout, seconds.
    pub playout_s: f64,
}

impl Played {
    /// Late packets, percent of those that arrived; NaN without any.
    pub fn late_percent(&self) -> f64 {
        100.0 * self.late as f64 / self.arrived as f64
    }
    /// Mean time from sending to playout, seconds; NaN where nothing arrived.
    pub fn mean_playout_s(&self) -> f64 {
        self.playout_s / self.arrived as f64
    }
    /// `BurstR` of G.107: the mean length of runs of missing packets by that of losses at random, which is
    /// 1 / (1 - p).
    pub fn burst_ratio(&self) -> f64 {
        if self.runs == 0 {
            return 1.0;
        }
        let played = (self.arrived - self.late) as f64;
        let missing = self.missing as f64;
        missing / self.runs as f64 * played / (played + missing)
    }
}

/// What the de-jitter buffer of `voice` makes of `packets` of a call, in order of arrival.
pub fn play<'a>(packets: impl IntoIterator<Item = &'a LoggedPacket>, voice: &VoiceConfig) -> Played {
    let spacing = voice.codec.planning().packet();
    let mut played = Played::default();
    let mut buffer: Option<Buffer> = None;
    // The packet before, and whether it was missed.
    let mut before: Option<(u32, Time)> = None;
    let mut in_run = false;
    for packet in packets {
        let buffer = buffer.get_or_insert_with(|| Buffer::new(voice.jitter_buffer, packet.delay));
        let passed = before.map_or(0, |(number, _)| packet.number.saturating_sub(number));
        // RFC 3550 §5.1: the marker of the first packet of a talk spurt; here what was sent later than the
        // packets between would have been.
        let begins = before.is_some_and(|(_, sent)| {
            packet.sent.saturating_sub(sent)
                > spacing * u64::from(passed) + Time::from_picoseconds(spacing.as_picoseconds() / 2)
        });
        buffer.hear(packet.delay, begins);
        let lost = u64::from(passed.saturating_sub(1));
        if lost > 0 {
            played.runs += u64::from(!in_run);
            played.missing += lost;
            in_run = true;
        }
        let is_late = packet.delay > buffer.playout;
        played.arrived += 1;
        played.playout_s += buffer.playout.as_seconds();
        if is_late {
            played.late += 1;
            played.missing += 1;
            played.runs += u64::from(!in_run);
        }
        in_run = is_late;
        if before.is_none_or(|(number, _)| packet.number > number) {
            before = Some((packet.number, packet.sent));
        }
    }
    played
}

/// A de-jitter buffer.
struct Buffer {
    /// From sending to playout.
    playout: Time,
    adaptive: Option<(AdaptiveBuffer, Estimate)>,
}

/// Of Ramjee et al. (1994), algorithm 1: delay and its variation, seconds.
struct Estimate {
    delay: f64,
    variation: f64,
}

/// How many variations above the delay packets are played (Ramjee et al. 1994, §2).
const VARIATIONS: f64 = 4.0;

impl Buffer {
    /// Before the first packet, which took `delay`.
    fn new(config: JitterBuffer, delay: Time) -> Buffer {
        match config {
            JitterBuffer::Fixed(waits) => Buffer { playout: delay + waits, adaptive: None },
            JitterBuffer::Adaptive(config) => {
                let variation = config.nominal.as_seconds() / VARIATIONS;
                let estimate = Estimate { delay: delay.as_seconds(), variation };
                Buffer { playout: delay + config.nominal, adaptive: Some((config, estimate)) }
            }
        }
    }
    /// A packet that took `delay` arrived, the first of a talk spurt if it `begins` one.
    fn hear(&mut self, delay: Time, begins: bool) {
        let Some((config, estimate)) = &mut self.adaptive else { return };
        // d = a d + (1 - a) n; v = a v + (1 - a) |d - n|; p = t + d + 4 v, for the whole talk spurt.
        let (kept, new) = (config.gain, delay.as_seconds());
        estimate.delay = kept * estimate.delay + (1.0 - kept) * new;
        let deviation = (estimate.delay - new).abs();
        estimate.variation = kept * estimate.variation + (1.0 - kept) * deviation;
        if begins {
            let waits = (VARIATIONS * estimate.variation).min(config.most.as_seconds());
            self.playout = Time::from_seconds_f64(estimate.delay + waits);
        }
    }
}

#[cfg(test)]
mod tests {
    use perhop_scenario::{Codec, TalkSpurts};

    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_milliseconds(ms)
    }

    /// Packets each 20 ms with these numbers and delays in milliseconds.
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

    fn fixed(waits: u64) -> VoiceConfig {
        VoiceConfig { jitter_buffer: JitterBuffer::Fixed(ms(waits)), ..VoiceConfig::default() }
    }

    /// The first packet takes 10 ms: with a buffer of 5 ms every delay above 15 ms is late.
    #[test]
    fn what_takes_longer_than_the_first_packet_and_the_buffer_is_late() {
        let log = packets(&[(0, 10), (1, 15), (2, 16), (3, 12), (4, 40), (5, 9)]);
        let played = play(&log, &fixed(5));
        assert_eq!((played.arrived, played.late, played.missing, played.runs), (6, 2, 2, 2));
        assert!((played.mean_playout_s() - 0.015).abs() < 1e-12);
    }

    /// 0 1 . . 4 5 6! 7: 2 and 3 are lost, 6 is late: three missing of eight in two runs.
    #[test]
    fn lost_and_late_packets_make_runs() {
        let log = packets(&[(0, 10), (1, 10), (4, 10), (5, 10), (6, 30), (7, 10)]);
        let played = play(&log, &fixed(10));
        assert_eq!((played.missing, played.runs), (3, 2));
        assert!((played.burst_ratio() - 1.5 * 5.0 / 8.0).abs() < 1e-12);
        // Next to each other they are one run.
        let log = packets(&[(0, 10), (1, 10), (4, 30), (5, 10)]);
        let played = play(&log, &fixed(10));
        assert_eq!((played.missing, played.runs), (3, 1));
    }

    /// Losses at random with probability p have runs of 1 / (1 - p), so `BurstR` is 1.
    #[test]
    fn losses_at_random_have_a_burst_ratio_of_one() {
        let mut state = 1u64;
        let mut is_lost = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 10 < 2
        };
        let kept: Vec<(u32, u64)> = (0..50_000).filter(|_| !is_lost()).map(|number| (number, 10)).collect();
        let ratio = play(&packets(&kept), &fixed(10)).burst_ratio();
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }

    /// With a gain of 0 the estimate is the last delay: the second talk spurt, whose first packet takes
    /// 50 ms, is played at 50 ms, the first at 10 + 30 ms.
    #[test]
    fn an_adaptive_buffer_changes_between_talk_spurts_only() {
        let mut log = packets(&[(0, 10), (1, 41), (2, 50), (3, 50), (4, 51)]);
        for packet in &mut log[3..] {
            packet.sent += ms(500);
        }
        let adaptive = AdaptiveBuffer { nominal: ms(30), most: ms(200), gain: 0.0 };
        let voice = VoiceConfig {
            codec: Codec::G711,
            jitter_buffer: JitterBuffer::Adaptive(adaptive),
            talk_spurts: Some(TalkSpurts { talk: ms(100), silence: ms(100) }),
        };
        let played = play(&log, &voice);
        assert_eq!((played.arrived, played.late), (5, 3), "41 and 50 ms in the first, 51 ms in the second");
        assert!((played.playout_s - (3.0 * 0.040 + 2.0 * 0.050)).abs() < 1e-9, "{}", played.playout_s);
    }

    /// By hand, gain 1/2: the first packet leaves d = 10 and v = 7.5 / 2 = 3.75 ms; the second, of 20 ms,
    /// d = 15 and v = 3.75 / 2 + 5 / 2 = 4.375: it is played at 15 + 4 · 4.375 ms.
    #[test]
    fn an_adaptive_buffer_follows_delay_and_variation() {
        let mut log = packets(&[(0, 10), (1, 20)]);
        log[1].sent = ms(400);
        let adaptive = AdaptiveBuffer { nominal: ms(30), most: ms(200), gain: 0.5 };
        let jitter_buffer = JitterBuffer::Adaptive(adaptive);
        let talk_spurts = Some(TalkSpurts { talk: ms(100), silence: ms(100) });
        let played = play(&log, &VoiceConfig { codec: Codec::G711, jitter_buffer, talk_spurts });
        assert!((played.playout_s - (0.040 + 0.015 + 4.0 * 0.004_375)).abs() < 1e-9, "{}", played.playout_s);
    }
}
