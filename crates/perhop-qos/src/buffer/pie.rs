//! PIE: proportional integral controller enhanced.
//!
//! PIE decides when a packet arrives, with a drop probability that is updated at fixed intervals. Updates
//! have no timer: when a packet arrives or leaves, all updates that were due until then are applied, with the
//! queue and the departures at the time of each update. If one update changes nothing, all later updates
//! until the next packet change nothing either, so they are skipped.

pub(super) mod config;
pub(super) mod control;
mod linux;
mod rfc;

use super::contract::BufferManager;
use super::tail_drop::TailDrop;
use crate::framing::Framing;
use crate::packet::Ecn;
use crate::queue::{GrowingRing, Occupancy};
use crate::random::{Stream, Streams};
use crate::{Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};
use config::PieConfig;
use control::{Control, Updates};

/// The buffer manager of a queue with PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    control: Control,
    updates: Updates,
    /// Bytes that the law counts for a packet in addition to its IP bytes.
    header: u32,
    /// The drop probability up to which ECN-capable packets are marked, or `None` if packets are never
    /// marked.
    marks_up_to: Option<f64>,
    limit: QueueSize,
    random: Stream,
    /// The queued packets in order of arrival.
    waiting: GrowingRing<Waiting>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    arrived: Time,
    /// The length, IP bytes.
    length: u32,
}

impl PieConfig {
    /// Builds the buffer manager.
    ///
    /// # Errors
    /// The error names the first field that is out of range or contradicts the law.
    pub fn build(&self, streams: &Streams) -> Result<Pie, ConfigError> {
        self.build_on(Framing::Raw, streams)
    }
    /// Builds the buffer manager like [`build`](PieConfig::build), for a link of this `framing`. Linux also
    /// counts the link's header.
    pub(super) fn build_on(&self, framing: Framing, streams: &Streams) -> Result<Pie, ConfigError> {
        self.check()?;
        let (control, updates, header) = Control::from_config(self, framing);
        Ok(Pie {
            control,
            updates,
            header,
            marks_up_to: self.marks_up_to(),
            limit: self.limit,
            random: streams.stream(),
            waiting: GrowingRing::default(),
        })
    }
}

impl Pie {
    /// The drop probability of the last update.
    pub fn probability(&self) -> f64 {
        self.control.probability()
    }

    /// The bytes that the law counts for `packets` packets with `bytes` IP bytes in total.
    fn counted(&self, packets: u64, bytes: u64) -> u64 {
        bytes + packets * u64::from(self.header)
    }

    /// Returns the verdict on a packet that PIE has selected for an early drop: a mark or a drop.
    fn selected(&mut self, packet: &Packet) -> Verdict {
        let marks = self.marks_up_to.is_some_and(|up_to| match &self.control {
            // RFC 8033 §5.1: packets are marked while the drop probability is below `mark_ecnth`.
            Control::Rfc(control) => control.probability() < up_to,
            Control::Linux(control) => control.marks(),
        });
        if marks && packet.marks.ecn() != Ecn::NotCapable {
            return Verdict::MarkCe;
        }
        if let Control::Linux(control) = &mut self.control {
            control.dropped();
        }
        Verdict::Drop(DropCause::EarlyRandom)
    }

    fn overflowed(&mut self) -> Verdict {
        self.control.overflowed();
        Verdict::Drop(DropCause::QueueFull)
    }
}

impl BufferManager for Pie {
    fn admit(&mut self, now: Time, packet: &Packet, _: Color, queue: &Occupancy) -> Verdict {
        let backlog = self.counted(queue.packets, queue.bytes);
        self.updates.catch_up(&mut self.control, now, backlog);
        if !TailDrop::fits(self.limit, packet, queue) {
            return self.overflowed();
        }
        let verdict = if self.control.selects(backlog, &mut self.random) {
            self.selected(packet)
        } else {
            Verdict::Pass
        };
        if !matches!(verdict, Verdict::Drop(_)) {
            self.waiting.push_back(Waiting { arrived: now, length: packet.length });
        }
        verdict
    }

    fn departed(&mut self, now: Time, _: Color, _: u32, queue: &Occupancy) {
        let Some(&Waiting { arrived, length }) = self.waiting.front() else { return };
        self.waiting.drop_front();
        let backlog = self.counted(queue.packets, queue.bytes);
        let before = backlog + self.counted(1, length.into());
        self.updates.catch_up(&mut self.control, now, before);
        self.control.departed(now, arrived, length, backlog);
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }
}
