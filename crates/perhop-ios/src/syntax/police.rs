//! `police` of a class, on one line or with actions on separate lines.

use std::mem::discriminant;
use std::ops::RangeInclusive;

use super::action::{action, is_action, unseen};
use super::command::{Command, modelled};
use super::numbers::rate;
use crate::ast::{Action, At, PacketPolice, Police, PolicyClass, TrafficRate};
use crate::mode::Mode;
use crate::rules;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyClass>] = &[
    modelled("conform-action", |class, reader| actions(class, Color::Conform, reader)),
    modelled("conform-color", colors),
    modelled("exceed-action", |class, reader| actions(class, Color::Exceed, reader)),
    modelled("violate-action", |class, reader| actions(class, Color::Violate, reader)),
];

/// The result of a policer for a packet.
#[derive(Clone, Copy)]
pub(super) enum Color {
    Conform,
    Exceed,
    Violate,
}

/// Returns the actions for packets of `color`; `None` if the class has no policer.
pub(super) fn actions_of(class: &mut PolicyClass, color: Color) -> Option<&mut Vec<Action>> {
    let PolicyClass { police, police_packets, .. } = class;
    if let Some(At { value: police, .. }) = police {
        return Some(match color {
            Color::Conform => &mut police.conform,
            Color::Exceed => &mut police.exceed,
            Color::Violate => &mut police.violate,
        });
    }
    let police = &mut police_packets.as_mut()?.value;
    Some(match color {
        Color::Conform => &mut police.conform,
        Color::Exceed => &mut police.exceed,
        Color::Violate => &mut police.violate,
    })
}

/// Reads one or more actions on a separate line, and adds them to the actions of earlier lines.
fn actions(class: &mut PolicyClass, color: Color, reader: &mut Reader) -> Reading {
    let Some(actions) = actions_of(class, color) else { return Ok(Finding::IRRELEVANT) };
    if reader.negated() {
        actions.clear();
        return Ok(Finding::MODELLED);
    }
    let finding = several(actions, reader)?;
    reader.end()?;
    Ok(finding)
}

/// Reads one or more actions.
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

/// Reads `conform-color CLASS [exceed-color CLASS]`.
pub(super) fn colors(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if class.police_packets.is_some() {
        return Ok(Finding::not_modelled(
            "perhop does not model packet colors at a policer that counts packets",
        ));
    }
    let Some(police) = &mut class.police else { return Ok(Finding::IRRELEVANT) };
    let line = reader.line;
    let named = |reader: &mut Reader| {
        reader
            .word("a class-map")
            .map(|name| Some(At::new(line, name.to_owned())).filter(|_| !reader.negated()))
    };
    police.value.conform_class = named(reader)?;
    if reader.eat("exceed-color") {
        police.value.exceed_class = named(reader)?;
    }
    reader.end()?;
    Ok(Finding::MODELLED)
}

/// Accepted bursts, bytes. The minimum differs between routers, but is above 0.
const BURSTS: RangeInclusive<u64> = 1..=2_000_000_000;
const PEAK: &str = "perhop does not model a second rate of a policer that counts packets";

/// Reads the `police` line.
pub(super) fn police(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        (class.police, class.police_packets, class.aggregate) = (None, None, None);
        return Ok(Finding::MODELLED);
    }
    if let Some(what) = reader.keyword(&["aggregate", "flow"]) {
        let name = reader.next().filter(|_| what == "aggregate");
        class.aggregate = name.map(|name| At::new(reader.line, name.to_owned()));
        while reader.next().is_some() {}
        return Ok(Finding::not_modelled(match what {
            "aggregate" => "several classes share one policer",
            _ => "a policer for each flow",
        }));
    }
    reader.keyword(&["cir", "rate"]);
    if reader.rest().get(1).is_some_and(|unit| *unit == "pps") {
        return police_packets(class, reader);
    }
    let mut police = Police {
        rate: rate(reader)?,
        burst: None,
        peak: None,
        excess_burst: None,
        conform: Vec::new(),
        exceed: Vec::new(),
        violate: Vec::new(),
        conform_class: None,
        exceed_class: None,
    };
    // The old form has both bursts as plain numbers.
    if reader.peek().is_some_and(|word| word.parse::<u64>().is_ok()) {
        police.burst = Some(reader.number("a burst", BURSTS)?);
        reader.keyword(&["bytes", "byte", "ms"]);
        police.excess_burst = reader.maybe_number();
        reader.keyword(&["bytes", "byte", "ms"]);
    }
    let mut finding = Finding::MODELLED;
    while reader.peek().is_some() {
        finding = clause(&mut police, reader, finding)?;
    }
    if is_accepted(&police, reader) {
        (class.police, class.police_packets) = (Some(At::new(reader.line, police)), None);
    }
    open(reader);
    Ok(finding)
}

/// Opens the block of lines with actions.
pub(super) fn open(reader: &mut Reader) {
    if let Mode::Class(map, class) = reader.mode {
        reader.opens = Some(Mode::Police(map, class));
    }
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
        "conform-color",
        "exceed-color",
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
            let form = reader.unexpected("the peak rate in the same form as the committed rate");
            let peak = rate(reader)?;
            if discriminant(&peak) != discriminant(&police.rate) {
                return Err(form);
            }
            police.peak = Some(peak);
            None
        }
        "conform-color" => {
            let name = reader.word("a class-map")?.to_owned();
            police.conform_class = Some(At::new(reader.line, name));
            None
        }
        "exceed-color" => {
            let name = reader.word("a class-map")?.to_owned();
            police.exceed_class = Some(At::new(reader.line, name));
            None
        }
        "conform-action" => Some(several(&mut police.conform, reader)?),
        "exceed-action" => Some(several(&mut police.exceed, reader)?),
        _ => Some(several(&mut police.violate, reader)?),
    };
    Ok(read.filter(|read| *read != Finding::MODELLED).unwrap_or(finding))
}

fn burst(reader: &mut Reader) -> Result<u64, Finding> {
    let burst = match reader.peek().and_then(bytes) {
        Some(bytes) => {
            reader.next();
            bytes
        }
        None => reader.number("a burst", BURSTS)?,
    };
    reader.keyword(&["bytes", "byte", "ms", "packets"]);
    Ok(burst)
}

/// Parses a burst in bytes, also in the form `8k` of later releases.
fn bytes(word: &str) -> Option<u64> {
    super::numbers::scaled(word).filter(|bytes| BURSTS.contains(bytes))
}

/// Reads `police rate … pps`, starting at the number.
fn police_packets(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let rate = reader.number("packets per second", 1..=200_000_000)?;
    reader.keyword(&["pps"]);
    let mut police = PacketPolice { rate, ..PacketPolice::default() };
    while reader.peek().is_some() {
        let keywords =
            ["burst", "peak-burst", "peak-rate", "conform-action", "exceed-action", "violate-action"];
        match reader.one_of(&keywords)? {
            "burst" => police.burst = Some(burst(reader)?),
            "peak-burst" => police.peak_burst = Some(burst(reader)?),
            "peak-rate" => {
                police.peak = Some(reader.number("packets per second", 1..=200_000_000)?);
                reader.keyword(&["pps"]);
            }
            "conform-action" => drop(several(&mut police.conform, reader)?),
            "exceed-action" => drop(several(&mut police.exceed, reader)?),
            _ => drop(several(&mut police.violate, reader)?),
        }
    }
    let finding = if police.peak.is_some() { Finding::not_modelled(PEAK) } else { Finding::MODELLED };
    (class.police, class.police_packets) = (None, Some(At::new(reader.line, police)));
    open(reader);
    Ok(finding)
}

/// Whether the peak rate is at least the committed rate. Reports a line with a lower peak rate.
pub(super) fn is_accepted(police: &Police, reader: &mut Reader) -> bool {
    let (rate, peak, unit) = match (police.rate, police.peak) {
        (TrafficRate::BitsPerSecond(rate), Some(TrafficRate::BitsPerSecond(peak))) => (rate, peak, "b/s"),
        (TrafficRate::Percent(rate), Some(TrafficRate::Percent(peak))) => (rate, peak, "%"),
        _ => return true,
    };
    if peak < rate {
        reader.report_crossed(
            &rules::POLICE_PEAK_BELOW_COMMITTED,
            (rate, peak),
            format!("the peak rate, {peak} {unit}, is below the committed rate, {rate} {unit}"),
            "the router refuses the line: the class has no policer",
        );
    }
    peak >= rate
}
