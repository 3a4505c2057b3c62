//! What Linux's BBR has beyond the draft: a mode for policers, and room for heaps of acknowledgments.

use super::super::super::rate::RateSample;
use super::super::{BbrMode, Facts};
use super::{Plain, UNIT};

/// The mode for policers, which the draft does not have (`bbr_lt_bw_sampling`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    pub(super) is_sampling: bool,
    pub(super) is_used: bool,
    pub(super) rounds: u32,
    pub(super) rate: u128,
    /// Of the interval: milliseconds, delivered and lost.
    pub(super) begins: (u64, u32, u32),
}

/// Heaps of acknowledgments, which came after the draft (`bbr_update_ack_aggregation`).
#[derive(Clone, Debug, Default)]
pub(super) struct Heaps {
    pub(super) epoch_begins: u64,
    pub(super) epoch: u128,
    /// The most by which a heap exceeded the rate, of each window of five rounds, the last one at the end.
    pub(super) most: Vec<u128>,
    pub(super) rounds: u32,
}

impl Heaps {
    pub(super) fn new(now: u64) -> Heaps {
        Heaps { epoch_begins: now, most: vec![0; 2], ..Heaps::default() }
    }
}

impl Plain {
    /// `bbr_lt_bw_sampling`: two intervals of 4 to 16 rounds, in each of which a fifth (50/256) is lost, and
    /// whose rates are an eighth or 4 kbit/s apart at most.
    pub(super) fn sample_policer(&mut self, facts: &Facts, has_loss: bool, is_app_limited: bool) {
        if self.policer.is_used {
            if self.state == BbrMode::ProbeBandwidth && self.round_start {
                self.policer.rounds += 1;
                if self.policer.rounds >= 48 {
                    self.reset_policer(facts);
                    self.enter_probe_bw(facts);
                }
            }
            return;
        }
        if !self.policer.is_sampling && !has_loss {
            return;
        }
        if !self.policer.is_sampling {
            self.begin_interval(facts);
            self.policer.is_sampling = true;
        }
        if is_app_limited {
            return self.reset_policer(facts);
        }
        self.policer.rounds += u32::from(self.round_start);
        match self.policer.rounds {
            0..4 => return,
            4..=16 => {}
            _ => return self.reset_policer(facts),
        }
        let (at, delivered, lost) = self.policer.begins;
        let (delivered, lost) = (u128::from(facts.delivered - delivered), u128::from(facts.lost - lost));
        let milliseconds = (facts.delivered_at / 1000).saturating_sub(at);
        if !has_loss || delivered == 0 || 256 * lost < 50 * delivered || milliseconds == 0 {
            return;
        }
        let rate = delivered * UNIT / (1000 * u128::from(milliseconds));
        let apart = rate.abs_diff(self.policer.rate);
        let is_near =
            256 * apart <= 32 * self.policer.rate || Plain::bytes_per_second(apart, 256, facts) <= 500;
        if self.policer.rate > 0 && is_near {
            self.policer.rate = u128::midpoint(rate, self.policer.rate);
            (self.policer.is_used, self.policer.rounds) = (true, 0);
            self.pacing_gain = 256;
        } else {
            self.policer.rate = rate;
            self.begin_interval(facts);
        }
    }
    pub(super) fn begin_interval(&mut self, facts: &Facts) {
        self.policer.begins = (facts.delivered_at / 1000, facts.delivered, facts.lost);
        self.policer.rounds = 0;
    }
    pub(super) fn reset_policer(&mut self, facts: &Facts) {
        self.policer = Policer::default();
        self.begin_interval(facts);
    }

    /// `bbr_update_ack_aggregation`.
    pub(super) fn update_heaps(&mut self, facts: &Facts, rs: &RateSample) {
        if rs.newly_delivered == 0 || rs.delivered.is_none() || rs.interval.is_none() {
            return;
        }
        self.heaps.rounds += u32::from(self.round_start);
        if self.round_start && self.heaps.rounds >= 5 {
            self.heaps.rounds = 0;
            self.heaps.most.push(0);
        }
        let acked = u128::from(rs.newly_delivered);
        let mut expected = self.rate() * u128::from(facts.delivered_at - self.heaps.epoch_begins) / UNIT;
        if self.heaps.epoch <= expected || self.heaps.epoch + acked >= 1 << 20 {
            (self.heaps.epoch, self.heaps.epoch_begins, expected) = (0, facts.delivered_at, 0);
        }
        self.heaps.epoch = (self.heaps.epoch + acked).min((1 << 20) - 1);
        let extra = self.heaps.epoch.saturating_sub(expected).min(u128::from(facts.window));
        if let Some(most) = self.heaps.most.last_mut() {
            *most = extra.max(*most);
        }
    }
    /// `bbr_ack_aggregation_cwnd`: the most of the last two windows, 100 ms of the rate at most.
    pub(super) fn allowance(&self) -> u128 {
        let most = self.heaps.most.iter().rev().take(2).max().copied().unwrap_or(0);
        if self.filled_pipe { most.min(self.rate() * 100_000 / UNIT) } else { 0 }
    }
}
