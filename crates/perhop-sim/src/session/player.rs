//! [`Player`]: a player of adaptive video with a buffer and rate adaptation.
//!
//! The player does not use the network. Its caller reports the arrival of a segment, and the player returns
//! the next request or the time of that request.

use std::collections::VecDeque;

use perhop_measure::applications::VideoTally;
use perhop_qos::units::{PICOSECONDS_PER_SECOND, Time};
use perhop_scenario::{Adaptation, BbaRule, ThroughputRule, VideoConfig};

/// A player of adaptive video.
#[derive(Debug)]
pub(crate) struct Player {
    config: VideoConfig,
    /// The bitrates of the representations, bits per second, in ascending order.
    rates: Vec<u64>,
    warmup: Time,
    /// The time at which the player stops.
    stops: Time,
    begun: Time,
    /// The index of the last requested representation in `rates`.
    rung: Option<usize>,
    requested: Time,
    /// The throughputs of the last segments, bits per second.
    throughputs: VecDeque<f64>,
    /// The playing time of the video in the buffer at time `at`.
    level: Time,
    at: Time,
    state: State,
    /// The place of the player's connection.
    pub(super) place: usize,
    tally: VideoTally,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Playback has not started.
    Starting,
    Playing,
    Stalled,
}

/// The next action of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Request a segment of this size, bytes.
    Request(u64),
    /// Wait until this time, when the buffer has room.
    At(Time),
    /// No action, because the player has stopped.
    Over,
}

impl Player {
    /// Creates a player that counts from `warmup` on and stops at `stops`.
    pub(crate) fn new(config: &VideoConfig, warmup: Time, stops: Time) -> Player {
        Player {
            config: config.clone(),
            rates: config.ladder.iter().map(|rate| rate.as_bits_per_second()).collect(),
            warmup,
            stops,
            begun: Time::ZERO,
            rung: None,
            requested: Time::ZERO,
            throughputs: VecDeque::new(),
            level: Time::ZERO,
            at: Time::ZERO,
            state: State::Starting,
            place: 0,
            tally: VideoTally::default(),
        }
    }
    /// Starts the player at `now`.
    pub(crate) fn begin(&mut self, now: Time) {
        (self.begun, self.at) = (now, now);
    }
    /// Returns the payload of a request, bytes.
    pub(crate) fn request(&self) -> u64 {
        self.config.request.as_bytes()
    }
    /// Returns the next action at `now`. No segment may be in transfer.
    pub(crate) fn next(&mut self, now: Time) -> Next {
        if now >= self.stops {
            return Next::Over;
        }
        self.play_until(now);
        let after = self.level + self.config.segment;
        if after > self.config.buffer && self.state == State::Playing {
            return Next::At(now + (after - self.config.buffer));
        }
        let rung = self.choose();
        if now >= self.warmup {
            self.tally.switches += u64::from(self.rung.is_some_and(|before| before != rung));
        }
        (self.rung, self.requested) = (Some(rung), now);
        Next::Request(self.segment_bytes(rung))
    }
    /// Adds the requested segment, which has arrived, to the buffer. Returns the time at which the segment
    /// was requested.
    pub(crate) fn receive(&mut self, now: Time) -> Time {
        self.play_until(now);
        let rate = self.rates[self.rung.unwrap_or_default()];
        let bits = 8.0 * self.segment_bytes(self.rung.unwrap_or_default()) as f64;
        self.throughputs.push_back(bits / (now - self.requested).as_seconds());
        self.level += self.config.segment;
        if now >= self.warmup {
            self.tally.segments += 1;
            self.tally.bitrates += u128::from(rate);
        }
        if self.state != State::Playing && self.level >= self.config.starts_with {
            if self.state == State::Starting && now >= self.warmup {
                self.tally.startup = Some(now - self.begun);
            }
            self.state = State::Playing;
        }
        self.requested
    }
    /// Returns the counters of the player at the end of a run of length `duration`.
    pub(crate) fn finish(&mut self, duration: Time) -> VideoTally {
        self.play_until(duration);
        self.tally
    }

    /// Plays the video in the buffer up to `now`. Stalls if the buffer becomes empty before.
    fn play_until(&mut self, now: Time) {
        let now = now.min(self.stops).max(self.at);
        if self.state == State::Playing {
            let ends = self.at + self.level;
            self.tally.played += self.counted(self.at, ends.min(now));
            self.level = ends.saturating_sub(now);
            // A buffer that becomes empty exactly when a segment arrives does not stall.
            if ends < now {
                self.state = State::Stalled;
                self.tally.stalls += u64::from(ends >= self.warmup);
                self.at = ends;
            }
        }
        if self.state == State::Stalled {
            self.tally.stalled += self.counted(self.at, now);
        }
        self.at = now;
    }
    /// Returns the time from `from` to `until` without the warm-up.
    fn counted(&self, from: Time, until: Time) -> Time {
        until.saturating_sub(from.max(self.warmup))
    }
    fn segment_bytes(&self, rung: usize) -> u64 {
        let bits = u128::from(self.rates[rung]) * u128::from(self.config.segment.as_picoseconds());
        ((bits / u128::from(8 * PICOSECONDS_PER_SECOND)) as u64).max(1)
    }

    /// Returns the index of the representation of the next segment.
    fn choose(&mut self) -> usize {
        match self.config.adaptation {
            Adaptation::Throughput(rule) => self.by_throughput(rule),
            Adaptation::Bba(rule) => self.by_bba(rule),
            Adaptation::Bola(rule) => self.by_bola(rule.gamma_p),
        }
    }
    /// Returns the highest bitrate below a fraction of the harmonic mean of the last throughputs. Initially,
    /// returns the lowest bitrate.
    fn by_throughput(&mut self, rule: ThroughputRule) -> usize {
        while self.throughputs.len() > rule.segments as usize {
            self.throughputs.pop_front();
        }
        let times: f64 = self.throughputs.iter().map(|rate| 1.0 / rate).sum();
        let allowed = rule.safety * self.throughputs.len() as f64 / times;
        let fits = |rate: &u64| (*rate as f64) < allowed;
        self.rates.iter().rposition(fits).unwrap_or_default()
    }
    /// Huang et al. (2014), algorithm 1 with the rate map of figure 6: linear from the lowest to the highest
    /// bitrate over the cushion. The player changes the bitrate when the map reaches the next higher or lower
    /// bitrate.
    fn by_bba(&self, rule: BbaRule) -> usize {
        let part = |fraction: f64| self.config.buffer.as_seconds() * fraction;
        let reservoir = rule.reservoir.map_or(part(90.0 / 240.0), Time::as_seconds);
        let cushion = rule.cushion.map_or(part(126.0 / 240.0), Time::as_seconds);
        let (level, last) = (self.level.as_seconds(), self.rates.len() - 1);
        if level <= reservoir {
            return 0;
        }
        if level >= reservoir + cushion {
            return last;
        }
        let (least, most) = (self.rates[0] as f64, self.rates[last] as f64);
        let mapped = least + (most - least) * (level - reservoir) / cushion;
        let before = self.rung.unwrap_or_default();
        let (up, down) = ((before + 1).min(last), before.saturating_sub(1));
        if mapped >= self.rates[up] as f64 {
            self.rates.iter().rposition(|rate| (*rate as f64) < mapped).unwrap_or_default()
        } else if mapped <= self.rates[down] as f64 {
            self.rates.iter().position(|rate| *rate as f64 > mapped).unwrap_or(last)
        } else {
            before
        }
    }
    /// Spiteri et al. (2016), BOLA-BASIC: the largest (V v + V γp - Q) / S, with utilities v = ln(S / S₁),
    /// the level Q and the buffer in segments, and V = (`Q_max` - 1) / (`v_M` + γp).
    fn by_bola(&self, gamma_p: f64) -> usize {
        let segments = |time: Time| time.as_seconds() / self.config.segment.as_seconds();
        let size = |rung: usize| self.rates[rung] as f64;
        let utility = |rung: usize| libm::log(size(rung) / size(0));
        let last = self.rates.len() - 1;
        let v = (segments(self.config.buffer) - 1.0) / (utility(last) + gamma_p);
        let worth = |rung: usize| (v * (utility(rung) + gamma_p) - segments(self.level)) / size(rung);
        (0..=last).fold(0, |best, rung| if worth(rung) > worth(best) { rung } else { best })
    }
}

#[cfg(test)]
mod tests {
    use perhop_scenario::{BolaRule, SourceConfig};

    use super::*;

    fn s(seconds: u64) -> Time {
        Time::from_seconds(seconds)
    }

    /// Segments of 2 s at 1, 2 and 4 Mb/s, a buffer of 10 s, played from 4 s on.
    fn config(adaptation: Adaptation) -> VideoConfig {
        let source: SourceConfig = serde_json::from_str(
            r#"{"video": {"tcp": {"profile": "linux-modern"}, "ladder": ["1Mb/s", "2Mb/s", "4Mb/s"],
                "segment": "2s", "buffer": "10s", "starts-with": "4s"}}"#,
        )
        .unwrap();
        let SourceConfig::Video(config) = source else { panic!("no video") };
        VideoConfig { adaptation, ..config }
    }

    /// Runs a player that downloads at `rate` bits per second until `ends`. Returns its tally and the rungs.
    fn watch(config: &VideoConfig, rate: f64, ends: Time) -> (VideoTally, Vec<u64>) {
        let mut player = Player::new(config, Time::ZERO, Time::MAX);
        player.begin(Time::ZERO);
        let (mut now, mut sizes) = (Time::ZERO, Vec::new());
        while now < ends {
            match player.next(now) {
                Next::Request(bytes) => {
                    sizes.push(bytes);
                    now += Time::from_seconds_f64(8.0 * bytes as f64 / rate);
                    if now < ends {
                        player.receive(now);
                    }
                }
                Next::At(later) => now = later,
                Next::Over => break,
            }
        }
        (player.finish(ends), sizes)
    }

    #[test]
    fn the_highest_bitrate_below_the_throughput_is_played() {
        // 0.9 of 3 Mb/s permits 2 Mb/s, or 500,000 bytes per segment. The first segment has the lowest
        // bitrate.
        let (tally, sizes) = watch(&config(Adaptation::default()), 3e6, s(60));
        assert_eq!(sizes[0], 250_000);
        assert!(sizes[1..].iter().all(|bytes| *bytes == 500_000), "{sizes:?}");
        assert_eq!((tally.stalls, tally.stalled, tally.switches), (0, Time::ZERO, 1));
    }

    /// The transfer of 2 Mbit takes 2/3 s at 3 Mb/s, and that of 4 Mbit takes 4/3 s, so the buffer contains 4
    /// s of video after 2 s.
    #[test]
    fn playback_starts_with_the_configured_buffer() {
        let (tally, _) = watch(&config(Adaptation::default()), 3e6, s(60));
        assert_eq!(tally.startup.map(|time| time.as_seconds().round()), Some(2.0));
        assert!((tally.played.as_seconds() - 58.0).abs() < 1e-9);
    }

    /// At half the lowest bitrate, the transfer of a segment of 2 s takes 4 s. Playback starts at 8 s with 4
    /// s in the buffer, so the buffer is empty at 12 s. Then the third segment arrives and is played until 14
    /// s. At 20 s the buffer contains 4 s again, so playback stalls for 6 s of every 12 s.
    #[test]
    fn a_link_below_the_lowest_bitrate_stalls_for_half_the_time() {
        let (tally, _) = watch(&config(Adaptation::default()), 0.5e6, s(8 + 800));
        let (played, stalled) = (tally.played.as_seconds(), tally.stalled.as_seconds());
        assert!((played + stalled - 800.0).abs() < 1e-9);
        assert!((stalled / 800.0 - 0.5).abs() < 0.01, "{stalled}");
    }

    #[test]
    fn a_full_buffer_waits_for_room() {
        let mut player = Player::new(&config(Adaptation::default()), Time::ZERO, Time::MAX);
        player.begin(Time::ZERO);
        for second in 1..=5 {
            assert!(matches!(player.next(s(second) - s(1)), Next::Request(_)));
            player.receive(s(second));
        }
        // The level is 10 s minus the 3 s that were played since the second segment.
        assert_eq!(player.level, s(7));
        assert!(matches!(player.next(s(5)), Next::Request(_)));
        player.receive(s(5));
        assert_eq!(player.next(s(5)), Next::At(s(6)));
    }

    /// The reservoir is 3.75 s and the cushion 5.25 s of 10 s. The map is 1 Mb/s up to 3.75 s, 4 Mb/s from 9
    /// s on, and linear in between.
    #[test]
    fn bba_maps_the_level_to_a_bitrate() {
        let mut player = Player::new(&config(Adaptation::Bba(BbaRule::default())), Time::ZERO, Time::MAX);
        let mut rung = |before: usize, level: f64| {
            (player.rung, player.level) = (Some(before), Time::from_seconds_f64(level));
            player.choose()
        };
        assert_eq!([rung(2, 3.75), rung(0, 9.0)], [0, 2]);
        // The map reaches 2 Mb/s at 5.5 s. The player requests the lowest bitrate below this level, and the
        // second bitrate above it.
        assert_eq!([rung(0, 5.4), rung(0, 5.6), rung(1, 8.9)], [0, 1, 1]);
        // The player lowers the bitrate only when the map reaches the next lower bitrate. While the map is
        // between 4 and 2 Mb/s, the bitrate remains 4 Mb/s.
        assert_eq!([rung(2, 5.6), rung(2, 5.4), rung(1, 3.8)], [2, 1, 1]);
    }

    /// By hand: utilities 0, ln 2, ln 4, V = 4 / (ln 4 + 5) = 0.6263. At Q = 1 segment, the values per Mb/s
    /// are 2.132, 1.283 and 0.750, so the lowest bitrate wins. At Q = 3.4 they are -0.268, 0.083 and 0.150.
    #[test]
    fn bola_prefers_quality_when_the_buffer_is_full() {
        let rule = Adaptation::Bola(BolaRule { gamma_p: 5.0 });
        let mut player = Player::new(&config(rule), Time::ZERO, Time::MAX);
        let mut rung = |segments: f64| {
            player.level = Time::from_seconds_f64(2.0 * segments);
            player.choose()
        };
        assert_eq!([rung(1.0), rung(3.4)], [0, 2]);
        // (3.1315 - Q) and (3.5656 - Q) / 2 are equal at Q = 2.697.
        assert_eq!([rung(2.69), rung(2.71)], [0, 1]);
    }
}
