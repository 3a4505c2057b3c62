//! A plain model of BBR version 1, for comparison with [`Bbr1`](super::bbr1::Bbr1). It follows the pseudocode
//! of draft-cardwell-iccrg-bbr-congestion-control-00 in order and names. The state is one record, and the
//! filter is a list. If Linux 6.1 (`net/ipv4/tcp_bbr.c`) has another rule, the comment names the function of
//! Linux.

mod beyond;

use std::collections::VecDeque;

use perhop_qos::random::Stream;

use super::super::State;
use super::super::rate::RateSample;
use super::{BbrMode, Facts};
use beyond::{Heaps, Policed, Policer, UNIT, bytes_per_second};

/// Gains of the draft (§4.3.1.1: `2/ln(2)`, §4.3.2, §4.3.3.3) in 256ths, rounded like `bbr_high_gain` and the
/// other gains of Linux.
const HIGH: u128 = 739;
const DRAIN: u128 = 88;
const CYCLE: [u128; 8] = [320, 192, 256, 256, 256, 256, 256, 256];

/// The variables `BBR.*` of the draft.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // the draft's flags
pub(super) struct Plain {
    pub(super) state: BbrMode,
    pub(super) pacing_gain: u128,
    pub(super) cwnd_gain: u128,
    pub(super) pacing_rate: u128,
    pub(super) rtprop: Option<u64>,
    rtprop_stamp: u64,
    probe_rtt_done_stamp: Option<u64>,
    probe_rtt_round_done: bool,
    /// `BtlBwFilter`: round and rate of the three entries that `lib/win_minmax.c` keeps.
    filter: VecDeque<(u64, u128)>,
    round_count: u64,
    next_round_delivered: u32,
    round_start: bool,
    cycle_index: usize,
    cycle_stamp: u64,
    filled_pipe: bool,
    full_bw: u128,
    full_bw_count: u32,
    prior_cwnd: u32,
    pub(super) packet_conservation: bool,
    idle_restart: bool,
    previous: State,
    has_rtt: bool,
    policer: Policer,
    heaps: Heaps,
    random: Stream,
}

impl Plain {
    /// `BBRInit`: the initial state.
    pub(super) fn new(facts: &Facts, random: Stream) -> Plain {
        let mut plain = Plain {
            state: BbrMode::Startup,
            pacing_gain: HIGH,
            cwnd_gain: HIGH,
            pacing_rate: 0,
            rtprop: (facts.least < u64::MAX).then_some(facts.least),
            rtprop_stamp: facts.ticks,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            filter: VecDeque::new(),
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            cycle_index: 0,
            cycle_stamp: 0,
            filled_pipe: false,
            full_bw: 0,
            full_bw_count: 0,
            prior_cwnd: 0,
            packet_conservation: false,
            idle_restart: false,
            previous: State::Open,
            has_rtt: false,
            policer: Policer::new(facts),
            heaps: Heaps::new(facts.now),
            random,
        };
        plain.init_pacing_rate(facts);
        plain
    }
    /// `BBRInitPacingRate`; 1 ms is the nominal round trip.
    fn init_pacing_rate(&mut self, facts: &Facts) {
        self.has_rtt |= facts.smoothed > 0;
        let rtt = if facts.smoothed > 0 { (facts.smoothed / 8).max(1) } else { 1000 };
        let rate = u128::from(facts.window) * UNIT / u128::from(rtt);
        self.pacing_rate = bytes_per_second(rate, HIGH, facts);
    }
    fn btl_bw(&self) -> u128 {
        self.filter.front().map_or(0, |(_, rate)| *rate)
    }
    /// `bbr_bw`: the policer's rate, if one was detected.
    pub(super) fn rate(&self) -> u128 {
        if self.policer.is_used { self.policer.rate } else { self.btl_bw() }
    }

    /// `BBRUpdateOnACK`: processes an acknowledgment.
    pub(super) fn on_acknowledgment(&mut self, facts: &mut Facts, rs: &RateSample) {
        self.update_btl_bw(facts, rs);
        let rate = self.rate();
        self.heaps.update(facts, rs, rate, self.round_start);
        if self.state == BbrMode::ProbeBandwidth && self.is_next_cycle_phase(facts, rs) {
            self.advance_cycle_phase(facts);
        }
        self.check_full_pipe(rs);
        self.check_drain(facts);
        self.update_rtprop_and_check_probe_rtt(facts, rs);
        self.set_gains();
        // bbr_set_pacing_rate: the first sample replaces the nominal round-trip time.
        if !self.has_rtt && facts.smoothed > 0 {
            self.init_pacing_rate(facts);
        }
        self.set_pacing_rate_with_gain(facts, self.pacing_gain);
        self.set_cwnd(facts, rs);
    }

    /// `BBRUpdateRound`, `BBRUpdateBtlBw`: updates the round, and the maximum bandwidth.
    fn update_btl_bw(&mut self, facts: &Facts, rs: &RateSample) {
        self.round_start = false;
        // bbr_update_bw: an invalid sample does not begin a round.
        let (Some(delivered), Some(interval)) = (rs.delivered, rs.interval) else { return };
        if rs.delivered_before >= self.next_round_delivered {
            self.next_round_delivered = facts.delivered;
            self.round_count += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.sample_policer(facts, rs.newly_lost > 0, rs.is_app_limited);
        let rate = u128::from(delivered) * UNIT / u128::from(interval);
        if rate >= self.btl_bw() || !rs.is_app_limited {
            self.add_to_filter(rate);
        }
    }
    /// `minmax_running_max` over ten rounds: the best rate, the best of the later rates, and the best of the
    /// rates after that, each from a later quarter or half of the window.
    fn add_to_filter(&mut self, rate: u128) {
        let (new, window) = ((self.round_count, rate), 10);
        let last = self.filter.back().copied();
        if last.is_none_or(|last| rate >= self.btl_bw() || new.0 - last.0 > window) {
            self.filter = VecDeque::from([new; 3]);
            return;
        }
        for place in 1..3 {
            if rate >= self.filter[place].1 {
                (place..3).for_each(|later| self.filter[later] = new);
                break;
            }
        }
        let age = new.0 - self.filter[0].0;
        if age > window {
            while new.0 - self.filter[0].0 > window {
                self.filter.pop_front();
                self.filter.push_back(new);
            }
        } else if self.filter[1].0 == self.filter[0].0 && age > window / 4 {
            (self.filter[1], self.filter[2]) = (new, new);
        } else if self.filter[2].0 == self.filter[1].0 && age > window / 2 {
            self.filter[2] = new;
        }
    }

    /// `BBRIsNextCyclePhase`, with the flight at the time of the next departure
    /// (`bbr_packets_in_net_at_edt`).
    fn is_next_cycle_phase(&self, facts: &Facts, rs: &RateSample) -> bool {
        let elapsed = facts.delivered_at.saturating_sub(self.cycle_stamp);
        let is_full_length = self.rtprop.is_some_and(|rtprop| elapsed > rtprop);
        let flight = self.at_departure(facts, rs.prior_in_flight);
        match self.pacing_gain {
            256 => is_full_length,
            320 => {
                is_full_length && (rs.newly_lost > 0 || flight >= self.inflight(facts, self.btl_bw(), 320, 0))
            }
            _ => is_full_length || flight <= self.inflight(facts, self.btl_bw(), 256, 0),
        }
    }
    fn at_departure(&self, facts: &Facts, flight: u32) -> u128 {
        let leaves = if self.pacing_gain > 256 { self.send_quantum(facts) } else { 0 };
        let delivered = self.rate() * u128::from(facts.until_departure) / UNIT;
        (u128::from(flight) + leaves).saturating_sub(delivered)
    }
    fn advance_cycle_phase(&mut self, facts: &Facts) {
        self.cycle_stamp = facts.delivered_at;
        self.cycle_index = (self.cycle_index + 1) % 8;
    }
    /// `BBREnterProbeBW`: the first phase is any phase except the phase with the gain 3/4.
    fn enter_probe_bw(&mut self, facts: &Facts) {
        self.state = BbrMode::ProbeBandwidth;
        self.cycle_index = 7 - (self.random.uniform() * 7.0) as usize;
        self.advance_cycle_phase(facts);
    }

    /// `BBRCheckFullPipe`: detects that the bandwidth no longer grows.
    fn check_full_pipe(&mut self, rs: &RateSample) {
        if self.filled_pipe || !self.round_start || rs.is_app_limited {
            return;
        }
        if self.btl_bw() >= self.full_bw * 5 / 4 {
            (self.full_bw, self.full_bw_count) = (self.btl_bw(), 0);
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }
    /// `BBRCheckDrain`; Linux stores the target as the slow-start threshold (`bbr_check_drain`).
    fn check_drain(&mut self, facts: &mut Facts) {
        if self.state == BbrMode::Startup && self.filled_pipe {
            self.state = BbrMode::Drain;
            facts.threshold = self.inflight(facts, self.btl_bw(), 256, 0) as u32;
        }
        let target = self.inflight(facts, self.btl_bw(), 256, 0);
        if self.state == BbrMode::Drain && self.at_departure(facts, facts.in_flight) <= target {
            self.enter_probe_bw(facts);
        }
    }

    /// `BBRUpdateRTprop`, `BBRCheckProbeRTT`, `BBRHandleProbeRTT`. Times are ticks. A round-trip time equal
    /// to the minimum does not renew the minimum, and a delayed acknowledgment never replaces an expired
    /// minimum (`bbr_update_min_rtt`).
    fn update_rtprop_and_check_probe_rtt(&mut self, facts: &mut Facts, rs: &RateSample) {
        let second = facts.ticks_in(perhop_qos::units::Time::from_seconds(1));
        let expired = facts.ticks > self.rtprop_stamp + 10 * second;
        if let Some(rtt) = rs.round_trip
            && (self.rtprop.is_none_or(|rtprop| rtt < rtprop) || (expired && !rs.may_be_delayed))
        {
            (self.rtprop, self.rtprop_stamp) = (Some(rtt), facts.ticks);
        }
        if self.state != BbrMode::ProbeRoundTrip && expired && !self.idle_restart {
            self.state = BbrMode::ProbeRoundTrip;
            self.save_cwnd(facts.window);
            self.probe_rtt_done_stamp = None;
        }
        if self.state == BbrMode::ProbeRoundTrip {
            facts.ignores_flight = true;
            match self.probe_rtt_done_stamp {
                None if facts.in_flight <= 4 => {
                    self.probe_rtt_done_stamp = Some(facts.ticks + second / 5);
                    self.probe_rtt_round_done = false;
                    self.next_round_delivered = facts.delivered;
                }
                None => {}
                Some(_) => {
                    self.probe_rtt_round_done |= self.round_start;
                    if self.probe_rtt_round_done {
                        self.check_probe_rtt_done(facts);
                    }
                }
            }
        }
        // In Linux, the restart ends at the next delivery, not at every acknowledgment.
        if rs.delivered.is_some_and(|delivered| delivered > 0) {
            self.idle_restart = false;
        }
    }
    fn check_probe_rtt_done(&mut self, facts: &mut Facts) {
        if self.probe_rtt_done_stamp.is_some_and(|done| facts.ticks > done) {
            self.rtprop_stamp = facts.ticks;
            facts.window = facts.window.max(self.prior_cwnd);
            if self.filled_pipe {
                self.enter_probe_bw(facts);
            } else {
                self.state = BbrMode::Startup;
            }
        }
    }

    /// The gains of each state. The draft sets them when a state is entered, Linux after each acknowledgment.
    fn set_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.state {
            BbrMode::Startup => (HIGH, HIGH),
            BbrMode::Drain => (DRAIN, HIGH),
            BbrMode::ProbeBandwidth if self.policer.is_used => (256, 512),
            BbrMode::ProbeBandwidth => (CYCLE[self.cycle_index], 512),
            BbrMode::ProbeRoundTrip => (256, 256),
        };
    }
    fn set_pacing_rate_with_gain(&mut self, facts: &Facts, gain: u128) {
        let rate = bytes_per_second(self.rate(), gain, facts);
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }
    /// `BBRSetSendQuantum`, segments: 2^-10 s of the pace, at least 1 (below 1.2 Mb/s) or 2, and at most 127
    /// (`bbr_tso_segs_goal`).
    fn send_quantum(&self, facts: &Facts) -> u128 {
        let least = if self.pacing_rate < 150_000 { 1 } else { 2 };
        let bytes = (self.pacing_rate / 1024).min(65_536 - 1 - 320);
        (bytes / u128::from(facts.payload)).clamp(least, 127)
    }
    /// `BBRInflight`, in whole segments: adds `more` and rounds up to an even number. While the rate is
    /// probed, adds two segments (`bbr_quantization_budget`).
    fn inflight(&self, facts: &Facts, rate: u128, gain: u128, more: u128) -> u128 {
        let bdp = match self.rtprop {
            None => 10,
            Some(rtprop) => (rate * u128::from(rtprop) * gain / 256).div_ceil(UNIT),
        };
        let target = bdp + more + 3 * self.send_quantum(facts);
        let is_up = self.state == BbrMode::ProbeBandwidth && self.cycle_index == 0;
        target + target % 2 + if is_up { 2 } else { 0 }
    }

    /// Sets the window (`BBRSetCwnd` with `BBRModulateCwndForRecovery` and `BBRModulateCwndForProbeRTT`).
    fn set_cwnd(&mut self, facts: &mut Facts, rs: &RateSample) {
        let delivered = rs.newly_delivered;
        if delivered > 0 {
            self.modulate_for_recovery(facts, rs);
            if !self.packet_conservation {
                let target = self.inflight(facts, self.rate(), self.cwnd_gain, self.allowance()) as u32;
                if self.filled_pipe {
                    facts.window = target.min(facts.window + delivered);
                } else if facts.window < target || facts.delivered < 10 {
                    facts.window += delivered;
                }
                facts.window = facts.window.max(4);
            }
        }
        if self.state == BbrMode::ProbeRoundTrip {
            facts.window = facts.window.min(4);
        }
    }
    /// Packet conservation. In the draft, it begins and ends with loss recovery (§4.2.3.4). In Linux, it
    /// begins and ends with the next acknowledgment (`bbr_set_cwnd_to_recover_or_restore`).
    fn modulate_for_recovery(&mut self, facts: &mut Facts, rs: &RateSample) {
        let flight = facts.in_flight + rs.newly_delivered;
        if rs.newly_lost > 0 {
            facts.window = if facts.window > rs.newly_lost { facts.window - rs.newly_lost } else { 1 };
        }
        let (was, is) = (self.previous, facts.state);
        if is == State::Recovery && was != State::Recovery {
            self.packet_conservation = true;
            self.next_round_delivered = facts.delivered;
            facts.window = flight;
        }
        if is < State::Recovery && was >= State::Recovery {
            self.packet_conservation = false;
            facts.window = facts.window.max(self.prior_cwnd);
        }
        self.previous = is;
        if self.packet_conservation {
            facts.window = facts.window.max(flight);
        }
    }
    /// `BBRSaveCwnd`: saves the window before a reduction.
    pub(super) fn save_cwnd(&mut self, window: u32) {
        let is_cut = self.previous >= State::Recovery || self.state == BbrMode::ProbeRoundTrip;
        self.prior_cwnd = if is_cut { self.prior_cwnd.max(window) } else { window };
    }
    /// `BBRHandleRestartFromIdle`. Linux may leave `ProbeRTT` at that time (`bbr_cwnd_event`).
    pub(super) fn on_restart(&mut self, facts: &mut Facts) {
        self.idle_restart = true;
        self.heaps.restart(facts.now);
        if self.state == BbrMode::ProbeBandwidth {
            if !self.has_rtt && facts.smoothed > 0 {
                self.init_pacing_rate(facts);
            }
            self.set_pacing_rate_with_gain(facts, 256);
        }
        if self.state == BbrMode::ProbeRoundTrip {
            self.check_probe_rtt_done(facts);
        }
    }
    /// Handles a timeout, which counts as the end of a round with a loss (`bbr_set_state`).
    pub(super) fn on_timeout(&mut self, facts: &Facts) {
        (self.previous, self.full_bw, self.round_start) = (State::Loss, 0, true);
        self.sample_policer(facts, true, false);
    }
    /// Undoes a spurious recovery (`bbr_undo_cwnd`).
    pub(super) fn undo(&mut self, facts: &Facts) {
        (self.full_bw, self.full_bw_count) = (0, 0);
        self.policer = Policer::new(facts);
    }
    /// Updates the mode for policers and the state that results from it (`bbr_lt_bw_sampling`).
    fn sample_policer(&mut self, facts: &Facts, has_loss: bool, is_app_limited: bool) {
        let found = if !self.policer.is_used {
            self.policer.sample(facts, has_loss, is_app_limited, self.round_start)
        } else if self.state == BbrMode::ProbeBandwidth && self.round_start {
            self.policer.keep(facts)
        } else {
            Policed::AsBefore
        };
        match found {
            Policed::AsBefore => {}
            Policed::Found => self.pacing_gain = 256,
            Policed::Over => self.enter_probe_bw(facts),
        }
    }
    /// The allowance for aggregated acknowledgments, after the pipe was full (`bbr_ack_aggregation_cwnd`).
    fn allowance(&self) -> u128 {
        if self.filled_pipe { self.heaps.allowance(self.rate()) } else { 0 }
    }
    /// Whether a policer was detected.
    pub(super) fn is_policed(&self) -> bool {
        self.policer.is_used
    }
    /// Whether data were sent after an idle time and none of these data were delivered yet.
    pub(super) fn is_restarting(&self) -> bool {
        self.idle_restart
    }
}
