//! The signals of losses and marks in each round trip, for BBR version 3 (`bbr_update_congestion_signals`).

use super::super::State;
use super::super::rate::{Departure, RateSample};
use super::bbr3::Bbr3;
use super::bounds::{MOST_MARKS, flight_before_loss, loses_too_many, marks_too_many, part};
use super::facts::{Facts, ONE};

/// Startup ends after this number of acknowledgments with losses in a round, if more than 2 % of the segments
/// are lost (`bbr_full_loss_cnt`).
const FULL_LOSSES: u32 = 6;
/// Startup ends after this number of rounds in which half of the segments are marked (`bbr_full_ecn_cnt`).
const FULL_MARKED_ROUNDS: u32 = 2;
/// Marks count only below this round-trip time, microseconds (`bbr_ecn_max_rtt_us`).
const LONGEST_MARKED: u64 = 5000;
/// The weight of a round in the mean fraction of marks (`bbr_ecn_alpha_gain`).
const ALPHA_GAIN: u32 = ONE / 16;

impl Bbr3 {
    /// Updates the mean fraction of marks, once per round trip (`bbr_update_ecn_alpha`).
    pub(super) fn update_alpha(&mut self, facts: &Facts) {
        self.uses_marks |= facts.has_exact_marks && self.least <= LONGEST_MARKED;
        let delivered = facts.delivered - self.alpha_delivered;
        if !self.uses_marks || delivered == 0 {
            return;
        }
        let marked = facts.marked - self.alpha_marked;
        let share = ((u64::from(marked) << 8) / u64::from(delivered)) as u32;
        self.alpha = (((ONE - ALPHA_GAIN) * self.alpha) >> 8) + ((ALPHA_GAIN * share) >> 8);
        self.alpha = self.alpha.min(ONE);
        (self.alpha_delivered, self.alpha_marked) = (facts.delivered, facts.marked);
        if self.is_full {
            return;
        }
        self.marked_rounds = if share >= MOST_MARKS { self.marked_rounds + 1 } else { 0 };
        if self.marked_rounds >= FULL_MARKED_ROUNDS {
            self.end_startup(facts);
        }
    }
    /// Updates the maximum deliveries of the last round trip by `sample`, and checks whether a round of
    /// losses begins (`bbr_update_latest_delivery_signals`).
    pub(super) fn update_latest(&mut self, facts: &Facts, sample: &RateSample, rate: u64) {
        self.loss_round_begins = false;
        if sample.interval.is_none() || sample.newly_delivered == 0 {
            return;
        }
        self.bounds.latest_rate = self.bounds.latest_rate.max(rate);
        self.bounds.latest_flight = self.bounds.latest_flight.max(sample.delivered.unwrap_or(0));
        if sample.delivered_before >= self.loss_round_ends {
            self.loss_round_ends = facts.delivered;
            self.loss_round_begins = true;
        }
    }
    /// Updates the maximum rate, and lowers the short-term bounds at the end of a round of losses
    /// (`bbr_update_congestion_signals`).
    pub(super) fn update_signals(&mut self, facts: &Facts, sample: &RateSample, rate: u64) {
        if sample.interval.is_none() || sample.newly_delivered == 0 {
            return;
        }
        if !sample.is_app_limited || rate >= self.greatest_rate() {
            self.rates[1] = self.rates[1].max(rate);
        }
        self.loss_in_round |= sample.newly_lost > 0;
        if !self.loss_round_begins {
            return;
        }
        if !self.is_probing() {
            let alpha = self.marks_in_round.then_some(self.alpha);
            self.bounds.lower(self.greatest_rate(), facts.window, self.loss_in_round, alpha);
        }
        (self.loss_in_round, self.marks_in_round) = (false, false);
    }
    /// Discards the losses and marks so far (`bbr_reset_congestion_signals`).
    pub(super) fn reset_signals(&mut self) {
        (self.loss_in_round, self.marks_in_round) = (false, false);
        (self.loss_in_cycle, self.marks_in_cycle) = (false, false);
        (self.bounds.latest_rate, self.bounds.latest_flight) = (0, 0);
    }
    /// Whether there were marks since the last probe, and no losses.
    pub(super) fn has_only_marks(&self) -> bool {
        self.uses_marks && self.marks_in_cycle && !self.loss_in_cycle
    }
    /// Whether too many segments of `sample` were lost or marked (`bbr_is_inflight_too_high`).
    pub(super) fn is_too_high(&self, sample: &RateSample) -> bool {
        let delivered = sample.delivered.unwrap_or(0);
        loses_too_many(sample.lost, sample.sent_in_flight)
            || (self.uses_marks && marks_too_many(sample.marked, delivered))
    }
    /// Ends startup, because the queue is too long (`bbr_handle_queue_too_high_in_startup`).
    fn end_startup(&mut self, facts: &Facts) {
        self.is_full = true;
        let target = self.target(facts, self.greatest_rate());
        self.bounds.high_flight = target.max(self.bounds.latest_flight);
    }
    /// Ends startup if too many segments are lost (`bbr_check_loss_too_high_in_startup`).
    pub(super) fn check_losses_in_startup(&mut self, facts: &Facts, sample: &RateSample) {
        if self.is_full {
            return;
        }
        if sample.newly_lost > 0 {
            self.loss_events = (self.loss_events + 1).min(15);
        }
        let is_over = self.loss_round_begins
            && facts.state == State::Recovery
            && self.loss_events >= FULL_LOSSES
            && self.is_too_high(sample);
        if is_over {
            self.end_startup(facts);
        } else if self.loss_round_begins {
            self.loss_events = 0;
        }
    }
    /// Records a loss (`bbr_note_loss`).
    fn note_loss(&mut self, facts: &Facts) {
        if !self.loss_in_round {
            self.loss_round_ends = facts.delivered;
        }
        self.loss_in_round = true;
        self.loss_in_cycle = true;
    }
    /// Records that the segment of `departure` is marked lost (`bbr_skb_marked_lost`). The count of losses in
    /// `facts` includes this segment.
    pub(super) fn on_lost(&mut self, facts: &Facts, departure: &Departure) {
        self.note_loss(facts);
        if !self.is_probe_sampled {
            return;
        }
        if loses_too_many(facts.lost - departure.lost, departure.in_flight) {
            let in_flight = flight_before_loss(facts, departure);
            self.handle_too_high(facts, in_flight, departure.is_app_limited);
        }
    }
    /// Records that a tail loss probe repaired one loss (`bbr_run_loss_probe_recovery`).
    pub(super) fn on_probe_recovery(&mut self, facts: &Facts, is_app_limited: bool) {
        self.note_loss(facts);
        let in_flight = self.bounds.latest_flight + 1;
        if self.is_probe_sampled && loses_too_many(1, in_flight) {
            self.handle_too_high(facts, in_flight, is_app_limited);
        }
    }
    /// The number of rounds of growth that the first probe after a mark skips: the binary logarithm of half
    /// of the bound on the flight (`bbr_ecn_reprobe_gain`).
    pub(super) fn reprobe_rounds(&self) -> u32 {
        part(self.bounds.high_flight, ONE / 2).checked_ilog2().unwrap_or(0)
    }
}
