//! The phases in which BBR version 3 probes the rate, and the probe of the minimum round-trip time.

use perhop_qos::units::Time;

use super::super::State;
use super::super::rate::RateSample;
use super::bbr3::Bbr3;
use super::bounds::NO_FLIGHT;
use super::facts::{BbrMode, Facts, PROBE_LASTS, ROUND_TRIP_LASTS};
use super::phase::{Acks, Phase};

/// The minimum wait before the next probe, microseconds (`bbr_bw_probe_base_us`). The wait is two to three
/// seconds, or the rounds between two losses of Reno if these take less time.
const LEAST_WAIT: u64 = 2_000_000;
/// The random part of the wait, microseconds (`bbr_bw_probe_rand_us`).
const RANDOM_WAIT: f64 = 1_000_000.0;
/// The maximum number of rounds of the wait (`bbr_bw_probe_max_rounds`).
const MOST_ROUNDS: u32 = 63;
/// The upper limit of the random number of rounds by which the wait is shorter: 0 or 1 round
/// (`bbr_bw_probe_rand_rounds`).
const RANDOM_ROUNDS: f64 = 2.0;
/// The interval between measurements of the minimum round-trip time (`bbr_probe_rtt_win_ms`).
const PROBE_EACH: Time = Time::from_seconds(5);
/// The maximum number of rounds in which growth doubles.
const MOST_DOUBLINGS: u32 = 30;

impl Bbr3 {
    /// Whether the sender probes for a higher rate, or is about to (`bbr_is_probing_bandwidth`).
    pub(super) fn is_probing(&self) -> bool {
        match self.mode {
            BbrMode::Startup => true,
            BbrMode::ProbeBandwidth => matches!(self.phase, Phase::Refill | Phase::Up),
            BbrMode::Drain | BbrMode::ProbeRoundTrip => false,
        }
    }
    fn begin_phase(&mut self, phase: Phase) {
        self.phase = phase;
        self.is_settled = false;
    }
    /// Begins the phase `Down` (`bbr_start_bw_probe_down`).
    pub(super) fn go_down(&mut self, facts: &Facts) {
        self.reset_signals();
        self.up_segments = u32::MAX;
        // The time until the next probe (`bbr_pick_probe_wait`).
        self.rounds_since_probe = (self.random.uniform() * RANDOM_ROUNDS) as u32;
        self.wait = LEAST_WAIT + (self.random.uniform() * RANDOM_WAIT) as u64;
        self.phase_began = facts.now;
        self.acks = Acks::Stopping;
        self.round_ends = facts.delivered;
        self.begin_phase(Phase::Down);
    }
    /// Begins the phase `Cruise` (`bbr_start_bw_probe_cruise`).
    fn cruise(&mut self) {
        if self.bounds.low_flight != NO_FLIGHT {
            self.bounds.low_flight = self.bounds.low_flight.min(self.bounds.high_flight);
        }
        self.begin_phase(Phase::Cruise);
    }
    /// Begins the phase `Refill` (`bbr_start_bw_probe_refill`). The growth of the following phase starts as
    /// if it had already lasted `rounds` rounds.
    fn refill(&mut self, facts: &Facts, rounds: u32) {
        self.bounds.lift();
        self.up_rounds = rounds;
        self.up_delivered = 0;
        self.stopped_at_risk = false;
        self.acks = Acks::Refilling;
        self.round_ends = facts.delivered;
        self.begin_phase(Phase::Refill);
    }
    /// Begins the phase `Up` (`bbr_start_bw_probe_up`).
    fn go_up(&mut self, facts: &Facts, rate: u64) {
        self.acks = Acks::Starting;
        self.round_ends = facts.delivered;
        self.phase_began = facts.now;
        self.reset_full();
        self.full_rate = rate;
        self.begin_phase(Phase::Up);
        self.raise_slope(facts);
    }
    /// Doubles the growth of the bound, once per round (`bbr_raise_inflight_hi_slope`).
    fn raise_slope(&mut self, facts: &Facts) {
        let growth = 1 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(MOST_DOUBLINGS);
        self.up_segments = (facts.window / growth).max(1);
    }
    /// Raises the bound `high_flight` for the delivered segments (`bbr_probe_inflight_hi_upward`).
    fn raise_high_flight(&mut self, facts: &Facts, sample: &RateSample) {
        if !facts.is_limited || facts.window < self.bounds.high_flight {
            return;
        }
        self.up_delivered += sample.newly_delivered;
        if self.up_delivered >= self.up_segments {
            self.bounds.high_flight += self.up_delivered / self.up_segments;
            self.up_delivered %= self.up_segments;
            self.is_settled = false;
        }
        if self.round_begins {
            self.raise_slope(facts);
        }
    }

    /// Ends a probe in which `in_flight` segments were too many (`bbr_handle_inflight_too_high`).
    pub(super) fn handle_too_high(&mut self, facts: &Facts, in_flight: u32, is_app_limited: bool) {
        self.was_too_high = true;
        self.is_probe_sampled = false;
        if !is_app_limited {
            let target = self.target_flight(facts);
            self.bounds.cut_high_flight(in_flight, target);
        }
        if self.mode == BbrMode::ProbeBandwidth && self.phase == Phase::Up {
            self.go_down(facts);
        }
    }
    /// Adapts the bound `high_flight` to the result of a probe (`bbr_adapt_upper_bounds`). Returns whether a
    /// new phase has begun.
    fn adapt_high_flight(&mut self, facts: &Facts, sample: &RateSample) -> bool {
        let probes = self.mode == BbrMode::ProbeBandwidth;
        if self.acks == Acks::Starting && self.round_begins {
            self.acks = Acks::Feedback;
        }
        if self.acks == Acks::Stopping && self.round_begins {
            self.is_probe_sampled = false;
            self.acks = Acks::Init;
            if probes && !sample.is_app_limited {
                self.forget_rates();
            }
            if probes && self.stopped_at_risk && !self.was_too_high {
                self.refill(facts, 0);
                return true;
            }
        }
        if self.is_too_high(sample) {
            if self.is_probe_sampled {
                self.handle_too_high(facts, sample.sent_in_flight, sample.is_app_limited);
            }
        } else if self.bounds.high_flight != NO_FLIGHT {
            self.bounds.high_flight = self.bounds.high_flight.max(sample.sent_in_flight);
            if probes && self.phase == Phase::Up {
                self.raise_high_flight(facts, sample);
            }
        }
        false
    }

    /// Begins a probe if it is due (`bbr_check_time_to_probe_bw`). Returns whether a probe begins.
    fn begins_probe(&mut self, facts: &Facts) -> bool {
        if self.has_only_marks() && facts.state == State::Open {
            self.refill(facts, self.reprobe_rounds());
            return true;
        }
        // The number of rounds between two losses of Reno (`bbr_is_reno_coexistence_probe_time`).
        let rounds = self.target_flight(facts).min(MOST_ROUNDS);
        if facts.now > self.phase_began + self.wait || self.rounds_since_probe >= rounds {
            self.refill(facts, 0);
            return true;
        }
        false
    }
    /// Begins the next phase if the current one has ended (`bbr_update_cycle_phase`). `rate` is the rate of
    /// the sample.
    pub(super) fn update_phase(&mut self, facts: &Facts, sample: &RateSample, rate: u64) {
        let is_decided = !self.is_full || self.adapt_high_flight(facts, sample);
        if is_decided || self.mode != BbrMode::ProbeBandwidth {
            return;
        }
        let in_flight = self.in_network(facts, sample.prior_in_flight);
        match self.phase {
            Phase::Cruise => {
                self.begins_probe(facts);
            }
            Phase::Refill if self.round_begins => {
                self.is_probe_sampled = true;
                self.go_up(facts, rate);
            }
            Phase::Refill => {}
            Phase::Up => self.check_up(facts, in_flight, rate),
            Phase::Down => {
                let target = self.target(facts, self.greatest_rate());
                if !self.begins_probe(facts)
                    && in_flight <= self.bounds.with_headroom()
                    && in_flight <= target
                {
                    self.cruise();
                }
            }
        }
    }
    /// Ends the phase `Up` at the bound at which the last probe lost too much, or if the rate no longer
    /// grows.
    fn check_up(&mut self, facts: &Facts, in_flight: u32, rate: u64) {
        let mut is_over = false;
        if self.was_too_high && in_flight >= self.bounds.high_flight {
            self.stopped_at_risk = true;
            is_over = true;
        } else if facts.is_limited && facts.window >= self.bounds.high_flight {
            self.reset_full();
            self.full_rate = rate;
        } else {
            is_over = self.is_full_now;
        }
        if is_over {
            self.was_too_high = false;
            self.go_down(facts);
        }
    }

    /// Updates the minimum round-trip time, and begins to probe this time when a probe is due
    /// (`bbr_update_min_rtt`).
    pub(super) fn update_round_trip(&mut self, facts: &mut Facts, sample: &RateSample) {
        let is_due = facts.ticks > self.probed_at + facts.ticks_in(PROBE_EACH);
        if let Some(round_trip) = sample.round_trip
            && (round_trip < self.probed || (is_due && !sample.may_be_delayed))
        {
            (self.probed, self.probed_at) = (round_trip, facts.ticks);
        }
        let has_expired = facts.ticks > self.least_at + facts.ticks_in(ROUND_TRIP_LASTS);
        if self.probed <= self.least || has_expired {
            (self.least, self.least_at) = (self.probed, self.probed_at);
        }
        if is_due && !self.restarts && self.mode != BbrMode::ProbeRoundTrip {
            self.mode = BbrMode::ProbeRoundTrip;
            self.save_window(facts.window);
            self.probe_ends = None;
            self.acks = Acks::Stopping;
            self.round_ends = facts.delivered;
        }
        if self.mode == BbrMode::ProbeRoundTrip {
            facts.ignores_flight = true;
            if self.probe_ends.is_some() {
                self.probe_round_done |= self.round_begins;
                if self.probe_round_done {
                    self.check_probe(facts);
                }
            } else if facts.in_flight <= self.probe_window() {
                self.probe_ends = Some(facts.ticks + facts.ticks_in(PROBE_LASTS));
                self.probe_round_done = false;
                self.round_ends = facts.delivered;
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarts = false;
        }
    }
    /// Ends the probe of the minimum round-trip time when its time is over (`bbr_check_probe_rtt_done`,
    /// `bbr_exit_probe_rtt`).
    pub(super) fn check_probe(&mut self, facts: &mut Facts) {
        if self.probe_ends.is_none_or(|ends| facts.ticks <= ends) {
            return;
        }
        self.probed_at = facts.ticks;
        facts.window = facts.window.max(self.window_before);
        self.bounds.lift();
        if self.is_full {
            self.mode = BbrMode::ProbeBandwidth;
            self.go_down(facts);
            self.cruise();
        } else {
            self.mode = BbrMode::Startup;
        }
    }
}
