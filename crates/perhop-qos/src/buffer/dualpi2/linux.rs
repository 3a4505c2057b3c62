//! `DualPI2` of Linux: `net/sched/sch_dualpi2.c` since 6.17, with its integers.

use super::config::{NativeMarking, Settled};
use crate::random::Stream;
use crate::{DropCause, Time, Verdict};

/// `MAX_PROB`: a probability of 1.
const ONE: u32 = u32::MAX;
/// `ALPHA_BETA_GRANULARITY`: the number of additional fractional bits that gains have compared with
/// probabilities per nanosecond.
const GRANULARITY: u32 = 6;

/// The state and the parameters. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinuxDualPi2 {
    target: i64,
    alpha: i64,
    beta: i64,
    coupling: u8,
    step: u64,
    /// The base probability (`pi2_prob` of Linux).
    base: u32,
    /// The delay at the last update.
    last_delay: i64,
}

fn nanoseconds(time: Time) -> u64 {
    time.as_picoseconds() / 1000
}

impl LinuxDualPi2 {
    pub(super) fn new(settled: &Settled) -> LinuxDualPi2 {
        // `dualpi2_scale_alpha_beta`, for a gain in units of 1/256.
        let gain = |per_second: f64| {
            let parts = ((per_second * 256.0) as u64 * u64::from(ONE)) >> (8 - GRANULARITY);
            (parts / 1_000_000_000).cast_signed()
        };
        let step = match settled.native {
            NativeMarking::Step(threshold) => nanoseconds(threshold),
            NativeMarking::Ramp(ramp) => nanoseconds(ramp.from),
        };
        LinuxDualPi2 {
            target: nanoseconds(settled.target).cast_signed(),
            alpha: gain(settled.alpha),
            beta: gain(settled.beta),
            coupling: settled.coupling,
            step,
            base: 0,
            last_delay: 0,
        }
    }

    pub(super) fn base(&self) -> f64 {
        f64::from(self.base) / f64::from(ONE)
    }

    /// Updates the base probability (`calculate_probability`). `classic` and `low_latency` are the waits of
    /// the heads of the two queues, or `None` for an empty queue.
    pub(super) fn update(&mut self, classic: Option<Time>, low_latency: Option<Time>) {
        let delay = classic.max(low_latency).map_or(0, nanoseconds).cast_signed();
        let change = (delay - self.target)
            .wrapping_mul(self.alpha)
            .wrapping_add((delay - self.last_delay).wrapping_mul(self.beta));
        self.last_delay = delay;
        // The kernel adds the low 32 bits of the step and tests the sum for overflow.
        let step = (change.unsigned_abs() >> GRANULARITY) as u32;
        self.base = if change > 0 {
            self.base.checked_add(step).unwrap_or(ONE)
        } else {
            self.base.saturating_sub(step)
        };
    }

    /// Returns the verdict on a classic packet, ECN-capable or not (`must_drop`).
    pub(super) fn classic(&self, is_capable: bool, random: &mut Stream) -> Verdict {
        if !self.squared(random) {
            Verdict::Pass
        } else if is_capable && !self.is_overloaded() {
            Verdict::MarkCe
        } else {
            Verdict::Drop(DropCause::EarlyRandom)
        }
    }
    /// Returns the verdict on a packet of the low-latency queue (`must_drop`), without the step.
    pub(super) fn low_latency(&self, random: &mut Stream) -> Verdict {
        if !self.is_overloaded() {
            return if roll(self.coupled() as u32, random) { Verdict::MarkCe } else { Verdict::Pass };
        }
        if self.squared(random) { Verdict::Drop(DropCause::EarlyRandom) } else { Verdict::MarkCe }
    }
    /// Whether the step marks a packet that has waited for `waited` (`do_step_aqm`).
    pub(super) fn steps(&self, waited: Time) -> bool {
        nanoseconds(waited) > self.step
    }

    fn coupled(&self) -> u64 {
        u64::from(self.base) * u64::from(self.coupling)
    }
    fn is_overloaded(&self) -> bool {
        self.coupled() > u64::from(ONE)
    }
    fn squared(&self, random: &mut Stream) -> bool {
        roll(self.base, random) && roll(self.base, random)
    }
}

/// Draws whether an event with this `probability` occurs (`dualpi2_roll` of Linux).
fn roll(probability: u32, random: &mut Stream) -> bool {
    (random.bits() >> 32) as u32 <= probability
}
