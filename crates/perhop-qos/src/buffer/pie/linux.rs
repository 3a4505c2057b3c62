//! PIE as in Linux: `net/sched/sch_pie.c` and `include/net/pie.h` since 5.8, with the kernel's integers.

use super::config::PieConfig;
use crate::Time;
use crate::random::Stream;

/// `MAX_PROB`: a probability of 1.
const ONE: u64 = u64::MAX >> 8;
/// The largest step of a high probability, and the additional step at a high delay: 0.02.
const STEP: i64 = ((ONE / 100) * 2).cast_signed();
/// The unit of the kernel's packet scheduler clock: 64 ns.
const TICK: u64 = Time::from_nanoseconds(64).as_picoseconds();
const TICKS_PER_SECOND: u64 = 15_625_000;
/// The burst allowance of `pie_vars_init`: 150 ms.
const BURST: u64 = TICKS_PER_SECOND * 15 / 100;
/// The high delay of `pie_calculate_probability`: 250 ms.
const HIGH_DELAY: u64 = TICKS_PER_SECOND / 4;

/// The state and the parameters. Times are in ticks. Bytes include the header on an Ethernet link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::buffer) struct LinuxPie {
    target: u64,
    /// The gain of the distance from the target: probability per tick, before scaling.
    alpha: u64,
    /// The gain of the change since the last update, in the same unit.
    beta: u64,
    /// The backlog below which no packet is dropped early.
    floor: u64,
    /// `prob`, which may exceed 1.
    probability: u64,
    /// The current delay (`qdelay` of Linux).
    delay: u64,
    /// The delay at the last update (`qdelay_old`).
    old_delay: u64,
    /// The remaining time in which no packet is dropped early (`burst_time`).
    burst: u64,
    /// The sum of the probabilities since the last drop (`accu_prob`).
    accumulated: u64,
    /// The time of the last departure.
    departed: Option<u64>,
}

/// Returns the time of the first update of the drop probability, and the interval between the later updates.
///
/// `pie_init` sets its timer to half a second. `pie_timer` sets it to `tupdate` in whole jiffies of 1 ms
/// (`HZ` 1000). A timer must not fire early. A timer that is set during a jiffy therefore fires one slot of
/// the timer wheel later (`kernel/time/timer.c`, `calc_index`). A slot has 1 jiffy for `tupdate`, and 8
/// jiffies for half a second.
pub(super) fn updates(config: &PieConfig) -> (Time, Time) {
    let jiffy = Time::from_milliseconds(1);
    let jiffies = config.update_interval.as_picoseconds().div_ceil(jiffy.as_picoseconds());
    (Time::from_milliseconds(504), jiffy * (jiffies + 1))
}

fn ticks(time: Time) -> u64 {
    time.as_picoseconds() / TICK
}

impl LinuxPie {
    /// Creates PIE that counts `header` bytes for each packet in addition to its IP bytes.
    pub(super) fn new(config: &PieConfig, header: u32) -> LinuxPie {
        let gain = |per_second: f64| ((per_second * 16.0) as u64 * (ONE / TICKS_PER_SECOND)) >> 4;
        LinuxPie {
            target: ticks(config.target),
            alpha: gain(config.alpha),
            beta: gain(config.beta),
            floor: config.floor.as_bytes() + 2 * u64::from(header),
            probability: 0,
            delay: 0,
            old_delay: 0,
            burst: BURST,
            accumulated: 0,
            departed: None,
        }
    }

    pub(in crate::buffer) fn probability(&self) -> f64 {
        self.probability as f64 / ONE as f64
    }

    /// Updates the drop probability for a queue of `backlog` bytes (`pie_calculate_probability`).
    pub(super) fn update(&mut self, backlog: u64) {
        let LinuxPie { delay, old_delay, probability: before, .. } = *self;
        let (alpha, beta) = self.scaled_gains();
        let ahead = alpha.wrapping_mul(delay.wrapping_sub(self.target));
        let grown = beta.wrapping_mul(delay.wrapping_sub(old_delay));
        let mut step = ahead.wrapping_add(grown).cast_signed();
        if step > STEP && before >= ONE / 10 {
            step = STEP;
        }
        if delay > HIGH_DELAY {
            step = step.wrapping_add(STEP);
        }
        let mut decays = delay != 0 || backlog == 0;
        self.probability = before.wrapping_add_signed(step);
        if step > 0 && self.probability < before {
            self.probability = ONE;
            decays = false;
        } else if step <= 0 && self.probability > before {
            self.probability = 0;
        }
        if delay == 0 && old_delay == 0 && decays {
            self.probability -= self.probability / 64;
        }
        if delay < self.target / 2 && old_delay < self.target / 2 && self.probability == 0 {
            self.begin_again();
        }
        self.old_delay = delay;
    }

    /// The gains, divided by a number that depends on the drop probability.
    fn scaled_gains(&self) -> (u64, u64) {
        if self.probability >= ONE / 10 {
            return (self.alpha, self.beta);
        }
        let mut shift = 1;
        let mut power = 100;
        while power <= 1_000_000 && self.probability < ONE / power {
            shift += 2;
            power *= 10;
        }
        (self.alpha >> shift, self.beta >> shift)
    }

    /// Resets the state (`pie_vars_init` of Linux).
    fn begin_again(&mut self) {
        self.burst = BURST;
        self.accumulated = 0;
        self.departed = None;
    }

    /// Whether an early drop selects a packet that finds `backlog` bytes in the queue (`pie_drop_early`).
    pub(super) fn selects(&mut self, backlog: u64, random: &mut Stream) -> bool {
        let is_calm = self.delay < self.target / 2 && self.probability < ONE / 5;
        if self.burst > 0 || is_calm || backlog < self.floor {
            return false;
        }
        if self.probability == 0 {
            self.accumulated = 0;
        }
        self.accumulated = self.accumulated.wrapping_add(self.probability);
        if self.accumulated < (ONE / 100) * 85 {
            return false;
        }
        if self.accumulated >= (ONE / 2) * 17 {
            return true; // only a drop resets the sum; a mark does not
        }
        let drops = random.bits() >> 8 < self.probability;
        if drops {
            self.accumulated = 0;
        }
        drops
    }

    /// Records a drop for any cause (`pie_qdisc_enqueue`).
    pub(in crate::buffer) fn dropped(&mut self) {
        self.accumulated = 0;
    }

    /// Whether selected packets are marked instead of dropped (`pie_qdisc_enqueue`).
    pub(super) fn marks(&self) -> bool {
        self.probability <= ONE / 10
    }

    /// Whether selected packets are marked instead of dropped, up to a drop probability of `percent`
    /// (`fq_pie_qdisc_enqueue`).
    pub(in crate::buffer) fn marks_up_to(&self, percent: u64) -> bool {
        self.probability <= (ONE / 100) * percent
    }

    /// Records that a packet that had joined the queue at `arrived` has left (`pie_process_dequeue`).
    /// `backlog` bytes remain.
    pub(super) fn departed(&mut self, now: Time, arrived: Time, backlog: u64) {
        let now = ticks(now);
        self.delay = if backlog == 0 { 0 } else { now - ticks(arrived) };
        // The kernel stores only 32 bits of the difference.
        let since = self.departed.map_or(0, |before| (now - before) & u64::from(u32::MAX));
        self.departed = Some(now);
        self.burst = self.burst.saturating_sub(since);
    }
}
