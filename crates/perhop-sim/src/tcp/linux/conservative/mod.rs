//! HyStart++ (RFC 9406): a longer round trip leads to conservative slow start (CSS), and back if it was
//! chance.

use perhop_scenario::tcp::{Parameters, SlowStartExit};

use super::super::sender::Sender;

/// RFC 9406 §4.3: `MIN_RTT_THRESH` and `MAX_RTT_THRESH`, microseconds, and `MIN_RTT_DIVISOR`.
const LEAST_DELAY: u64 = 4000;
const MOST_DELAY: u64 = 16_000;
const DELAY_DIVISOR: u64 = 8;
/// `N_RTT_SAMPLE`.
const SAMPLES: u32 = 8;
/// `CSS_GROWTH_DIVISOR` and `CSS_ROUNDS`.
const GROWTH_DIVISOR: u32 = 4;
const ROUNDS: u32 = 5;
/// L, segments for one acknowledgment, unless they are paced.
const MOST_SEGMENTS: u32 = 8;
/// The least round trip of a round without samples.
const NONE: u64 = u64::MAX;

/// The initial slow start. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConservativeStart {
    is_over: bool,
    /// `windowEnd`: the offset whose acknowledgment ends the round.
    ends: u64,
    /// `lastRoundMinRTT`, `currentRoundMinRTT` and `rttSampleCount`.
    last: u64,
    current: u64,
    samples: u32,
    /// `cssBaselineMinRtt` while slow start is conservative, and rounds of it, the first one in part.
    baseline: Option<u64>,
    rounds: u32,
    /// Segments that count for the next increase.
    credit: u32,
}

impl ConservativeStart {
    pub(super) fn new(parameters: &Parameters) -> Option<Box<ConservativeStart>> {
        let is_wanted = parameters.slow_start_exit == SlowStartExit::HystartPlusPlus;
        (is_wanted && !parameters.congestion.has_model()).then(|| {
            Box::new(ConservativeStart {
                is_over: false,
                ends: 0,
                last: NONE,
                current: NONE,
                samples: 0,
                baseline: None,
                rounds: 0,
                credit: 0,
            })
        })
    }
    /// RFC 9406 §4.1: it is for the initial slow start only.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// RFC 9406 §4.2: an acknowledgment in slow start, with a round trip of `sample`. Returns whether slow
    /// start is over.
    pub(super) fn on_sample(&mut self, stream: &Sender, sample: u64) -> bool {
        if self.is_over {
            return false;
        }
        if stream.unacknowledged >= self.ends {
            self.rounds += u32::from(self.baseline.is_some());
            if self.rounds >= ROUNDS {
                self.is_over = true;
                return true;
            }
            (self.last, self.current, self.samples) = (self.current, NONE, 0);
            self.ends = stream.next;
        }
        self.current = self.current.min(sample);
        self.samples += 1;
        if self.samples >= SAMPLES {
            self.judge();
        }
        false
    }
    fn judge(&mut self) {
        match self.baseline {
            None if self.last != NONE => {
                let delay = (self.last / DELAY_DIVISOR).clamp(LEAST_DELAY, MOST_DELAY);
                if self.current >= self.last + delay {
                    (self.baseline, self.rounds, self.credit) = (Some(self.current), 0, 0);
                }
            }
            Some(baseline) if self.current < baseline => self.baseline = None,
            _ => {}
        }
    }
    /// By how much `segments` let the window grow.
    pub(super) fn growth(&mut self, stream: &Sender, segments: u32) -> u32 {
        if self.is_over {
            return segments;
        }
        let counted = if stream.parameters.pacing { segments } else { segments.min(MOST_SEGMENTS) };
        if self.baseline.is_none() {
            return counted;
        }
        self.credit += counted;
        let grown = self.credit / GROWTH_DIVISOR;
        self.credit %= GROWTH_DIVISOR;
        grown
    }
}
