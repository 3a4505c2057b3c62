//! Bursts at constant bit rate.

use perhop_qos::random::Stream;
use perhop_qos::units::Time;

use super::emission::Emission;
use super::spacing::Spacing;
use perhop_scenario::{OnOffConfig, PeriodLaw};

/// Bursts at constant bit rate, separated by silence. A packet is sent at the start of a burst, then after
/// every gap that ends within the burst.
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
            self.begin_burst();
        }
        emission
    }
    #[inline(never)] // once in a burst
    fn begin_burst(&mut self) {
        self.next = self.burst_ends.saturating_add(self.draw(self.config.off_time));
        self.burst_ends = self.next.saturating_add(self.draw(self.config.on_time));
        self.spacing.restart();
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
