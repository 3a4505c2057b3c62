//! Commands of the block `class` in a policy-map.

use super::command::{Command, irrelevant, modelled, not_modelled, recorded};
use super::marking::set;
use super::mls::trust_field;
use super::numbers::{KILOBITS, field_value, priority_rate, rate};
use super::police::police;
use super::queueing::{self, optional};
use super::random_detect::random_detect;
use crate::ast::{
    Account, At, Bandwidth, CLASS_DEFAULT, FairQueue, Field, PartialLimit, PolicyClass, Priority, QueueLimit,
    Shape, ShapeKind, ValueLimit,
};
use crate::rules;
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
    recorded("queue-buffers", "the queue's share of the port's buffers", queue_buffers),
    not_modelled("compression header ip", "compressed headers make packets shorter"),
    not_modelled(
        "shape adaptive",
        "the shaper adapts its rate to congestion notifications of the frame relay network",
    ),
    not_modelled("shape fecn-adapt", "the router reflects congestion notifications (FECN as BECN)"),
    not_modelled("shape max-buffers", "the shaper's queue has another limit"),
    irrelevant("description"),
    irrelevant("estimate"),
    not_modelled("admit", "the router admits only flows that request it"),
    not_modelled("fragment", "the device fragments large packets"),
    not_modelled("inspect", "sessions are inspected, and packets may be dropped"),
    not_modelled("pass", "sessions are not inspected"),
    recorded(
        "trust",
        "the trust state of the port decides whether it keeps or rewrites marks",
        |class, reader| {
            let trust = if reader.negated() { None } else { Some(trust_field(reader)?) };
            class.trust = trust.map(|trust| At::new(reader.line, trust));
            Ok(())
        },
    ),
    not_modelled("wrr-queue", "the port serves its hardware queues in turn (weighted round robin)"),
    irrelevant("account"),
    irrelevant("collect"),
    irrelevant("log"),
    irrelevant("monitor"),
    irrelevant("netflow-sampler"),
    irrelevant("react"),
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
    account(class, reader)?;
    if class.priority.is_some() {
        reader.report(
            &rules::PRIORITY_WITH_BANDWIDTH,
            "bandwidth in a class that has priority already",
            "the router refuses the line: the class keeps its priority",
        );
        return Ok(Finding::MODELLED);
    }
    class.bandwidth = Some(At::new(reader.line, bandwidth));
    Ok(Finding::MODELLED)
}

/// Reads `account …` at the end of a line, which configures the counted overhead.
fn account(class: &mut PolicyClass, reader: &mut Reader) -> Result<(), Finding> {
    if reader.eat("account") {
        let account = if reader.eat("user-defined") {
            let bytes = reader.peek().and_then(|word| word.parse::<i64>().ok());
            let bytes = bytes.filter(|bytes| (-1_000_000..=1_000_000).contains(bytes));
            let bytes = bytes.ok_or_else(|| reader.unexpected("bytes"))?;
            reader.next();
            Account::UserDefined { bytes, cells: reader.eat("atm") }
        } else {
            let words = reader.rest().join(" ");
            reader.word("an encapsulation")?;
            while reader.next().is_some() {}
            Account::Encapsulation(words)
        };
        class.account = Some(At::new(reader.line, account));
    }
    reader.end()
}

fn priority(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.priority = None;
        return Ok(Finding::MODELLED);
    }
    let level = if reader.eat("level") { reader.number("a level", 1..=7)? as u8 } else { 1 };
    let rate = priority_rate(reader)?;
    let burst = optional(reader, "a burst in bytes", 18..=2_000_000)?;
    reader.end()?;
    if class.name == CLASS_DEFAULT {
        reader.report(
            &rules::PRIORITY_IN_CLASS_DEFAULT,
            "priority in class-default",
            "the router refuses the line",
        );
        return Ok(Finding::MODELLED);
    }
    if class.bandwidth.is_some() {
        reader.report(
            &rules::PRIORITY_WITH_BANDWIDTH,
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
            reader.report(
                &rules::SHAPE_BURST_RANGE,
                "a burst of 2^32 or more",
                "the router refuses the line: the class is not shaped",
            );
            return Ok(Finding::MODELLED);
        }
        reader.keyword(&["ms"]);
    }
    account(class, reader)?;
    let [burst, excess_burst] = bursts;
    class.shape = Some(At::new(reader.line, Shape { kind, rate, burst, excess_burst }));
    Ok(Finding::MODELLED)
}

fn queue_limit(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let keywords = ["dscp", "precedence", "prec", "cos", "discard-class", "qos-group", "percent", "atm"];
    match reader.keyword(&keywords) {
        None => {}
        Some("dscp") => return value_limit(class, Field::Dscp, reader),
        Some("precedence" | "prec") => return value_limit(class, Field::Precedence, reader),
        Some("cos") => return value_limit(class, Field::Cos, reader),
        Some("discard-class") => return value_limit(class, Field::DiscardClass, reader),
        Some("qos-group") => return value_limit(class, Field::QosGroup, reader),
        Some("percent") => return percent_limit(class, reader),
        Some(_) => return Ok(Finding::not_modelled("the limit is a part of the port's buffers")),
    }
    if reader.negated() {
        (class.queue_limit, class.percent_limit) = (None, None);
        return Ok(Finding::MODELLED);
    }
    let limit = limit(reader)?;
    reader.end()?;
    class.queue_limit = Some(At::new(reader.line, limit));
    Ok(Finding::MODELLED)
}

/// Reads `queue-limit percent 5`, which only some platforms have.
fn percent_limit(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    class.percent_limit = None;
    if !reader.negated() {
        let percent = reader.number("a percentage", 1..=100)?;
        reader.end()?;
        class.percent_limit = Some(At::new(reader.line, percent));
    }
    Ok(Finding::not_modelled("the limit is a part of the port's buffers"))
}

fn limit(reader: &mut Reader) -> Result<QueueLimit, Finding> {
    let number = reader.number("a queue limit", 1..=64_000_000)?;
    Ok(match reader.keyword(&["packets", "bytes", "ms", "us"]) {
        None | Some("packets") => QueueLimit::Packets(number),
        Some("bytes") => QueueLimit::Bytes(number),
        Some("ms") => QueueLimit::Microseconds(number * 1000),
        Some(_) => QueueLimit::Microseconds(number),
    })
}

/// Reads `queue-limit dscp af11 percent 80`, `queue-limit cos values 1 2 percent 80`,
/// `queue-limit dscp af11 40`.
fn value_limit(class: &mut PolicyClass, field: Field, reader: &mut Reader) -> Reading {
    let line = reader.line;
    let mut values = Vec::new();
    if reader.eat("values") {
        // The values end before `percent 80` or `40 packets`.
        while reader.peek().is_some_and(|word| word != "percent") && reader.rest().len() != 2 {
            values.push(field_value(field, reader)?);
        }
    } else if reader.peek() != Some("percent") {
        values.push(field_value(field, reader)?);
    }
    class.value_limits.retain(|limit| (limit.value.field, &limit.value.values) != (field, &values));
    if reader.negated() {
        return Ok(Finding::MODELLED);
    }
    let limit = if reader.eat("percent") {
        PartialLimit::Percent(reader.number("a percentage", 0..=100)?)
    } else {
        PartialLimit::Limit(limit(reader)?)
    };
    reader.end()?;
    class.value_limits.push(At::new(line, ValueLimit { field, values, limit }));
    Ok(match field {
        Field::QosGroup => Finding::not_modelled(
            "perhop does not model limits by qos-group: the limit of the queue applies to all its packets",
        ),
        _ => Finding::MODELLED,
    })
}

/// Reads `queue-buffers ratio …`.
fn queue_buffers(class: &mut PolicyClass, reader: &mut Reader) -> Result<(), Finding> {
    reader.one_of(&["ratio"])?;
    class.buffers_percent = None;
    if !reader.negated() {
        let percent = reader.number("a percentage", 0..=100)?;
        class.buffers_percent = Some(At::new(reader.line, percent));
    }
    Ok(())
}

fn fair_queue(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.fair_queue = None;
        return Ok(Finding::MODELLED);
    }
    // In a class, a plain number is the number of queues. Under an interface, it is the threshold.
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
