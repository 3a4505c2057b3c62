//! Limits of queues, and fair queueing of flows: configured, or computed by the rules of the profile.

use perhop_qos::Rate;
use perhop_qos::queue::FairQueueingConfig;
use perhop_qos::units::QueueSize;

use super::bandwidth::{bytes_in, percent_of};
use super::reference::Reference;
use super::target::Target;
use crate::intent::{At, DropProfile, FairQueue, QueueLimit};
use crate::policy::{FairQueueing, Limit, Unit};
use crate::profile::{ClassFairQueue, DefaultLimit, LimitPrecision, PeerLimit, ProfileRules};

/// Converts a configured limit. A time is converted at the `rate` of the class.
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

/// Returns the default limit of a class at `rate`. `line` is the rate of the next enclosing shaper, otherwise
/// of the port.
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
    let packets = target.queue_limit.or_else(|| peer_limit(rate, reference, target));
    let by_rule = || limit_by_rule(*rules.class_queue_limit, rate, line, reference);
    packets.map_or_else(by_rule, Limit::packets)
}

/// The highest interface rate for the limit `gigabit` of [`DefaultLimit::PortBytes`].
const GIGABIT: Rate = Rate::from_bits_per_second(1_000_000_000);

/// Returns the limit by a rule of the profile.
pub(super) fn limit_by_rule(rule: DefaultLimit, rate: Rate, line: Rate, reference: Reference) -> Limit {
    match rule {
        DefaultLimit::Fixed { packets } => Limit::packets(packets),
        DefaultLimit::LineTime { bits_per_packet, least_packets } => {
            Limit::packets((line.as_bits_per_second() / bits_per_packet).max(least_packets))
        }
        DefaultLimit::ServiceTime { microseconds } => bytes(bytes_in(rate, microseconds)),
        DefaultLimit::InterfaceTime { microseconds } => bytes(bytes_in(reference.interface, microseconds)),
        DefaultLimit::PortBytes { gigabit, .. } if reference.interface <= GIGABIT => bytes(gigabit),
        DefaultLimit::PortBytes { faster, .. } => bytes(faster),
    }
}

fn bytes(bytes: u64) -> Limit {
    Limit { unit: Unit::Bytes, value: bytes.max(1), bytes: Some(bytes.max(1)) }
}

/// Returns the rate that converts configured times to limits. It follows the rule for the default limit: the
/// rate of the interface for `InterfaceTime`; for `ServiceTime` the rate `service_bps`, or a hundredth of the
/// enclosing rate if that is 0. `None` for other rules. Cisco, "ASR 9000 Series Aggregation Services Router
/// Modular Quality of Service Configuration Guide", queue-limit.
pub(super) fn rate_of_times(
    has_priority: bool,
    service_bps: u64,
    reference: Reference,
    rules: &ProfileRules,
) -> Option<Rate> {
    let rule = if has_priority { *rules.priority_queue_limit } else { *rules.class_queue_limit };
    match rule {
        DefaultLimit::ServiceTime { .. } if service_bps > 0 => Some(Rate::from_bits_per_second(service_bps)),
        DefaultLimit::ServiceTime { .. } => Some(percent_of(reference.line, LEAST_SERVICE_PERCENT)),
        DefaultLimit::InterfaceTime { .. } => Some(reference.interface),
        DefaultLimit::Fixed { .. } | DefaultLimit::LineTime { .. } | DefaultLimit::PortBytes { .. } => None,
    }
}

/// The service rate of a class without a guarantee, in percent of the enclosing rate.
const LEAST_SERVICE_PERCENT: u64 = 1;

/// Returns the limit as the hardware stores it, rounded to its precision.
pub(super) fn stored(limit: Limit, rules: &ProfileRules) -> Limit {
    let Some(bytes) = limit.bytes else { return limit };
    let most = Some(*rules.limit_most_bytes).filter(|most| *most > 0).unwrap_or(u64::MAX);
    let bytes = match *rules.limit_precision {
        LimitPrecision::Exact => bytes,
        LimitPrecision::Mantissa { bits } => {
            let exponent = (u64::BITS - bytes.leading_zeros()).saturating_sub(bits);
            bytes.div_ceil(1 << exponent).saturating_mul(1 << exponent)
        }
        LimitPrecision::Blocks { bytes: block } => (bytes / block).max(1).saturating_mul(block),
    };
    Limit { bytes: Some(bytes.min(most)), ..limit }
}

/// Returns the limit of a class at `rate` in a policy for the peers of a tunnel, packets; `None` if no
/// special rule applies.
fn peer_limit(rate: Rate, reference: Reference, target: Target) -> Option<u64> {
    match *target.rules.peer_queue_limit {
        PeerLimit::ClassTime { bits_per_packet } if reference.is_per_tunnel => {
            Some((rate.as_bits_per_second() / bits_per_packet).max(1))
        }
        PeerLimit::ClassTime { .. } | PeerLimit::AsElsewhere => None,
    }
}

/// Returns the limit of the queue of a priority class at `rate`.
pub(super) fn priority_limit(rate: Rate, reference: Reference, target: Target) -> Limit {
    let packets = target.queue_limit.or_else(|| peer_limit(rate, reference, target));
    let by_rule = || limit_by_rule(*target.rules.priority_queue_limit, rate, reference.line, reference);
    packets.map_or_else(by_rule, Limit::packets)
}

/// Converts a limit to the size of a queue.
pub(super) fn queue_size(limit: Limit) -> QueueSize {
    limit.bytes.map_or(QueueSize::Packets(limit.value), QueueSize::Bytes)
}

/// Returns the fair queueing of a class with the configured limit `written`, or the default `limit`.
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
            // Limits in bytes or time are converted to packets of 1500 bytes.
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
