//! Rates, bursts and shares as numbers: percentages of a reference, and the profile's defaults.

use perhop_qos::scheduler::{ShapeConfig, ShapeForm};
use perhop_qos::{ByteSize, Rate};

use crate::intent::{Class, Guarantee, PriorityRate, Shape, TrafficRate};
use crate::policy::ShapeKind;
use crate::profile::{ProfileRules, ShaperBurst};

const LEAST: Rate = Rate::from_bits_per_second(1);

/// Returns `percent` of `rate`.
pub(super) fn percent_of(rate: Rate, percent: u64) -> Rate {
    let bits = u128::from(rate.as_bits_per_second()) * u128::from(percent) / 100;
    Rate::from_bits_per_second(u64::try_from(bits).unwrap_or(u64::MAX))
}

/// Converts the rate of a policy on a circuit of `bandwidth`. The result is at least one bit per second,
/// because a policer cannot have a rate of 0.
pub(super) fn rate_of(rate: TrafficRate, bandwidth: Rate) -> Rate {
    match rate {
        TrafficRate::BitsPerSecond(bits) => Rate::from_bits_per_second(bits),
        TrafficRate::Percent(percent) => percent_of(bandwidth, percent).max(LEAST),
    }
}

/// Returns the rate up to which a priority class may send under congestion; `None` if it has no limit.
pub(super) fn priority_rate(rate: PriorityRate, bandwidth: Rate) -> Option<Rate> {
    match rate {
        PriorityRate::Unlimited => None,
        PriorityRate::Kilobits(kilobits) => Some(Rate::from_bits_per_second(kilobits.saturating_mul(1000))),
        PriorityRate::Percent(percent) => Some(percent_of(bandwidth, percent).max(LEAST)),
    }
}

/// Returns the bytes that `rate` carries in a number of microseconds.
pub(super) fn bytes_in(rate: Rate, microseconds: u64) -> u64 {
    let bits = u128::from(rate.as_bits_per_second()) * u128::from(microseconds) / 1_000_000;
    u64::try_from(bits / 8).unwrap_or(u64::MAX)
}

/// The rates and bursts of a policer as configured.
#[derive(Clone, Copy)]
pub(super) struct WrittenPolice {
    pub(super) rate: TrafficRate,
    pub(super) burst: Option<u64>,
    pub(super) peak: Option<TrafficRate>,
    pub(super) excess_burst: Option<u64>,
}

/// Returns the committed and the excess burst of a policer, bytes: as configured, or by the rule of the
/// profile.
pub(super) fn bursts_of_police(
    police: WrittenPolice,
    cir: Rate,
    bandwidth: Rate,
    rules: &ProfileRules,
) -> (ByteSize, ByteSize) {
    let written = |burst: u64, rate: Rate| match police.rate {
        TrafficRate::BitsPerSecond(_) => burst,
        // If the rate is a percentage, bursts are in milliseconds.
        TrafficRate::Percent(_) => bytes_in(rate, burst.saturating_mul(1000)).max(1),
    };
    let most = Some(*rules.police_burst_most_bytes).filter(|most| *most > 0).unwrap_or(u64::MAX);
    let default =
        |rate: Rate| bytes_in(rate, *rules.police_burst_us).max(*rules.police_burst_bytes).min(most);
    let committed = police.burst.map_or_else(|| default(cir), |burst| written(burst, cir));
    let second = police.peak.map(|peak| rate_of(peak, bandwidth));
    let excess = match (police.excess_burst, second) {
        (Some(burst), rate) => written(burst, rate.unwrap_or(cir)),
        (None, Some(peak)) => default(peak),
        (None, None) => committed,
    };
    (ByteSize::from_bytes(committed), ByteSize::from_bytes(excess))
}

/// The maximum burst of a shaper, bytes. Routers accept only much smaller bursts.
const GREATEST_BURST: u64 = u32::MAX as u64;

/// Returns the shaper of a class on a circuit of `bandwidth`. `rule` sets the default burst.
pub(super) fn shaper(shape: &Shape, bandwidth: Rate, rule: ShaperBurst) -> ShapeConfig {
    let rate = rate_of(shape.rate, bandwidth);
    let written = |burst: u64| match shape.rate {
        TrafficRate::BitsPerSecond(_) => burst / 8,
        TrafficRate::Percent(_) => bytes_in(rate, burst.saturating_mul(1000)),
    };
    let default = match rule {
        ShaperBurst::BitsWhenSlow { bits, below_bps, .. } if rate.as_bits_per_second() < below_bps => {
            bits / 8
        }
        ShaperBurst::BitsWhenSlow { microseconds, .. } | ShaperBurst::Interval { microseconds } => {
            bytes_in(rate, microseconds)
        }
    };
    let burst = shape.burst.map_or(default, written).clamp(1, GREATEST_BURST);
    // The default of the excess burst is the committed burst.
    let excess = shape.excess_burst.map_or(burst, written).min(GREATEST_BURST);
    let (form, excess) = match shape.kind {
        ShapeKind::Peak if excess > 0 => (ShapeForm::Peak, excess),
        ShapeKind::Peak | ShapeKind::Average => (ShapeForm::Average, excess),
    };
    ShapeConfig { rate, burst: ByteSize::from_bytes(burst), excess: ByteSize::from_bytes(excess), form }
}

/// The reservations of the classes of a policy on a circuit of some bandwidth.
pub(super) struct Reservations {
    /// The rate that classes may reserve, bits per second.
    pub(super) reservable: u64,
    /// The sum of the rates of priority classes, bits per second.
    priority: u64,
    /// The sum of the guarantees of the other classes, bits per second, including `bandwidth remaining`.
    others: u64,
    /// The sum of the `remaining ratio`s, including class-default.
    ratios: u64,
    bandwidth: Rate,
}

impl Reservations {
    /// Returns the reservations of `classes`, which may reserve `percent` of `bandwidth`.
    pub(super) fn of_classes<'a>(
        classes: impl Iterator<Item = &'a Class> + Clone,
        bandwidth: Rate,
        percent: u64,
    ) -> Reservations {
        let reservable = percent_of(bandwidth, percent).as_bits_per_second();
        let priorities =
            classes.clone().filter_map(|class| priority_rate(class.priority?.value.rate, bandwidth));
        let priority = priorities.map(Rate::as_bits_per_second).fold(0, u64::saturating_add);
        let ratio = |class: &Class| match class.guarantee?.value {
            Guarantee::RemainingRatio(ratio) => Some(ratio),
            _ => None,
        };
        let ratios: u64 = classes.clone().filter_map(ratio).sum();
        let default_has_one = classes.clone().any(|class| class.takes_rest && ratio(class).is_some());
        let ratios = if default_has_one { ratios } else { ratios + 1 };
        let mut all = Reservations { reservable, priority, others: 0, ratios, bandwidth };
        let others = classes.filter_map(|class| Some(all.share(class.guarantee?.value)));
        all.others = others.fold(0, u64::saturating_add);
        all
    }
    /// Returns the rate of `guarantee`, bits per second.
    pub(super) fn share(&self, guarantee: Guarantee) -> u64 {
        let left = self.reservable.saturating_sub(self.priority);
        let bits = match guarantee {
            Guarantee::Kilobits(kilobits) => kilobits.saturating_mul(1000),
            Guarantee::BitsPerSecond(bits) => bits,
            Guarantee::Percent(percent) => percent_of(self.bandwidth, percent).as_bits_per_second(),
            Guarantee::RemainingPercent(percent) => {
                percent_of(Rate::from_bits_per_second(left), percent).as_bits_per_second()
            }
            Guarantee::RemainingRatio(ratio) => {
                (u128::from(left) * u128::from(ratio) / u128::from(self.ratios.max(1))) as u64
            }
        };
        bits.max(1)
    }
    /// Returns the total of the reservations, bits per second.
    pub(super) fn total(&self) -> u64 {
        self.priority.saturating_add(self.others)
    }
    /// Returns the remaining rate for class-default, at least `percent` of the bandwidth.
    pub(super) fn left(&self, percent: u64) -> u64 {
        self.reservable.saturating_sub(self.total()).max(self.least(percent))
    }
    /// Returns `percent` of the bandwidth, at least one bit per second.
    pub(super) fn least(&self, percent: u64) -> u64 {
        percent_of(self.bandwidth, percent).as_bits_per_second().max(1)
    }
}
