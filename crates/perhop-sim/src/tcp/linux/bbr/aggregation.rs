//! [`Aggregation`]: the aggregation of acknowledgments (`bbr_update_ack_aggregation`).

use super::super::rate::RateSample;
use super::facts::{Facts, ONE, RATE_ONE};

/// The number of rounds in a window (`bbr_extra_acked_win_rtts`). The excess is the maximum of two windows,
/// so it covers five to ten rounds.
const ROUNDS: u32 = 5;
/// The maximum number of segments of an epoch (`bbr_ack_epoch_acked_reset_thresh`).
const LONGEST_EPOCH: u32 = 1 << 20;
/// The limit of the excess, as the time in which the path delivers it at the rate, microseconds
/// (`bbr_extra_acked_max_us`).
const MOST_TIME: u64 = 100_000;
/// The gain of the excess (`bbr_extra_acked_gain`).
const GAIN: u32 = ONE;

/// The excess of delivered segments over the rate of the model.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// The time at which the epoch began, microseconds.
    began: u64,
    /// The segments delivered in the epoch.
    delivered: u32,
    /// The maximum excess in the current and in the previous window of rounds.
    most: [u32; 2],
    /// The index of the current window in `most`.
    current: usize,
    /// The rounds of the current window so far.
    rounds: u32,
}

impl Aggregation {
    /// Begins an epoch when the connection opens or continues after an idle time.
    pub(super) fn begin_epoch(&mut self, now: u64) {
        (self.began, self.delivered) = (now, 0);
    }
    /// Processes an acknowledgment on a path that delivers at `rate`. A window of rounds ends when a round
    /// begins: after [`ROUNDS`] rounds if the path `is_full`, otherwise after one round.
    pub(super) fn on_acknowledgment(
        &mut self,
        facts: &Facts,
        sample: &RateSample,
        rate: u64,
        round_begins: bool,
        is_full: bool,
    ) {
        if sample.newly_delivered == 0 || sample.delivered.is_none() || sample.interval.is_none() {
            return;
        }
        if round_begins {
            self.rounds = (self.rounds + 1).min(31);
            if self.rounds >= if is_full { ROUNDS } else { 1 } {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.most[self.current] = 0;
            }
        }
        let mut expected = expected(rate, facts.delivered_at - self.began);
        if u64::from(self.delivered) <= expected || self.delivered + sample.newly_delivered >= LONGEST_EPOCH {
            self.begin_epoch(facts.delivered_at);
            expected = 0;
        }
        self.delivered = (self.delivered + sample.newly_delivered).min(LONGEST_EPOCH - 1);
        let extra = (u64::from(self.delivered) - expected.min(u64::from(self.delivered))) as u32;
        let most = &mut self.most[self.current];
        *most = (*most).max(extra.min(facts.window));
    }
    /// Returns the number of segments that are added to the window at `rate` (`bbr_ack_aggregation_cwnd`).
    pub(super) fn allowance(&self, rate: u64) -> u32 {
        let most = self.most[0].max(self.most[1]);
        let limit = u32::try_from(expected(rate, MOST_TIME)).unwrap_or(u32::MAX);
        ((GAIN * most) >> 8).min(limit)
    }
}

/// Returns the number of segments that a path delivers at `rate` in `span`, microseconds.
fn expected(rate: u64, span: u64) -> u64 {
    ((u128::from(rate) * u128::from(span)) / u128::from(RATE_ONE)) as u64
}
