//! [`Fall`] and [`Limits`]: the largest number of units that a queue may use.

use super::config::{ALPHA_PARTS, FallConfig, FallSlope, SharedMemoryConfig, alpha_parts};
use crate::{Color, ConfigError};

/// A limit that no queue can reach.
pub(super) const UNLIMITED: u64 = 1 << 32;

/// The range of used units over which limits fall, for any [slope](FallSlope).
#[derive(Clone, Copy, Debug)]
pub(super) struct Fall {
    start: u64,
    end: u64,
}

impl Fall {
    /// Limits that do not fall.
    const NEVER: Fall = Fall { start: u64::MAX, end: u64::MAX };

    pub(super) fn new(config: Option<FallConfig>) -> Fall {
        let Some(FallConfig { start, end, slope }) = config else { return Fall::NEVER };
        let (start, end) = (u64::from(start), u64::from(end));
        match slope {
            FallSlope::Linear => Fall { start, end },
            // An early fall is a linear fall within one unit.
            FallSlope::Early => Fall { start, end: start + 1 },
            FallSlope::Late => Fall { start: end - 1, end },
        }
    }
    /// Whether a queue may use `wanted` units while the port or the pool uses `used` units.
    #[inline]
    pub(super) fn allows(self, wanted: u64, limit: u64, minimum: u64, used: u64) -> bool {
        if used <= self.start {
            return wanted <= limit;
        }
        if used >= self.end {
            return wanted <= minimum;
        }
        // Both sides are multiplied by the span instead of divided, so nothing is rounded. All numbers are at
        // most 2^32.
        let span = self.end - self.start;
        wanted * span + (limit - minimum) * (used - self.start) <= limit * span
    }
}

/// The limits of a queue, units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The limit of the whole queue for each drop precedence.
    pub(super) thresholds: [u32; Color::COUNT],
    /// The limit on the units above the reserved ones.
    pub(super) shared: u64,
    /// The limit that replaces `shared` at and above the end of `port-fall`.
    pub(super) port_minimum: u64,
    /// The limit that replaces `shared` at and above the end of `pool-fall`.
    pub(super) pool_minimum: u64,
    /// The factor of the free units of the pool, as a multiple of 1/[`ALPHA_PARTS`].
    alpha_parts: u64,
}

impl Limits {
    pub(super) fn new(config: &SharedMemoryConfig) -> Result<Limits, ConfigError> {
        config.check()?;
        // A queue without this threshold has a threshold that it cannot reach: above all units of the pool,
        // the port and the queue together.
        let last = config.thresholds.last().copied().unwrap_or(u32::MAX);
        let threshold = |index| config.thresholds.get(index).copied().unwrap_or(last);
        let shared = config.limit.map_or(UNLIMITED, u64::from);
        Ok(Limits {
            thresholds: std::array::from_fn(threshold),
            shared,
            port_minimum: config.port_minimum.map_or(shared, u64::from),
            pool_minimum: config.pool_minimum.map_or(shared, u64::from),
            alpha_parts: config.alpha.map_or(Ok(0), alpha_parts)?,
        })
    }
    /// Whether the dynamic limit admits a packet to a queue that uses `shared` units above its reserved ones,
    /// while `free` units of the pool are free.
    ///
    /// Choudhury and Hahne 1998, equation (1) with the rule of section III: an arriving packet is blocked if
    /// the length of the queue is at or above the threshold.
    #[inline]
    pub(super) fn dynamic_admits(&self, shared: u64, free: u64) -> bool {
        self.alpha_parts == 0 || shared * ALPHA_PARTS < self.alpha_parts * free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the falling limit with a limit that is computed by a division and rounded down. The limit is
    /// 480, and the minimum is 285. The limit falls between 1080 and 1440 used units.
    #[test]
    fn a_linear_fall_matches_the_division() {
        let fall = Fall::new(Some(FallConfig { start: 1080, end: 1440, slope: FallSlope::Linear }));
        for used in 0..1600_u64 {
            let limit = match used {
                0..=1080 => 480,
                1081..=1439 => (480 * 360 - 195 * (used - 1080)) / 360,
                _ => 285,
            };
            assert!(fall.allows(limit, 480, 285, used) && !fall.allows(limit + 1, 480, 285, used), "{used}");
        }
    }

    #[test]
    fn a_linear_fall_is_between_early_and_late_falls() {
        let largest = |slope, used| {
            let fall = Fall::new(Some(FallConfig { start: 10, end: 20, slope }));
            (0..=200).rev().find(|wanted| fall.allows(*wanted, 100, 50, used)).unwrap()
        };
        for (used, early, linear, late) in
            [(10, 100, 100, 100), (11, 50, 95, 100), (15, 50, 75, 100), (19, 50, 55, 100), (20, 50, 50, 50)]
        {
            let found =
                [FallSlope::Early, FallSlope::Linear, FallSlope::Late].map(|slope| largest(slope, used));
            assert_eq!(found, [early, linear, late], "{used}");
        }
    }
}
