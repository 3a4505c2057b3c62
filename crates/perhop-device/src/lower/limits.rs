//! Limits of queues, and fair queueing of flows: as written, or by the profile's rules.

use perhop_qos::Rate;
use perhop_qos::queue::FairQueueingConfig;
use perhop_qos::units::QueueSize;

use super::bandwidth::bytes_in;
use super::reference::Reference;
use super::target::Target;
use crate::intent::{At, DropProfile, FairQueue, QueueLimit};
use crate::policy::{FairQueueing, Limit, Unit};
use crate::profile::{ClassFairQueue, DefaultLimit, PeerLimit};

/// A limit as written, at a class's `rate`.
pub(super) fn class_limit(limit: QueueLimit, rate: Rate) -> Limit {
    match limit {
        QueueLimit::Packets(value) => Limit::packets(value),
        QueueLimit::Bytes(value) => Limit { unit: Unit::Bytes, value, bytes: Some(value) },
        QueueLimit::Microseconds(value) => {
            let bytes = Some(bytes_in(rate, value).max(1));
            if value.is_multiple_of(1000) {
                Limit { unit: Unit::Ms, value: value / 1000, bytes }
            } else {
                Limit { unit: Unit::Us, value, bytes }
            }
        }
    }
}

/// The limit of a class at `rate`, the shaper above it or the line having `line`.
pub(super) fn default_class_limit(
    detect: Option<&At<DropProfile>>,
    rate: Rate,
    line: Rate,
    reference: Reference,
    target: Target,
) -> Limit {
    let rules = target.rules;
    if detect.is_some_and(|detect| detect.value.counts_bytes()) {
        let bytes = bytes_in(rate, *rules.byte_queue_us).max(1);
        return Limit { unit: Unit::Bytes, value: bytes, bytes: Some(bytes) };
    }
    let by_rule = || match *rules.class_queue_limit {
        DefaultLimit::Fixed { packets } => packets,
        DefaultLimit::LineTime { bits_per_packet, least_packets } => {
            (line.as_bits_per_second() / bits_per_packet).max(least_packets)
        }
    };
    let packets = target.queue_limit.or_else(|| peer_limit(rate, reference, target));
    Limit::packets(packets.unwrap_or_else(by_rule))
}

/// The limit of a class at `rate` in a policy for the peers of a tunnel, packets.
fn peer_limit(rate: Rate, reference: Reference, target: Target) -> Option<u64> {
    match *target.rules.peer_queue_limit {
        PeerLimit::ClassTime { bits_per_packet } if reference.is_per_tunnel => {
            Some((rate.as_bits_per_second() / bits_per_packet).max(1))
        }
        PeerLimit::ClassTime { .. } | PeerLimit::AsElsewhere => None,
    }
}

/// The limit of the queue of a priority class at `rate`.
pub(super) fn priority_limit(rate: Rate, reference: Reference, target: Target) -> Limit {
    let packets = target.queue_limit.or_else(|| peer_limit(rate, reference, target));
    Limit::packets(packets.unwrap_or(*target.rules.priority_queue_packets))
}

/// The limit in the form that a queue takes.
pub(super) fn queue_size(limit: Limit) -> QueueSize {
    limit.bytes.map_or(QueueSize::Packets(limit.value), QueueSize::Bytes)
}

/// Fair queueing in a class whose limit is `written`, or `limit` by default.
pub(super) fn fair_queue(
    fair: &FairQueue,
    written: Option<Limit>,
    limit: Limit,
    has_random_detect: bool,
    target: Target,
) -> FairQueueing {
    let default = FairQueueingConfig::default();
    let queues = fair.dynamic_queues.map_or(default.queues, |queues| queues.clamp(1, 4096) as u16);
    match *target.rules.class_fair_queue {
        ClassFairQueue::ByPrecedence { flow_packets } => {
            let own = written.map(|limit| queue_size(limit).count());
            let flow_limit_packets =
                fair.congestive_discard.or(own).or(target.queue_limit).unwrap_or(flow_packets);
            let limit_packets = default.limit.count();
            FairQueueing { flow_limit_packets, limit_packets, queues, by_precedence: true }
        }
        ClassFairQueue::EqualFlows { flow_part } => {
            // Limits in bytes or time are taken as packets of 1500 bytes.
            let packets = limit.bytes.map_or(limit.value, |bytes| bytes / 1500);
            let flow_limit_packets = match fair.individual_limit.or(fair.congestive_discard) {
                _ if has_random_detect => FairQueueingConfig::NO_LIMIT,
                Some(packets) => packets,
                None => (packets / flow_part).max(1),
            };
            let limit_packets =
                flow_limit_packets.saturating_mul(u64::from(queues)).min(FairQueueingConfig::NO_LIMIT);
            FairQueueing { flow_limit_packets, limit_packets, queues, by_precedence: false }
        }
    }
}
