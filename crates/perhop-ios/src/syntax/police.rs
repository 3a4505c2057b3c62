//! `police` of a class, on one line or with its actions on lines of their own.

use super::action::{action, is_action, unseen};
use super::command::{Command, modelled};
use super::numbers::{bits_per_second, rate};
use crate::ast::{Action, At, Police, PolicyClass, TrafficRate};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Police>] = &[
    modelled("conform-action", |police, reader| actions(&mut police.conform, reader)),
    modelled("exceed-action", |police, reader| actions(&mut police.exceed, reader)),
    modelled("violate-action", |police, reader| actions(&mut police.violate, reader)),
];

/// One action or more on a line of its own; further lines add to them.
fn actions(actions: &mut Vec<Action>, reader: &mut Reader) -> Reading {
    if reader.negated() {
        actions.clear();
        return Ok(Finding::MODELLED);
    }
    let finding = several(actions, reader)?;
    reader.end()?;
    Ok(finding)
}

/// One action or more, as many as follow.
fn several(actions: &mut Vec<Action>, reader: &mut Reader) -> Reading {
    let mut finding = Finding::MODELLED;
    loop {
        let action = action(reader)?;
        finding = unseen(&action).unwrap_or(finding);
        actions.push(action);
        if !reader.peek().is_some_and(is_action) {
            return Ok(finding);
        }
    }
}

/// The `police` line.
pub(super) fn police(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.police = None;
        return Ok(Finding::MODELLED);
    }
    reader.keyword(&["cir", "rate"]);
    let mut police = Police {
        rate: rate(reader)?,
        burst: None,
        peak: None,
        excess_burst: None,
        conform: Vec::new(),
        exceed: Vec::new(),
        violate: Vec::new(),
    };
    reader.keyword(&["bps"]);
    // The old form has both bursts as bare numbers.
    police.burst = reader.maybe_number();
    if police.burst.is_some() {
        police.excess_burst = reader.maybe_number();
    }
    let mut finding = Finding::MODELLED;
    while reader.peek().is_some() {
        finding = clause(&mut police, reader, finding)?;
    }
    check(&mut police, reader);
    class.police = Some(At::new(reader.line, police));
    if let Mode::Class(map, class) = reader.mode {
        reader.opens = Some(Mode::Police(map, class));
    }
    Ok(finding)
}

fn clause(police: &mut Police, reader: &mut Reader, finding: Finding) -> Reading {
    let keywords = [
        "bc",
        "be",
        "pir",
        "burst",
        "peak-burst",
        "peak-rate",
        "conform-action",
        "exceed-action",
        "violate-action",
    ];
    let read = match reader.one_of(&keywords)? {
        "bc" | "burst" => {
            police.burst = Some(burst(reader)?);
            None
        }
        "be" | "peak-burst" => {
            police.excess_burst = Some(burst(reader)?);
            None
        }
        "pir" | "peak-rate" => {
            police.peak = Some(peak(reader)?);
            None
        }
        "conform-action" => Some(several(&mut police.conform, reader)?),
        "exceed-action" => Some(several(&mut police.exceed, reader)?),
        _ => Some(several(&mut police.violate, reader)?),
    };
    Ok(read.filter(|read| *read != Finding::MODELLED).unwrap_or(finding))
}

fn burst(reader: &mut Reader) -> Result<u64, Finding> {
    let burst = reader.number("a burst", 1..=2_000_000_000)?;
    reader.keyword(&["bytes", "ms"]);
    Ok(burst)
}

fn peak(reader: &mut Reader) -> Result<TrafficRate, Finding> {
    let peak = if reader.peek() == Some("percent") {
        rate(reader)?
    } else {
        TrafficRate::BitsPerSecond(bits_per_second(reader)?)
    };
    reader.keyword(&["bps"]);
    Ok(peak)
}

/// What the numbers mean together.
fn check(police: &mut Police, reader: &mut Reader) {
    if let (TrafficRate::BitsPerSecond(rate), Some(TrafficRate::BitsPerSecond(peak))) =
        (police.rate, police.peak)
        && peak < rate
    {
        reader.error(
            format!("the peak rate, {peak} b/s, is below the committed rate, {rate} b/s"),
            "the router refuses the line: the class has no policer",
        );
        police.peak = None;
    }
}
