//! `police rate` of IOS XR, with its actions in a separate block.

use std::mem::discriminant;

use super::units::{Length, burst_of, length, rate};
use crate::ast::{Action, At, PacketPolice, Police, PolicyClass, Then, TrafficRate};
use crate::syntax::command::{Command, modelled, not_modelled};
use crate::syntax::marking::marking;
use crate::syntax::police::{Color, actions_of, colors, is_accepted, open};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<PolicyClass>] = &[
    modelled("conform-action", |class, reader| action(class, Color::Conform, reader)),
    modelled("exceed-action", |class, reader| action(class, Color::Exceed, reader)),
    modelled("violate-action", |class, reader| action(class, Color::Violate, reader)),
    modelled("conform-color", colors),
    not_modelled("exceed-color", "the class of packets that arrive as exceeding"),
    not_modelled(
        "child-conform-aware",
        "the outer policer treats packets that conform to the inner policers differently from others",
    ),
];

/// Reads `police rate RATE [burst B] [peak-rate RATE [peak-burst B]]`.
pub(super) fn police(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        (class.police, class.police_packets) = (None, None);
        return Ok(Finding::MODELLED);
    }
    reader.one_of(&["rate"])?;
    if reader.rest().get(1).is_some_and(|unit| *unit == "pps") {
        return packets(class, reader);
    }
    let committed = rate(reader, "bps")?;
    let mut police = Police {
        rate: committed,
        burst: None,
        peak: None,
        excess_burst: None,
        conform: Vec::new(),
        exceed: Vec::new(),
        violate: Vec::new(),
        conform_class: None,
        exceed_class: None,
    };
    let mut finding = Finding::MODELLED;
    let mut keep = |burst: Result<u64, Finding>| burst.map_err(|other| finding = other).ok();
    while reader.peek().is_some() {
        match reader.one_of(&["burst", "peak-burst", "peak-rate"])? {
            "burst" => police.burst = keep(burst_of(length(reader, "bytes")?, committed)),
            "peak-burst" => {
                let peak = police.peak.unwrap_or(committed);
                police.excess_burst = keep(burst_of(length(reader, "bytes")?, peak));
            }
            _ => {
                let form = reader.unexpected("the peak rate in the same form as the committed rate");
                let peak = rate(reader, "bps")?;
                if discriminant(&peak) != discriminant(&committed) {
                    return Err(form);
                }
                police.peak = Some(peak);
            }
        }
    }
    open(reader);
    if committed == TrafficRate::BitsPerSecond(0) {
        (class.police, class.police_packets) = (None, None);
        class.drop = Some(At::new(reader.line, ()));
        return Ok(Finding::modelled("no packet conforms: all are dropped"));
    }
    if is_accepted(&police, reader) {
        (class.police, class.police_packets) = (Some(At::new(reader.line, police)), None);
    }
    Ok(finding)
}

/// Reads `police rate N pps [burst N packets]`.
fn packets(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let rate = reader.number("packets per second", 1..=200_000_000)?;
    reader.keyword(&["pps"]);
    let mut police = PacketPolice { rate, ..PacketPolice::default() };
    let mut finding = Finding::MODELLED;
    while reader.peek().is_some() {
        match reader.one_of(&["burst", "peak-burst", "peak-rate"])? {
            "burst" => police.burst = Some(packets_of(reader, rate)?),
            "peak-burst" => police.peak_burst = Some(packets_of(reader, rate)?),
            _ => {
                police.peak = Some(reader.number("packets per second", 1..=200_000_000)?);
                reader.keyword(&["pps"]);
                finding = Finding::not_modelled(
                    "perhop does not model a second rate of a policer that counts packets",
                );
            }
        }
    }
    (class.police, class.police_packets) = (None, Some(At::new(reader.line, police)));
    open(reader);
    Ok(finding)
}

/// Parses a burst of a policer that counts packets.
fn packets_of(reader: &mut Reader, rate: u64) -> Result<u64, Finding> {
    if reader.rest().get(1) == Some(&"packets") {
        let burst = reader.number("packets", 1..=2_000_000_000)?;
        reader.keyword(&["packets"]);
        return Ok(burst);
    }
    match length(reader, "packets")? {
        Length::Microseconds(us) => Ok((u128::from(rate) * u128::from(us) / 1_000_000).max(1) as u64),
        Length::Bytes(_) => Err(reader.unexpected("a burst in packets, ms or us")),
    }
}

/// Reads `conform-action transmit|drop|set …`.
fn action(class: &mut PolicyClass, color: Color, reader: &mut Reader) -> Reading {
    if class.drop.is_some() && class.police.is_none() && class.police_packets.is_none() {
        return Ok(Finding::irrelevant("no packet conforms: all are dropped"));
    }
    let Some(actions) = actions_of(class, color) else { return Ok(Finding::IRRELEVANT) };
    if reader.negated() {
        actions.clear();
        return Ok(Finding::MODELLED);
    }
    let (action, finding) = match reader.one_of(&["transmit", "drop", "set"])? {
        "transmit" => (Action { marking: None, then: Then::Transmit }, Finding::MODELLED),
        "drop" => (Action { marking: None, then: Then::Drop }, Finding::MODELLED),
        _ => {
            let (marking, finding) = marking(reader)?;
            (Action { marking: Some(marking), then: Then::Transmit }, finding)
        }
    };
    reader.end()?;
    actions.push(action);
    Ok(finding)
}
