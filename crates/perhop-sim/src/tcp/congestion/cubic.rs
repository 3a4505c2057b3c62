//! The congestion control CUBIC (RFC 9438).

use perhop_qos::units::Time;

use super::window::CongestionWindow;

/// RFC 9438 §5: C, segments per second cubed.
const C: f64 = 0.4;
/// RFC 9438 §4.6: the fraction of the window that remains after a congestion event.
const BETA: f64 = 0.7;

/// The window as a cubic function of the time since the last congestion event.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Cubic {
    /// `W_max`: the window before the last congestion event, reduced by fast convergence.
    w_max: f64,
    /// `cwnd_prior`: the window before the last congestion event.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// One stage of congestion avoidance (RFC 9438 §4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `epoch_start`: the time at which the stage began.
    start: Time,
    /// K: seconds from the start of the epoch until the window is `w_max` again.
    k: f64,
    /// `W_est`: the window of Reno, segments.
    w_est: f64,
    /// The time of the last acknowledgment, even if the sender was application-limited.
    updated: Time,
}

impl Cubic {
    /// Returns the window `seconds` after the start of the epoch: `W_cubic(t) = C·(t - K)³ + W_max` (RFC 9438
    /// §4.2, figure 1).
    fn curve(&self, epoch: &Epoch, seconds: f64) -> f64 {
        let offset = seconds - epoch.k;
        C * offset * offset * offset + self.w_max
    }
    fn start(&mut self, now: Time, window: &CongestionWindow) -> Epoch {
        // RFC 9438 §4.8, §4.10: if W_max is not above the window, the curve starts at W_max with K = 0.
        self.w_max = self.w_max.max(window.segments);
        Epoch {
            start: now,
            // RFC 9438 §4.2, figure 2: the seconds in which the curve grows from the window to W_max.
            k: libm::cbrt((self.w_max - window.segments) / C),
            w_est: window.segments,
            updated: now,
        }
    }

    /// Grows the window for `acknowledged` segments in congestion avoidance.
    #[inline(never)]
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        round_trip: impl FnOnce() -> Option<Time>,
    ) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.start(now, window));
        epoch.updated = now;
        let elapsed = (now - epoch.start).as_seconds();
        // RFC 9438 §4.3, figure 4: W_est grows by alpha until it reaches cwnd_prior. After that, it grows
        // like Reno.
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - BETA) / (1.0 + BETA) };
        epoch.w_est += alpha * acknowledged / window.segments;
        if self.curve(&epoch, elapsed) < epoch.w_est {
            window.segments = window.segments.max(epoch.w_est);
        } else {
            // RFC 9438 §4.2: the target is one round trip ahead, and at most half a window away.
            let round_trip = round_trip().unwrap_or_default();
            let ahead = self.curve(&epoch, elapsed + round_trip.as_seconds());
            let target = ahead.clamp(window.segments, 1.5 * window.segments);
            // RFC 9438 §4.4, §4.5: the window grows towards the target by one window of acknowledged data.
            window.segments += acknowledged * (target - window.segments) / window.segments;
        }
        self.epoch = Some(epoch);
    }
    pub(super) fn on_application_limited(&mut self, now: Time) {
        // RFC 9438 §4.2: the time during which the sender is application-limited does not count.
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now - epoch.updated;
            epoch.updated = now;
        }
    }
    /// Returns the window after a congestion event: `in_use` times `factor`, by default 0.7.
    pub(super) fn on_congestion_event(
        &mut self,
        window: &CongestionWindow,
        in_use: f64,
        factor: Option<f64>,
    ) -> f64 {
        // RFC 9438 §4.7: fast convergence leaves bandwidth for new flows.
        let shrunk = window.segments < self.w_max;
        self.w_max = if shrunk { window.segments * (1.0 + BETA) / 2.0 } else { window.segments };
        self.cwnd_prior = window.segments;
        self.epoch = None;
        in_use * factor.unwrap_or(BETA)
    }
}
