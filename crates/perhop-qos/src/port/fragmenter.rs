//! [`Fragmenter`]: divides packets into fragments before the wire.

use crate::framing::{Fragmentation, Framing};
use crate::observer::Place;
use crate::policy::{QueueingConfig, WireConfig};
use crate::queue::{Queue, QueueId};
use crate::scheduler::SchedulerConfig;
use crate::{Packet, Rate, Time};

/// Divides packets into fragments for a wire whose headers require it (RFC 1990 §3). Determines which packets
/// may be sent between two fragments (RFC 2686 §1, with the two suspendable classes of plain multilink PPP).
#[derive(Clone, Debug)]
pub(super) struct Fragmenter {
    pub(super) fragmentation: Fragmentation,
    framing: Framing,
    rate: Rate,
    /// For each queue, whether its packets may be sent between fragments. Empty if the headers do not
    /// interleave packets.
    interleaved: Vec<bool>,
    /// The packet whose fragments are being sent.
    pub(super) in_progress: Option<InProgress>,
}

/// A packet whose first fragment has entered the ring, but not yet its last.
#[derive(Clone, Copy, Debug)]
pub(super) struct InProgress {
    pub(super) packet: Packet,
    pub(super) place: Place,
    /// The time of the first bit of the first fragment. It is known when this fragment enters the ring.
    pub(super) starts: Option<Time>,
    /// The bytes of the packet that have not entered the ring.
    pub(super) left: u32,
}

impl Fragmenter {
    /// Returns the fragmenter of `wire` for the queues of `queueing`, or `None` if the headers do not
    /// fragment packets.
    pub(super) fn build(wire: &WireConfig, queueing: Option<&QueueingConfig>) -> Option<Fragmenter> {
        let fragmentation = wire.headers.fragmentation()?;
        let mut interleaved = Vec::new();
        if let Some(config) = queueing.filter(|_| fragmentation.interleaves()) {
            collect_interleaved(config, false, &mut interleaved);
        }
        let WireConfig { framing, rate, .. } = *wire;
        Some(Fragmenter { fragmentation, framing, rate, interleaved, in_progress: None })
    }
    /// The packet whose fragments are being sent.
    pub(super) fn in_progress(&self) -> Option<&Packet> {
        self.in_progress.as_ref().map(|in_progress| &in_progress.packet)
    }

    /// Whether packets of `queue` are sent whole, also between the fragments of another packet.
    pub(super) fn interleaves(&self, queue: QueueId) -> bool {
        self.interleaved.get(queue.index()) == Some(&true)
    }
    /// Whether a packet waits that may be sent between fragments.
    pub(super) fn awaits_interleaving(&self, queues: &[Queue]) -> bool {
        let mut both = self.interleaved.iter().zip(queues);
        both.any(|(is_interleaved, queue)| *is_interleaved && queue.occupancy().packets > 0)
    }
    /// The transmission time of `bytes` bytes and their framing.
    pub(super) fn time(&self, bytes: u64) -> Time {
        self.rate.transmission_time(self.framing.wire_bytes(bytes))
    }
}

/// Determines for each leaf of `config` whether it has priority over other leaves. All classes of a strict
/// priority scheduler except the lowest class have priority, and so have their inner classes.
fn collect_interleaved(config: &QueueingConfig, has_priority: bool, leaves: &mut Vec<bool>) {
    let classes = &config.classes;
    let level = |index: &usize| classes[*index].share.level.map_or(*index, usize::from);
    let lowest = (0..classes.len()).max_by_key(level);
    for (index, class) in classes.iter().enumerate() {
        let is_above = config.scheduler == SchedulerConfig::Priority && lowest != Some(index);
        match &class.queueing {
            Some(inner) => collect_interleaved(inner, has_priority || is_above, leaves),
            None => leaves.push(has_priority || is_above),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ring::RingConfig;

    /// RFC 2686 §1: only urgent packets suspend others. A class with a weight is not urgent, and the lowest
    /// of several priority levels is not urgent either. Inner classes are as urgent as the class that
    /// contains them.
    #[test]
    fn only_packets_with_priority_are_interleaved() {
        let wire = WireConfig {
            rate: Rate::from_bits_per_second(64_000),
            framing: Framing::Raw,
            headers: serde_json::from_value(json!([{"mlppp": {"fragment": "72B", "interleave": true}}]))
                .unwrap(),
            ring: RingConfig::default(),
        };
        let interleaved = |queueing| {
            let queueing = serde_json::from_value(queueing).unwrap();
            Fragmenter::build(&wire, Some(&queueing)).unwrap().interleaved
        };
        let shares = |scheduler| {
            let classes =
                [("a", 3), ("b", 1)].map(|(name, weight)| json!({"name": name, "share": {"weight": weight}}));
            json!({"scheduler": scheduler, "classes": classes})
        };
        assert_eq!(interleaved(shares("wfq")), [false, false]);
        let levels = |first: serde_json::Value| json!({"scheduler": "priority", "classes": [first, {"name": "rest", "queueing": shares("wrr")}]});
        assert_eq!(interleaved(levels(json!({"name": "voice"}))), [true, false, false]);
        let inside = levels(json!({"name": "urgent", "queueing": shares("wfq")}));
        assert_eq!(interleaved(inside), [true, true, false, false]);
    }
}
