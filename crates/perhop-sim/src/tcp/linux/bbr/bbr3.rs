//! [`Bbr3`]: BBR version 3 (draft-ietf-ccwg-bbr; google/bbr, branch v3, `net/ipv4/tcp_bbr.c`). This module
//! has the model, and computes the window and the pace from the model. `probing` has the phases, and
//! `signals` the reaction to losses and marks. The comments name the functions of Linux.

use perhop_qos::random::Stream;

use super::super::State;
use super::super::rate::RateSample;
use super::aggregation::Aggregation;
use super::bounds::{Bounds, NO_FLIGHT};
use super::facts::{
    BbrMode, BbrModel, FULL_GROWTH, FULL_ROUNDS, Facts, LEAST_WINDOW, LONGEST_BURST, NOMINAL_ROUND_TRIP, ONE,
    PACE_PERCENT, RATE_ONE, bytes_per_second, flight_at, in_network_at_departure, model,
};
use super::phase::{Acks, Phase};

/// The gain of the pace in startup, 4 ln 2 (`bbr_startup_pacing_gain`).
const STARTUP_GAIN: u32 = ONE * 277 / 100 + 1;
/// The gain of the window in startup (`bbr_startup_cwnd_gain`).
const STARTUP_WINDOW_GAIN: u32 = 2 * ONE;
/// The gain of the pace in drain (`bbr_drain_gain`).
const DRAIN_GAIN: u32 = ONE * 1000 / 2885;
/// The gain of the window in the other phases (`bbr_cwnd_gain`).
const WINDOW_GAIN: u32 = 2 * ONE;
/// The gain of the window while the rate is probed: `bbr_cwnd_gain` plus `bbr_bw_probe_cwnd_gain`.
const UP_WINDOW_GAIN: u32 = WINDOW_GAIN + ONE / 4;
/// The flight during the measurement of the minimum round-trip time: half of the model's flight
/// (`bbr_probe_rtt_cwnd_gain`).
pub(super) const PROBE_GAIN: u32 = ONE / 2;
/// The bytes that a short round-trip time adds to a burst halve with each 2⁹ us of the minimum round-trip
/// time (`bbr_tso_rtt_shift`).
const BURST_SHIFT: u32 = 9;
/// The minimum number of segments in a burst (`tcp_min_tso_segs`).
const LEAST_BURST: u32 = 2;

/// BBR version 3.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one of Linux's flags
pub(in crate::tcp::linux) struct Bbr3 {
    pub(super) mode: BbrMode,
    /// `min_rtt_us`: the minimum round-trip time.
    pub(super) least: u64,
    /// `min_rtt_stamp`: the time at which the minimum round-trip time was measured, ticks.
    pub(super) least_at: u64,
    /// `probe_rtt_min_us`: the minimum round-trip time since it was last probed.
    pub(super) probed: u64,
    /// `probe_rtt_min_stamp`: the time at which `probed` was measured, ticks.
    pub(super) probed_at: u64,
    /// `probe_rtt_done_stamp`: the end of the probe of the minimum round-trip time, ticks; `None` until the
    /// flight is small.
    pub(super) probe_ends: Option<u64>,
    /// `probe_rtt_round_done`: whether a round trip has passed since the flight became small.
    pub(super) probe_round_done: bool,
    /// `next_rtt_delivered`: the delivery count that ends the round.
    pub(super) round_ends: u32,
    /// `round_start`: whether the last acknowledgment began a round.
    pub(super) round_begins: bool,
    /// `cycle_idx`: the phase of the rate probe.
    pub(super) phase: Phase,
    /// `cycle_mstamp`: the time at which the phase began.
    pub(super) phase_began: u64,
    /// `prev_ca_state`: the state of loss recovery at the last acknowledgment.
    pub(super) previous: State,
    /// `idle_restart`: whether the connection sends again after an idle time.
    pub(super) restarts: bool,
    pub(super) initial_window: u32,
    pub(super) pacing_gain: u32,
    pub(super) window_gain: u32,
    /// `full_bw_reached`: whether startup has reached the rate of the path.
    pub(super) is_full: bool,
    /// `full_bw_now`: whether the rate does not grow now.
    pub(super) is_full_now: bool,
    /// `full_bw`: the rate from which growth is measured.
    pub(super) full_rate: u64,
    /// `full_bw_cnt`: the number of rounds without growth.
    pub(super) full_rounds: u32,
    /// `has_seen_rtt`: whether there was a round-trip sample.
    pub(super) has_round_trip: bool,
    /// `prior_cwnd`: the saved window, segments.
    pub(super) window_before: u32,
    pub(super) aggregation: Aggregation,
    /// `startup_ecn_rounds`: the number of consecutive rounds of startup with many marks.
    pub(super) marked_rounds: u32,
    /// `loss_in_cycle`: whether there was a loss since the last probe.
    pub(super) loss_in_cycle: bool,
    /// `ecn_in_cycle`: whether there was a mark since the last probe.
    pub(super) marks_in_cycle: bool,
    /// `loss_round_delivered`: the delivery count that ends a round of losses. The acknowledgment of a
    /// segment that was sent after this count ends the round.
    pub(super) loss_round_ends: u32,
    /// `loss_round_start`: whether the last acknowledgment began a round of losses.
    pub(super) loss_round_begins: bool,
    /// `loss_in_round`: whether there was a loss in this round of losses.
    pub(super) loss_in_round: bool,
    /// `ecn_in_round`: whether there was a mark in this round of losses.
    pub(super) marks_in_round: bool,
    /// `loss_events_in_round`: the number of acknowledgments with losses in this round.
    pub(super) loss_events: u32,
    pub(super) bounds: Bounds,
    /// `bw_hi`: the maximum rates of the last and of the current probe.
    pub(super) rates: [u64; 2],
    /// `bw_probe_up_rounds`: the number of rounds of growth in this probe.
    pub(super) up_rounds: u32,
    /// `bw_probe_up_cnt`: the number of delivered segments for which the bound grows by one segment.
    pub(super) up_segments: u32,
    /// `bw_probe_up_acks`: the number of delivered segments that count towards the next growth.
    pub(super) up_delivered: u32,
    /// `probe_wait_us`: the time until the next probe.
    pub(super) wait: u64,
    /// `rounds_since_probe`: the rounds since the last probe, plus a random number.
    pub(super) rounds_since_probe: u32,
    /// `ack_phase`: the phase whose effect the acknowledgments show.
    pub(super) acks: Acks,
    /// `bw_probe_samples`: whether samples show the effect of a probe.
    pub(super) is_probe_sampled: bool,
    /// `prev_probe_too_high`: whether the last probe lost too much.
    pub(super) was_too_high: bool,
    /// `stopped_risky_probe`: whether the probe ended at the bound at which the last probe lost too much.
    pub(super) stopped_at_risk: bool,
    /// `ecn_eligible`: whether marks are used.
    pub(super) uses_marks: bool,
    /// `ecn_alpha`: the mean fraction of marked segments, 256ths.
    pub(super) alpha: u32,
    /// `alpha_last_delivered`: the delivery count at the last update of `alpha`.
    pub(super) alpha_delivered: u32,
    /// `alpha_last_delivered_ce`: the count of marked segments at the last update of `alpha`.
    pub(super) alpha_marked: u32,
    /// `try_fast_path`: whether the window has reached the window of the model.
    pub(super) is_settled: bool,
    pub(super) pace: u64,
    pub(super) random: Stream,
}

impl Bbr3 {
    pub(super) fn new(random: Stream) -> Bbr3 {
        Bbr3 {
            mode: BbrMode::Startup,
            least: u64::MAX,
            least_at: 0,
            probed: u64::MAX,
            probed_at: 0,
            probe_ends: None,
            probe_round_done: false,
            round_ends: 0,
            round_begins: false,
            phase: Phase::Up,
            phase_began: 0,
            previous: State::Open,
            restarts: false,
            initial_window: 0,
            pacing_gain: STARTUP_GAIN,
            window_gain: STARTUP_WINDOW_GAIN,
            is_full: false,
            is_full_now: false,
            full_rate: 0,
            full_rounds: 0,
            has_round_trip: false,
            window_before: 0,
            aggregation: Aggregation::default(),
            marked_rounds: 0,
            loss_in_cycle: false,
            marks_in_cycle: false,
            loss_round_ends: 0,
            loss_round_begins: false,
            loss_in_round: false,
            marks_in_round: false,
            loss_events: 0,
            bounds: Bounds::default(),
            rates: [0; 2],
            up_rounds: 0,
            up_segments: u32::MAX,
            up_delivered: 0,
            wait: 0,
            rounds_since_probe: 0,
            acks: Acks::Init,
            is_probe_sampled: false,
            was_too_high: false,
            stopped_at_risk: false,
            uses_marks: false,
            alpha: ONE,
            alpha_delivered: 0,
            alpha_marked: 0,
            is_settled: false,
            pace: 0,
            random,
        }
    }
    /// Starts the model when the connection opens (`bbr_init`).
    pub(super) fn open(&mut self, facts: &Facts) {
        self.initial_window = facts.window.min(127);
        self.round_ends = facts.delivered;
        (self.least, self.probed) = (facts.least, facts.least);
        (self.least_at, self.probed_at) = (facts.ticks, facts.ticks);
        self.loss_round_ends = facts.delivered + 1;
        self.begin_pace(facts);
        self.aggregation.begin_epoch(facts.now);
    }

    pub(super) fn pacing_rate(&self) -> u64 {
        self.pace
    }
    pub(super) fn model(&self, payload: u64) -> BbrModel {
        let gains = (self.pacing_gain, self.window_gain);
        model(self.mode, self.rate(), self.least, self.pace, gains, payload)
    }
    /// The maximum rate of the last two probes (`bbr_max_bw`).
    pub(super) fn greatest_rate(&self) -> u64 {
        self.rates[0].max(self.rates[1])
    }
    /// The rate of the model: the maximum rate within the short-term bound (`bbr_bw`).
    pub(super) fn rate(&self) -> u64 {
        self.greatest_rate().min(self.bounds.low_rate)
    }
    /// `bbr_advance_max_bw_filter`: discards the rates of the last probe.
    pub(super) fn forget_rates(&mut self) {
        if self.rates[1] > 0 {
            self.rates = [self.rates[1], 0];
        }
    }

    /// Sets the pace to the window per round-trip time, times the gain of startup
    /// (`bbr_init_pacing_rate_from_rtt`).
    fn begin_pace(&mut self, facts: &Facts) {
        let round_trip = if facts.smoothed > 0 {
            self.has_round_trip = true;
            (facts.smoothed >> 3).max(1)
        } else {
            NOMINAL_ROUND_TRIP
        };
        let rate = u64::from(facts.window) * RATE_ONE / round_trip;
        self.pace = bytes_per_second(rate, STARTUP_GAIN, facts.payload, PACE_PERCENT).max(1);
    }
    /// Sets the pace to `rate` times `gain`. In startup, the pace does not decrease (`bbr_set_pacing_rate`).
    fn set_pace(&mut self, facts: &Facts, rate: u64, gain: u32) {
        let pace = bytes_per_second(rate, gain, facts.payload, PACE_PERCENT).max(1);
        if !self.has_round_trip && facts.smoothed > 0 {
            self.begin_pace(facts);
        }
        if self.is_full || pace > self.pace {
            self.pace = pace;
        }
    }
    /// The number of segments that are sent at once (`bbr_tso_segs_goal`).
    fn burst(&self, facts: &Facts) -> u32 {
        let halvings = self.least >> BURST_SHIFT;
        let by_round_trip = if halvings < 32 { 65_536 >> halvings } else { 0 };
        let bytes = ((self.pace >> 10) + by_round_trip).min(LONGEST_BURST);
        ((bytes / facts.payload) as u32).max(LEAST_BURST)
    }
    /// Raises `window` to at least three bursts and the minimum window, and adds two segments while the rate
    /// is probed (`bbr_quantization_budget`).
    fn with_bursts(&self, facts: &Facts, window: u32) -> u32 {
        let window = window.max(3 * self.burst(facts)).max(LEAST_WINDOW);
        let is_up = self.mode == BbrMode::ProbeBandwidth && self.phase == Phase::Up;
        window + if is_up { 2 } else { 0 }
    }
    /// Returns the flight at `rate` and the minimum round-trip time, times `gain` (`bbr_bdp`).
    fn flight_at(&self, rate: u64, gain: u32) -> u32 {
        if self.least == u64::MAX { self.initial_window } else { flight_at(rate, self.least, gain) }
    }
    /// The flight at `rate`, including the bursts of the hosts (`bbr_inflight` with a gain of one).
    pub(super) fn target(&self, facts: &Facts, rate: u64) -> u32 {
        self.with_bursts(facts, self.flight_at(rate, ONE))
    }
    /// The flight of the model, at most the window (`bbr_target_inflight`).
    pub(super) fn target_flight(&self, facts: &Facts) -> u32 {
        self.target(facts, self.rate()).min(facts.window)
    }
    /// The window during the probe of the minimum round-trip time (`bbr_probe_rtt_cwnd`).
    pub(super) fn probe_window(&self) -> u32 {
        self.flight_at(self.rate(), PROBE_GAIN).max(LEAST_WINDOW)
    }
    pub(super) fn in_network(&self, facts: &Facts, in_flight: u32) -> u32 {
        let burst = if self.pacing_gain > ONE { self.burst(facts) } else { 0 };
        in_network_at_departure(facts, self.rate(), in_flight, burst)
    }

    /// Saves `window`, so that it can be restored after recovery or after a probe (`bbr_save_cwnd`).
    pub(super) fn save_window(&mut self, window: u32) {
        let is_good = self.previous < State::Recovery && self.mode != BbrMode::ProbeRoundTrip;
        self.window_before = if is_good { window } else { self.window_before.max(window) };
    }
    /// Saves the window and the bounds when losses begin (`bbr_ssthresh`).
    pub(super) fn on_reduction(&mut self, window: u32) {
        self.save_window(window);
        self.bounds.save();
    }
    /// Handles a transmission after an idle time (`CA_EVENT_TX_START`).
    pub(super) fn on_restart(&mut self, facts: &mut Facts) {
        self.restarts = true;
        self.aggregation.begin_epoch(facts.now);
        match self.mode {
            BbrMode::ProbeBandwidth => self.set_pace(facts, self.rate(), ONE),
            BbrMode::ProbeRoundTrip => self.check_probe(facts),
            BbrMode::Startup | BbrMode::Drain => {}
        }
    }
    /// Handles a retransmission timeout (`bbr_set_state`).
    pub(super) fn on_timeout(&mut self, facts: &Facts) {
        self.previous = State::Loss;
        self.reset_full();
        if !self.is_probing() && self.bounds.low_flight == NO_FLIGHT {
            self.bounds.low_flight = facts.window.max(self.window_before);
        }
    }
    /// Returns the window when loss recovery enters `state`: after a timeout, at least the saved window
    /// (`bbr_exit_loss_recovery`).
    pub(super) fn window_in(&mut self, state: State, window: u32) -> u32 {
        if self.previous != State::Loss || state == State::Loss {
            return window;
        }
        self.is_settled = false;
        window.max(self.window_before)
    }
    /// Handles a spurious recovery: restores the window and the bounds (`bbr_undo_cwnd`).
    pub(super) fn undo(&mut self, facts: &mut Facts) {
        self.reset_full();
        self.loss_in_round = false;
        self.bounds.restore();
        self.is_settled = false;
        facts.window = self.window_before;
    }

    /// Processes an acknowledgment (`bbr_main`).
    pub(super) fn on_acknowledgment(&mut self, facts: &mut Facts, sample: &RateSample) {
        self.update_round(facts, sample);
        if self.round_begins {
            self.rounds_since_probe = (self.rounds_since_probe + 1).min(255);
            self.update_alpha(facts);
        }
        self.marks_in_round |= self.uses_marks && sample.has_mark;
        let rate = match (sample.delivered, sample.interval) {
            (Some(delivered), Some(interval)) => (u64::from(delivered) * RATE_ONE).div_ceil(interval),
            _ => 0,
        };
        self.update_latest(facts, sample, rate);
        if !self.takes_fast_path(facts, sample, rate) {
            self.update_gains();
            let rate = self.rate();
            self.set_pace(facts, rate, self.pacing_gain);
            self.set_window(facts, sample, rate);
            self.bound_window(facts);
        }
        // A new round restarts the latest rate and the latest delivered segments
        // (`bbr_advance_latest_delivery_signals`).
        if self.loss_round_begins && !sample.answers_probe {
            self.bounds.latest_rate = rate;
            self.bounds.latest_flight = sample.delivered.unwrap_or(0);
        }
        self.previous = facts.state;
        self.loss_in_cycle |= sample.lost > 0;
        self.marks_in_cycle |= sample.marked > 0;
    }
    /// Updates the model by `sample` (`bbr_update_model`), or only the phases (`bbr_run_fast_path`) if the
    /// sender is application-limited and the sample contains no new information. Returns whether window and
    /// pace remain unchanged.
    fn takes_fast_path(&mut self, facts: &mut Facts, sample: &RateSample, rate: u64) -> bool {
        let is_possible = self.is_settled
            && sample.is_app_limited
            && rate < self.greatest_rate()
            && !self.loss_in_round
            && !self.marks_in_round;
        if is_possible {
            let before = (self.mode, self.least);
            self.check_drain(facts);
            self.update_phase(facts, sample, rate);
            self.update_round_trip(facts, sample);
            return (self.mode, self.least) == before && self.is_settled;
        }
        self.update_signals(facts, sample, rate);
        let (rate_now, begins, is_full) = (self.rate(), self.round_begins, self.is_full);
        self.aggregation.on_acknowledgment(facts, sample, rate_now, begins, is_full);
        self.check_losses_in_startup(facts, sample);
        self.check_full(sample, rate);
        self.check_drain(facts);
        self.update_phase(facts, sample, rate);
        self.update_round_trip(facts, sample);
        false
    }

    /// Checks whether the acknowledgment begins a round (`bbr_update_round_start`).
    fn update_round(&mut self, facts: &Facts, sample: &RateSample) {
        self.round_begins = sample.interval.is_some() && sample.delivered_before >= self.round_ends;
        if self.round_begins {
            self.round_ends = facts.delivered;
        }
    }

    /// Checks whether the rate has stopped growing (`bbr_check_full_bw_reached`).
    fn check_full(&mut self, sample: &RateSample, rate: u64) {
        if self.is_full_now || sample.is_app_limited {
            return;
        }
        if rate >= (self.full_rate * FULL_GROWTH) >> 8 {
            self.reset_full();
            self.full_rate = rate;
        } else if self.round_begins {
            self.full_rounds += 1;
            self.is_full_now = self.full_rounds >= FULL_ROUNDS;
            self.is_full |= self.is_full_now;
        }
    }
    /// Restarts the check whether the rate grows (`bbr_reset_full_bw`).
    pub(super) fn reset_full(&mut self) {
        (self.full_rate, self.full_rounds, self.is_full_now) = (0, 0, false);
    }
    /// Changes from startup to drain, and from drain to rate probes (`bbr_check_drain`).
    fn check_drain(&mut self, facts: &mut Facts) {
        if self.mode == BbrMode::Startup && self.is_full {
            self.mode = BbrMode::Drain;
            facts.threshold = self.target(facts, self.greatest_rate());
            self.reset_signals();
        }
        let is_drained = self.mode == BbrMode::Drain
            && self.in_network(facts, facts.in_flight) <= self.target(facts, self.greatest_rate());
        if is_drained {
            self.mode = BbrMode::ProbeBandwidth;
            self.go_down(facts);
        }
    }

    /// Sets the gains of pace and window for the current phase (`bbr_update_gains`).
    fn update_gains(&mut self) {
        (self.pacing_gain, self.window_gain) = match self.mode {
            BbrMode::Startup => (STARTUP_GAIN, STARTUP_WINDOW_GAIN),
            BbrMode::Drain => (DRAIN_GAIN, STARTUP_WINDOW_GAIN),
            BbrMode::ProbeBandwidth if self.phase == Phase::Up => (self.phase.gain(), UP_WINDOW_GAIN),
            BbrMode::ProbeBandwidth => (self.phase.gain(), WINDOW_GAIN),
            BbrMode::ProbeRoundTrip => (ONE, ONE),
        };
    }
    /// Sets the window for the delivered segments of `sample` (`bbr_set_cwnd`).
    fn set_window(&mut self, facts: &mut Facts, sample: &RateSample, rate: u64) {
        let acked = sample.newly_delivered;
        if acked > 0 {
            let target = self.flight_at(rate, self.window_gain) + self.aggregation.allowance(rate);
            let target = self.with_bursts(facts, target);
            self.is_settled = false;
            if self.is_full {
                facts.window += acked;
                if facts.window >= target {
                    facts.window = target;
                    self.is_settled = true;
                }
            } else if facts.window < target || facts.window < 2 * self.initial_window {
                facts.window += acked;
            } else {
                self.is_settled = true;
            }
            facts.window = facts.window.max(LEAST_WINDOW);
        }
        if self.mode == BbrMode::ProbeRoundTrip {
            facts.window = facts.window.min(self.probe_window());
        }
    }
    /// Limits the window by the bounds on the flight (`bbr_bound_cwnd_for_inflight_model`).
    fn bound_window(&self, facts: &mut Facts) {
        let cruises = self.phase == Phase::Cruise;
        let cap = match self.mode {
            BbrMode::ProbeBandwidth if !cruises => self.bounds.high_flight,
            BbrMode::ProbeBandwidth | BbrMode::ProbeRoundTrip => self.bounds.with_headroom(),
            BbrMode::Startup | BbrMode::Drain => NO_FLIGHT,
        };
        facts.window = facts.window.min(cap.min(self.bounds.low_flight).max(LEAST_WINDOW));
    }
}
