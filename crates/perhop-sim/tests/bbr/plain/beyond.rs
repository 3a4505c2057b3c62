//! The parts of Linux's BBR that the draft does not have: a mode for policers, and an allowance for
//! aggregated acknowledgments.

use super::super::super::rate::RateSample;
use super::super::Facts;

/// `BW_SCALE`: a rate of one segment per microsecond.
pub(super) const UNIT: u128 = 1 << 24;

/// The bytes per second of a rate: `BBRSetPacingRateWithGain` with Linux's margin of 1 %
/// (`bbr_rate_bytes_per_sec`, which rounds after each factor).
pub(super) fn bytes_per_second(rate: u128, gain: u128, facts: &Facts) -> u128 {
    let rate = rate * u128::from(facts.payload) * gain / 256;
    rate * 990_000 / UNIT
}

/// The result of a sample in the mode for policers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policed {
    AsBefore,
    Found,
    /// The rate was used for long enough, so the mode ends.
    Over,
}

/// The mode for policers, which the draft does not have (`bbr_lt_bw_sampling`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    pub(super) is_used: bool,
    rounds: u32,
    pub(super) rate: u128,
    /// The beginning of the interval in milliseconds, and the delivered and lost segments at that time.
    begins: (u64, u32, u32),
}

impl Policer {
    pub(super) fn new(facts: &Facts) -> Policer {
        let mut policer = Policer::default();
        policer.begin_interval(facts);
        policer
    }
    fn begin_interval(&mut self, facts: &Facts) {
        self.begins = (facts.delivered_at / 1000, facts.delivered, facts.lost);
        self.rounds = 0;
    }
    /// `bbr_lt_bw_sampling`: a policer is detected after two intervals of 4 to 16 rounds, if each interval
    /// loses at least a fifth (50/256) of its segments and their rates differ by at most an eighth or 4
    /// kbit/s.
    pub(super) fn sample(
        &mut self,
        facts: &Facts,
        has_loss: bool,
        is_app_limited: bool,
        round_start: bool,
    ) -> Policed {
        if !self.is_sampling && !has_loss {
            return Policed::AsBefore;
        }
        if !self.is_sampling {
            self.begin_interval(facts);
            self.is_sampling = true;
        }
        self.rounds += u32::from(round_start && !is_app_limited);
        if is_app_limited || self.rounds > 16 {
            *self = Policer::new(facts);
            return Policed::AsBefore;
        }
        let (at, delivered, lost) = self.begins;
        let (delivered, lost) = (u128::from(facts.delivered - delivered), u128::from(facts.lost - lost));
        let milliseconds = (facts.delivered_at / 1000).saturating_sub(at);
        let is_lossy = has_loss && delivered > 0 && 256 * lost >= 50 * delivered;
        if self.rounds < 4 || !is_lossy || milliseconds == 0 {
            return Policed::AsBefore;
        }
        let rate = delivered * UNIT / (1000 * u128::from(milliseconds));
        let apart = rate.abs_diff(self.rate);
        let is_near = 256 * apart <= 32 * self.rate || bytes_per_second(apart, 256, facts) <= 500;
        if self.rate > 0 && is_near {
            self.rate = u128::midpoint(rate, self.rate);
            (self.is_used, self.rounds) = (true, 0);
            return Policed::Found;
        }
        self.rate = rate;
        self.begin_interval(facts);
        Policed::AsBefore
    }
    /// Handles the end of a round at the policer's rate. The rate is used for 48 rounds.
    pub(super) fn keep(&mut self, facts: &Facts) -> Policed {
        self.rounds += 1;
        if self.rounds < 48 {
            return Policed::AsBefore;
        }
        *self = Policer::new(facts);
        Policed::Over
    }
}

/// Aggregated acknowledgments, a later addition to BBR (`bbr_update_ack_aggregation`).
#[derive(Clone, Debug, Default)]
pub(super) struct Heaps {
    epoch_begins: u64,
    epoch: u128,
    /// The maximum by which acknowledgments exceeded the rate in each window of five rounds. The last window
    /// is at the end.
    most: Vec<u128>,
    rounds: u32,
}

impl Heaps {
    pub(super) fn new(now: u64) -> Heaps {
        Heaps { epoch_begins: now, most: vec![0; 2], ..Heaps::default() }
    }
    /// Starts a new epoch when data are sent after an idle time.
    pub(super) fn restart(&mut self, now: u64) {
        (self.epoch, self.epoch_begins) = (0, now);
    }
    /// Adds a sample at a rate of `rate`, which may begin a round.
    pub(super) fn update(&mut self, facts: &Facts, rs: &RateSample, rate: u128, round_start: bool) {
        if rs.newly_delivered == 0 || rs.delivered.is_none() || rs.interval.is_none() {
            return;
        }
        self.rounds += u32::from(round_start);
        if round_start && self.rounds >= 5 {
            self.rounds = 0;
            self.most.push(0);
        }
        let acked = u128::from(rs.newly_delivered);
        let mut expected = rate * u128::from(facts.delivered_at - self.epoch_begins) / UNIT;
        if self.epoch <= expected || self.epoch + acked >= 1 << 20 {
            (self.epoch, self.epoch_begins, expected) = (0, facts.delivered_at, 0);
        }
        self.epoch = (self.epoch + acked).min((1 << 20) - 1);
        let extra = self.epoch.saturating_sub(expected).min(u128::from(facts.window));
        if let Some(most) = self.most.last_mut() {
            *most = extra.max(*most);
        }
    }
    /// `bbr_ack_aggregation_cwnd`: the maximum of the last two windows, at most 100 ms of the rate.
    pub(super) fn allowance(&self, rate: u128) -> u128 {
        let most = self.most.iter().rev().take(2).max().copied().unwrap_or(0);
        most.min(rate * 100_000 / UNIT)
    }
}
