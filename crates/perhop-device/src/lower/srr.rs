//! The queues of a port with shaped round robin.
//!
//! ```text
//! queue 1 with priority   always within its guarantee, level 0
//! shaped queues           guarantee and ceiling of rate / weight, level 1
//! shared queues           shares of the remaining rate by weight
//! ```
//!
//! Source: Cisco, "IE 2000 Software Configuration Guide" (OL-25866), page 38-31, and "Catalyst 3750-E and
//! 3560-E Software Configuration Guide", page 36-15.

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};
use perhop_qos::units::QueueSize;
use perhop_qos::{Dscp, Rate};

use super::memory::{MemoryShare, buffer};
use crate::srr::{SrrPort, SrrQueue};
use crate::switch_memory::QueueMemory;

/// The level of a queue with priority. Shaped queues have the next level.
const PRIORITY: u16 = 0;
const SHAPED: u16 = 1;
/// The name of the class that contains all queues and limits the rate of the port.
const LIMIT: &str = "limit";
/// The limit of a queue of unknown memory, packets. No simulated port has such a queue.
const UNKNOWN_LIMIT: QueueSize = QueueSize::Packets(64);

/// Returns the queues of a port. Queues without a codepoint are omitted.
pub(super) fn queueing(share: MemoryShare, port: &SrrPort) -> QueueingConfig {
    let memory = share.port.units.or(share.port.queues.iter().find_map(|queue| queue.soft));
    let memory = memory.map(|_| share.config());
    let codepoints = |queue: &QueueMemory| -> Vec<Dscp> {
        queue.default.as_ref().map(|default| default.codepoints.clone()).unwrap_or_default()
    };
    let rate = share.port.rate_bps.unwrap_or(0);
    let used: Vec<&QueueMemory> =
        share.port.queues.iter().filter(|queue| !port.has_qos || !codepoints(queue).is_empty()).collect();
    let last = used.len().saturating_sub(1);
    let classes: Vec<ClassConfig> = used
        .iter()
        .enumerate()
        .map(|(index, queue)| {
            let (buffer, precedence) = buffer_of(queue);
            // The last queue matches all packets that no other queue matches.
            let matches = (index < last)
                .then(|| MatchConfig { dscp: Some(OneOrMany(codepoints(queue))), ..MatchConfig::default() });
            ClassConfig {
                name: queue.class.clone(),
                matches,
                share: queue.srr.as_ref().map_or_else(ShareConfig::default, |own| share_of(queue, own, rate)),
                buffer: Some(buffer),
                precedence,
                ..ClassConfig::default()
            }
        })
        .collect();
    let scheduler = if port.has_qos { SchedulerConfig::GuaranteeExcess } else { SchedulerConfig::Fifo };
    let queues = QueueingConfig { scheduler, classes, ..QueueingConfig::default() };
    QueueingConfig { memory, ..limited(queues, port, rate) }
}

/// Returns `queues` inside a class with the maximum rate of the port, if this rate is below the line rate.
fn limited(queues: QueueingConfig, port: &SrrPort, rate: u64) -> QueueingConfig {
    if !port.has_qos || port.bandwidth_limit_percent >= 100 {
        return queues;
    }
    let most = Some(Rate::from_bits_per_second(rate / 100 * port.bandwidth_limit_percent));
    let share = ShareConfig { rate: most, ceil: most, ..ShareConfig::default() };
    let scheduler = queues.scheduler;
    let class =
        ClassConfig { name: LIMIT.to_owned(), share, queueing: Some(queues), ..ClassConfig::default() };
    QueueingConfig { scheduler, classes: vec![class], ..QueueingConfig::default() }
}

fn buffer_of(queue: &QueueMemory) -> (BufferConfig, PrecedenceSource) {
    if queue.hard.is_some() {
        return buffer(queue);
    }
    (BufferConfig::TailDrop(TailDropConfig { limit: UNKNOWN_LIMIT }), PrecedenceSource::default())
}

fn share_of(queue: &QueueMemory, own: &SrrQueue, rate: u64) -> ShareConfig {
    let (most, level) = match own.ceiling_bps {
        _ if queue.priority_level.is_some() => (Some(rate), PRIORITY),
        Some(ceiling) => (Some(ceiling), SHAPED),
        None => (None, SHAPED),
    };
    let most = most.map(Rate::from_bits_per_second);
    ShareConfig {
        rate: most,
        ceil: most,
        #[allow(clippy::cast_precision_loss)] // 1 to 255
        weight: Some(own.shared_weight as f64),
        level: Some(level),
        ..ShareConfig::default()
    }
}
