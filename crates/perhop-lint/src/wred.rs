//! Rules for the drop curves of a class: the relation of a curve to the queue limit and to other curves, and
//! the weight of the average.

use perhop_analysis::{PacketSpace, Set, classes_of};
use perhop_qos::buffer::{DropSpacing, MredConfig, PrecedenceConfig};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{Dscp, QueueSize};

use crate::finding::{Finding, Place};
use crate::leaf::Leaf;
use crate::rules;

/// Checks the drop curves `config` of a class with the queue limit `limit`.
pub(crate) fn check(leaf: &Leaf, config: &MredConfig, limit: Option<QueueSize>, found: &mut Vec<Finding>) {
    let Ok(curves) = config.expanded() else { return };
    let (name, place) = (&leaf.class.name, &leaf.place);
    if let Some(limit) = limit {
        found.extend(above_limit(name, &curves, limit, place));
        found.extend(slow(name, config, limit, place));
    }
    found.extend(disordered(leaf, &curves));
    found.extend(unguarded(name, config, place));
}

fn above_limit(name: &str, curves: &[PrecedenceConfig], limit: QueueSize, place: &Place) -> Option<Finding> {
    let highest = curves.iter().map(|curve| curve.max).max_by_key(|max| max.count())?;
    (highest.same_unit(limit) && highest.count() >= limit.count()).then(|| {
        Finding::new(
            &rules::WRED_MAX_ABOVE_LIMIT,
            place.clone(),
            format!("class {name}: the maximum threshold {highest} is not below the queue limit {limit}"),
            "the queue is full and drops at its tail before WRED reaches its highest probability",
        )
    })
}

/// Reports the first pair of codepoints whose curves contradict RFC 2597 §2: a higher drop precedence must be
/// dropped at least as often at all queue lengths.
fn disordered(leaf: &Leaf, curves: &[PrecedenceConfig]) -> Option<Finding> {
    let (name, source) = (&leaf.class.name, &leaf.class.precedence);
    let curve = |dscp: &str| curve_of(dscp, curves, source);
    let is_worse = |(lower, other): &(String, String)| {
        let (low, high) = (curve(lower)?, curve(other)?);
        let worse = low.min.count() < high.min.count()
            || low.max.count() < high.max.count()
            || low.max_probability > high.max_probability;
        let enters = |dscp: &str| may_enter(leaf, dscp).unwrap_or(true);
        (worse && enters(lower) && enters(other)).then(|| (lower.clone(), low, other.clone(), high))
    };
    // The pair (1, 3) is needed for classes that do not match drop precedence 2.
    let pairs = (1..=4).flat_map(|class| {
        [(1, 2), (2, 3), (1, 3)].map(|(low, high)| (format!("af{class}{low}"), format!("af{class}{high}")))
    });
    let (lower, low, other, high) = pairs.collect::<Vec<_>>().iter().find_map(is_worse)?;
    let words = |curve: &PrecedenceConfig| {
        format!("{} to {}, probability {:.3}", curve.min, curve.max, curve.max_probability)
    };
    Some(Finding::new(
        &rules::WRED_PRECEDENCE_ORDER,
        leaf.place.clone(),
        format!(
            "class {name}: {lower} ({}) is dropped more often than {other} ({}) at some queue lengths",
            words(low),
            words(high)
        ),
        "a lower drop precedence must not have lower thresholds or a higher probability",
    ))
}

/// Whether packets with a codepoint reach the queue of a class, after the classes before it; `None` if the
/// conditions are too complex.
fn may_enter(leaf: &Leaf, dscp: &str) -> Option<bool> {
    let queueing = leaf.subject.policy.queueing.as_ref()?;
    let condition = MatchConfig { dscp: Some(OneOrMany(vec![dscp.parse().ok()?])), ..MatchConfig::default() };
    let mut space = PacketSpace::new(leaf.subject.interfaces);
    let with_codepoint = space.taken_by(&condition).ok()?;
    let classes = classes_of(&mut space, queueing, with_codepoint).ok()?;
    let class = classes.into_iter().find(|class| class.name == leaf.path)?;
    Some(class.takes != Set::NONE)
}

/// Number of drop precedences in an AF class (RFC 2597 §2).
const AF_COLORS: usize = 3;

/// Returns the curve of the packets with a codepoint, if codepoints select curves.
fn curve_of<'a>(
    dscp: &str,
    curves: &'a [PrecedenceConfig],
    source: &PrecedenceSource,
) -> Option<&'a PrecedenceConfig> {
    let dscp: Dscp = dscp.parse().ok()?;
    match source {
        // If the class has more curves than AF colors, discard classes or classes of service select the
        // curve.
        PrecedenceSource::Color if curves.len() > AF_COLORS => None,
        PrecedenceSource::Dscp | PrecedenceSource::Color => curves.get(dscp.color().index()),
        PrecedenceSource::ByDscp(lists) => {
            let place = lists.iter().position(|list| list.0.contains(&dscp));
            curves.get(place.unwrap_or(lists.len() - 1))
        }
        PrecedenceSource::IpPrecedence | PrecedenceSource::Cos => None,
    }
}

/// Reports the spacing of drops in ns-2.35 (diffserv/dsredq.cc, enque): `pa = pb/(1.0 - count*pb)`, which can
/// be negative.
fn unguarded(name: &str, config: &MredConfig, place: &Place) -> Option<Finding> {
    (config.spacing() == Ok(DropSpacing::Unguarded)).then(|| {
        let by =
            config.law.map_or("drop-spacing: unguarded".to_owned(), |law| format!("law: {}", law.name()));
        Finding::new(
            &rules::RED_UNGUARDED,
            place.clone(),
            format!("class {name}: with `{by}` the drop probability is negative when count · p exceeds 1"),
            "after that, no packet is dropped early until the average is outside the thresholds",
        )
    })
}

/// Reports an average that follows the queue length too slowly (Floyd and Jacobson 1993 §4: after L packets
/// at a full queue, the average is the fraction 1 - (1 - w)^L of the queue).
fn slow(name: &str, config: &MredConfig, limit: QueueSize, place: &Place) -> Option<Finding> {
    let weight = config.weight().ok()?;
    let packets = match limit {
        QueueSize::Packets(packets) => packets as f64,
        QueueSize::Bytes(bytes) => bytes as f64 / config.mean_packet_size.as_bytes() as f64,
    };
    let reached = 1.0 - (packets * (1.0 - weight).ln()).exp();
    (reached < 0.5).then(|| {
        Finding::new(
            &rules::WRED_AVERAGE_SLOW,
            place.clone(),
            format!(
                "class {name}: after {packets:.0} packets at a full queue the average is only {:.0} % of the \
                 queue length",
                100.0 * reached
            ),
            format!("the averaging weight 1/{:.0} is too small for a queue of {limit}", 1.0 / weight),
        )
    })
}
