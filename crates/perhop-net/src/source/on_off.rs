//! Bursts at constant bit rate.

use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use super::emission::Emission;
use super::spacing::Spacing;
use perhop_scenario::{CutGap, OnOffConfig, PeriodLaw};

/// Bursts at constant bit rate, separated by silence. The first packet is sent at the start of the first
/// burst, and a further packet at the end of every gap within a burst. If a burst ends within a gap, the rest
/// of the gap continues in the next burst, or the gap ends at the start of the next burst ([`CutGap`]).
#[derive(Clone, Debug)]
pub struct OnOff {
    config: OnOffConfig,
    spacing: Spacing,
    stream: Stream,
    next: Time,
    burst_ends: Time,
    length: u32,
}

impl OnOff {
    /// Creates a source according to `config`, with the first burst at `start`.
    pub fn new(config: &OnOffConfig, start: Time, stream: Stream) -> OnOff {
        let spacing = Spacing::new(config.packet.counted(), config.rate);
        let length = config.packet.ip_length();
        let mut source =
            OnOff { config: config.clone(), spacing, stream, next: start, burst_ends: start, length };
        source.burst_ends = start.saturating_add(source.draw(source.config.on_time));
        source
    }
    #[inline]
    pub(super) fn next_packet(&mut self) -> Emission {
        let emission = Emission { at: self.next, length: self.length, dscp: None };
        self.next = self.next.saturating_add(self.spacing.gap());
        if self.next >= self.burst_ends {
            self.leave_burst();
        }
        emission
    }
    /// Advances to the burst that contains the next packet, because the gap ends after the current burst.
    #[inline(never)] // once in a burst
    fn leave_burst(&mut self) {
        let mut left = match self.config.cut_gap {
            CutGap::Carried => self.next - self.burst_ends,
            CutGap::Dropped => {
                self.spacing.restart();
                Time::ZERO
            }
        };
        loop {
            let burst_starts = self.burst_ends.saturating_add(self.draw(self.config.off_time));
            let lasts = self.draw(self.config.on_time);
            self.burst_ends = burst_starts.saturating_add(lasts);
            if left < lasts || left == Time::ZERO || self.burst_ends == Time::MAX {
                self.next = burst_starts.saturating_add(left);
                return;
            }
            left = left - lasts;
        }
    }
    fn draw(&mut self, mean: Time) -> Time {
        let factor = match self.config.law {
            PeriodLaw::Deterministic => return mean,
            PeriodLaw::Exponential => self.stream.exponential(),
            PeriodLaw::Pareto { shape } => self.stream.pareto(shape),
        };
        Time::from_seconds_f64(mean.as_seconds() * factor)
    }
}

#[cfg(test)]
mod tests {
    use perhop_qos::random::Streams;
    use perhop_qos::units::{ByteSize, Rate};
    use perhop_scenario::PacketSize;

    use super::*;

    /// 1000 bytes every 80 ms during bursts of 100 ms, with silences of 200 ms. The mean is 33.3 kb/s.
    fn config(law: PeriodLaw, cut_gap: CutGap) -> OnOffConfig {
        OnOffConfig {
            rate: Rate::from_bits_per_second(100_000),
            packet: PacketSize::Ip(ByteSize::from_bytes(1000)),
            on_time: Time::from_milliseconds(100),
            off_time: Time::from_milliseconds(200),
            law,
            cut_gap,
        }
    }

    /// The mean rate of many packets, bits per second.
    fn rate(config: &OnOffConfig, packets: u32) -> f64 {
        let mut source = OnOff::new(config, Time::ZERO, Streams::new(1, 0).stream());
        let last = (0..packets).map(|_| source.next_packet().at).last().unwrap();
        f64::from(packets - 1) * 8000.0 / last.as_seconds()
    }

    #[test]
    fn the_mean_rate_is_the_share_of_the_time_on() {
        let deterministic = rate(&config(PeriodLaw::Deterministic, CutGap::Carried), 10_001);
        assert!((deterministic - 1e5 / 3.0).abs() < 1.0, "{deterministic}");
        for law in [PeriodLaw::Exponential, PeriodLaw::Pareto { shape: 2.5 }] {
            let random = rate(&config(law, CutGap::Carried), 200_000);
            assert!((random / 1e5 * 3.0 - 1.0).abs() < 0.01, "{law:?}: {random}");
        }
    }

    #[test]
    fn a_packet_at_the_start_of_every_burst_is_additional() {
        // A burst of 1.25 gaps has two packets, so the mean rate is 53.3 kb/s.
        let deterministic = rate(&config(PeriodLaw::Deterministic, CutGap::Dropped), 10_001);
        assert!((deterministic - 16e3 / 0.3).abs() < 20.0, "{deterministic}");
        // A burst has 1 / (1 - exp(-0.8)) packets on average, one for each gap that begins in it.
        let random = rate(&config(PeriodLaw::Exponential, CutGap::Dropped), 200_000);
        let expected = 8e3 / (1.0 - (-0.8_f64).exp()) / 0.3;
        assert!((random / expected - 1.0).abs() < 0.01, "{random}");
    }

    #[test]
    fn an_interrupted_gap_continues_in_the_next_burst() {
        let config = config(PeriodLaw::Deterministic, CutGap::Carried);
        let mut source = OnOff::new(&config, Time::ZERO, Streams::new(1, 0).stream());
        let times: Vec<_> = (0..5).map(|_| source.next_packet().at.as_seconds()).collect();
        // Bursts begin at 0, 0.3 and 0.6 s. The third packet is 60 ms after the start of the second burst,
        // and the fourth 40 ms after the start of the third.
        for (at, expected) in times.iter().zip([0.0, 0.08, 0.36, 0.64, 0.92]) {
            assert!((at - expected).abs() < 1e-9, "{times:?}");
        }
    }
}
