//! [`Cobalt`]: the congestion signals of a CAKE queue, a combination of `CoDel` and BLUE.

use crate::units::Time;
use crate::{DropCause, random::Stream};

/// The settings of COBALT for the queues of one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CobaltSettings {
    /// The acceptable wait of a packet.
    pub(super) target: Time,
    /// The time from the first to the second signal. The time to each later signal is this time divided by
    /// the square root of the count.
    pub(super) interval: Time,
    /// The transmission time of the longest packet at the rate of the tin.
    pub(super) mtu_time: Time,
}

/// The increase of the probability of BLUE when the queue overflows: 1/256, in units of 2⁻³².
const INCREMENT: u32 = 1 << 24;
/// The decrease of the probability of BLUE when the queue is found empty: 1/4096, in units of 2⁻³².
const DECREMENT: u32 = 1 << 20;

/// 1 / √count in units of 2⁻³², for counts below 16, as in `cobalt_cache_init`. Each value is computed from
/// the previous one by four Newton steps, because one step is inaccurate for small counts.
const ROOTS: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let (mut root, mut count) = (u32::MAX, 1);
    while count < 16 {
        let mut step = 0;
        while step < 4 {
            root = newton(root, count as u32);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// One Newton step from `root` towards 1 / √count: root · (3 − count · root²) / 2, in units of 2⁻³².
const fn newton(root: u32, count: u32) -> u32 {
    let square = ((root as u64 * root as u64) >> 32) as u32;
    let rest = (3u64 << 32).wrapping_sub(count as u64 * square as u64) >> 2;
    (rest.wrapping_mul(root as u64) >> 31) as u32
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cobalt {
    /// The number of signals, minus the number of times at which a signal was due and the wait was
    /// acceptable.
    count: u32,
    /// 1 / √count in units of 2⁻³². It is 0 before the first signal, so that the first signal is due at once.
    root: u32,
    /// The time of the next signal. If no signal is due, it is the time at which the state expires.
    drop_next: Time,
    /// The time of the last change of BLUE's probability.
    blue_changed: Time,
    /// The probability of BLUE, in units of 2⁻³².
    probability: u32,
    /// Whether the last wait was too long.
    is_dropping: bool,
}

/// The verdict on a packet at the head. The caller must not drop the last packet of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) marks: bool,
    pub(super) drops: Option<DropCause>,
}

/// A packet that has left its queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) waited: Time,
    /// Whether the packet is ECN-capable and is therefore marked instead of dropped.
    pub(super) is_capable: bool,
    /// The number of bulk flows in the tin with `ingress`, otherwise 0. The wait may be two packet times for
    /// each of these flows.
    pub(super) bulk_flows: u32,
}

impl Cobalt {
    /// Updates the root after a change of the count. Linux, `cobalt_invsqrt`.
    fn count_changed(&mut self) {
        self.root = match ROOTS.get(self.count as usize) {
            Some(root) => *root,
            None => newton(self.root, self.count),
        };
    }
    /// Returns `from` plus the interval divided by the square root of the count. The precision is a
    /// nanosecond, as in Linux.
    fn control(&self, from: Time, settings: &CobaltSettings) -> Time {
        let nanoseconds = u128::from(settings.interval.as_picoseconds() / 1000);
        from + Time::from_nanoseconds(((nanoseconds * u128::from(self.root)) >> 32) as u64)
    }

    /// Decides about a packet that leaves the queue at `now`. Linux, `cobalt_should_drop`.
    #[inline]
    pub(super) fn decide(
        &mut self,
        settings: &CobaltSettings,
        now: Time,
        leaving: Leaving,
        random: &mut Stream,
    ) -> Decision {
        let Leaving { waited, is_capable, bulk_flows } = leaving;
        let is_over = waited > settings.target
            && waited > settings.mtu_time * u64::from(2 * bulk_flows)
            && waited > settings.mtu_time * 4;
        let mut decision = Decision { marks: false, drops: None };
        // The last comparison with `now` uses the value before this packet, unless a signal sets a new value.
        let mut scheduled = self.drop_next;
        let is_due = self.count > 0 && now >= scheduled;
        if is_over {
            if !self.is_dropping {
                self.is_dropping = true;
                self.drop_next = self.control(now, settings);
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        if is_due {
            scheduled = self.signal_or_decay(settings, now, is_capable, &mut decision);
        }
        // BLUE drops packets and never marks them. It reacts to overflows, which show that senders ignore
        // marks.
        if self.probability > 0 && (random.bits() >> 32) < u64::from(self.probability) {
            decision.drops = decision.drops.or(Some(DropCause::EarlyRandom));
        }
        if self.count == 0 {
            self.drop_next = now + settings.interval;
        } else if now > scheduled && decision.drops.is_none() {
            self.drop_next = now;
        }
        decision
    }

    /// Processes the signals that are due. If the wait is too long, the packet is marked or dropped.
    /// Otherwise the count is reduced by one for each due signal. Returns the time of the next signal.
    #[inline(never)]
    fn signal_or_decay(
        &mut self,
        settings: &CobaltSettings,
        now: Time,
        is_capable: bool,
        decision: &mut Decision,
    ) -> Time {
        if self.is_dropping {
            decision.marks = is_capable;
            decision.drops = (!is_capable).then_some(DropCause::EarlyForced);
            self.count = self.count.saturating_add(1);
            self.count_changed();
            self.drop_next = self.control(self.drop_next, settings);
            return self.drop_next;
        }
        while self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.count_changed();
            self.drop_next = self.control(self.drop_next, settings);
        }
        self.drop_next
    }

    /// Records that a packet of the queue was dropped because the memory limit was exceeded. Linux,
    /// `cobalt_queue_full`.
    pub(super) fn overflowed(&mut self, settings: &CobaltSettings, now: Time) {
        if now.saturating_sub(self.blue_changed) > settings.target {
            self.probability = self.probability.saturating_add(INCREMENT);
            self.blue_changed = now;
        }
        self.is_dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Records that the queue was served and contained no packet. Linux, `cobalt_queue_empty`.
    pub(super) fn found_empty(&mut self, settings: &CobaltSettings, now: Time) {
        if self.probability > 0 && now.saturating_sub(self.blue_changed) > settings.target {
            self.probability = self.probability.saturating_sub(DECREMENT);
            self.blue_changed = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.count_changed();
            self.drop_next = self.control(self.drop_next, settings);
        }
    }

    /// Whether the state of an empty queue must be kept.
    pub(super) fn remembers(&self, now: Time) -> bool {
        self.probability > 0 || self.count > 0 || now < self.drop_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_match_the_counts() {
        for (count, root) in ROOTS.iter().enumerate().skip(1) {
            let exact = 2f64.powi(32) / (count as f64).sqrt();
            // After four steps from the root of the previous count, the error is at most 0.1 %, at count 2.
            assert!((f64::from(*root) - exact).abs() < 1.1e-3 * exact, "{count}: {root} and not {exact}");
        }
        let mut root = ROOTS[15];
        for count in 16..2000 {
            root = newton(root, count);
            let exact = 2f64.powi(32) / f64::from(count).sqrt();
            assert!((f64::from(root) - exact).abs() < 2e-3 * exact, "{count}: {root} and not {exact}");
        }
    }
}
