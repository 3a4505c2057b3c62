//! Limits of queues, and fair queueing of flows: the defaults of each [`Profile`].

use perhop_qos::Rate;
use perhop_qos::queue::FairQueueingConfig;
use perhop_qos::units::QueueSize;

use super::bandwidth::bytes_in;
use super::reference::Reference;
use super::resolved::{Limit, ResolvedFairQueue, Unit};
use crate::ast::{At, FairQueue, QueueLimit, RandomDetect};
use crate::platform::{Platform, Profile};

/// Packets in a class's queue of IOS, before HQF and with it: Cisco, "Understand Queue Limits and Output
/// Drops on IOS Software Platforms" (document 110850).
const CLASS_LIMIT: u64 = 64;
/// Packets in the queue of priority classes of IOS-XE: Cisco, "Queue Depth" (IOS-XE 16.12).
const QFP_PRIORITY_LIMIT: u64 = 512;
/// IOS-XE holds 50 ms of packets of 1500 bytes at the rate of the port or the shaper above: bits per second
/// for each packet. Same source.
const QFP_BITS_PER_PACKET: u64 = 240_000;
/// Policies of a tunnel's peers hold 500 ms of packets of 250 bytes at the class's rate: bits per second for
/// each packet. From the output of a 7200: 4 Mb/s has 1000 packets, 15 % of it 150.
const PER_TUNNEL_BITS_PER_PACKET: u64 = 4_000;

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
    detect: Option<&At<RandomDetect>>,
    rate: Rate,
    line: Rate,
    reference: Reference,
    platform: &Platform,
) -> Limit {
    let packets = |rate: Rate, bits: u64| rate.as_bits_per_second() / bits;
    if detect.is_some_and(|detect| detect.value.counts_bytes()) {
        // Beside thresholds in bytes: 500 ms of the class's rate. From Cisco's example of `random-detect` in
        // bytes: 1 Mb/s has 62 500 bytes.
        let bytes = bytes_in(rate, 500_000).max(1);
        return Limit { unit: Unit::Bytes, value: bytes, bytes: Some(bytes) };
    }
    Limit::packets(match platform.profile {
        _ if platform.queue_limit.is_some() => platform.queue_limit.unwrap_or(CLASS_LIMIT),
        _ if reference.is_per_tunnel => packets(rate, PER_TUNNEL_BITS_PER_PACKET).max(1),
        Profile::PreHqf | Profile::Vip7500 | Profile::Hqf => CLASS_LIMIT,
        Profile::IosXe => packets(line, QFP_BITS_PER_PACKET).max(CLASS_LIMIT),
    })
}

/// The limit of the queue of a priority class at `rate`.
pub(super) fn priority_limit(rate: Rate, reference: Reference, platform: &Platform) -> Limit {
    Limit::packets(match platform.profile {
        _ if platform.queue_limit.is_some() => platform.queue_limit.unwrap_or(CLASS_LIMIT),
        _ if reference.is_per_tunnel => (rate.as_bits_per_second() / PER_TUNNEL_BITS_PER_PACKET).max(1),
        Profile::PreHqf | Profile::Vip7500 | Profile::Hqf => CLASS_LIMIT,
        Profile::IosXe => QFP_PRIORITY_LIMIT,
    })
}

/// As a queue has it.
pub(super) fn queue_size(limit: Limit) -> QueueSize {
    limit.bytes.map_or(QueueSize::Packets(limit.value), QueueSize::Bytes)
}

/// Packets that no queue of flows reaches.
const UNLIMITED: u64 = 1_000_000;

/// Fair queueing in a class whose limit is `written`, or `limit` by default.
///
/// Before HQF: flows weigh by IP precedence, each holds the class's limit at most. With it: flows are equal
/// (measured on 15.0M by I. Pepelnjak, "HQF intra-class WFQ ignores IP precedence", blog.ipspace.net 2009),
/// each holds a quarter of the class's limit, and the sum has no limit; beside WRED only its thresholds
/// count (Cisco document 110850).
pub(super) fn fair_queue(
    fair: &FairQueue,
    written: Option<Limit>,
    limit: Limit,
    has_random_detect: bool,
    platform: &Platform,
) -> ResolvedFairQueue {
    let default = FairQueueingConfig::default();
    let queues = fair.dynamic_queues.map_or(default.queues, |queues| queues.clamp(1, 4096) as u16);
    if !platform.profile.is_hierarchical() {
        let own = written.map(|limit| queue_size(limit).count());
        let flow_limit_packets =
            fair.congestive_discard.or(own).or(platform.queue_limit).unwrap_or(CLASS_LIMIT);
        let limit_packets = default.limit.count();
        return ResolvedFairQueue { flow_limit_packets, limit_packets, queues, by_precedence: true };
    }
    // Limits in bytes or time are taken as packets of 1500 bytes.
    let packets = limit.bytes.map_or(limit.value, |bytes| bytes / 1500);
    let flow_limit_packets = match fair.individual_limit.or(fair.congestive_discard) {
        _ if has_random_detect => UNLIMITED,
        Some(packets) => packets,
        None => (packets / 4).max(1),
    };
    let limit_packets = flow_limit_packets.saturating_mul(u64::from(queues)).min(UNLIMITED);
    ResolvedFairQueue { flow_limit_packets, limit_packets, queues, by_precedence: false }
}
