//! [`Bbr1`]: BBR version 1 (Cardwell et al. 2016; Linux 6.1 `net/ipv4/tcp_bbr.c`). The comments name the
//! functions of Linux.

use perhop_qos::random::Stream;

use super::super::State;
use super::super::rate::RateSample;
use super::super::windowed::Windowed;
use super::aggregation::Aggregation;
use super::facts::{
    BbrMode, BbrModel, FULL_GROWTH, FULL_ROUNDS, Facts, LEAST_WINDOW, LONGEST_BURST, NOMINAL_ROUND_TRIP, ONE,
    PACE_PERCENT, PROBE_LASTS, RATE_ONE, ROUND_TRIP_LASTS, bytes_per_second, flight_at,
    in_network_at_departure, model,
};
use super::policed::{Finding, LongTerm};

/// `bbr_high_gain`: 2 / ln 2, with which the flight doubles each round trip. `bbr_drain_gain`: the inverse.
const HIGH_GAIN: u32 = ONE * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = ONE * 1000 / 2885;
/// The gain of the window outside startup (`bbr_cwnd_gain`).
const WINDOW_GAIN: u32 = 2 * ONE;
/// `bbr_pacing_gain`: the pace is above the rate for one round trip, below it for one, and at the rate for
/// six.
const CYCLE: [u32; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// The number of phases with which the cycle can begin: all except the second (`bbr_cycle_rand`).
const FIRST_PHASES: f64 = 7.0;
/// The number of rounds over which the maximum rate is taken (`bbr_bw_rtts`).
const RATE_ROUNDS: u64 = 10;
/// The number of delivered segments up to which the window grows regardless of its target (`TCP_INIT_CWND`).
const INITIAL_WINDOW: u32 = 10;
/// The pace below which single segments are sent, bytes per second (`bbr_min_tso_rate`).
const LEAST_BURST_RATE: u64 = 1_200_000 / 8;

/// BBR version 1.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one of Linux's flags
pub(in crate::tcp::linux) struct Bbr1 {
    mode: BbrMode,
    /// `min_rtt_us`: the minimum round-trip time.
    least: u64,
    /// `min_rtt_stamp`: the time at which the minimum round-trip time was measured, ticks.
    least_at: u64,
    /// `probe_rtt_done_stamp`: the tick at which the window may grow again after the probe of the minimum
    /// round-trip time; `None` until the flight is small.
    probe_ends: Option<u64>,
    /// `probe_rtt_round_done`: whether a round trip has passed since the flight became small.
    probe_round_done: bool,
    /// `bw`: the maximum rate of the last rounds.
    rates: Windowed,
    /// `rtt_cnt`: the number of rounds so far.
    rounds: u64,
    /// `next_rtt_delivered`: the delivery count that ends the round. The round ends with the first
    /// acknowledgment of a segment that was sent at or above this count.
    round_ends: u32,
    /// `round_start`: whether the last acknowledgment began a round.
    round_begins: bool,
    /// `cycle_idx`: the index in [`CYCLE`].
    phase: usize,
    /// `cycle_mstamp`: the time at which the phase began.
    phase_began: u64,
    /// `prev_ca_state`: the state of loss recovery at the last acknowledgment.
    previous: State,
    /// `packet_conservation`: whether one segment is sent for each delivered segment.
    conserves_packets: bool,
    /// `idle_restart`: whether the connection sends again after an idle time.
    restarts: bool,
    long_term: LongTerm,
    pacing_gain: u32,
    window_gain: u32,
    /// `has_seen_rtt`: whether there was a round-trip sample.
    has_round_trip: bool,
    /// `full_bw`: the rate from which growth is measured in startup.
    full_rate: u64,
    /// `full_bw_cnt`: the number of rounds without growth.
    full_rounds: u32,
    /// `full_bw_reached`: whether startup has reached the rate of the path.
    is_full: bool,
    /// `prior_cwnd`: the saved window, segments.
    window_before: u32,
    aggregation: Aggregation,
    /// `sk_pacing_rate`: the pace, bytes per second.
    pace: u64,
    random: Stream,
}

impl Bbr1 {
    pub(super) fn new(random: Stream) -> Bbr1 {
        Bbr1 {
            mode: BbrMode::Startup,
            least: u64::MAX,
            least_at: 0,
            probe_ends: None,
            probe_round_done: false,
            rates: Windowed::default(),
            rounds: 0,
            round_ends: 0,
            round_begins: false,
            phase: 0,
            phase_began: 0,
            previous: State::Open,
            conserves_packets: false,
            restarts: false,
            long_term: LongTerm::default(),
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            has_round_trip: false,
            full_rate: 0,
            full_rounds: 0,
            is_full: false,
            window_before: 0,
            aggregation: Aggregation::default(),
            pace: 0,
            random,
        }
    }
    /// Starts the model when the connection opens (`bbr_init`).
    pub(super) fn open(&mut self, facts: &Facts) {
        self.least = facts.least;
        self.least_at = facts.ticks;
        self.begin_pace(facts);
        self.long_term.reset(facts);
        self.aggregation.begin_epoch(facts.now);
    }

    pub(super) fn pacing_rate(&self) -> u64 {
        self.pace
    }
    pub(super) fn model(&self, payload: u64) -> BbrModel {
        let gains = (self.pacing_gain, self.window_gain);
        model(self.mode, self.rate(), self.least, self.pace, gains, payload)
    }
    /// The maximum rate of the last rounds (`bbr_max_bw`).
    fn greatest_rate(&self) -> u64 {
        self.rates.get().unwrap_or(0)
    }
    /// The rate of the model: the policer's rate if a policer was detected, otherwise the maximum rate
    /// (`bbr_bw`).
    fn rate(&self) -> u64 {
        self.long_term.rate().unwrap_or_else(|| self.greatest_rate())
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
        self.pace = bytes_per_second(rate, HIGH_GAIN, facts.payload, PACE_PERCENT);
    }
    /// Sets the pace to `rate` times `gain`. In startup, the pace does not decrease (`bbr_set_pacing_rate`).
    fn set_pace(&mut self, facts: &Facts, rate: u64, gain: u32) {
        let pace = bytes_per_second(rate, gain, facts.payload, PACE_PERCENT);
        if !self.has_round_trip && facts.smoothed > 0 {
            self.begin_pace(facts);
        }
        if self.is_full || pace > self.pace {
            self.pace = pace;
        }
    }
    /// The number of segments that are sent at once (`bbr_tso_segs_goal`).
    fn burst(&self, facts: &Facts) -> u32 {
        let least = if self.pace < LEAST_BURST_RATE { 1 } else { 2 };
        let bytes = (self.pace >> 10).min(LONGEST_BURST);
        ((bytes / facts.payload) as u32).max(least).min(127)
    }
    /// Adds three bursts to `window`, for the buffers of the hosts, and rounds up to an even number
    /// (`bbr_quantization_budget`).
    fn with_bursts(&self, facts: &Facts, window: u32) -> u32 {
        let window = (window + 3 * self.burst(facts)).next_multiple_of(2);
        let is_up = self.mode == BbrMode::ProbeBandwidth && self.phase == 0;
        window + if is_up { 2 } else { 0 }
    }
    /// Returns the flight at `rate` and the minimum round-trip time, times `gain` (`bbr_bdp`).
    fn flight_at(&self, rate: u64, gain: u32) -> u32 {
        if self.least == u64::MAX { INITIAL_WINDOW } else { flight_at(rate, self.least, gain) }
    }
    /// The flight at `rate`, times `gain`, including the bursts of the hosts (`bbr_inflight`).
    fn target(&self, facts: &Facts, rate: u64, gain: u32) -> u32 {
        self.with_bursts(facts, self.flight_at(rate, gain))
    }
    fn in_network(&self, facts: &Facts, in_flight: u32) -> u32 {
        let burst = if self.pacing_gain > ONE { self.burst(facts) } else { 0 };
        in_network_at_departure(facts, self.rate(), in_flight, burst)
    }

    /// Saves `window`, so that it can be restored after recovery or after a probe (`bbr_save_cwnd`).
    pub(super) fn save_window(&mut self, window: u32) {
        let is_good = self.previous < State::Recovery && self.mode != BbrMode::ProbeRoundTrip;
        self.window_before = if is_good { window } else { self.window_before.max(window) };
    }
    /// Handles a transmission after an idle time (`CA_EVENT_TX_START`). In the cycle, the pace becomes the
    /// rate.
    pub(super) fn on_restart(&mut self, facts: &mut Facts) {
        self.restarts = true;
        self.aggregation.begin_epoch(facts.now);
        match self.mode {
            BbrMode::ProbeBandwidth => self.set_pace(facts, self.rate(), ONE),
            BbrMode::ProbeRoundTrip => self.check_probe(facts),
            BbrMode::Startup | BbrMode::Drain => {}
        }
    }
    /// Handles a retransmission timeout, which ends the current round (`bbr_set_state`).
    pub(super) fn on_timeout(&mut self, facts: &Facts) {
        self.previous = State::Loss;
        self.full_rate = 0;
        self.round_begins = true;
        let sample = RateSample { newly_lost: 1, ..RateSample::default() };
        self.sample_long_term(facts, &sample);
    }
    /// Handles a spurious recovery: the checks for a full path and for a policer begin again
    /// (`bbr_undo_cwnd`).
    pub(super) fn undo(&mut self, facts: &Facts) {
        (self.full_rate, self.full_rounds) = (0, 0);
        self.long_term.reset(facts);
    }

    /// Processes an acknowledgment (`bbr_main`).
    pub(super) fn on_acknowledgment(&mut self, facts: &mut Facts, sample: &RateSample) {
        self.update_rate(facts, sample);
        let (rate, begins) = (self.rate(), self.round_begins);
        self.aggregation.on_acknowledgment(facts, sample, rate, begins, true);
        if self.mode == BbrMode::ProbeBandwidth && self.is_phase_over(facts, sample) {
            self.advance_phase(facts);
        }
        self.check_full(sample);
        self.check_drain(facts);
        self.update_round_trip(facts, sample);
        self.update_gains();
        self.set_pace(facts, self.rate(), self.pacing_gain);
        self.set_window(facts, sample);
    }

    /// Updates the round and the maximum rate by `sample` (`bbr_update_bw`).
    fn update_rate(&mut self, facts: &Facts, sample: &RateSample) {
        self.round_begins = false;
        let (Some(delivered), Some(interval)) = (sample.delivered, sample.interval) else { return };
        if sample.delivered_before >= self.round_ends {
            self.round_ends = facts.delivered;
            self.rounds += 1;
            self.round_begins = true;
            self.conserves_packets = false;
        }
        self.sample_long_term(facts, sample);
        let rate = u64::from(delivered) * RATE_ONE / interval;
        if !sample.is_app_limited || rate >= self.greatest_rate() {
            self.rates.add(RATE_ROUNDS, self.rounds, rate, |new, old| new >= old);
        }
    }
    fn sample_long_term(&mut self, facts: &Facts, sample: &RateSample) {
        let probes = self.mode == BbrMode::ProbeBandwidth;
        match self.long_term.on_acknowledgment(facts, sample, self.round_begins, probes) {
            Finding::Nothing => {}
            Finding::Policed => self.pacing_gain = ONE,
            Finding::Over => self.begin_cycle(facts),
        }
    }

    /// Whether the current phase of the cycle has ended (`bbr_is_next_cycle_phase`).
    fn is_phase_over(&self, facts: &Facts, sample: &RateSample) -> bool {
        let has_lasted = facts.delivered_at.saturating_sub(self.phase_began) > self.least;
        if self.pacing_gain == ONE {
            return has_lasted;
        }
        let (in_flight, rate) = (self.in_network(facts, sample.prior_in_flight), self.greatest_rate());
        if self.pacing_gain > ONE {
            let is_filled = in_flight >= self.target(facts, rate, self.pacing_gain);
            return has_lasted && (sample.newly_lost > 0 || is_filled);
        }
        has_lasted || in_flight <= self.target(facts, rate, ONE)
    }
    /// Begins the next phase of the cycle (`bbr_advance_cycle_phase`).
    fn advance_phase(&mut self, facts: &Facts) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_began = facts.delivered_at;
    }
    /// Begins the cycle at a random phase (`bbr_reset_probe_bw_mode`).
    fn begin_cycle(&mut self, facts: &Facts) {
        self.mode = BbrMode::ProbeBandwidth;
        self.phase = CYCLE.len() - 1 - (self.random.uniform() * FIRST_PHASES) as usize;
        self.advance_phase(facts);
    }

    /// Checks whether the rate has stopped growing in startup (`bbr_check_full_bw_reached`).
    fn check_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_begins || sample.is_app_limited {
            return;
        }
        if self.greatest_rate() >= (self.full_rate * FULL_GROWTH) >> 8 {
            (self.full_rate, self.full_rounds) = (self.greatest_rate(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }
    /// Changes from startup to drain, and from drain to the cycle (`bbr_check_drain`).
    fn check_drain(&mut self, facts: &mut Facts) {
        if self.mode == BbrMode::Startup && self.is_full {
            self.mode = BbrMode::Drain;
            facts.threshold = self.target(facts, self.greatest_rate(), ONE);
        }
        let is_drained = self.mode == BbrMode::Drain
            && self.in_network(facts, facts.in_flight) <= self.target(facts, self.greatest_rate(), ONE);
        if is_drained {
            self.begin_cycle(facts);
        }
    }

    /// Updates the minimum round-trip time, and begins a probe of it when it has expired
    /// (`bbr_update_min_rtt`).
    fn update_round_trip(&mut self, facts: &mut Facts, sample: &RateSample) {
        let has_expired = facts.ticks > self.least_at + facts.ticks_in(ROUND_TRIP_LASTS);
        if let Some(round_trip) = sample.round_trip
            && (round_trip < self.least || (has_expired && !sample.may_be_delayed))
        {
            (self.least, self.least_at) = (round_trip, facts.ticks);
        }
        if has_expired && !self.restarts && self.mode != BbrMode::ProbeRoundTrip {
            self.mode = BbrMode::ProbeRoundTrip;
            self.save_window(facts.window);
            self.probe_ends = None;
        }
        if self.mode == BbrMode::ProbeRoundTrip {
            facts.ignores_flight = true;
            if self.probe_ends.is_some() {
                self.probe_round_done |= self.round_begins;
                if self.probe_round_done {
                    self.check_probe(facts);
                }
            } else if facts.in_flight <= LEAST_WINDOW {
                self.probe_ends = Some(facts.ticks + facts.ticks_in(PROBE_LASTS));
                self.probe_round_done = false;
                self.round_ends = facts.delivered;
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.restarts = false;
        }
    }
    /// Ends the probe of the minimum round-trip time when its time is over (`bbr_check_probe_rtt_done`).
    fn check_probe(&mut self, facts: &mut Facts) {
        if self.probe_ends.is_none_or(|ends| facts.ticks <= ends) {
            return;
        }
        self.least_at = facts.ticks;
        facts.window = facts.window.max(self.window_before);
        if self.is_full {
            self.begin_cycle(facts);
        } else {
            self.mode = BbrMode::Startup;
        }
    }

    /// Sets the gains of pace and window for the current mode (`bbr_update_gains`).
    fn update_gains(&mut self) {
        let is_policed = self.long_term.rate().is_some();
        (self.pacing_gain, self.window_gain) = match self.mode {
            BbrMode::Startup => (HIGH_GAIN, HIGH_GAIN),
            BbrMode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            BbrMode::ProbeBandwidth if is_policed => (ONE, WINDOW_GAIN),
            BbrMode::ProbeBandwidth => (CYCLE[self.phase], WINDOW_GAIN),
            BbrMode::ProbeRoundTrip => (ONE, ONE),
        };
    }

    /// Sets the window for the delivered segments of `sample` (`bbr_set_cwnd`).
    fn set_window(&mut self, facts: &mut Facts, sample: &RateSample) {
        let acked = sample.newly_delivered;
        if acked > 0 && !self.recover_or_restore(facts, sample) {
            let rate = self.rate();
            let mut target = self.flight_at(rate, self.window_gain);
            if self.is_full {
                target += self.aggregation.allowance(rate);
            }
            target = self.with_bursts(facts, target);
            if self.is_full {
                facts.window = (facts.window + acked).min(target);
            } else if facts.window < target || facts.delivered < INITIAL_WINDOW {
                facts.window += acked;
            }
            facts.window = facts.window.max(LEAST_WINDOW);
        }
        if self.mode == BbrMode::ProbeRoundTrip {
            facts.window = facts.window.min(LEAST_WINDOW);
        }
    }
    /// Sets the window at the beginning and the end of a recovery (`bbr_set_cwnd_to_recover_or_restore`). In
    /// the first round of a recovery, one segment is sent for each delivered segment. Returns whether this is
    /// the first round.
    fn recover_or_restore(&mut self, facts: &mut Facts, sample: &RateSample) -> bool {
        let previous = std::mem::replace(&mut self.previous, facts.state);
        let flight = facts.in_flight + sample.newly_delivered;
        if sample.newly_lost > 0 {
            facts.window = facts.window.saturating_sub(sample.newly_lost).max(1);
        }
        if facts.state == State::Recovery && previous != State::Recovery {
            self.conserves_packets = true;
            self.round_ends = facts.delivered;
            facts.window = flight;
        } else if previous >= State::Recovery && facts.state < State::Recovery {
            facts.window = facts.window.max(self.window_before);
            self.conserves_packets = false;
        }
        if self.conserves_packets {
            facts.window = facts.window.max(flight);
        }
        self.conserves_packets
    }
}
