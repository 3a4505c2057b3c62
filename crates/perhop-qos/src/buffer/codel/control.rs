//! `CoDel`'s control loop. It decides whether a packet at the head is late, and whether to drop it.
//!
//! The pseudocode of RFC 8289 §5 handles one call of its `dequeue`, which may remove several packets from the
//! queue. In this file, each packet is a separate call. [`Phase`] stores the state between the calls.

use super::config::{CeThresholdConfig, CeThresholdOf, CodelConfig, CodelLaw, EcnMarking};
use crate::framing::Framing;
use crate::packet::Ecn;
use crate::units::Time;
use crate::{ConfigError, DropCause, Verdict};

/// Linux counts time in steps of 1024 ns.
const LINUX_STEP_PICOSECONDS: u64 = 1_024_000;
/// The reciprocal square root of 1, in the 16 bits that Linux uses.
const ONE: u16 = u16::MAX;
/// The value of `first_above` while no wait is too long.
const NEVER: i64 = 0;
/// RFC 8289 §5.5: a control loop that ended less than this number of intervals ago continues with its count.
const RECENT_INTERVALS: i64 = 16;

/// The settings of a control loop. Times are in the steps of the law: picoseconds, or 1024 ns for Linux.
#[derive(Clone, Copy, Debug)]
pub(in crate::buffer) struct Controller {
    law: CodelLaw,
    ecn: EcnMarking,
    ce_threshold_of: CeThresholdOf,
    /// Bytes that are counted for a packet in addition to its IP bytes.
    header: u32,
    /// The queue never drops while its backlog is at most this number of counted bytes.
    floor: u64,
    target: i64,
    interval: i64,
    ce_threshold: i64,
    /// A shorter wait is below the target and below the CE threshold, regardless of rounding.
    unremarkable: Time,
}

impl Controller {
    /// Returns the settings of `config` for a link of this `framing`.
    pub(in crate::buffer) fn from_config(
        config: &CodelConfig,
        framing: Framing,
    ) -> Result<Controller, ConfigError> {
        let CodelConfig { law, target, interval, .. } = *config;
        if !(Time::from_microseconds(10)..=Time::from_seconds(100)).contains(&interval) {
            return Err(ConfigError::new("interval", format!("the interval {interval} is out of range"))
                .help("10us to 100s; use 100ms if round trips are not known"));
        }
        if target >= interval {
            return Err(ConfigError::new(
                "target",
                format!("the target {target} is not below the interval {interval}"),
            )
            .help("use a target below the interval; usual is a twentieth of the interval, 5ms for 100ms"));
        }
        let header = if law == CodelLaw::Linux { framing.queued_header() } else { 0 };
        let ce_threshold = config.ce_threshold;
        let step = Time::from_picoseconds(if law == CodelLaw::Linux { LINUX_STEP_PICOSECONDS } else { 0 });
        let remarkable = ce_threshold.map_or(target, |threshold| threshold.wait.min(target));
        Ok(Controller {
            law,
            ecn: config.ecn,
            ce_threshold_of: ce_threshold.map_or(CeThresholdOf::Capable, |CeThresholdConfig { of, .. }| of),
            header,
            floor: config.mtu.as_bytes().saturating_add(header.into()),
            target: steps(law, target),
            interval: steps(law, interval),
            ce_threshold: ce_threshold.map_or(i64::MAX, |threshold| steps(law, threshold.wait)),
            // The target, the threshold, and the times at which a wait begins and ends are each rounded down
            // to steps.
            unremarkable: remarkable.saturating_sub(step + step),
        })
    }
    /// Returns the counted bytes of `packets` with `bytes` IP bytes in total.
    #[inline]
    pub(in crate::buffer) fn counted(&self, packets: u64, bytes: u64) -> u64 {
        bytes + packets * u64::from(self.header)
    }
    /// Returns the verdict on a packet with this `ecn` field that the loop selects for a drop or a mark.
    #[inline]
    fn signal(&self, ecn: Ecn) -> Verdict {
        if self.ecn == EcnMarking::Mark && ecn != Ecn::NotCapable {
            Verdict::MarkCe
        } else {
            Verdict::Drop(DropCause::EarlyForced)
        }
    }
    /// Returns the verdict on a packet that the loop does not select and that has waited for `wait`.
    #[inline]
    fn pass(&self, wait: i64, ecn: Ecn) -> Verdict {
        let is_marked = wait > self.ce_threshold
            && match self.ce_threshold_of {
                CeThresholdOf::Capable => ecn != Ecn::NotCapable,
                CeThresholdOf::Ect1 => ecn == Ecn::Capable1,
            };
        if is_marked { Verdict::MarkCe } else { Verdict::Pass }
    }
}

/// Returns `time` in steps of `law`.
#[inline]
fn steps(law: CodelLaw, time: Time) -> i64 {
    let picoseconds = time.as_picoseconds();
    let steps = match law {
        CodelLaw::Rfc => picoseconds,
        CodelLaw::Linux => picoseconds / LINUX_STEP_PICOSECONDS,
    };
    steps.cast_signed()
}

/// The state of the control loop of one queue: the variables of RFC 8289 §5.2.
#[derive(Clone, Copy, Debug)]
pub(in crate::buffer) struct Control {
    /// The time from which a packet is late: all waits of one interval before it were above the target. The
    /// value is [`NEVER`] if the last wait was below the target.
    first_above: i64,
    /// The time of the next drop.
    drop_next: i64,
    /// The count of drops that sets the spacing of drops (`count`). A new sequence of drops restarts it.
    count: u32,
    /// The value of `count` when the loop last entered the dropping state.
    last_count: u32,
    /// 1 / √count in units of 2⁻¹⁶. As in Linux, each drop improves it by one step of Newton's method.
    reciprocal_root: u16,
    phase: Phase,
}

/// The state of the control loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The controller drops no packets.
    #[default]
    Watching,
    /// The controller drops packets at the times of the control law.
    Dropping,
    /// The controller has just dropped the first packet of a sequence. The next packet passes.
    DroppedFirst,
    /// The controller has just dropped a later packet of a sequence. If the next packet is late, the time of
    /// the next drop is one spacing later.
    DroppedAnother,
}

impl Default for Control {
    fn default() -> Control {
        Control {
            first_above: NEVER,
            // This time is so early that no later drop counts as recent.
            drop_next: i64::MIN / 2,
            count: 0,
            last_count: 0,
            reciprocal_root: 0,
            phase: Phase::default(),
        }
    }
}

impl Control {
    /// Returns the verdict on a packet with this `ecn` field that joined the queue at `since`. `backlog()`
    /// returns the bytes that remain in the queue.
    #[inline]
    pub(in crate::buffer) fn decide(
        &mut self,
        controller: &Controller,
        now: Time,
        since: Time,
        backlog: impl FnOnce() -> u64,
        ecn: Ecn,
    ) -> Verdict {
        if now.saturating_sub(since) < controller.unremarkable {
            self.end_drops();
            return Verdict::Pass;
        }
        let now = steps(controller.law, now);
        let wait = now - steps(controller.law, since);
        if wait < controller.target || backlog() <= controller.floor {
            self.end_drops();
            return controller.pass(wait, ecn);
        }
        self.decide_above(controller, now, wait, ecn)
    }

    /// Records that the scheduler polled the queue and found it empty. The sequence of drops ends.
    pub(in crate::buffer) fn found_empty(&mut self) {
        (self.first_above, self.phase) = (NEVER, Phase::Watching);
    }
    /// Ends a sequence of drops. The caller uses it for a wait below the target, for a backlog of at most one
    /// MTU, and after the drop of the last packet of the queue.
    #[inline]
    pub(in crate::buffer) fn end_drops(&mut self) {
        self.first_above = NEVER;
        self.phase = if self.phase == Phase::DroppedFirst { Phase::Dropping } else { Phase::Watching };
    }
    /// Counts a drop that the limit of the queue caused, as if this control loop had caused it.
    pub(in crate::buffer) fn count_other_drop(&mut self) {
        self.count = self.count.wrapping_add(1);
    }

    /// Continues [`decide`](Control::decide) for a wait of at least the target and a backlog above the floor.
    #[inline(never)]
    fn decide_above(&mut self, controller: &Controller, now: i64, wait: i64, ecn: Ecn) -> Verdict {
        let is_late = self.is_late(controller, now);
        match self.phase {
            Phase::DroppedFirst => self.phase = Phase::Dropping,
            _ if !is_late => self.phase = Phase::Watching,
            Phase::Watching => return self.first_signal(controller, now, ecn),
            Phase::Dropping | Phase::DroppedAnother => {
                if self.phase == Phase::DroppedAnother {
                    self.drop_next += self.spacing(controller);
                    self.phase = Phase::Dropping;
                }
                if now >= self.drop_next {
                    return self.next_signal(controller, ecn);
                }
            }
        }
        controller.pass(wait, ecn)
    }

    /// RFC 8289 §5.6, `dodequeue`: whether waits have been above the target for an interval.
    fn is_late(&mut self, controller: &Controller, now: i64) -> bool {
        if self.first_above == NEVER {
            // Linux drops only after this time (`codel_time_after`). RFC 8289 also drops at this time.
            let strictly = i64::from(controller.law == CodelLaw::Linux);
            self.first_above = now + controller.interval + strictly;
            return false;
        }
        now >= self.first_above
    }

    /// Drops or marks the first packet of a cycle.
    ///
    /// RFC 8289 §5.5: "if min went above TARGET close to when we last went below it, assume that the drop
    /// rate that controlled the queue on the last cycle is a good starting point to control it now".
    fn first_signal(&mut self, controller: &Controller, now: i64, ecn: Ecn) -> Verdict {
        let verdict = controller.signal(ecn);
        self.phase = if verdict == Verdict::MarkCe { Phase::Dropping } else { Phase::DroppedFirst };
        let since_then = self.count.wrapping_sub(self.last_count);
        if since_then > 1 && now - self.drop_next < RECENT_INTERVALS * controller.interval {
            self.count = since_then;
            self.improve_root();
        } else {
            self.count = 1;
            self.reciprocal_root = ONE;
        }
        self.last_count = self.count;
        self.drop_next = now + self.spacing(controller);
        verdict
    }

    /// Drops or marks the next packet of a cycle.
    fn next_signal(&mut self, controller: &Controller, ecn: Ecn) -> Verdict {
        self.count = self.count.wrapping_add(1);
        self.improve_root();
        let verdict = controller.signal(ecn);
        if verdict == Verdict::MarkCe {
            self.drop_next += self.spacing(controller);
        } else {
            self.phase = Phase::DroppedAnother;
        }
        verdict
    }

    /// RFC 8289 §5.6, the control law: interval / √count between drops.
    fn spacing(&self, controller: &Controller) -> i64 {
        match controller.law {
            CodelLaw::Rfc => (controller.interval as f64 / libm::sqrt(f64::from(self.count))) as i64,
            CodelLaw::Linux => (controller.interval * i64::from(self.reciprocal_root)) >> 16,
        }
    }

    /// `codel_Newton_step` of Linux: r ← r/2 · (3 − count · r²), in integers.
    fn improve_root(&mut self) {
        let root = u64::from(self.reciprocal_root) << 16;
        let square = (root * root) >> 32;
        let rest = (3_u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square)) >> 2;
        self.reciprocal_root = (rest.wrapping_mul(root) >> 47) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first steps from count 1. Newton's step from r = 65535/65536 gives r (3 − 2 r²)/2 = 0.50002
    /// for 2, then 0.5624 for 3 and 0.4878 for 4. The exact roots are 0.7071, 0.5774 and 0.5.
    #[test]
    fn each_drop_takes_one_newton_step() {
        let mut control = Control { count: 1, reciprocal_root: ONE, ..Control::default() };
        let mut roots = Vec::new();
        for count in 2..=60 {
            control.count = count;
            control.improve_root();
            roots.push(f64::from(control.reciprocal_root) / 65_536.0);
        }
        let mut exact = 65_535.0 / 65_536.0;
        for (count, root) in (2..).zip(&roots) {
            exact = exact / 2.0 * (3.0 - f64::from(count) * exact * exact);
            assert!((root - exact).abs() < 1e-4, "{count}: {root} and not {exact}");
            exact = *root;
        }
        assert!((roots[0] - 0.5000).abs() < 1e-3 && (roots[2] - 0.4878).abs() < 1e-2, "{roots:?}");
        assert!(
            (roots[58] * libm::sqrt(60.0) - 1.0).abs() < 1e-3,
            "after 60 drops, root times √60 is {}",
            roots[58]
        );
    }
}
