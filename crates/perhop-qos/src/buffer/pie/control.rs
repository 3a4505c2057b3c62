//! [`Control`]: the drop probability of a queue under PIE, with either law. [`Updates`]: the times at which
//! the probability changes.

use super::config::{PieConfig, PieLaw};
use super::linux::{LinuxPie, updates};
use super::rfc::RfcPie;
use crate::Time;
use crate::framing::Framing;
use crate::random::Stream;

/// The control law of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::buffer) enum Control {
    Rfc(RfcPie),
    Linux(LinuxPie),
}

/// The times at which the drop probability changes.
#[derive(Clone, Copy, Debug)]
pub(in crate::buffer) struct Updates {
    pub(in crate::buffer) next: Time,
    pub(in crate::buffer) interval: Time,
}

impl Control {
    /// Returns the law of the checked `config` on a link of this `framing`, the times of its updates, and the
    /// bytes that the law counts for a packet in addition to its IP bytes.
    pub(in crate::buffer) fn from_config(config: &PieConfig, framing: Framing) -> (Control, Updates, u32) {
        match config.law {
            PieLaw::Rfc => {
                let interval = config.update_interval;
                (Control::Rfc(RfcPie::new(config)), Updates { next: interval, interval }, 0)
            }
            PieLaw::Linux => {
                let (header, (next, interval)) = (framing.queued_header(), updates(config));
                (Control::Linux(LinuxPie::new(config, header)), Updates { next, interval }, header)
            }
        }
    }
    pub(in crate::buffer) fn probability(&self) -> f64 {
        match self {
            Control::Rfc(control) => control.probability(),
            Control::Linux(control) => control.probability(),
        }
    }
    /// Whether an early drop selects a packet that finds `backlog` bytes in the queue.
    #[inline]
    pub(in crate::buffer) fn selects(&mut self, backlog: u64, random: &mut Stream) -> bool {
        match self {
            Control::Rfc(control) => control.selects(backlog, random),
            Control::Linux(control) => control.selects(backlog, random),
        }
    }
    /// Records that a packet of `length` IP bytes has left the queue, which it had joined at `arrived`.
    /// `backlog` bytes remain in the queue.
    #[inline]
    pub(in crate::buffer) fn departed(&mut self, now: Time, arrived: Time, length: u32, backlog: u64) {
        match self {
            Control::Rfc(control) => control.departed(now, arrived, length, backlog),
            Control::Linux(control) => control.departed(now, arrived, backlog),
        }
    }
    /// Records that a packet found the queue full.
    pub(in crate::buffer) fn overflowed(&mut self) {
        match self {
            Control::Rfc(control) => control.overflowed(),
            Control::Linux(control) => control.dropped(),
        }
    }
    fn update(&mut self, backlog: u64) {
        match self {
            Control::Rfc(control) => control.update(backlog),
            Control::Linux(control) => control.update(backlog),
        }
    }
}

impl Updates {
    /// Applies the updates of `control` that are due by `now`. Until then, its queue contained `backlog`
    /// bytes.
    #[inline]
    pub(in crate::buffer) fn catch_up(&mut self, control: &mut Control, now: Time, backlog: u64) {
        if self.next <= now {
            self.update_until(control, now, backlog);
        }
    }
    #[inline(never)]
    fn update_until(&mut self, control: &mut Control, now: Time, backlog: u64) {
        while self.next <= now {
            let before = *control;
            control.update(backlog);
            let passed_over = if *control == before {
                now.saturating_sub(self.next).as_picoseconds() / self.interval.as_picoseconds()
            } else {
                0
            };
            self.next = self.next.saturating_add(self.interval * (passed_over + 1));
        }
    }
}
