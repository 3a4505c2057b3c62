//! Guarantees and weights of the classes of a policy, by the profile's [`UnreservedShare`].

use perhop_qos::Rate;

use super::bandwidth::{Reservations, percent_of, priority_rate};
use super::reference::Reference;
use super::resolved::Share;
use crate::intent::{Class, Guarantee as Written, Policy};
use crate::policy::{Guarantee, GuaranteeKind};
use crate::profile::{GuaranteeSum, ProfileRules, UnreservedShare};

/// Returns the guarantee of each class as a rate, and its weight in the scheduler. The flag next to a class
/// is true if the class has a queue.
pub(super) fn guarantees(
    classes: &[(&Class, bool)],
    reference: Reference,
    rules: &ProfileRules,
) -> Vec<(Option<Guarantee>, Share)> {
    let shares = match *rules.unreserved_share {
        UnreservedShare::RestOfReservable { least_percent } => reserved(classes, reference, least_percent),
        UnreservedShare::EqualPartsOfUnpromised { least_percent } => {
            promised(classes, reference, least_percent)
        }
        UnreservedShare::EqualPartsOfExcess => minimum_and_excess(classes, reference),
        UnreservedShare::LeastWeight => weights(classes, reference.queueing),
    };
    let guarantee = |((class, _), share): (&(&Class, bool), Share)| {
        let written = class.guarantee.map(|bandwidth| {
            let (kind, value) = match bandwidth.value {
                Written::Kilobits(value) => (GuaranteeKind::Kbps, value),
                Written::BitsPerSecond(value) => (GuaranteeKind::Kbps, value / 1000),
                Written::Percent(value) => (GuaranteeKind::Percent, value),
                Written::RemainingPercent(value) => (GuaranteeKind::RemainingPercent, value),
                Written::RemainingRatio(value) => (GuaranteeKind::RemainingRatio, value),
            };
            Guarantee { kind, value, rate_bps: share.rate_bps }
        });
        (written, share)
    };
    classes.iter().zip(shares).map(guarantee).collect()
}

/// Returns shares in which the weight of class-default is the unreserved part of the reservable rate. A class
/// with only a shaper has the least weight.
fn reserved(classes: &[(&Class, bool)], reference: Reference, least_percent: u64) -> Vec<Share> {
    let all = classes.iter().map(|(class, _)| *class);
    let reservations = Reservations::of_classes(all, reference.queueing, reference.reservable_percent);
    let share = |(class, _): &(&Class, bool)| {
        let rate_bps = match class.guarantee {
            Some(at) if matches!(at.value, Written::RemainingPercent(0) | Written::Percent(0)) => {
                least_weight(reference.queueing)
            }
            Some(bandwidth) => reservations.share(bandwidth.value),
            None if class.priority.is_some() => 0,
            None if class.takes_rest => reservations.left(least_percent),
            None => reservations.least(least_percent),
        };
        Share { rate_bps, excess: None }
    };
    classes.iter().map(share).collect()
}

/// Returns the minimum that a guarantee sets, bits per second; `None` for a share of the remaining rate.
fn absolute(bandwidth: Written, rate: Rate) -> Option<u64> {
    match bandwidth {
        Written::Kilobits(kilobits) => Some(kilobits.saturating_mul(1000)),
        Written::BitsPerSecond(bits) => Some(bits),
        Written::Percent(percent) => Some(percent_of(rate, percent).as_bits_per_second()),
        Written::RemainingPercent(_) | Written::RemainingRatio(_) => None,
    }
}

/// Returns the rate that the priority and the minimum of a class reserve, bits per second.
fn reserved_rate(class: &Class, rate: Rate) -> u64 {
    let priority = class.priority.and_then(|priority| priority_rate(priority.value.rate, rate));
    let promised = class.guarantee.and_then(|guarantee| absolute(guarantee.value, rate));
    priority.map_or(0, Rate::as_bits_per_second).saturating_add(promised.unwrap_or(0))
}

/// Returns the rate that priority classes and minima leave, bits per second.
fn left_over(classes: &[(&Class, bool)], rate: Rate) -> u64 {
    let taken = classes.iter().map(|(class, _)| reserved_rate(class, rate)).fold(0, u64::saturating_add);
    rate.as_bits_per_second().saturating_sub(taken)
}

/// Returns shares in which the weight of a class is its guarantee. Classes without a guarantee, including
/// class-default, divide the unguaranteed rate equally. Each of them gets at least the least weight.
fn promised(classes: &[(&Class, bool)], reference: Reference, least_percent: u64) -> Vec<Share> {
    let rate = reference.queueing;
    let left = left_over(classes, rate);
    let has_no_share =
        |class: &Class, queues: bool| queues && class.guarantee.is_none() && class.priority.is_none();
    let ratios: u64 =
        classes.iter().map(|(class, queues)| ratio_of(class, has_no_share(class, *queues))).sum();
    let by_ratio = classes.iter().any(
        |(class, _)| matches!(class.guarantee, Some(at) if matches!(at.value, Written::RemainingRatio(_))),
    );
    let part = |ratio: u64| (u128::from(left) * u128::from(ratio) / u128::from(ratios.max(1))) as u64;
    let percents = remaining_percents(classes);
    let without_share =
        classes.iter().filter(|(class, queues)| has_no_share(class, *queues)).count().max(1) as u64;
    let unpromised =
        left - percent_of(Rate::from_bits_per_second(left), percents.min(100)).as_bits_per_second();
    let least = percent_of(rate, least_percent).as_bits_per_second().max(1);
    let share = |(class, queues): &(&Class, bool)| {
        let rate_bps = match class.guarantee.map(|bandwidth| bandwidth.value) {
            // A percentage of 0 can occur, because NX-OS accepts it and the user can choose another platform
            // for such a text. It is lowered to the least weight.
            Some(Written::RemainingPercent(0) | Written::Percent(0)) => least_weight(rate),
            Some(Written::RemainingPercent(percent)) => {
                percent_of(Rate::from_bits_per_second(left), percent).as_bits_per_second().max(1)
            }
            Some(Written::RemainingRatio(ratio)) => part(ratio).max(1),
            Some(bandwidth) => absolute(bandwidth, rate).unwrap_or(0).max(1),
            None if !has_no_share(class, *queues) => 0,
            None if by_ratio => part(1).max(least),
            None => (unpromised / without_share).max(least),
        };
        Share { rate_bps, excess: None }
    };
    classes.iter().map(share).collect()
}

/// The minimum weight is the rate divided by this number. Vendors do not publish the minimum. The schedulers
/// of perhop have no smaller weights.
const LEAST_PART: u64 = 1_000_000;

/// Returns the least weight as a rate, bits per second.
fn least_weight(rate: Rate) -> u64 {
    (rate.as_bits_per_second() / LEAST_PART).max(1)
}

/// Returns shares in which the weight of a class is its minimum, or its percentage of the rate that minima
/// leave. A percentage is divided by the sum of the percentages. A class with neither, or with 0 percent, has
/// the least weight and gets the rate that the other classes leave.
fn weights(classes: &[(&Class, bool)], rate: Rate) -> Vec<Share> {
    let left = u128::from(left_over(classes, rate));
    let percents = u128::from(remaining_percents(classes).max(1));
    let share = |(class, _): &(&Class, bool)| {
        let rate_bps = match class.guarantee.map(|bandwidth| bandwidth.value) {
            None if class.priority.is_some() => 0,
            Some(Written::RemainingPercent(percent)) => (left * u128::from(percent) / percents) as u64,
            Some(bandwidth) => absolute(bandwidth, rate).unwrap_or(0),
            None => 0,
        };
        let least = if class.priority.is_none() { least_weight(rate) } else { 0 };
        Share { rate_bps: rate_bps.max(least), excess: None }
    };
    classes.iter().map(share).collect()
}

/// Returns the configured share of a class in the excess.
fn excess_of(class: &Class) -> Option<Written> {
    let mut shares = [class.excess, class.guarantee].into_iter().flatten().map(|at| at.value);
    shares.find(|share| !share.is_minimum())
}

/// Returns the guaranteed service rate of each class, bits per second: its minimum and its configured share
/// of the rate without minima. Cisco, "Modular Quality of Service Command Reference for Cisco NCS 540",
/// queue-limit.
pub(super) fn service_rates(classes: &[(&Class, bool)], rate: Rate) -> Vec<u64> {
    let left = left_over(classes, rate);
    let needs_ratio = |class: &Class| class.priority.is_none() && excess_of(class).is_none();
    let ratios: u64 = classes
        .iter()
        .map(|(class, queues)| match excess_of(class) {
            Some(Written::RemainingRatio(ratio)) => ratio,
            // The default ratio is 1.
            None if *queues && needs_ratio(class) => 1,
            _ => 0,
        })
        .sum();
    let share = |class: &Class| match excess_of(class) {
        Some(Written::RemainingPercent(percent)) => {
            percent_of(Rate::from_bits_per_second(left), percent).as_bits_per_second()
        }
        Some(Written::RemainingRatio(ratio)) => {
            (u128::from(left) * u128::from(ratio) / u128::from(ratios.max(1))) as u64
        }
        _ => 0,
    };
    let minimum = |class: &Class| class.guarantee.and_then(|at| absolute(at.value, rate)).unwrap_or(0);
    classes.iter().map(|(class, _)| minimum(class).saturating_add(share(class))).collect()
}

/// Returns the sum of the percentages of the excess.
fn remaining_percents(classes: &[(&Class, bool)]) -> u64 {
    let percent = |class: &Class| match excess_of(class)? {
        Written::RemainingPercent(percent) => Some(percent),
        _ => None,
    };
    classes.iter().filter_map(|(class, _)| percent(class)).sum()
}

/// Returns the configured ratio of a class in the excess; 1 for a class without a share, otherwise 0.
fn ratio_of(class: &Class, has_no_share: bool) -> u64 {
    match class.guarantee.map(|bandwidth| bandwidth.value) {
        Some(Written::RemainingRatio(ratio)) => ratio,
        None if has_no_share => 1,
        _ => 0,
    }
}

/// Returns shares for the three-parameter scheduler: `bandwidth` is a minimum, and `bandwidth remaining` is a
/// share of the excess. Classes without `bandwidth remaining` share equally.
fn minimum_and_excess(classes: &[(&Class, bool)], reference: Reference) -> Vec<Share> {
    let rate = reference.queueing;
    let percents = remaining_percents(classes);
    let has_no_share = |class: &Class| class.priority.is_none() && excess_of(class).is_none();
    let without_share =
        classes.iter().filter(|(class, queues)| *queues && has_no_share(class)).count().max(1);
    // If some classes have a percentage of the excess, the classes without one divide the remaining
    // percentage.
    let excess_without_share = if percents == 0 {
        1.0
    } else {
        (100u64.saturating_sub(percents).max(1)) as f64 / without_share as f64
    };
    let share = |(class, _): &(&Class, bool)| {
        let bandwidth = class.guarantee.map(|bandwidth| bandwidth.value);
        let excess = match excess_of(class) {
            Some(Written::RemainingPercent(0)) => 100.0 / LEAST_PART as f64,
            Some(Written::RemainingPercent(percent)) => percent as f64,
            Some(Written::RemainingRatio(ratio)) => ratio as f64,
            _ => excess_without_share,
        };
        let rate_bps = bandwidth.and_then(|bandwidth| absolute(bandwidth, rate)).unwrap_or(0);
        Share { rate_bps, excess: Some(excess) }
    };
    classes.iter().map(share).collect()
}

/// The guarantees of an attached policy, and the limit on their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuaranteeTotal {
    /// The sum of the guarantees, bits per second.
    pub total_bps: u64,
    /// The limit on the sum, bits per second.
    pub limit_bps: u64,
}

/// Adds up the guarantees of `policy` as the platform does when the policy is attached.
pub fn guarantee_total(policy: &Policy, reference: Reference, rules: &ProfileRules) -> GuaranteeTotal {
    match *rules.guarantee_sum {
        GuaranteeSum::Reservations { .. } => {
            let percent = reference.reservable_percent;
            let reservations = Reservations::of_classes(policy.classes.iter(), reference.queueing, percent);
            GuaranteeTotal { total_bps: reservations.total(), limit_bps: reservations.reservable }
        }
        GuaranteeSum::Promises { percent, with_class_default_percent } => {
            let default_asks =
                policy.classes.iter().any(|class| class.takes_rest && class.guarantee.is_some());
            let percent = if default_asks { with_class_default_percent } else { percent };
            let rate = reference.queueing;
            let total_bps =
                policy.classes.iter().map(|class| reserved_rate(class, rate)).fold(0, u64::saturating_add);
            GuaranteeTotal { total_bps, limit_bps: percent_of(rate, percent).as_bits_per_second() }
        }
    }
}
