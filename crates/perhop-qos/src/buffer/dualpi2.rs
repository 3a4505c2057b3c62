//! `DualPI2`: two queues with coupled probabilities (RFC 9332).
//!
//! [`DualQueue`](crate::queue::DualQueue) contains the queues and their scheduler. This file decides about
//! the packet at the head. Updates have no timer, as in [`Pie`](super::Pie): when a packet arrives or leaves,
//! all updates that were due until then are applied to the heads of both queues.

pub(super) mod config;
mod linux;
mod rfc;

use super::contract::BufferManager;
use super::tail_drop::TailDrop;
use crate::framing::Framing;
use crate::packet::Ecn;
use crate::queue::{CoupledQueues, DualQueue, GrowingRing, Kind, LowLatency, Occupancy, Stay};
use crate::random::{Stream, Streams};
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Rate, Time, Verdict};
use config::{DualPi2Config, DualPi2Law};
use linux::LinuxDualPi2;
use rfc::RfcDualPi2;

/// The bytes of two packets of the largest size. While the queues contain fewer bytes, the probabilities of
/// Linux cause no drops and no marks.
const FLOOR: u64 = 3000;

/// `DualPI2`.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    control: Control,
    /// The time of the next update of the probabilities.
    next_update: Time,
    update_interval: Time,
    /// The limit of both queues together.
    limit: QueueSize,
    /// Bytes that the law counts for a packet in addition to its IP bytes.
    header: u64,
    random: Stream,
    queues: CoupledQueues,
    takes: LowLatency,
    /// The arrival times of the packets in the classic queue. If there is only one queue, it contains all
    /// packets.
    classic: GrowingRing<Time>,
    /// The packets in the low-latency queue.
    low_latency: GrowingRing<Waiting>,
    /// The minimum number of other packets in the low-latency queue for the step to mark a packet.
    least_for_step: u64,
}

/// A packet of the low-latency queue.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    since: Time,
    /// Whether the packet found too few other packets in the queue, so that the step must not mark it.
    is_exempt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Control {
    Rfc(RfcDualPi2),
    Linux(LinuxDualPi2),
}

impl DualPi2Config {
    /// Builds the buffer manager of two queues that drain at `drain` on a link of this `framing`.
    ///
    /// # Errors
    /// The error names the first field that is out of range or contradicts the law.
    pub fn build(&self, drain: Rate, framing: Framing, streams: &Streams) -> Result<DualPi2, ConfigError> {
        let settled = self.settle(drain)?;
        let control = match self.law {
            DualPi2Law::Rfc => Control::Rfc(RfcDualPi2::new(&settled)),
            DualPi2Law::Linux => Control::Linux(LinuxDualPi2::new(&settled)),
        };
        Ok(DualPi2 {
            control,
            next_update: settled.update_interval,
            update_interval: settled.update_interval,
            limit: settled.limit,
            header: self.header(framing).into(),
            random: streams.stream(),
            queues: self.queues,
            takes: self.low_latency.compile(),
            classic: GrowingRing::default(),
            low_latency: GrowingRing::default(),
            least_for_step: self.min_qlen_step.unwrap_or(0).into(),
        })
    }
}

impl DualPi2Config {
    /// Builds the two queues for a link of this `framing`.
    ///
    /// # Errors
    /// The scheduler has no valid share.
    pub(super) fn build_queue(&self, framing: Framing) -> Result<DualQueue, ConfigError> {
        let queue = self.scheduler().build(self.header(framing));
        Ok(queue
            .map_err(|error| error.within("scheduler"))?
            .with_queues(self.queues, self.low_latency.compile()))
    }
    /// The bytes that are counted for a packet in addition to its IP bytes.
    fn header(&self, framing: Framing) -> u32 {
        match self.law {
            DualPi2Law::Rfc => 0,
            DualPi2Law::Linux => framing.queued_header(),
        }
    }
}

impl Control {
    fn update(&mut self, classic: Option<Time>, low_latency: Option<Time>) {
        match self {
            Control::Rfc(control) => control.update(classic, low_latency),
            Control::Linux(control) => control.update(classic, low_latency),
        }
    }
}

impl DualPi2 {
    /// The base probability p′ of the last update. Classic packets are dropped or marked with probability
    /// p′². Low-latency packets are marked with probability k p′.
    pub fn base_probability(&self) -> f64 {
        match &self.control {
            Control::Rfc(control) => control.base(),
            Control::Linux(control) => control.base(),
        }
    }

    /// Applies all updates that are due by `now`. The caller must call it before each change of the queues.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if self.next_update <= now {
            self.update_until(now);
        }
    }
    #[inline(never)]
    fn update_until(&mut self, now: Time) {
        let heads = (self.classic.front().copied(), self.low_latency.front().map(|waiting| waiting.since));
        while self.next_update <= now {
            let before = self.control;
            let waited = |since: Option<Time>| since.map(|since| self.next_update.saturating_sub(since));
            let (classic, low_latency) = (waited(heads.0), waited(heads.1));
            self.control.update(classic, low_latency);
            // If the queues are empty and one update changes nothing, later updates change nothing either.
            let skipped = if heads == (None, None) && self.control == before {
                now.saturating_sub(self.next_update).as_picoseconds() / self.update_interval.as_picoseconds()
            } else {
                0
            };
            self.next_update = self.next_update.saturating_add(self.update_interval * (skipped + 1));
        }
    }

    /// Decides about a packet that has waited `waited` in the low-latency queue.
    fn decide_low_latency(&mut self, waited: Time, is_exempt: bool, queue: &Occupancy) -> Verdict {
        let (leaves_others, is_short) = (!self.low_latency.is_empty(), self.is_short(queue));
        match &mut self.control {
            Control::Rfc(control) => control.low_latency(waited, leaves_others),
            Control::Linux(control) => {
                let verdict = if is_short { Verdict::Pass } else { control.low_latency(&mut self.random) };
                let steps = verdict == Verdict::Pass && !is_exempt && control.steps(waited);
                if steps { Verdict::MarkCe } else { verdict }
            }
        }
    }
    fn decide_classic(&mut self, is_capable: bool, queue: &Occupancy) -> Verdict {
        let is_short = self.is_short(queue);
        match &mut self.control {
            Control::Rfc(control) => control.classic(is_capable),
            Control::Linux(_) if is_short => Verdict::Pass,
            Control::Linux(control) => control.classic(is_capable, &mut self.random),
        }
    }
    /// Whether the queues contain fewer than two packets of the largest size. Linux, `must_drop`.
    fn is_short(&self, queue: &Occupancy) -> bool {
        queue.bytes + queue.packets * self.header < FLOOR + 2 * self.header
    }
}

impl BufferManager for DualPi2 {
    fn admit(&mut self, now: Time, packet: &Packet, _: Color, queue: &Occupancy) -> Verdict {
        self.catch_up(now);
        if !TailDrop::fits(self.limit, packet, queue) {
            return Verdict::Drop(DropCause::QueueFull);
        }
        if self.queues == CoupledQueues::Two && self.takes.kind(packet) != Kind::Classic {
            let is_exempt = (self.low_latency.len() as u64) < self.least_for_step;
            self.low_latency.push_back(Waiting { since: now, is_exempt });
        } else {
            self.classic.push_back(now);
        }
        Verdict::Pass
    }
    fn release(&mut self, now: Time, packet: &Packet, _: Color, _: Stay, queue: &Occupancy) -> Verdict {
        self.catch_up(now);
        let is_capable = packet.marks.ecn() != Ecn::NotCapable;
        let (kind, is_one) = (self.takes.kind(packet), self.queues == CoupledQueues::One);
        if kind == Kind::Classic || is_one {
            self.classic.drop_front();
            // With one queue, no packet is marked because of its own wait: the wait is passed as 0, and the
            // packet is exempt from the step.
            return if kind == Kind::Scalable {
                self.decide_low_latency(Time::ZERO, true, queue)
            } else {
                self.decide_classic(is_capable, queue)
            };
        }
        let Waiting { since, is_exempt } = self.low_latency.front().copied().unwrap_or_default();
        self.low_latency.drop_front();
        if kind == Kind::NonQueueBuilding {
            return Verdict::Pass;
        }
        self.decide_low_latency(now.saturating_sub(since), is_exempt, queue)
    }
}
