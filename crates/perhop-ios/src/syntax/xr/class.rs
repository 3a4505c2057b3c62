//! Commands of a class in a policy-map of IOS XR.

use super::police::police;
use super::queue::{queue_limit, random_detect};
use super::units::{burst_of, length, percent, rate};
use crate::ast::{
    At, Bandwidth, CLASS_DEFAULT, PolicyClass, Priority, PriorityRate, Shape, ShapeKind, TrafficRate,
};
use crate::rules;
use crate::syntax::command::{Command, irrelevant, modelled, not_modelled};
use crate::syntax::marking;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyClass>] = &[
    modelled("bandwidth", bandwidth),
    modelled("priority", priority),
    modelled("police", police),
    modelled("shape", shape),
    modelled("set", set),
    modelled("random-detect", random_detect),
    modelled("queue-limit", queue_limit),
    modelled("service-policy", service_policy),
    modelled("drop", |class, reader| {
        reader.end()?;
        class.drop = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(Finding::MODELLED)
    }),
    irrelevant("description"),
    irrelevant("monitor"),
    irrelevant("react"),
    irrelevant("flow"),
    irrelevant("metric"),
    irrelevant("threshold"),
    irrelevant("accounting"),
    not_modelled("account", "rates and limits count the headers of another link with each packet"),
    not_modelled("compress", "compressed headers make packets shorter"),
    not_modelled("fragment", "the device fragments large packets"),
    not_modelled("fragment-service", "several policies share queues"),
    not_modelled("service-fragment", "several policies share queues"),
    not_modelled("service-function-path", "packets take another path"),
    not_modelled("encap-sequence", "the line sets the class number in the multilink header"),
    not_modelled("http-redirect", "the router redirects packets"),
    not_modelled("redirect", "the router redirects packets"),
    not_modelled("decapsulate", "the router removes headers of packets"),
    not_modelled("transmit", "`transmit` is an action of policies that do not queue"),
    not_modelled("pause", "`pause` is an action of priority flow control"),
    not_modelled(
        "child-conform-aware",
        "the outer policer treats packets that conform to the inner policers differently from others",
    ),
];

/// Reads `bandwidth [percent] N [UNIT]`, `bandwidth remaining percent|ratio N`; both may occur in one class.
fn bandwidth(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        let share = reader.eat("remaining");
        let is_kept = |at: &At<Bandwidth>| at.value.is_minimum() == share;
        let kept = [class.bandwidth, class.remaining].into_iter().flatten().find(is_kept);
        (class.bandwidth, class.remaining) = (kept, None);
        return Ok(Finding::MODELLED);
    }
    let bandwidth = if reader.eat("remaining") {
        match reader.one_of(&["percent", "ratio"])? {
            "percent" => Bandwidth::RemainingPercent(percent(reader)?),
            _ => Bandwidth::RemainingRatio(reader.number("a ratio", 1..=4096)?),
        }
    } else {
        match rate(reader, "kbps")? {
            TrafficRate::BitsPerSecond(bits) => Bandwidth::BitsPerSecond(bits),
            TrafficRate::Percent(percent) => Bandwidth::Percent(percent),
        }
    };
    reader.end()?;
    if class.priority.is_some() {
        reader.report(
            &rules::PRIORITY_WITH_BANDWIDTH,
            "bandwidth in a class that has priority already",
            "the router refuses the line: the class keeps its priority",
        );
        return Ok(Finding::MODELLED);
    }
    let at = At::new(reader.line, bandwidth);
    let mut others = [class.bandwidth, class.remaining].into_iter().flatten();
    let other = others.rfind(|other| other.value.is_minimum() != bandwidth.is_minimum());
    (class.bandwidth, class.remaining) = match other {
        None => (Some(at), None),
        // The minimum is stored first, then the share of the excess.
        Some(other) if bandwidth.is_minimum() => (Some(at), Some(other)),
        Some(other) => (Some(other), Some(at)),
    };
    Ok(Finding::MODELLED)
}

fn priority(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.priority = None;
        return Ok(Finding::MODELLED);
    }
    let level = if reader.eat("level") { reader.number("a level", 1..=7)? as u8 } else { 1 };
    reader.end()?;
    let reports = [
        (class.name == CLASS_DEFAULT)
            .then_some((&rules::PRIORITY_IN_CLASS_DEFAULT, "priority in class-default")),
        class
            .bandwidth
            .map(|_| (&rules::PRIORITY_WITH_BANDWIDTH, "priority in a class that has a bandwidth already")),
    ];
    if let Some((rule, message)) = reports.into_iter().flatten().next() {
        reader.report(rule, message, "the router refuses the line");
        return Ok(Finding::MODELLED);
    }
    class.priority =
        Some(At::new(reader.line, Priority { level, rate: PriorityRate::Unlimited, burst: None }));
    Ok(Finding::MODELLED)
}

/// Reads `shape average RATE [BURST]`, `shape average percent N [BURST]`.
fn shape(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.shape = None;
        return Ok(Finding::MODELLED);
    }
    reader.one_of(&["average"])?;
    let rate = rate(reader, "bps")?;
    let written = reader.peek().is_some().then(|| length(reader, "bytes")).transpose()?;
    reader.end()?;
    let burst = written.map(|burst| burst_of(burst, rate));
    let (finding, burst) = match burst {
        Some(Err(finding)) => (finding, None),
        // The burst of a shaper is in bits, or in milliseconds if the rate is a percentage.
        Some(Ok(burst)) if matches!(rate, TrafficRate::BitsPerSecond(_)) => {
            (Finding::MODELLED, Some(burst.saturating_mul(8)))
        }
        Some(Ok(burst)) => (Finding::MODELLED, Some(burst)),
        None => (Finding::MODELLED, None),
    };
    let shape = Shape { kind: ShapeKind::Average, rate, burst, excess_burst: Some(0) };
    class.shape = Some(At::new(reader.line, shape));
    Ok(finding)
}

/// The largest group for which perhop has a label.
const LARGEST_GROUP: u64 = 99;

fn set(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let others =
        ["dei", "df", "srp-priority", "atm-clp", "fr-de", "forward-class", "prefix", "source-address"];
    if let Some(word) = reader.keyword(&others) {
        while reader.next().is_some() {}
        return Ok(Finding::not_modelled(format!(
            "perhop's packets have no field that `set {word}` could set"
        )));
    }
    if let ["qos-group", number] = reader.rest()
        && let Some(group) =
            number.parse::<u64>().ok().filter(|group| (LARGEST_GROUP + 1..=511).contains(group))
    {
        reader.next();
        reader.next();
        return Ok(Finding::not_modelled(format!(
            "the largest group in perhop is {LARGEST_GROUP}, not {group}"
        )));
    }
    if reader.rest().first() == Some(&"mpls") && reader.rest().contains(&"imposition") {
        let finding = marking::set(class, reader)?;
        return Ok(match finding {
            Finding::MODELLED => {
                Finding::modelled("the router writes the value into the labels that it pushes")
            }
            other => other,
        });
    }
    marking::set(class, reader)
}

fn service_policy(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let name = reader.word("a policy-map")?;
    reader.end()?;
    class.service_policy = (!reader.negated()).then(|| At::new(reader.line, name.to_owned()));
    Ok(Finding::MODELLED)
}
