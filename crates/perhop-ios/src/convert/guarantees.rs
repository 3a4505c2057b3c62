//! Guarantees and weights of the classes of a policy, by the profile's [`UnreservedShare`].

use perhop_qos::Rate;

use super::bandwidth::{Reservations, percent_of, priority_rate};
use super::reference::Reference;
use super::resolved::{Guarantee, GuaranteeKind, Share};
use crate::ast::{Bandwidth, CLASS_DEFAULT, PolicyClass};
use crate::profile::{ProfileRules, UnreservedShare};

/// For each class, which has a queue or not: what its `bandwidth` amounts to, and what it weighs.
pub(super) fn guarantees(
    classes: &[(&PolicyClass, bool)],
    reference: Reference,
    rules: &ProfileRules,
) -> Vec<(Option<Guarantee>, Share)> {
    let shares = match *rules.unreserved_share {
        UnreservedShare::RestOfReservable { least_percent } => reserved(classes, reference, least_percent),
        UnreservedShare::EqualPartsOfUnpromised { least_percent } => {
            promised(classes, reference, least_percent)
        }
        UnreservedShare::EqualPartsOfExcess => minimum_and_excess(classes, reference),
    };
    let guarantee = |((class, _), share): (&(&PolicyClass, bool), Share)| {
        let written = class.bandwidth.map(|bandwidth| {
            let (kind, value) = match bandwidth.value {
                Bandwidth::Kilobits(value) => (GuaranteeKind::Kbps, value),
                Bandwidth::Percent(value) => (GuaranteeKind::Percent, value),
                Bandwidth::RemainingPercent(value) => (GuaranteeKind::RemainingPercent, value),
                Bandwidth::RemainingRatio(value) => (GuaranteeKind::RemainingRatio, value),
            };
            Guarantee { kind, value, rate_bps: share.rate_bps }
        });
        (written, share)
    };
    classes.iter().zip(shares).map(guarantee).collect()
}

/// class-default weighs the unreserved rest of the reservable part, a class that is only shaped the least.
fn reserved(classes: &[(&PolicyClass, bool)], reference: Reference, least_percent: u64) -> Vec<Share> {
    let all: Vec<&PolicyClass> = classes.iter().map(|(class, _)| *class).collect();
    let reservations = Reservations::of(&all, reference.queueing, reference.reservable_percent);
    let share = |(class, _): &(&PolicyClass, bool)| {
        let rate_bps = match class.bandwidth {
            Some(bandwidth) => reservations.share(bandwidth.value),
            None if class.priority.is_some() => 0,
            None if class.name == CLASS_DEFAULT => reservations.left(least_percent),
            None => reservations.least(least_percent),
        };
        Share { rate_bps, excess: None }
    };
    classes.iter().map(share).collect()
}

/// The absolute guarantee that `bandwidth` asks for.
fn absolute(bandwidth: Bandwidth, rate: Rate) -> Option<u64> {
    match bandwidth {
        Bandwidth::Kilobits(kilobits) => Some(kilobits.saturating_mul(1000)),
        Bandwidth::Percent(percent) => Some(percent_of(rate, percent).as_bits_per_second()),
        Bandwidth::RemainingPercent(_) | Bandwidth::RemainingRatio(_) => None,
    }
}

/// Bits per second that priority classes and absolute guarantees leave of the rate.
fn left_over(classes: &[(&PolicyClass, bool)], rate: Rate) -> u64 {
    let of_class = |(class, _): &(&PolicyClass, bool)| {
        let priority = class.priority.and_then(|priority| priority_rate(priority.value.rate, rate));
        let promised = class.bandwidth.and_then(|bandwidth| absolute(bandwidth.value, rate));
        priority.map_or(0, Rate::as_bits_per_second).saturating_add(promised.unwrap_or(0))
    };
    let taken = classes.iter().map(of_class).fold(0, u64::saturating_add);
    rate.as_bits_per_second().saturating_sub(taken)
}

/// A class weighs its promise. The rate that no class is promised is an implicit promise to the classes
/// without a guarantee, class-default among them, in equal parts, and the least part at least.
fn promised(classes: &[(&PolicyClass, bool)], reference: Reference, least_percent: u64) -> Vec<Share> {
    let rate = reference.queueing;
    let left = left_over(classes, rate);
    let is_silent =
        |class: &PolicyClass, queues: bool| queues && class.bandwidth.is_none() && class.priority.is_none();
    let ratios: u64 = classes.iter().map(|(class, queues)| ratio_of(class, is_silent(class, *queues))).sum();
    let by_ratio = classes.iter().any(
        |(class, _)| matches!(class.bandwidth, Some(at) if matches!(at.value, Bandwidth::RemainingRatio(_))),
    );
    let part = |ratio: u64| (u128::from(left) * u128::from(ratio) / u128::from(ratios.max(1))) as u64;
    let percents: u64 = classes
        .iter()
        .filter_map(|(class, _)| match class.bandwidth?.value {
            Bandwidth::RemainingPercent(percent) => Some(percent),
            _ => None,
        })
        .sum();
    let silent = classes.iter().filter(|(class, queues)| is_silent(class, *queues)).count().max(1) as u64;
    let unpromised =
        left - percent_of(Rate::from_bits_per_second(left), percents.min(100)).as_bits_per_second();
    let least = percent_of(rate, least_percent).as_bits_per_second().max(1);
    let share = |(class, queues): &(&PolicyClass, bool)| {
        let rate_bps = match class.bandwidth.map(|bandwidth| bandwidth.value) {
            Some(Bandwidth::RemainingPercent(percent)) => {
                percent_of(Rate::from_bits_per_second(left), percent).as_bits_per_second().max(1)
            }
            Some(Bandwidth::RemainingRatio(ratio)) => part(ratio).max(1),
            Some(bandwidth) => absolute(bandwidth, rate).unwrap_or(0).max(1),
            None if !is_silent(class, *queues) => 0,
            None if by_ratio => part(1).max(least),
            None => (unpromised / silent).max(least),
        };
        Share { rate_bps, excess: None }
    };
    classes.iter().map(share).collect()
}

/// A class's ratio of the excess: 1 where nothing is said.
fn ratio_of(class: &PolicyClass, is_silent: bool) -> u64 {
    match class.bandwidth.map(|bandwidth| bandwidth.value) {
        Some(Bandwidth::RemainingRatio(ratio)) => ratio,
        None if is_silent => 1,
        _ => 0,
    }
}

/// Three parameters: `bandwidth` is a minimum, `bandwidth remaining` a part of the excess, which classes
/// without it share equally.
fn minimum_and_excess(classes: &[(&PolicyClass, bool)], reference: Reference) -> Vec<Share> {
    let rate = reference.queueing;
    let percents: u64 = classes
        .iter()
        .filter_map(|(class, _)| match class.bandwidth?.value {
            Bandwidth::RemainingPercent(percent) => Some(percent),
            _ => None,
        })
        .sum();
    let silent = classes.iter().filter(|(class, queues)| *queues && class.bandwidth.is_none());
    let silent = silent.filter(|(class, _)| class.priority.is_none()).count().max(1);
    // Beside percentages of the excess, the classes without share what they leave of 100.
    let unsaid =
        if percents == 0 { 1.0 } else { (100u64.saturating_sub(percents).max(1)) as f64 / silent as f64 };
    let share = |(class, _): &(&PolicyClass, bool)| {
        let bandwidth = class.bandwidth.map(|bandwidth| bandwidth.value);
        let excess = match bandwidth {
            Some(Bandwidth::RemainingPercent(percent)) => percent as f64,
            Some(Bandwidth::RemainingRatio(ratio)) => ratio as f64,
            _ => unsaid,
        };
        let rate_bps = bandwidth.and_then(|bandwidth| absolute(bandwidth, rate)).unwrap_or(0);
        Share { rate_bps, excess: Some(excess) }
    };
    classes.iter().map(share).collect()
}
