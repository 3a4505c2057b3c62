//! WRED: configured thresholds, or thresholds by the rules of the profile.

use std::collections::BTreeMap;

use perhop_qos::buffer::{AveragingConfig, BufferConfig, EcnConfig, Law, MredConfig, PrecedenceConfig};
use perhop_qos::classifier::OneOrMany;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::units::QueueSize;
use perhop_qos::{Color, Dscp, Rate};

use super::bandwidth::bytes_in;
use super::target::Target;
use crate::intent::{At, Condition, DropProfile, ThresholdUnit, Thresholds};
use crate::policy::{Basis, Limit, RandomDetect, RandomDetectRow, Unit};
use crate::profile::{EcnAboveMaximum, WredDscpMinima, WredMaximum, WredMinima};

/// The values that thresholds refer to: the limit of the queue, and the rate that converts times to bytes.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub(super) limit: Limit,
    pub(super) rate: Rate,
}

/// Returns `detect` with all its thresholds, for packets that meet `condition`, in `queue`.
pub(super) fn random_detect(
    detect: &DropProfile,
    condition: &Condition,
    queue: Queue,
    target: Target,
) -> RandomDetect {
    let defaults = Defaults::of_queue(detect, queue, target);
    // The thresholds of the aggregate apply to values without their own.
    let aggregate = detect.aggregate.and_then(|at| at.value).map(|it| in_unit(it, detect.unit, queue));
    let written = |list: &BTreeMap<u8, At<Thresholds>>, number: u8| {
        list.get(&number).map(|at| in_unit(at.value, detect.unit, queue))
    };
    let by_number = |list: &BTreeMap<u8, At<Thresholds>>| {
        let precedence_row = |number: u8| {
            let default = aggregate.unwrap_or_else(|| defaults.of_precedence(number));
            row(number.to_string(), number, written(list, number), default, defaults.unit)
        };
        (0..8).map(precedence_row).collect()
    };
    let rows = match detect.basis {
        Basis::Precedence => by_number(&detect.precedences),
        Basis::DiscardClass => by_number(&detect.discard_classes),
        Basis::Cos => by_number(&detect.classes_of_service),
        Basis::Dscp => {
            let of_dscp = |dscp: Dscp| {
                let (number, default) = (dscp.value(), aggregate.unwrap_or_else(|| defaults.of_dscp(dscp)));
                row(dscp.to_string(), number, written(&detect.dscps, number), default, defaults.unit)
            };
            codepoints(condition).into_iter().map(of_dscp).collect()
        }
    };
    RandomDetect {
        basis: detect.basis,
        exponent: detect.exponent.unwrap_or(*target.rules.wred_exponent),
        ecn: detect.ecn.is_some(),
        rows,
    }
}

/// Returns the possible codepoints of packets of `condition`; at least one, because WRED needs thresholds
/// even if no packet belongs to the class.
fn codepoints(condition: &Condition) -> Vec<Dscp> {
    let mut found: Vec<Dscp> =
        (0..64).filter_map(Dscp::new).filter(|dscp| condition.may_match(*dscp)).collect();
    if found.is_empty() {
        found.push(Dscp::DEFAULT);
    }
    found
}

fn row(
    value: String,
    number: u8,
    written: Option<Thresholds>,
    default: Thresholds,
    unit: Unit,
) -> RandomDetectRow {
    let Thresholds { min, max, mark_probability_denominator } = written.unwrap_or(default);
    RandomDetectRow {
        value,
        number,
        is_written: written.is_some(),
        min,
        max,
        unit,
        mark_denominator: mark_probability_denominator,
    }
}

/// Converts configured thresholds to packets or bytes.
fn in_unit(thresholds: Thresholds, unit: ThresholdUnit, queue: Queue) -> Thresholds {
    let limit = queue.limit.bytes.unwrap_or(queue.limit.value);
    let convert = |value: u64| match unit {
        ThresholdUnit::Packets | ThresholdUnit::Bytes => value,
        ThresholdUnit::Microseconds => bytes_in(queue.rate, value).max(1),
        ThresholdUnit::Percent => (u128::from(limit) * u128::from(value) / 100) as u64,
    };
    let min = convert(thresholds.min);
    Thresholds { min, max: convert(thresholds.max).max(min + 1), ..thresholds }
}

/// Default thresholds.
struct Defaults {
    by_precedence: WredMinima,
    by_dscp: WredDscpMinima,
    denominator: u64,
    max: u64,
    unit: Unit,
}

impl Defaults {
    /// Returns the thresholds of the profile. Thresholds in bytes or in percent of the limit follow one rule
    /// on all platforms. The rule comes from Cisco's example of `random-detect` in bytes, with a maximum of
    /// 31,250 at a limit of 62,500.
    fn of_queue(detect: &DropProfile, queue: Queue, target: Target) -> Defaults {
        let Queue { limit, rate } = queue;
        let rules = target.rules;
        let part_of_limit = WredMinima::SixteenthsFromHalf;
        let (by_precedence, max, unit) = match detect.unit {
            ThresholdUnit::Percent => match limit.bytes {
                Some(bytes) => (part_of_limit, bytes / 2, Unit::Bytes),
                None => (part_of_limit, limit.value / 2, Unit::Packets),
            },
            ThresholdUnit::Bytes | ThresholdUnit::Microseconds
                if !matches!(*rules.wred_maximum, WredMaximum::ServiceTime { .. }) =>
            {
                (part_of_limit, limit.bytes.unwrap_or(limit.value) / 2, Unit::Bytes)
            }
            _ => {
                let (max, unit) = match *rules.wred_maximum {
                    WredMaximum::HalfOfLimit => {
                        (limit.bytes.map_or(limit.value, |bytes| bytes / 1500) / 2, Unit::Packets)
                    }
                    WredMaximum::Fixed { packets } => (packets, Unit::Packets),
                    WredMaximum::ServiceTime { microseconds } => (bytes_in(rate, microseconds), Unit::Bytes),
                };
                (*rules.wred_precedence_minima, max, unit)
            }
        };
        let (by_dscp, denominator) = (*rules.wred_dscp_minima, *rules.wred_denominator);
        Defaults { by_precedence, by_dscp, denominator, max: max.max(2), unit }
    }

    /// Returns the default thresholds of a precedence.
    fn of_precedence(&self, precedence: u8) -> Thresholds {
        let (max, p) = (self.max, u64::from(precedence));
        let half = max / 2;
        let min = match self.by_precedence {
            WredMinima::NinthsAboveHalf => half + p * (max - half) / 9,
            WredMinima::TenthsAboveHalf => half + p * (max - half) / 10,
            WredMinima::SixteenthsFromHalf => max * (8 + p) / 16,
            WredMinima::Half => half,
        };
        Thresholds { min, max, mark_probability_denominator: self.denominator }
    }

    /// Returns the default thresholds of a codepoint, in proportion to the values that devices print for a
    /// maximum of 40. The minimum thresholds of AF fall with the drop precedence. The thresholds of class
    /// selectors rise with their number. All other thresholds are half the maximum.
    fn of_dscp(&self, dscp: Dscp) -> Thresholds {
        let of_forty = match (dscp.value() >> 3, dscp.value() & 7) {
            _ if self.by_dscp == WredDscpMinima::Half => 20,
            _ if dscp == Dscp::EF => 36,
            _ if dscp.is_assured_forwarding() => [32, 28, 24][dscp.color().index()],
            (class @ 1..=7, 0) => 20 + 2 * u64::from(class),
            _ => 20,
        };
        let min = self.max * of_forty / 40;
        Thresholds { min, max: self.max, mark_probability_denominator: self.denominator }
    }
}

/// Returns the queue limit for a device that uses twice the largest maximum threshold of `detect`.
pub(super) fn twice_maximum(detect: &RandomDetect) -> Limit {
    let largest = detect.rows.iter().max_by_key(|row| row.max);
    let (max, unit) = largest.map_or((1, Unit::Packets), |row| (row.max, row.unit));
    let value = max.saturating_mul(2);
    Limit { unit, value, bytes: (unit == Unit::Bytes).then_some(value) }
}

/// Returns the buffer manager of `detect`, and the field that determines the drop precedence of a packet.
pub(super) fn wred(
    detect: &RandomDetect,
    limit: Option<QueueSize>,
    target: Target,
) -> (BufferConfig, PrecedenceSource) {
    let (precedences, source) = match detect.basis {
        Basis::Precedence => {
            (detect.rows.iter().map(precedence_config).collect(), PrecedenceSource::IpPrecedence)
        }
        // In perhop the color represents the discard class. The class copies the class of service into the
        // color.
        Basis::DiscardClass | Basis::Cos => {
            (detect.rows.iter().map(precedence_config).collect(), PrecedenceSource::Color)
        }
        Basis::Dscp => by_dscp(&detect.rows),
    };
    let config = MredConfig {
        precedences,
        law: Some(Law::Cisco),
        averaging: Some(AveragingConfig::Exponent(detect.exponent)),
        drop_spacing: Some(target.drop_spacing),
        ecn: match *target.rules.wred_ecn_above_maximum {
            _ if !detect.ecn => EcnConfig::Ignore,
            EcnAboveMaximum::Dropped => EcnConfig::Mark,
            EcnAboveMaximum::Marked => EcnConfig::MarkAll,
        },
        limit,
        ..MredConfig::default()
    };
    (BufferConfig::Wred(config), source)
}

fn precedence_config(row: &RandomDetectRow) -> PrecedenceConfig {
    let size = |value| match row.unit {
        Unit::Packets => QueueSize::Packets(value),
        _ => QueueSize::Bytes(value),
    };
    PrecedenceConfig {
        min: size(row.min),
        max: size(row.max),
        max_probability: 1.0 / row.mark_denominator as f64,
        own: None,
    }
}

/// Returns the thresholds by codepoint. Codepoints with equal thresholds form a group, because perhop has
/// eight drop precedences. A codepoint without a group counts as the last precedence, so the largest group is
/// last.
fn by_dscp(rows: &[RandomDetectRow]) -> (Vec<PrecedenceConfig>, PrecedenceSource) {
    let mut groups: Vec<(RandomDetectRow, Vec<Dscp>)> = Vec::new();
    let same = |a: &RandomDetectRow, b: &RandomDetectRow| {
        (a.min, a.max, a.mark_denominator) == (b.min, b.max, b.mark_denominator)
    };
    for row in rows {
        let Some(dscp) = Dscp::new(row.number) else { continue };
        match groups.iter_mut().find(|(other, _)| same(other, row)) {
            Some((group, dscps)) => {
                group.is_written |= row.is_written;
                dscps.push(dscp);
            }
            None => groups.push((row.clone(), vec![dscp])),
        }
    }
    while groups.len() > Color::COUNT {
        join_nearest(&mut groups);
    }
    groups.sort_by_key(|(_, dscps)| dscps.len());
    if let Some((_, last)) = groups.last_mut() {
        last.truncate(1);
    }
    let (rows, dscps): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    let source = PrecedenceSource::ByDscp(dscps.into_iter().map(OneOrMany).collect());
    (rows.iter().map(precedence_config).collect(), source)
}

/// Merges the two groups with the closest thresholds. Groups with only default thresholds are merged first.
fn join_nearest(groups: &mut Vec<(RandomDetectRow, Vec<Dscp>)>) {
    let distance = |a: &RandomDetectRow, b: &RandomDetectRow| a.min.abs_diff(b.min) + a.max.abs_diff(b.max);
    let pairs = (0..groups.len()).flat_map(|from| (0..groups.len()).map(move |to| (from, to)));
    let nearest = pairs.filter(|(from, to)| from != to).min_by_key(|(from, to)| {
        let ((own, dscps), (other, _)) = (&groups[*from], &groups[*to]);
        (own.is_written, distance(own, other), dscps.len())
    });
    if let Some((from, to)) = nearest {
        let (_, dscps) = groups[from].clone();
        groups[to].1.extend(dscps);
        groups.remove(from);
    }
}
