//! WRED with the router's defaults.

use perhop_qos::buffer::{AveragingConfig, BufferConfig, EcnConfig, MredConfig, PrecedenceConfig};
use perhop_qos::classifier::OneOrMany;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::units::QueueSize;
use perhop_qos::{Color, Dscp};

use super::condition::Condition;
use super::platform::Platform;
use crate::ast::{Basis, RandomDetect, Thresholds};

/// n in the weight 2⁻ⁿ of the average where nothing is said.
const EXPONENT: u32 = 9;
/// One packet in ten at the maximum threshold where nothing is said.
const DENOMINATOR: u64 = 10;

/// The buffer manager of `detect` for the packets that meet `condition`, and what it takes for the drop
/// precedence of a packet.
pub(super) fn wred(
    detect: &RandomDetect,
    condition: &Condition,
    limit: Option<QueueSize>,
    platform: &Platform,
) -> (BufferConfig, PrecedenceSource) {
    let (precedences, source) = match detect.basis {
        Basis::Precedence => {
            let thresholds = |precedence: u8| {
                detect
                    .precedences
                    .get(&precedence)
                    .map_or_else(|| default(precedence, platform), |at| at.value)
            };
            ((0..8).map(thresholds).map(precedence_config).collect(), PrecedenceSource::IpPrecedence)
        }
        Basis::Dscp => by_dscp(detect, condition, platform),
    };
    let config = MredConfig {
        precedences,
        averaging: AveragingConfig::Exponent(detect.exponent.unwrap_or(EXPONENT)),
        drop_spacing: platform.drop_spacing,
        ecn: if detect.ecn.is_some() { EcnConfig::Mark } else { EcnConfig::Ignore },
        limit,
        ..MredConfig::default()
    };
    (BufferConfig::Wred(config), source)
}

/// The default of a precedence: the minimum thresholds rise evenly from half the maximum, the ninth being
/// that of reserved flows.
fn default(precedence: u8, platform: &Platform) -> Thresholds {
    let max = platform.wred_maximum.max(2);
    let half = max / 2;
    let min = half + u64::from(precedence) * (max - half) / 9;
    Thresholds { min, max, mark_probability_denominator: DENOMINATOR }
}

fn precedence_config(thresholds: Thresholds) -> PrecedenceConfig {
    PrecedenceConfig {
        min: QueueSize::Packets(thresholds.min),
        max: QueueSize::Packets(thresholds.max),
        max_probability: 1.0 / thresholds.mark_probability_denominator as f64,
        own: None,
    }
}

/// Thresholds by codepoint, those with the same thresholds together: perhop has eight drop precedences. What
/// stands in no list counts as the last, so the largest group comes last.
fn by_dscp(
    detect: &RandomDetect,
    condition: &Condition,
    platform: &Platform,
) -> (Vec<PrecedenceConfig>, PrecedenceSource) {
    let mut groups: Vec<(Thresholds, Vec<Dscp>)> = Vec::new();
    for dscp in (0..64).filter_map(Dscp::new).filter(|dscp| condition.may_hold(*dscp)) {
        let written = detect.dscps.get(&dscp.value()).map(|at| at.value);
        let thresholds = written.unwrap_or_else(|| default_of_dscp(dscp, platform));
        match groups.iter_mut().find(|(other, _)| *other == thresholds) {
            Some((_, dscps)) => dscps.push(dscp),
            None => groups.push((thresholds, vec![dscp])),
        }
    }
    while groups.len() > Color::COUNT {
        join_nearest(&mut groups, detect);
    }
    groups.sort_by_key(|(_, dscps)| dscps.len());
    if let Some((_, last)) = groups.last_mut() {
        last.truncate(1);
    }
    let (thresholds, dscps): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    let source = PrecedenceSource::ByDscp(dscps.into_iter().map(OneOrMany).collect());
    (thresholds.into_iter().map(precedence_config).collect(), source)
}

/// Puts the few codepoints whose default thresholds differ least from another group's into that group.
fn join_nearest(groups: &mut Vec<(Thresholds, Vec<Dscp>)>, detect: &RandomDetect) {
    let written = |dscps: &[Dscp]| dscps.iter().any(|dscp| detect.dscps.contains_key(&dscp.value()));
    let distance = |a: &Thresholds, b: &Thresholds| a.min.abs_diff(b.min) + a.max.abs_diff(b.max);
    let pairs = (0..groups.len()).flat_map(|from| (0..groups.len()).map(move |to| (from, to)));
    let nearest = pairs.filter(|(from, to)| from != to).min_by_key(|(from, to)| {
        let ((own, dscps), (other, _)) = (&groups[*from], &groups[*to]);
        (written(dscps), distance(own, other), dscps.len())
    });
    if let Some((from, to)) = nearest {
        let (_, dscps) = groups[from].clone();
        groups[to].1.extend(dscps);
        groups.remove(from);
    }
}

/// The default of a codepoint, as the router lists them for a maximum of 40: the minimum thresholds of AF
/// fall with the drop precedence, those of the class selectors rise, all others are half the maximum.
fn default_of_dscp(dscp: Dscp, platform: &Platform) -> Thresholds {
    let max = platform.wred_maximum.max(2);
    let of_forty = match (dscp.value() >> 3, dscp.value() & 7) {
        _ if dscp == Dscp::EF => 36,
        _ if dscp.is_assured_forwarding() => [32, 28, 24][dscp.color().index()],
        (class @ 1..=7, 0) => 20 + 2 * u64::from(class),
        _ => 20,
    };
    Thresholds { min: max * of_forty / 40, max, mark_probability_denominator: DENOMINATOR }
}
