//! HyStart++ (RFC 9406): a longer round-trip time starts conservative slow start (CSS). If the increase was
//! temporary, slow start resumes.

mod hooks;

use perhop_scenario::tcp::{Parameters, SlowStartExit};

/// RFC 9406 §4.3, `MIN_RTT_THRESH`: the minimum increase of the round-trip time that starts CSS,
/// microseconds.
const LEAST_DELAY: u64 = 4000;
/// RFC 9406 §4.3, `MAX_RTT_THRESH`: the maximum of this increase, microseconds.
const MOST_DELAY: u64 = 16_000;
/// RFC 9406 §4.3, `MIN_RTT_DIVISOR`: between both bounds, the increase is the round-trip time divided by this
/// number.
const DELAY_DIVISOR: u64 = 8;
/// The minimum round-trip time of a round without samples.
const NONE: u64 = u64::MAX;

/// The initial slow start. Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConservativeStart {
    is_over: bool,
    /// `windowEnd`: the offset whose acknowledgment ends the round.
    ends: u64,
    /// `lastRoundMinRTT`: the minimum round-trip time of the previous round.
    last: u64,
    /// `currentRoundMinRTT`: the minimum round-trip time of the current round.
    current: u64,
    /// `rttSampleCount`: the number of round-trip samples in the current round.
    samples: u32,
    /// `cssBaselineMinRtt`: the minimum round-trip time before CSS; `None` outside CSS.
    baseline: Option<u64>,
    /// The number of rounds of CSS. The first round is partial.
    rounds: u32,
    /// The number of acknowledged segments that count towards the next increase.
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
    /// RFC 9406 §4.1: ends HyStart++, which applies only to the initial slow start.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// Starts CSS if the round-trip time has increased, and ends CSS if the round-trip time is below the
    /// baseline again (RFC 9406 §4.2).
    fn judge_round(&mut self) {
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
}
