//! What stands under `class` in a policy-map.

use super::command::{Command, irrelevant, modelled, not_modelled};
use super::numbers::{KILOBITS, dscp, precedence, priority_rate, rate};
use super::police::police;
use super::queueing::{self, optional, random_detect};
use crate::ast::{
    At, Bandwidth, CLASS_DEFAULT, FairQueue, Marking, PolicyClass, Priority, QueueLimit, Shape, ShapeKind,
};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyClass>] = &[
    modelled("bandwidth", bandwidth),
    modelled("priority", priority),
    modelled("police", police),
    modelled("shape", shape),
    modelled("set", set),
    modelled("random-detect", |class, reader| random_detect(&mut class.random_detect, reader)),
    modelled("queue-limit", queue_limit),
    modelled("fair-queue", fair_queue),
    modelled("service-policy", service_policy),
    modelled("drop", drop),
    not_modelled("compression header ip", "compressed headers make packets shorter"),
    not_modelled("shape adaptive", "the rate follows congestion notifications of the network"),
    not_modelled("shape fecn-adapt", "congestion notifications are reflected"),
    not_modelled("shape max-buffers", "the shaper's queue has another limit"),
    irrelevant("description"),
    irrelevant("estimate"),
    irrelevant("account"),
    irrelevant("netflow-sampler"),
    irrelevant("log"),
];

fn bandwidth(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.bandwidth = None;
        return Ok(Finding::MODELLED);
    }
    let bandwidth = match reader.keyword(&["percent", "remaining"]) {
        None => Bandwidth::Kilobits(reader.number("kilobits per second", KILOBITS)?),
        Some("percent") => Bandwidth::Percent(reader.number("a percentage", 1..=100)?),
        Some(_) => match reader.one_of(&["percent", "ratio"])? {
            "percent" => Bandwidth::RemainingPercent(reader.number("a percentage", 1..=100)?),
            _ => Bandwidth::RemainingRatio(reader.number("a ratio", 1..=65536)?),
        },
    };
    account(reader)?;
    if class.priority.is_some() {
        reader.error(
            "bandwidth in a class that has priority already",
            "the router refuses the line: the class keeps its priority",
        );
        return Ok(Finding::MODELLED);
    }
    class.bandwidth = Some(At::new(reader.line, bandwidth));
    Ok(Finding::MODELLED)
}

/// `account …` at the end of a line: which layer's bytes count. Here IP bytes always do.
fn account(reader: &mut Reader) -> Result<(), Finding> {
    if reader.keyword(&["account"]).is_some() {
        while reader.next().is_some() {}
    }
    reader.end()
}

fn priority(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.priority = None;
        return Ok(Finding::MODELLED);
    }
    let level = if reader.eat("level") { reader.number("a level", 1..=2)? as u8 } else { 1 };
    let rate = priority_rate(reader)?;
    let burst = optional(reader, "a burst in bytes", 18..=2_000_000)?;
    reader.end()?;
    if class.name == CLASS_DEFAULT {
        reader.error("priority in class-default", "the router refuses the line");
        return Ok(Finding::MODELLED);
    }
    if class.bandwidth.is_some() {
        reader.error(
            "priority in a class that has a bandwidth already",
            "the router refuses the line: the class keeps its bandwidth",
        );
        return Ok(Finding::MODELLED);
    }
    class.priority = Some(At::new(reader.line, Priority { level, rate, burst }));
    Ok(Finding::MODELLED)
}

fn shape(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.shape = None;
        return Ok(Finding::MODELLED);
    }
    let kind = match reader.one_of(&["average", "peak"])? {
        "average" => ShapeKind::Average,
        _ => ShapeKind::Peak,
    };
    let rate = rate(reader)?;
    let mut bursts = [None, None];
    for burst in &mut bursts {
        *burst = reader.maybe_number();
        if burst.is_some_and(|burst| burst > u64::from(u32::MAX)) {
            reader.error("a burst of 2^32 or more", "the router refuses the line: the class is not shaped");
            return Ok(Finding::MODELLED);
        }
        reader.keyword(&["ms"]);
    }
    account(reader)?;
    let [burst, excess_burst] = bursts;
    class.shape = Some(At::new(reader.line, Shape { kind, rate, burst, excess_burst }));
    Ok(Finding::MODELLED)
}

fn set(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let (marking, finding) = marking(reader)?;
    let kind = std::mem::discriminant(&marking);
    class.marks.retain(|mark| std::mem::discriminant(&mark.value) != kind);
    if !reader.negated() {
        class.marks.push(At::new(reader.line, marking));
    }
    Ok(finding)
}

fn marking(reader: &mut Reader) -> Result<(Marking, Finding), Finding> {
    let keywords = [
        "ip",
        "precedence",
        "dscp",
        "qos-group",
        "cos",
        "cos-inner",
        "atm-clp",
        "fr-de",
        "mpls",
        "discard-class",
    ];
    let mut word = reader.one_of(&keywords)?;
    if word == "ip" {
        word = reader.one_of(&["precedence", "dscp", "tos"])?;
    }
    let taken_back = reader.negated() && reader.peek().is_none();
    let marking = match word {
        "precedence" if taken_back => Marking::Precedence(perhop_qos::packet::IpPrecedence::default()),
        "precedence" => Marking::Precedence(precedence(reader)?),
        "dscp" if taken_back => Marking::Dscp(perhop_qos::Dscp::DEFAULT),
        "dscp" => Marking::Dscp(dscp(reader)?),
        "qos-group" if taken_back => Marking::QosGroup(0),
        "qos-group" => Marking::QosGroup(reader.number("a group", 0..=99)? as u32),
        other => {
            let finding =
                Finding::not_modelled(format!("perhop's packets have no field that `set {other}` could set"));
            return Ok((Marking::NotModelled(other.to_owned()), finding));
        }
    };
    reader.keyword(&["tunnel"]);
    reader.end()?;
    Ok((marking, Finding::MODELLED))
}

fn queue_limit(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.queue_limit = None;
        return Ok(Finding::MODELLED);
    }
    if reader.keyword(&["dscp", "precedence", "cos", "discard-class", "percent", "atm"]).is_some() {
        return Ok(Finding::not_modelled("limits by drop precedence: the queue's own limit applies to all"));
    }
    let number = reader.number("a queue limit", 1..=64_000_000)?;
    let limit = match reader.keyword(&["packets", "bytes", "ms", "us"]) {
        None | Some("packets") => QueueLimit::Packets(number),
        Some("bytes") => QueueLimit::Bytes(number),
        Some("ms") => QueueLimit::Microseconds(number * 1000),
        Some(_) => QueueLimit::Microseconds(number),
    };
    reader.end()?;
    class.queue_limit = Some(At::new(reader.line, limit));
    Ok(Finding::MODELLED)
}

fn fair_queue(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.fair_queue = None;
        return Ok(Finding::MODELLED);
    }
    // In a class a bare number is that of the queues, under an interface it is the threshold.
    let fair = if reader.peek().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
        let dynamic_queues = Some(reader.number("queues for flows", 1..=4096)?);
        FairQueue { dynamic_queues, ..FairQueue::default() }
    } else {
        queueing::fair_queue(reader)?
    };
    reader.end()?;
    class.fair_queue = Some(At::new(reader.line, fair));
    Ok(Finding::MODELLED)
}

fn service_policy(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let name = reader.word("a policy-map")?;
    reader.end()?;
    class.service_policy = (!reader.negated()).then(|| At::new(reader.line, name.to_owned()));
    Ok(Finding::MODELLED)
}

fn drop(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    reader.end()?;
    class.drop = (!reader.negated()).then(|| At::new(reader.line, ()));
    Ok(Finding::MODELLED)
}
