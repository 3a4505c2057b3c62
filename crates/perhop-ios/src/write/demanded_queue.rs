//! Writing of a queue in Intent: limits, flows and WRED.

use perhop_device::intent::{
    At, Class, DropProfile, FairQueue, PartialLimit, QueueLimit, ThresholdUnit, Thresholds, ValueLimits,
};
use perhop_device::{Basis, Missing};

/// Returns the lines of the queue of a class.
///
/// # Errors
/// IOS has no command for a demand.
pub(super) fn queue_lines(class: &Class) -> Result<Vec<String>, Missing> {
    let mut lines = Vec::new();
    if let Some(at) = class.fair_queue {
        lines.push(fair_queue(at.value)?);
    }
    lines.extend(class.queue_limit.map(|at| format!("queue-limit {}", limit(at.value))));
    lines.extend(class.value_limits.iter().flat_map(|at| value_limits(&at.value)));
    if let Some(at) = &class.drop_profile {
        lines.extend(random_detect(&at.value)?);
    }
    Ok(lines)
}

fn fair_queue(fair: FairQueue) -> Result<String, Missing> {
    let FairQueue { congestive_discard, dynamic_queues, reservable_queues, individual_limit } = fair;
    match (congestive_discard, dynamic_queues, reservable_queues, individual_limit) {
        (None, None, None, None) => Ok("fair-queue".to_owned()),
        (None, Some(queues), None, None) => Ok(format!("fair-queue {queues}")),
        _ => Err(Missing::new("fair-queue with limits", "IOS writes limits on separate lines")),
    }
}

fn limit(limit: QueueLimit) -> String {
    match limit {
        QueueLimit::Packets(packets) => packets.to_string(),
        QueueLimit::Bytes(bytes) => format!("{bytes} bytes"),
        QueueLimit::Microseconds(microseconds) => format!("{microseconds} us"),
    }
}

fn value_limits(limits: &ValueLimits) -> Vec<String> {
    let field = basis_word(limits.basis);
    let words = |bound: PartialLimit| match bound {
        PartialLimit::Percent(percent) => format!("percent {percent}"),
        PartialLimit::Limit(QueueLimit::Packets(packets)) => format!("{packets} packets"),
        PartialLimit::Limit(other) => limit(other),
    };
    let line = |value: &u8, bound: PartialLimit| format!("queue-limit {field} {value} {}", words(bound));
    let each = |(values, bound): &(Vec<u8>, PartialLimit)| -> Vec<String> {
        values.iter().map(|value| line(value, *bound)).collect()
    };
    limits.limits.iter().flat_map(each).collect()
}

fn basis_word(basis: Basis) -> &'static str {
    match basis {
        Basis::Precedence => "precedence",
        Basis::Dscp => "dscp",
        Basis::DiscardClass => "discard-class",
        Basis::Cos => "cos",
    }
}

fn random_detect(profile: &DropProfile) -> Result<Vec<String>, Missing> {
    if profile.aggregate.is_some() {
        return Err(Missing::new(
            "random-detect aggregate",
            "each of its thresholds is for several codepoints",
        ));
    }
    let basis = match profile.basis {
        Basis::Precedence => "random-detect".to_owned(),
        other => format!("random-detect {}-based", basis_word(other)),
    };
    let mut lines = vec![basis];
    let maps = [
        (Basis::Precedence, &profile.precedences),
        (Basis::Dscp, &profile.dscps),
        (Basis::DiscardClass, &profile.discard_classes),
        (Basis::Cos, &profile.classes_of_service),
    ];
    for (basis, map) in maps {
        let line = |(value, at): (&u8, &At<Thresholds>)| {
            format!("random-detect {} {value} {}", basis_word(basis), thresholds(at.value, profile.unit))
        };
        lines.extend(map.iter().map(line));
    }
    lines.extend(
        profile.exponent.map(|number| format!("random-detect exponential-weighting-constant {number}")),
    );
    lines.extend(profile.ecn.map(|_| "random-detect ecn".to_owned()));
    Ok(lines)
}

fn thresholds(thresholds: Thresholds, unit: ThresholdUnit) -> String {
    let Thresholds { min, max, mark_probability_denominator: denominator } = thresholds;
    match unit {
        ThresholdUnit::Packets => format!("{min} {max} {denominator}"),
        ThresholdUnit::Bytes => format!("{min} bytes {max} bytes {denominator}"),
        ThresholdUnit::Microseconds => format!("{min} us {max} us {denominator}"),
        ThresholdUnit::Percent => format!("percent {min} {max} {denominator}"),
    }
}
