//! The estimate of the round-trip time, and the retransmission timeout.

use perhop_qos::units::Time;

use perhop_scenario::tcp::{Parameters, RtoRule};

/// The binary logarithms of the gains. RFC 6298 §2 has alpha = 1/8 and beta = 1/4.
const SMOOTHED_SHIFT: u32 = 3;
const VARIATION_SHIFT: u32 = 2;
/// The back-off factor above which the estimate is discarded (RFC 6298 §5.7).
const STALE_BACK_OFF: u32 = 8;

/// FreeBSD `sys/netinet/tcp_timer.h`, `TCPT_RANGESET`: the addition for delays in hosts.
const FREEBSD_SLOP: Time = Time::from_milliseconds(200);

/// The clock of a host, which counts whole ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tick: u64,
    /// The time by which the ticks of this clock precede the ticks of a clock that starts with the run,
    /// picoseconds.
    phase: u64,
}

impl Clock {
    pub(super) fn new(tick: Time, phase: Time) -> Clock {
        Clock { tick: tick.as_picoseconds(), phase: phase.as_picoseconds() }
    }
    /// Returns the number of ticks until `now`.
    pub(super) fn ticks_at(self, now: Time) -> u64 {
        (now.as_picoseconds() + self.phase) / self.tick
    }
    /// Returns the number of whole ticks in a span of time.
    pub(super) fn ticks_in(self, span: Time) -> u64 {
        span.as_picoseconds() / self.tick
    }
    /// Returns the duration of `ticks`, at most [`Time::MAX`]. Scaled estimates of long round trips can
    /// exceed it.
    pub(super) fn span(self, ticks: u64) -> Time {
        Time::from_picoseconds(ticks.saturating_mul(self.tick))
    }
    /// Returns the time of tick number `ticks`.
    pub(super) fn instant(self, ticks: u64) -> Time {
        Time::from_picoseconds((ticks * self.tick).saturating_sub(self.phase))
    }
}

/// RFC 6298's estimator in the usual integer arithmetic (Jacobson 1988, appendix A). Times are whole ticks of
/// the sender's clock. All methods take the `parameters` of the connection.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // most frequently used first
pub(super) struct RttEstimator {
    /// The timeout, including back-off.
    rto: Time,
    /// The phase of the sender's clock.
    phase: Time,
    /// 8 times the smoothed round-trip time, ticks; 0 before the first sample.
    smoothed: i64,
    /// 4 times the mean deviation of the round-trip time, ticks.
    variation: i64,
    /// The timeout before back-off.
    base: Time,
    back_off: u32,
}

impl RttEstimator {
    /// Creates an estimator without samples. `phase` is the phase of the sender's clock.
    pub(super) fn new(parameters: &Parameters, phase: Time) -> RttEstimator {
        RttEstimator {
            phase,
            smoothed: 0,
            variation: 0,
            base: parameters.initial_rto,
            back_off: 1,
            rto: parameters.initial_rto.min(parameters.maximum_rto),
        }
    }
    /// Processes the sample of a segment that was sent at `sent` and acknowledged at `now`. The congestion
    /// window is `segments` segments.
    #[inline(never)]
    pub(super) fn sample(&mut self, parameters: &Parameters, sent: Time, now: Time, segments: f64) {
        let clock = Clock::new(parameters.clock, self.phase);
        let elapsed = clock.ticks_at(now).saturating_sub(clock.ticks_at(sent));
        let measured = elapsed.max(1).cast_signed();
        if self.smoothed == 0 {
            self.first_sample(parameters.rto_rule, measured);
        } else {
            self.next_sample(measured);
        }
        self.back_off = 1;
        self.base = self.timeout(parameters, segments);
        self.set_rto(parameters);
    }
    fn first_sample(&mut self, rule: RtoRule, measured: i64) {
        self.smoothed = measured << SMOOTHED_SHIFT;
        self.variation = match rule {
            // RFC 6298 §2.2: RTTVAR = R/2.
            RtoRule::Rfc6298
            | RtoRule::FreeBsd
            | RtoRule::Linux
            | RtoRule::Linux6
            | RtoRule::Linux2_0
            | RtoRule::Quic => measured << (VARIATION_SHIFT - 1),
            RtoRule::Linux2 => measured << VARIATION_SHIFT,
        };
    }
    fn next_sample(&mut self, measured: i64) {
        // RFC 6298 §2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|, SRTT = 7/8 SRTT + 1/8 R.
        let error = measured - (self.smoothed >> SMOOTHED_SHIFT);
        self.smoothed = (self.smoothed + error).max(1);
        self.variation = (self.variation + error.abs() - (self.variation >> VARIATION_SHIFT)).max(1);
    }
    /// Returns the timeout without back-off: RTO = SRTT + max(G, 4·RTTVAR) (RFC 6298 §2.2). `variation` is
    /// 4·RTTVAR, and at least one tick.
    fn timeout(&self, parameters: &Parameters, segments: f64) -> Time {
        let Parameters { rto_rule, minimum_rto: minimum, .. } = *parameters;
        let clock = Clock::new(parameters.clock, self.phase);
        let time = |ticks: i64| clock.span(ticks.unsigned_abs());
        let smoothed = self.smoothed >> SMOOTHED_SHIFT;
        match rto_rule {
            RtoRule::Rfc6298 => time(smoothed + self.variation).max(minimum),
            RtoRule::FreeBsd => time(smoothed + self.variation).saturating_add(FREEBSD_SLOP).max(minimum),
            // QUIC and `linux-6` use another estimator.
            RtoRule::Linux | RtoRule::Linux6 | RtoRule::Quic => {
                time(smoothed).saturating_add(time(self.variation).max(minimum))
            }
            RtoRule::Linux2_0 | RtoRule::Linux2 => {
                let sum = smoothed + self.variation;
                let shift = (segments.max(1.0) as u32 - 1).min(i64::BITS - 1);
                time(sum + (sum >> 2) + (sum >> shift)).max(minimum)
            }
        }
    }
    /// Sets the timeout to that of another estimator, and ends the back-off.
    pub(super) fn set_base(&mut self, parameters: &Parameters, base: Time) {
        self.base = base;
        self.back_off = 1;
        self.set_rto(parameters);
    }
    /// The retransmission timeout, including back-off.
    pub(super) fn rto(&self) -> Time {
        self.rto
    }
    fn set_rto(&mut self, parameters: &Parameters) {
        let backed_off = self.base.as_picoseconds().saturating_mul(u64::from(self.back_off));
        self.rto = Time::from_picoseconds(backed_off).min(parameters.maximum_rto);
    }
    /// Doubles the timeout after the timer expired, up to the maximum factor (RFC 6298 §5.5). The next sample
    /// ends the back-off.
    pub(super) fn back_off(&mut self, parameters: &Parameters) {
        if self.back_off < parameters.maximum_back_off {
            self.back_off *= 2;
        }
        if self.back_off > STALE_BACK_OFF {
            self.smoothed = 0;
        }
        self.set_rto(parameters);
    }
    /// Sets the timeout after a handshake with a retransmitted SYN, which has no round-trip sample (RFC 6298
    /// §5.7).
    pub(super) fn after_lost_syn(&mut self, parameters: &Parameters) {
        self.base = self.base.max(Time::from_seconds(3));
        self.back_off = 1;
        self.set_rto(parameters);
    }
    /// The smoothed round-trip time; `None` before the first sample.
    pub(super) fn smoothed(&self, parameters: &Parameters) -> Option<Time> {
        // 8 times the estimate may exceed 64 bits.
        let scaled = u128::from(self.smoothed.unsigned_abs()) * u128::from(parameters.clock.as_picoseconds());
        (self.smoothed > 0).then(|| Time::from_picoseconds((scaled >> SMOOTHED_SHIFT) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perhop_scenario::tcp::{Profile, TcpConfig};

    fn estimator(profile: Profile) -> (Parameters, RttEstimator) {
        let parameters = TcpConfig::new(profile).build().unwrap();
        let rtt = RttEstimator::new(&parameters, Time::ZERO);
        (parameters, rtt)
    }
    fn ms(ms: u64) -> Time {
        Time::from_milliseconds(ms)
    }

    /// RFC 6298 §2 by hand: R = 1000 ms, then 2000 ms.
    #[test]
    fn follows_rfc_6298() {
        let (parameters, mut rtt) = estimator(Profile::Rfc5681Reno);
        assert_eq!(rtt.rto(), ms(1000));
        rtt.sample(&parameters, Time::ZERO, ms(1000), 1.0);
        assert_eq!(rtt.rto(), ms(1000 + 4 * 500));
        rtt.sample(&parameters, ms(2000), ms(4000), 1.0);
        // RTTVAR = 3/4·500 + 1/4·1000 = 625, SRTT = 7/8·1000 + 1/8·2000 = 1125.
        assert_eq!(rtt.rto(), ms(1125 + 4 * 625));
    }

    #[test]
    fn the_minimum_holds_before_back_off_and_the_maximum_after() {
        let (parameters, mut rtt) = estimator(Profile::Rfc5681Reno);
        rtt.sample(&parameters, Time::ZERO, ms(10), 1.0);
        let timeouts: Vec<u64> = std::iter::from_fn(|| {
            let rto = rtt.rto();
            rtt.back_off(&parameters);
            Some(rto.as_picoseconds() / 1_000_000_000_000)
        })
        .take(8)
        .collect();
        assert_eq!(timeouts, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    /// A clock of 0.1 s measures a round trip of 60 ms as one or two ticks. RTO = 1 + max(1, 4·1/2) ticks.
    #[test]
    fn a_coarse_clock_counts_ticks() {
        let (parameters, mut rtt) = estimator(Profile::Ns2Reno1999);
        assert_eq!(rtt.rto(), ms(6000));
        rtt.sample(&parameters, ms(10), ms(70), 1.0);
        assert_eq!(rtt.rto(), ms(300));
    }

    #[test]
    fn rules_differ_in_what_they_add_to_the_first_round_trip() {
        for (profile, round_trip, segments, timeout) in [
            // Linux 2.0: SRTT and 4 RTTVAR are 10 + 20 = 30 ticks. The margin is a quarter of this sum and,
            // while one segment is in flight, the sum again: 30 + 7 + 30 = 67.
            (Profile::Linux2_0, 100, 1.0, 670),
            // Linux 2.2: 4 RTTVAR are 40 ticks after the first sample: 10 + 40 = 50, and with the margin 50 +
            // 12 + 50 = 112.
            (Profile::Linux2_2, 100, 1.0, 1120),
            (Profile::Linux2_2, 100, 20.0, 620),
            // Linux since 2.4: the minimum applies to the variation, not to the sum.
            (Profile::LinuxModern, 20, 10.0, 220),
        ] {
            let (parameters, mut rtt) = estimator(profile);
            rtt.sample(&parameters, Time::ZERO, ms(round_trip), segments);
            assert_eq!(rtt.rto(), ms(timeout), "{profile:?}");
        }
    }
}
