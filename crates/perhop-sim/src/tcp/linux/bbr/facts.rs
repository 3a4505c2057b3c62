//! The constants of both versions of BBR, the input from the connection ([`Facts`]), and the model of the
//! path for other modules ([`BbrModel`]).

use perhop_qos::units::Time;

use super::super::super::rtt::Clock;
use super::super::State;

/// The gain 1 (`BBR_UNIT`).
pub(super) const ONE: u32 = 256;
/// The rate of one segment per microsecond (`BW_UNIT`).
pub(super) const RATE_ONE: u64 = 1 << 24;
/// The pace in percent of the model's rate. It is below 100, so that queues drain
/// (`bbr_pacing_margin_percent`).
pub(super) const PACE_PERCENT: u64 = 99;
/// The minimum window, segments. If each acknowledgment covers two segments, it permits two acknowledgments
/// per round trip (`bbr_cwnd_min_target`).
pub(super) const LEAST_WINDOW: u32 = 4;
/// The time for which the window is small, so that the minimum round-trip time can be measured
/// (`bbr_probe_rtt_mode_ms`).
pub(super) const PROBE_LASTS: Time = Time::from_milliseconds(200);
/// The lifetime of a minimum round-trip time (`bbr_min_rtt_win_sec`).
pub(super) const ROUND_TRIP_LASTS: Time = Time::from_seconds(10);
/// The path is full if the rate grows by less than a quarter in three rounds (`bbr_full_bw_thresh`,
/// `bbr_full_bw_cnt`).
pub(super) const FULL_GROWTH: u64 = 320;
pub(super) const FULL_ROUNDS: u32 = 3;
/// The assumed round-trip time before the first sample, microseconds.
pub(super) const NOMINAL_ROUND_TRIP: u64 = 1000;
/// The longest burst of a host, bytes: `GSO_MAX_SIZE` less `MAX_TCP_HEADER`.
pub(super) const LONGEST_BURST: u64 = 65_536 - 1 - 320;

/// The phase of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrMode {
    /// The rate doubles each round trip.
    Startup,
    /// The queue built by startup drains.
    Drain,
    /// The rate is probed periodically.
    ProbeBandwidth,
    /// The window is small, so that the minimum round-trip time can be measured.
    ProbeRoundTrip,
}

/// BBR's model of the path, as `ss -ti` shows it on Linux.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrModel {
    /// The current phase.
    pub mode: BbrMode,
    /// The rate of delivery, payload bytes per second.
    pub bandwidth: u64,
    /// The minimum round-trip time; `None` before the first sample.
    pub least_round_trip: Option<Time>,
    /// The pace, bytes per second.
    pub pacing_rate: u64,
    /// The pace relative to the rate, before the margin of 1 %.
    pub pacing_gain: f64,
    /// The window relative to the bandwidth-delay product.
    pub window_gain: f64,
}

/// The input of BBR from the connection, and the output of BBR.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one of Linux's flags
pub(in crate::tcp::linux) struct Facts {
    pub(super) now: u64,
    /// The current tick of the host's clock.
    pub(super) ticks: u64,
    pub(super) clock: Clock,
    /// The number of segments delivered so far.
    pub(super) delivered: u32,
    /// The time of the last delivery.
    pub(super) delivered_at: u64,
    /// The number of delivered segments that arrived with an ECN mark.
    pub(super) marked: u32,
    /// The number of segments declared lost so far.
    pub(super) lost: u32,
    pub(super) in_flight: u32,
    /// Whether the window was recently fully used (`is_cwnd_limited`).
    pub(super) is_limited: bool,
    pub(super) is_app_limited: bool,
    pub(super) state: State,
    /// 8 times the smoothed round-trip time; 0 before the first sample.
    pub(super) smoothed: u64,
    /// The minimum round-trip time of the connection; `u64::MAX` before the first sample.
    pub(super) least: u64,
    /// Payload of a full segment, bytes.
    pub(super) payload: u64,
    /// The time until the pace permits the next segment.
    pub(super) until_departure: u64,
    /// Whether marks are reported exactly and come from a queue that marks early.
    pub(super) has_exact_marks: bool,
    /// The congestion window, segments. BBR may change it.
    pub(super) window: u32,
    /// The slow-start threshold, segments. BBR may change it.
    pub(super) threshold: u32,
    /// Output: whether the segments in flight must count as application-limited.
    pub(super) ignores_flight: bool,
}

impl Facts {
    /// Returns `span` in ticks.
    pub(super) fn ticks_in(&self, span: Time) -> u64 {
        self.clock.ticks_in(span)
    }
}

/// Returns `percent` of `rate` times `gain`, bytes per second (`bbr_rate_bytes_per_sec`).
pub(super) fn bytes_per_second(rate: u64, gain: u32, payload: u64, percent: u64) -> u64 {
    let rate = (rate * payload * u64::from(gain)) >> 8;
    (rate * (1_000_000 / 100 * percent)) >> 24
}
/// Returns the number of segments in flight at `rate` with round-trip time `least`, times `gain`, rounded up
/// (`bbr_bdp`).
pub(super) fn flight_at(rate: u64, least: u64, gain: u32) -> u32 {
    let flight = u128::from(rate) * u128::from(least) * u128::from(gain);
    (flight >> 8).div_ceil(u128::from(RATE_ONE)) as u32
}
/// Returns the number of segments in the network when the next segment leaves (`bbr_packets_in_net_at_edt`).
/// `in_flight` segments are in flight now. `burst` is the size of a burst while the flight must grow,
/// otherwise 0.
pub(super) fn in_network_at_departure(facts: &Facts, rate: u64, in_flight: u32, burst: u32) -> u32 {
    let delivered = (u128::from(rate) * u128::from(facts.until_departure)) >> 24;
    (in_flight + burst).saturating_sub(u32::try_from(delivered).unwrap_or(u32::MAX))
}

/// Converts the state of a version to a [`BbrModel`].
pub(super) fn model(
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
