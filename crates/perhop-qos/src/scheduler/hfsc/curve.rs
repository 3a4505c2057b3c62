//! Service curves of two pieces, and the runtime curve of a backlogged class (I. Stoica, H. Zhang, T. S. E.
//! Ng, "A Hierarchical Fair Service Curve Algorithm for Link-Sharing, Real-Time and Priority Service", ACM
//! SIGCOMM 1997, section VI; two pieces as in ALTQ and Linux).

use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// The service of a byte. One unit of service is one bit per second during one picosecond, so curves are
/// exact.
const BYTE: u128 = 8 * PICOSECONDS_PER_SECOND as u128;
/// The time at which a curve of slope 0 reaches a higher value: never.
pub(super) const NEVER: u128 = u128::MAX;

/// The service of `length` bytes.
pub(super) fn service(length: u32) -> u128 {
    u128::from(length) * BYTE
}

/// A service curve that starts at the origin: `m1` bits per second for the first `d` picoseconds, and then
/// `m2`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceCurve {
    m1: u128,
    d: u128,
    m2: u128,
}

impl ServiceCurve {
    pub(super) fn new(m1: Rate, d: Time, m2: Rate) -> ServiceCurve {
        ServiceCurve {
            m1: m1.as_bits_per_second().into(),
            d: d.as_picoseconds().into(),
            m2: m2.as_bits_per_second().into(),
        }
    }
    /// Whether the first piece is steeper than the second piece. Otherwise the curve is straight or convex.
    fn is_concave(&self) -> bool {
        self.m1 > self.m2
    }
    /// The service at the end of the first piece.
    fn first(&self) -> u128 {
        self.m1.saturating_mul(self.d)
    }
}

/// A service curve that starts at (`x`, `y`), and the remaining part of its first piece. `x` is a time or a
/// virtual time in picoseconds, and `y` is a service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runtime {
    curve: ServiceCurve,
    x: u128,
    y: u128,
    dx: u128,
    dy: u128,
}

impl Runtime {
    /// Creates the runtime curve of a class that has not been served.
    pub(super) fn new(curve: ServiceCurve) -> Runtime {
        Runtime { curve, x: 0, y: 0, dx: curve.d, dy: curve.first() }
    }

    /// The eligible curve. For a convex service curve, it is the line of the last piece. The class can then
    /// be served before its deadlines require it, so that the deadlines can be met when the curve becomes
    /// steep.
    pub(super) fn eligible(mut self) -> Runtime {
        if !self.curve.is_concave() {
            (self.dx, self.dy) = (0, 0);
        }
        self
    }

    /// The first time at which the curve reaches the service `y`.
    pub(super) fn reaches(&self, y: u128) -> u128 {
        let Some(above) = y.checked_sub(self.y) else { return self.x };
        if above > self.dy || self.dy == 0 {
            // A first piece of slope 0 provides no service until it ends.
            let beyond = above - self.dy;
            return self.x.saturating_add(self.dx).saturating_add(time_for(beyond, self.curve.m2));
        }
        self.x.saturating_add(time_for(above, self.curve.m1))
    }

    /// The service at `x`.
    fn at(&self, x: u128) -> u128 {
        let after = x.saturating_sub(self.x);
        match after.checked_sub(self.dx) {
            None => self.y.saturating_add(after.saturating_mul(self.curve.m1)),
            Some(beyond) => {
                self.y.saturating_add(self.dy).saturating_add(beyond.saturating_mul(self.curve.m2))
            }
        }
    }

    /// Starts a backlog period at `x`, after the service `y`. The result is the minimum of this curve and of
    /// the service curve moved to (`x`, `y`). For convex curves, the result is one of the two, because two
    /// pieces cannot represent their minimum.
    pub(super) fn restart(&mut self, x: u128, y: u128) {
        let curve = self.curve;
        let now = self.at(x);
        if !curve.is_concave() {
            if now >= y {
                (self.x, self.y) = (x, y);
                (self.dx, self.dy) = (curve.d, curve.first());
            }
            return;
        }
        if now <= y {
            return;
        }
        if self.at(x.saturating_add(curve.d)) >= y.saturating_add(curve.first()) {
            *self = Runtime { curve, x, y, dx: curve.d, dy: curve.first() };
            return;
        }
        // The curves cross where the steeper curve reaches the other one.
        let ahead = (now - y) / (curve.m1 - curve.m2);
        let left = self.x.saturating_add(self.dx).saturating_sub(x);
        let dx = left.saturating_add(ahead);
        *self = Runtime { curve, x, y, dx, dy: dx.saturating_mul(curve.m1) };
    }
}

/// The time in which `rate` provides `service`.
fn time_for(service: u128, rate: u128) -> u128 {
    match rate {
        _ if service == 0 => 0,
        0 => NEVER,
        _ => service.div_ceil(rate),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn curve(m1: u64, d_us: u64, m2: u64) -> ServiceCurve {
        let megabits = |rate: u64| Rate::from_bits_per_second(rate * 1_000_000);
        ServiceCurve::new(megabits(m1), Time::from_microseconds(d_us), megabits(m2))
    }

    #[test]
    fn a_curve_reaches_each_service_at_its_time() {
        // 8 Mb/s is a byte per microsecond. The curve provides 100 bytes in the first 100 us, and then one
        // byte every 8 us.
        let concave = Runtime::new(curve(8, 100, 1));
        let us = |time: u128| time / 1_000_000;
        assert_eq!([0, 50, 100, 101].map(|bytes| us(concave.reaches(service(bytes)))), [0, 50, 100, 108]);
        // The curve provides no service for 100 us.
        let convex = Runtime::new(curve(0, 100, 8));
        assert_eq!([0, 50].map(|bytes| us(convex.reaches(service(bytes)))), [100, 150]);
        assert_eq!([0, 50].map(|bytes| us(convex.eligible().reaches(service(bytes)))), [0, 50]);
        assert_eq!(Runtime::new(curve(8, 100, 0)).reaches(service(101)), NEVER);
    }

    proptest! {
        /// The runtime curve of a concave curve is the minimum of its copies, each moved to the start of a
        /// backlog period.
        #[test]
        fn a_concave_curve_is_the_minimum_of_all_its_starts(
            m1 in 2..20u64, m2 in 1..20u64, d_us in 1..2000u64,
            periods in proptest::collection::vec((1..3_000u64, 0..1500u32), 1..12), ask in 1..20_000u32,
        ) {
            prop_assume!(m1 > m2);
            let curve = curve(m1, d_us, m2);
            let mut left = Runtime::new(curve);
            let mut starts = Vec::new();
            let (mut x, mut y) = (0, 0);
            for (gap_us, bytes) in periods {
                left.restart(x, y);
                starts.push(Runtime { curve, x, y, dx: curve.d, dy: curve.first() });
                // The class receives no more service than the curve permits before the next backlog period
                // begins.
                let served = y + service(bytes);
                x = left.reaches(served).max(x) + u128::from(gap_us) * 1_000_000;
                y = served;
            }
            let target = y + service(ask);
            let exact = starts.iter().map(|start| start.reaches(target)).max().unwrap();
            let found = left.reaches(target);
            // The time at which the curves cross is rounded down to a picosecond. The second piece is
            // therefore lower by at most the service of a picosecond.
            let rounding = u128::from(m1 / m2 + 2) * starts.len() as u128;
            prop_assert!(exact.abs_diff(found) <= rounding, "{found} ps for {exact}");
        }
    }
}
