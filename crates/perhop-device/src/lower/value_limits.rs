//! Limits of packets with some values of a field: weighted tail drop.

use std::collections::BTreeMap;

use perhop_qos::buffer::{BufferConfig, WeightedTailDropConfig};
use perhop_qos::classifier::OneOrMany;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::units::QueueSize;
use perhop_qos::{Color, Dscp, Rate};

use super::limits::{class_limit, queue_size};
use super::resolved::ResolvedValueLimits;
use crate::intent::{PartialLimit, ValueLimits};
use crate::policy::{Basis, Limit};

/// Returns the limits `written` of a class that has the queue limit `own` and the rate `rate`. A limit
/// without a field value applies to all packets.
pub(super) fn value_limits(written: &ValueLimits, own: Limit, rate: Rate) -> ResolvedValueLimits {
    let mut limits = BTreeMap::new();
    for (values, limit) in &written.limits {
        let limit = match limit {
            PartialLimit::Limit(limit) => class_limit(*limit, rate),
            PartialLimit::Percent(percent) => part_of(own, *percent),
        };
        let count = if written.basis == Basis::Dscp { 64 } else { 8 };
        let all = (0..count).filter(|_| values.is_empty());
        limits.extend(values.iter().copied().chain(all).map(|value| (value, limit)));
    }
    ResolvedValueLimits { basis: written.basis, limits }
}

/// Returns `percent` of `limit`, at least one packet or byte.
fn part_of(limit: Limit, percent: u64) -> Limit {
    let part = |whole: u64| ((u128::from(whole) * u128::from(percent) / 100) as u64).max(1);
    Limit { value: part(limit.value), bytes: limit.bytes.map(part), ..limit }
}

/// Returns the buffer manager of a queue that has separate limits for some values and `own` for all others.
/// Also returns the field that determines the drop precedence of a packet.
pub(super) fn weighted_tail_drop(
    limits: &ResolvedValueLimits,
    own: Limit,
) -> (BufferConfig, PrecedenceSource) {
    let limit = |value: u8| queue_size(limits.limits.get(&value).copied().unwrap_or(own));
    let by_number = || (0..8).map(limit).collect();
    let (limits, source): (Vec<QueueSize>, _) = match limits.basis {
        Basis::Precedence => (by_number(), PrecedenceSource::IpPrecedence),
        Basis::Cos => (by_number(), PrecedenceSource::Cos),
        // The discard class is the color in perhop: both are a drop precedence inside the node.
        Basis::DiscardClass => (by_number(), PrecedenceSource::Color),
        Basis::Dscp => by_dscp(limit, queue_size(own)),
    };
    (BufferConfig::WeightedTailDrop(WeightedTailDropConfig { limits }), source)
}

/// Returns the limits by codepoint. Codepoints with equal limits form a group. The last group has the limit
/// `own`. It contains all codepoints without a limit, and the codepoints for which no unused drop precedence
/// exists.
fn by_dscp(of: impl Fn(u8) -> QueueSize, own: QueueSize) -> (Vec<QueueSize>, PrecedenceSource) {
    let mut groups: Vec<(QueueSize, Vec<Dscp>)> = Vec::new();
    let mut last = (own, Vec::new());
    for dscp in (0..64).filter_map(Dscp::new) {
        let limit = of(dscp.value());
        let is_new = !groups.iter().any(|(other, _)| *other == limit);
        if limit == own || (is_new && groups.len() == Color::COUNT - 1) {
            last.1.push(dscp);
        } else if let Some((_, dscps)) = groups.iter_mut().find(|(other, _)| *other == limit) {
            dscps.push(dscp);
        } else {
            groups.push((limit, vec![dscp]));
        }
    }
    last.1.truncate(1);
    groups.extend(Some(last).filter(|(_, dscps)| !dscps.is_empty()));
    let (limits, dscps): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    (limits, PrecedenceSource::ByDscp(dscps.into_iter().map(OneOrMany).collect()))
}
