//! BBR: congestion control by a model of the path, the rate at which it delivers and its least round trip
//! (Cardwell et al. 2016, draft-ietf-ccwg-bbr). Times are in microseconds unless ticks are named.
//!
//! `first` is version 1, as Linux 6.1 has it (`net/ipv4/tcp_bbr.c`), with `policed`, its mode for policers;
//! `third` is version 3 (google/bbr, branch v3), with `probing`, its phases, `signals` and `bounds`, what
//! limits it. Both are told of the connection by [`Facts`], and of each acknowledgment by a [`RateSample`];
//! `hooks` is where the sender tells them.

mod aggregation;
mod bounds;
mod first;
mod hooks;
mod policed;
mod probing;
mod signals;
mod third;

// The tests' plain model and what holds `First` to it need the connection's `Facts`, which nobody else sees.
#[cfg(test)]
#[path = "../../../../tests/bbr/plain/mod.rs"]
mod plain;
#[cfg(test)]
#[path = "../../../../tests/bbr/plain_agrees.rs"]
mod plain_agrees;

use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::tcp::CongestionControl;

use super::super::rtt::Clock;
use super::State;
use super::rate::{Departure, RateSample};
use first::First;
use third::Third;

/// One as a gain (`BBR_UNIT`).
const ONE: u32 = 256;
/// One segment per microsecond as a rate (`BW_UNIT`).
const RATE_ONE: u64 = 1 << 24;
/// The pace is 99 % of what the model says, so that queues drain (`bbr_pacing_margin_percent`).
const PACE_PERCENT: u64 = 99;
/// The least window, segments: two for each of two acknowledgments (`bbr_cwnd_min_target`).
const LEAST_WINDOW: u32 = 4;
/// For so long the window is small when the least round trip is measured (`bbr_probe_rtt_mode_ms`).
const PROBE_LASTS: Time = Time::from_milliseconds(200);
/// A least round trip counts for so long (`bbr_min_rtt_win_sec`).
const ROUND_TRIP_LASTS: Time = Time::from_seconds(10);
/// Growth of the rate by less than a quarter in three rounds: the path is full (`bbr_full_bw_thresh`,
/// `bbr_full_bw_cnt`).
const FULL_GROWTH: u64 = 320;
const FULL_ROUNDS: u32 = 3;
/// The round trip before the first sample.
const NOMINAL_ROUND_TRIP: u64 = 1000;
/// The longest burst that hosts send at once, bytes: `GSO_MAX_SIZE`, less `MAX_TCP_HEADER`.
const LONGEST_BURST: u64 = 65_536 - 1 - 320;

/// What phase BBR is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrMode {
    /// The rate doubles each round trip.
    Startup,
    /// The queue of startup drains.
    Drain,
    /// The rate is probed now and then.
    ProbeBandwidth,
    /// The window is small, so that the least round trip can be seen.
    ProbeRoundTrip,
}

/// What BBR holds of the path, as `ss -ti` shows it of Linux.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrModel {
    /// What it does now.
    pub mode: BbrMode,
    /// The rate of delivery, payload bytes per second.
    pub bandwidth: u64,
    /// The least round trip; `None` before the first sample.
    pub least_round_trip: Option<Time>,
    /// The pace, bytes per second.
    pub pacing_rate: u64,
    /// The pace in parts of the rate, before the margin of 1 %.
    pub pacing_gain: f64,
    /// The window in parts of what fills the path.
    pub window_gain: f64,
}

/// What BBR is told of the connection, and what it answers.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one of Linux's flags
pub(super) struct Facts {
    pub(super) now: u64,
    /// Ticks of the host's clock.
    pub(super) ticks: u64,
    pub(super) clock: Clock,
    pub(super) delivered: u32,
    /// When the last delivery became known.
    pub(super) delivered_at: u64,
    pub(super) marked: u32,
    pub(super) lost: u32,
    pub(super) in_flight: u32,
    /// Whether the window was used whole of late (`is_cwnd_limited`).
    pub(super) is_limited: bool,
    pub(super) is_app_limited: bool,
    pub(super) state: State,
    /// 8 times the smoothed round trip; 0 before the first sample.
    pub(super) smoothed: u64,
    /// The least round trip of the connection; the largest number before the first sample.
    pub(super) least: u64,
    /// Payload of a full segment, bytes.
    pub(super) payload: u64,
    /// Until the pace lets the next segment leave.
    pub(super) until_departure: u64,
    /// Whether marks are told exactly, and come from a queue that marks early.
    pub(super) has_exact_marks: bool,
    /// The window and the slow-start threshold, segments: BBR's to change.
    pub(super) window: u32,
    pub(super) threshold: u32,
    /// What is in flight is to count as limited by the application.
    pub(super) ignores_flight: bool,
}

impl Facts {
    /// `span` in ticks.
    fn ticks_in(&self, span: Time) -> u64 {
        self.clock.ticks_in(span)
    }
}

/// `bbr_rate_bytes_per_sec`: `rate` times `gain` in bytes per second, `percent` of it.
fn bytes_per_second(rate: u64, gain: u32, payload: u64, percent: u64) -> u64 {
    let rate = (rate * payload * u64::from(gain)) >> 8;
    (rate * (1_000_000 / 100 * percent)) >> 24
}
/// `bbr_bdp`: segments that are in flight at `rate` for the round trip `least`, times `gain`, rounded up.
fn flight_at(rate: u64, least: u64, gain: u32) -> u32 {
    let flight = u128::from(rate) * u128::from(least) * u128::from(gain);
    (flight >> 8).div_ceil(u128::from(RATE_ONE)) as u32
}
/// `bbr_packets_in_net_at_edt`: segments in the network when the next one leaves, of `in_flight` now, to
/// which `burst` are added while the flight is to grow.
fn in_network_at_departure(facts: &Facts, rate: u64, in_flight: u32, burst: u32) -> u32 {
    let delivered = (u128::from(rate) * u128::from(facts.until_departure)) >> 24;
    (in_flight + burst).saturating_sub(u32::try_from(delivered).unwrap_or(u32::MAX))
}

/// One of the versions.
#[derive(Clone, Debug)]
pub(super) enum Bbr {
    First(First),
    Third(Third),
}

impl Bbr {
    /// BBR for `control`, if that is what it names. `seed` differs from connection to connection.
    pub(super) fn new(control: CongestionControl, seed: Time) -> Option<Box<Bbr>> {
        let random = || Streams::new(seed.as_picoseconds(), 0).child("bbr").stream();
        let bbr = match control {
            CongestionControl::Bbr => Bbr::First(First::new(random())),
            CongestionControl::Bbr3 => Bbr::Third(Third::new(random())),
            CongestionControl::Reno
            | CongestionControl::Cubic
            | CongestionControl::Dctcp
            | CongestionControl::Prague
            | CongestionControl::Ledbat => return None,
        };
        Some(Box::new(bbr))
    }
    /// The connection is open (`bbr_init`).
    fn open(&mut self, facts: &Facts) {
        match self {
            Bbr::First(first) => first.open(facts),
            Bbr::Third(third) => third.open(facts),
        }
    }
    /// An acknowledgment (`bbr_main`).
    fn on_acknowledgment(&mut self, facts: &mut Facts, sample: &RateSample) {
        match self {
            Bbr::First(first) => first.on_acknowledgment(facts, sample),
            Bbr::Third(third) => third.on_acknowledgment(facts, sample),
        }
    }
    /// Data are sent after none were in flight (`CA_EVENT_TX_START`).
    fn on_first_in_flight(&mut self, facts: &mut Facts) {
        if !facts.is_app_limited {
            return;
        }
        match self {
            Bbr::First(first) => first.on_restart(facts),
            Bbr::Third(third) => third.on_restart(facts),
        }
    }
    /// A reduction of `window` would begin (`bbr_ssthresh`).
    pub(super) fn on_reduction(&mut self, window: u32) {
        match self {
            Bbr::First(first) => first.save_window(window),
            Bbr::Third(third) => third.on_reduction(window),
        }
    }
    /// The retransmission timer has expired (`bbr_set_state`).
    fn on_timeout(&mut self, facts: &Facts) {
        match self {
            Bbr::First(first) => first.on_timeout(facts),
            Bbr::Third(third) => third.on_timeout(facts),
        }
    }
    /// The state of loss recovery becomes `state`, with `window` segments: the window from now on
    /// (`bbr_set_state`).
    pub(super) fn window_in(&mut self, state: State, window: u32) -> u32 {
        match self {
            Bbr::First(_) => window,
            Bbr::Third(third) => third.window_in(state, window),
        }
    }
    /// The segment of `departure` is held to be lost, with so many in all as `facts` has
    /// (`bbr_skb_marked_lost`).
    fn on_lost(&mut self, facts: &Facts, departure: &Departure) {
        if let Bbr::Third(third) = self {
            third.on_lost(facts, departure);
        }
    }
    /// A tail loss probe repaired a loss (`CA_EVENT_TLP_RECOVERY`).
    fn on_probe_recovery(&mut self, facts: &Facts, is_app_limited: bool) {
        if let Bbr::Third(third) = self {
            third.on_probe_recovery(facts, is_app_limited);
        }
    }
    /// The last recovery was spurious (`bbr_undo_cwnd`).
    fn undo(&mut self, facts: &mut Facts) {
        match self {
            Bbr::First(first) => first.undo(facts),
            Bbr::Third(third) => third.undo(facts),
        }
    }
    /// Whether single losses are asked for.
    pub(super) fn wants_losses(&self) -> bool {
        matches!(self, Bbr::Third(_))
    }
    /// The pace, bytes per second.
    pub(super) fn pacing_rate(&self) -> u64 {
        match self {
            Bbr::First(first) => first.pacing_rate(),
            Bbr::Third(third) => third.pacing_rate(),
        }
    }
    pub(super) fn model(&self, payload: u64) -> BbrModel {
        match self {
            Bbr::First(first) => first.model(payload),
            Bbr::Third(third) => third.model(payload),
        }
    }
}

/// A model as [`BbrModel`] shows it.
fn model(
    mode: BbrMode,
    bandwidth: u64,
    least: u64,
    pacing_rate: u64,
    gains: (u32, u32),
    payload: u64,
) -> BbrModel {
    BbrModel {
        mode,
        bandwidth: bytes_per_second(bandwidth, ONE, payload, 100),
        least_round_trip: (least < u64::MAX).then(|| Time::from_microseconds(least)),
        pacing_rate,
        pacing_gain: f64::from(gains.0) / f64::from(ONE),
        window_gain: f64::from(gains.1) / f64::from(ONE),
    }
}
