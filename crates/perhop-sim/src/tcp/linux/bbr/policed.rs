//! [`LongTerm`]: detection of a policer on the path, and of the policer's rate (`bbr_lt_bw_sampling`; Flach
//! et al. 2016).

use super::super::rate::RateSample;
use super::facts::{Facts, ONE, PACE_PERCENT, RATE_ONE, bytes_per_second};

/// The minimum number of rounds of an interval. The maximum is four times this number
/// (`bbr_lt_intvl_min_rtts`).
const LEAST_ROUNDS: u32 = 4;
/// An interval is lossy if it has at least this number of losses per 256 delivered segments, which is about a
/// fifth (`bbr_lt_loss_thresh`).
const LOSSY: u64 = 50;
/// Two rates count as equal if they differ by at most an eighth or 4 kbit/s (`bbr_lt_bw_ratio`,
/// `bbr_lt_bw_diff`).
const SAME_PART: u64 = 32;
const SAME_BYTES: u64 = 500;
/// The number of rounds for which a detected rate is used (`bbr_lt_bw_max_rtts`).
const USED_ROUNDS: u32 = 48;

/// The detector: two lossy intervals with the same rate indicate a policer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    is_sampling: bool,
    is_used: bool,
    rounds: u32,
    /// The rate of the last interval; 0 for none.
    rate: u64,
    /// The beginning of the interval, milliseconds.
    began: u64,
    /// The number of segments delivered before the interval.
    delivered: u32,
    /// The number of segments lost before the interval.
    lost: u32,
}

/// The result of the detection after an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// A policer was detected, so probing stops.
    Policed,
    /// The detected rate has expired, so probing starts again.
    Over,
}

impl LongTerm {
    /// The rate of the policer, if there is one.
    pub(super) fn rate(&self) -> Option<u64> {
        self.is_used.then_some(self.rate)
    }
    /// Discards the detected rate and restarts the detection (`bbr_reset_lt_bw_sampling`).
    pub(super) fn reset(&mut self, facts: &Facts) {
        *self = LongTerm::default();
        self.begin_interval(facts);
    }
    fn begin_interval(&mut self, facts: &Facts) {
        self.began = facts.delivered_at / 1000;
        self.delivered = facts.delivered;
        self.lost = facts.lost;
        self.rounds = 0;
    }

    /// Processes an acknowledgment. `probes` states whether BBR probes the rate.
    pub(super) fn on_acknowledgment(
        &mut self,
        facts: &Facts,
        sample: &RateSample,
        round_begins: bool,
        probes: bool,
    ) -> Finding {
        if self.is_used {
            return self.keep_using_rate(facts, probes && round_begins);
        }
        if !self.is_sampling {
            // The first loss shows that the policer's tokens are used up.
            if sample.newly_lost == 0 {
                return Finding::Nothing;
            }
            self.begin_interval(facts);
            self.is_sampling = true;
        }
        if sample.is_app_limited {
            self.reset(facts);
            return Finding::Nothing;
        }
        self.rounds += u32::from(round_begins);
        if self.rounds < LEAST_ROUNDS {
            return Finding::Nothing;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(facts);
            return Finding::Nothing;
        }
        // An interval begins and ends with a loss, so that the policer's bucket is empty at both times.
        if sample.newly_lost == 0 {
            return Finding::Nothing;
        }
        let (lost, delivered) = (facts.lost - self.lost, facts.delivered - self.delivered);
        if delivered == 0 || (u64::from(lost) << 8) < LOSSY * u64::from(delivered) {
            return Finding::Nothing;
        }
        let lasted = (facts.delivered_at / 1000).saturating_sub(self.began);
        if lasted == 0 {
            return Finding::Nothing;
        }
        self.end_interval(facts, u64::from(delivered) * RATE_ONE / (lasted * 1000))
    }
    fn keep_using_rate(&mut self, facts: &Facts, counts: bool) -> Finding {
        if !counts {
            return Finding::Nothing;
        }
        self.rounds += 1;
        if self.rounds < USED_ROUNDS {
            return Finding::Nothing;
        }
        self.reset(facts);
        Finding::Over
    }
    /// Ends an interval with delivery rate `rate`, and compares it with the last interval
    /// (`bbr_lt_bw_interval_done`).
    fn end_interval(&mut self, facts: &Facts, rate: u64) -> Finding {
        let difference = rate.abs_diff(self.rate);
        let is_same = difference * u64::from(ONE) <= SAME_PART * self.rate
            || bytes_per_second(difference, ONE, facts.payload, PACE_PERCENT) <= SAME_BYTES;
        if self.rate > 0 && is_same {
            self.rate = u64::midpoint(rate, self.rate);
            self.is_used = true;
            self.rounds = 0;
            return Finding::Policed;
        }
        self.rate = rate;
        self.begin_interval(facts);
        Finding::Nothing
    }
}
