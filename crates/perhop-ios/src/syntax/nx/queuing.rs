//! Commands of a class in a policy-map of type queuing.

use super::network_qos::pause_memory;
use crate::ast::{
    At, Bandwidth, PolicyClass, Priority, PriorityRate, QueueLimit, RandomDetect, Shape, ShapeKind,
    ThresholdUnit, Thresholds, TrafficRate,
};
use crate::nexus::LARGEST_FACTOR;
use crate::rules;
use crate::syntax::command::{Command, irrelevant, modelled, not_modelled, recorded};
use crate::syntax::random_detect::name;
use crate::syntax::xr::units::{Length, length, rate};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyClass>] = &[
    modelled("bandwidth", bandwidth),
    modelled("priority", priority),
    modelled("shape", shape),
    modelled("queue-limit", queue_limit),
    modelled("random-detect", random_detect),
    irrelevant("description"),
    not_modelled("afd", "the switch drops packets of large flows first (approximate fair dropping)"),
    recorded("pause", "no attached input policy of type queuing has this class", |class, reader| {
        let memory = if reader.negated() { None } else { Some(pause_memory(reader)?) };
        reader.end()?;
        class.pause = memory.map(|memory| At::new(reader.line, memory));
        Ok(())
    }),
    not_modelled("set", "the queue marks packets"),
    not_modelled("congestion-control", "the line changes how the queue drops packets"),
    not_modelled("dbl", "the switch drops packets of large flows first"),
];

/// Reads `bandwidth [remaining] percent N`. With `remaining`, 0 is a valid value: the class gets the rate
/// that other classes leave.
fn bandwidth(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.bandwidth = None;
        return Ok(Finding::MODELLED);
    }
    let is_share = reader.eat("remaining");
    reader.one_of(&["percent"])?;
    let percent = reader.number("a percentage", 0..=100)?;
    reader.end()?;
    if class.priority.is_some() {
        reader.report(
            &rules::PRIORITY_WITH_BANDWIDTH,
            "bandwidth in a class that has priority already",
            "the switch refuses the line: the class keeps its priority",
        );
        return Ok(Finding::MODELLED);
    }
    let bandwidth = if is_share { Bandwidth::RemainingPercent(percent) } else { Bandwidth::Percent(percent) };
    class.bandwidth = Some(At::new(reader.line, bandwidth));
    Ok(Finding::MODELLED)
}

/// Reads `priority [level N]`.
fn priority(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.priority = None;
        return Ok(Finding::MODELLED);
    }
    let level = if reader.eat("level") { reader.number("a level", 1..=3)? as u8 } else { 1 };
    reader.end()?;
    // A copy of a system policy can have a bandwidth. The priority replaces it.
    class.bandwidth = None;
    class.priority =
        Some(At::new(reader.line, Priority { level, rate: PriorityRate::Unlimited, burst: None }));
    Ok(Finding::MODELLED)
}

/// Reads `shape [min RATE] max RATE`, `shape [average] percent N`.
fn shape(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.shape = None;
        return Ok(Finding::MODELLED);
    }
    reader.keyword(&["average"]);
    let least = if reader.eat("min") { Some(number_of_packets(reader, "kbps")?) } else { None };
    if reader.keyword(&["max"]).is_none() && least.is_some() {
        return Err(reader.unexpected("max"));
    }
    let Some(most) = number_of_packets(reader, "kbps")? else {
        return Ok(Finding::not_modelled("a shaper that counts packets"));
    };
    reader.end()?;
    class.shape = Some(At::new(
        reader.line,
        Shape { kind: ShapeKind::Average, rate: most, burst: None, excess_burst: Some(0) },
    ));
    match least.flatten() {
        Some(TrafficRate::BitsPerSecond(bits)) if bits > 0 => Ok(Finding::not_modelled(
            "perhop limits the class to the maximum, but does not guarantee the minimum",
        )),
        _ => Ok(Finding::MODELLED),
    }
}

/// Parses a rate; `None` for a rate in packets per second.
fn number_of_packets(reader: &mut Reader, default: &'static str) -> Result<Option<TrafficRate>, Finding> {
    if reader.rest().get(1) == Some(&"pps") {
        reader.number("packets per second", 0..=4_294_967_295)?;
        reader.next();
        return Ok(None);
    }
    rate(reader, default).map(Some)
}

/// Reads `queue-limit dynamic N`, `queue-limit N UNIT`.
fn queue_limit(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        (class.queue_limit, class.dynamic_limit) = (None, None);
        return Ok(Finding::MODELLED);
    }
    if reader.eat("dynamic") {
        let number = reader.number("the number of a factor", 0..=LARGEST_FACTOR)?;
        reader.end()?;
        class.queue_limit = None;
        class.dynamic_limit = Some(At::new(reader.line, number as u8));
        return Ok(Finding::MODELLED);
    }
    if matches!(reader.rest(), [_] | [_, "packets"]) {
        reader.number("packets", 1..=83_886_080)?;
        return Ok(Finding::not_modelled(
            "the limit is in packets, which perhop does not model: the default limit applies",
        ));
    }
    let limit = match length(reader, "packets")? {
        Length::Bytes(bytes) => QueueLimit::Bytes(bytes),
        Length::Microseconds(us) => QueueLimit::Microseconds(us),
    };
    reader.end()?;
    class.dynamic_limit = None;
    class.queue_limit = Some(At::new(reader.line, limit));
    Ok(Finding::MODELLED)
}

/// Reads `random-detect minimum-threshold A UNIT maximum-threshold B UNIT drop-probability P weight W [ecn]`.
fn random_detect(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.random_detect = None;
        return Ok(Finding::MODELLED);
    }
    let others = ["threshold", "non-ecn", "cos-based", "dscp-based", "cos", "dscp", "forward-nonecn"];
    if let Some(word) = reader.keyword(&others) {
        while reader.next().is_some() {}
        return Ok(Finding::not_modelled(match word {
            "threshold" => OF_SYSTEM,
            "non-ecn" => "the line sets thresholds only for packets that are not ECN-capable",
            _ => "the line sets thresholds for values of a packet field",
        }));
    }
    let mut written = Written::default();
    let mut finding = Finding::MODELLED;
    while reader.peek().is_some() {
        let keywords =
            ["minimum-threshold", "maximum-threshold", "drop-probability", "weight", "ecn", "cap-average"];
        match reader.one_of(&keywords)? {
            "minimum-threshold" => written.min = Some(threshold(reader)?),
            "maximum-threshold" => written.max = Some(threshold(reader)?),
            "drop-probability" => written.percent = Some(reader.number("a percentage", 1..=100)?),
            "weight" => written.weight = Some(reader.number("a weight", 0..=15)?),
            "ecn" => written.ecn = true,
            _ => {
                finding = Finding::not_modelled(
                    "with cap-average the average is never above the current queue length",
                );
            }
        }
    }
    let (Some(min), Some(max)) = (written.min, written.max) else {
        return Ok(Finding::not_modelled(OF_SYSTEM));
    };
    let Some((detect, note)) = written.detect(min, max, reader) else { return Ok(finding) };
    class.random_detect = Some(At::new(reader.line, detect));
    Ok(match note {
        Some(note) if finding == Finding::MODELLED => Finding::modelled(note),
        _ => finding,
    })
}

/// The note for a class without configured thresholds.
const OF_SYSTEM: &str = "the switch uses its own thresholds, which are not published";

/// The parameters of a `random-detect` line.
#[derive(Default)]
struct Written {
    min: Option<(u64, ThresholdUnit)>,
    max: Option<(u64, ThresholdUnit)>,
    percent: Option<u64>,
    weight: Option<u64>,
    ecn: bool,
}

impl Written {
    /// Returns the drop profile, with a note if perhop rounds the probability. Reports crossed thresholds and
    /// returns `None` for them.
    fn detect(
        &self,
        (min, unit): (u64, ThresholdUnit),
        (max, other): (u64, ThresholdUnit),
        reader: &mut Reader,
    ) -> Option<(RandomDetect, Option<String>)> {
        if unit != other {
            reader.report(
                &rules::WRED_UNITS_MIXED,
                format!(
                    "the minimum threshold is in {}, but the maximum threshold is in {}",
                    name(unit),
                    name(other)
                ),
                "the switch refuses the line: write both in the same unit",
            );
            return None;
        }
        if min > max {
            let of = name(unit);
            let message =
                format!("the minimum threshold, {min} {of}, is above the maximum threshold, {max} {of}");
            let effect = "the switch refuses the line";
            reader.report_crossed(&rules::WRED_THRESHOLDS_CROSSED, (min, max), message, effect);
            return None;
        }
        let percent = self.percent.unwrap_or(100);
        // perhop stores the probability as one in a whole number of packets.
        let denominator = (100 + percent / 2) / percent;
        let note = (!100_u64.is_multiple_of(percent))
            .then(|| format!("perhop treats the probability of {percent} % as one packet in {denominator}"));
        let thresholds = Thresholds { min, max: max.max(min + 1), mark_probability_denominator: denominator };
        let detect = RandomDetect {
            unit,
            exponent: self.weight.map(|weight| weight as u32),
            ecn: self.ecn.then(|| At::new(reader.line, ())),
            aggregate: Some(At::new(reader.line, Some(thresholds))),
            ..RandomDetect::default()
        };
        Some((detect, note))
    }
}

fn threshold(reader: &mut Reader) -> Result<(u64, ThresholdUnit), Finding> {
    if reader.rest().get(1) == Some(&"packets") {
        let packets = reader.number("packets", 0..=83_886_080)?;
        reader.next();
        return Ok((packets, ThresholdUnit::Packets));
    }
    Ok(match length(reader, "packets")? {
        Length::Bytes(bytes) => (bytes, ThresholdUnit::Bytes),
        Length::Microseconds(us) => (us, ThresholdUnit::Microseconds),
    })
}
