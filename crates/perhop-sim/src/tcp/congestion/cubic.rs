//! CUBIC (RFC 9438).

use perhop_qos::units::Time;

use super::{Algorithm, CongestionWindow};

/// RFC 9438 §5: C, segments per second cubed.
const C: f64 = 0.4;
/// RFC 9438 §4.6: what is left of the window after congestion.
const BETA: f64 = 0.7;

/// The window as a cubic function of the time since the last congestion.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Cubic {
    /// `W_max`: the window before the last congestion, or less by fast convergence.
    plateau: f64,
    /// `cwnd_prior`: the window before the last congestion.
    prior: f64,
    epoch: Option<Epoch>,
}

/// One stage of congestion avoidance: RFC 9438 §4.2.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `t_epoch`.
    start: Time,
    /// K: seconds from the start to the plateau.
    to_plateau: f64,
    /// `W_est`: what Reno's window would be.
    reno: f64,
    /// When the window last grew or was held.
    updated: Time,
}

impl Cubic {
    /// RFC 9438 §4.2, figure 1: `W_cubic(t) = C·(t - K)³ + W_max`.
    fn curve(&self, epoch: &Epoch, seconds: f64) -> f64 {
        let offset = seconds - epoch.to_plateau;
        C * offset * offset * offset + self.plateau
    }
    fn start(&mut self, now: Time, window: &CongestionWindow) -> Epoch {
        // RFC 9438 §4.8, §4.10: without a plateau above the window, the curve starts at its plateau.
        self.plateau = self.plateau.max(window.segments);
        Epoch {
            start: now,
            // RFC 9438 §4.2, figure 2.
            to_plateau: libm::cbrt((self.plateau - window.segments) / C),
            reno: window.segments,
            updated: now,
        }
    }
}

impl Algorithm for Cubic {
    #[inline(never)]
    fn avoid(
        &mut self,
        now: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        round_trip: impl FnOnce() -> Option<Time>,
    ) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.start(now, window));
        epoch.updated = now;
        let elapsed = (now - epoch.start).as_seconds();
        // RFC 9438 §4.3, figure 4: as fast as Reno with its smaller decrease, then as fast as Reno.
        let alpha = if epoch.reno >= self.prior { 1.0 } else { 3.0 * (1.0 - BETA) / (1.0 + BETA) };
        epoch.reno += alpha * acknowledged / window.segments;
        if self.curve(&epoch, elapsed) < epoch.reno {
            window.segments = window.segments.max(epoch.reno);
        } else {
            // RFC 9438 §4.2: the target is one round trip ahead, and at most half a window away.
            let round_trip = round_trip().unwrap_or_default();
            let ahead = self.curve(&epoch, elapsed + round_trip.as_seconds());
            let target = ahead.clamp(window.segments, 1.5 * window.segments);
            // RFC 9438 §4.4, §4.5.
            window.segments += acknowledged * (target - window.segments) / window.segments;
        }
        self.epoch = Some(epoch);
    }
    fn hold(&mut self, now: Time) {
        // RFC 9438 §4.2: the time during which the sender does not use its window is left out.
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now - epoch.updated;
            epoch.updated = now;
        }
    }
    fn reduce(&mut self, window: &CongestionWindow, used: f64) -> f64 {
        // RFC 9438 §4.7: fast convergence gives room to newcomers.
        let shrunk = window.segments < self.plateau;
        self.plateau = if shrunk { window.segments * (1.0 + BETA) / 2.0 } else { window.segments };
        self.prior = window.segments;
        self.epoch = None;
        used * BETA
    }
}
