//! Parsing of option values.

use perhop_qos::Time;

use super::opt::Argument;
use super::place::{Place, Trouble};
use super::values::{Curve, Value};
use crate::log::Log;
use crate::rules;
use crate::units;
use crate::words::Words;

/// Parses a whole number. Also returns the expected form, for messages.
fn parse_whole_number(argument: Argument, word: &str, is_shown: bool) -> (Option<Value>, &'static str) {
    // A hexadecimal number has no unit; the b of 0x1b is a digit.
    let has_unit = is_shown && !matches!(argument, Argument::Hexadecimal) && !word.starts_with("0x");
    let digits = if has_unit { word.strip_suffix(['p', 'b']).unwrap_or(word) } else { word };
    // sfq prints the number of queues and its limit: flows 127/1024.
    let digits = if is_shown { digits.split_once('/').map_or(digits, |(first, _)| first) } else { digits };
    let base = match argument {
        Argument::Hexadecimal => 16,
        Argument::Decimal => 10,
        _ => 0,
    };
    // sfq prints the interval of hash changes: perturb 10sec.
    let digits = if is_shown { digits.strip_suffix("sec").unwrap_or(digits) } else { digits };
    let wanted = if base == 16 { "a number in hexadecimal, such as 30" } else { "a whole number" };
    // `show` adds a unit to sizes that commands accept as numbers: 32Kb.
    let shown = || units::size(word).filter(|_| is_shown && base == 0).map(Value::Number);
    (units::integer(digits, base).map(Value::Number).or_else(shown), wanted)
}

/// Parses a time, or a number of packets: 5pkt.
fn parse_time_or_packets(word: &str) -> Option<Value> {
    let packets = word.strip_suffix("packets").or_else(|| word.strip_suffix("packet"));
    let digits = packets.or_else(|| word.strip_suffix("pkts")).or_else(|| word.strip_suffix("pkt"));
    let packets = || digits.and_then(|digits| units::integer(digits, 10)).map(Value::Number);
    units::time(word).map(Value::Time).or_else(packets)
}

/// Parses `word` as `argument`.
pub(super) fn value_of(
    argument: Argument,
    word: &str,
    is_shown: bool,
    name: &str,
    place: Place,
    log: &mut Log,
) -> Result<Value, Trouble> {
    let (value, wanted) = match argument {
        Argument::Rate | Argument::RateOrPercent => {
            let part = || units::percent(word).filter(|_| argument == Argument::RateOrPercent);
            let wanted = "a rate such as 10mbit or 800kbit (mbps is megabytes per second)";
            // `show` prints this for cake without a bandwidth.
            let none = || (is_shown && word == "unlimited").then_some(Value::Rate(0));
            let rate = units::rate(word).map(Value::Rate);
            (rate.or_else(|| part().map(Value::Part)).or_else(none), wanted)
        }
        Argument::Size => {
            // `show` adds p to numbers of packets: 20p.
            let digits = if is_shown { word.strip_suffix('p').unwrap_or(word) } else { word };
            (units::size(digits).map(Value::Bytes), "a size such as 15k or 60000")
        }
        Argument::SizeAndCell => {
            let (size, cell) = word.split_once('/').unwrap_or((word, "1"));
            let is_right = units::integer(cell, 0).is_some_and(u64::is_power_of_two);
            let bytes = units::size(size).filter(|_| is_right);
            (bytes.map(Value::Bytes), "a size such as 15k, or with a cell: 5k/8")
        }
        Argument::Time => (
            units::time(word).map(Value::Time),
            "a time such as 5ms or 500us (a number without a unit is us)",
        ),
        Argument::TimeOrPackets => {
            (parse_time_or_packets(word), "a time such as 1ms, or packets such as 5pkt")
        }
        Argument::Integer | Argument::Decimal | Argument::Hexadecimal => {
            parse_whole_number(argument, word, is_shown)
        }
        Argument::Signed => (word.parse().ok().map(Value::Signed), "a whole number such as 44 or -14"),
        Argument::Fraction => (units::fraction(word).map(Value::Fraction), "a number such as 0.02"),
        Argument::Percent => (units::percent(word).map(Value::Part), "a percentage such as 10%"),
        Argument::Masked => {
            let (value, mask) = word.split_once('/').unwrap_or((word, ""));
            let pair = units::integer(value, 0).zip(units::integer(mask, 0));
            (pair.map(|(value, mask)| Value::Pair(value, mask)), "a value and a mask such as 0x1/0x3")
        }
        // `tc_util.c:get_linklayer`.
        Argument::Word if name == "linklayer" && !is_shown => {
            let known = matches!(word, "ethernet" | "atm" | "adsl").then(|| Value::Word(word.to_owned()));
            (known, "ethernet, atm or adsl")
        }
        Argument::Word | Argument::None | Argument::Integers | Argument::Rest | Argument::Curve => {
            (Some(Value::Word(word.to_owned())), "a word")
        }
    };
    if let Some(value) = value {
        if matches!(value, Value::Rate(_)) && units::counts_bytes(word) {
            report_byte_suffix(name, word, place.line, log);
        }
        return Ok(value);
    }
    if word.contains(['$', '`']) {
        let message = format!("`{name} {word}`: only the shell knows the value of the variable");
        log.not_modelled(place.line, format!("{message}: assign the variable above, as NAME=VALUE"));
    } else {
        let message = format!("`{name} {word}` of {}: write {wanted}", place.of);
        log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
    }
    Err(Trouble::Refused)
}

/// Reports a rate in bytes per second, because authors usually mean bits.
fn report_byte_suffix(name: &str, word: &str, line: usize, log: &mut Log) {
    let bits = units::in_bits(word);
    let message = format!("`{name} {word}` is in bytes per second, eight times `{bits}`");
    let linux = "tc and perhop read bytes per second";
    let diagnostic = perhop_lint::Diagnostic::new(&rules::TC_RATE_IN_BYTES, line, message, linux);
    log.add(diagnostic.suggesting(Some(&bits)));
}

/// Reads a service curve (`q_hfsc.c:hfsc_get_sc1`, `hfsc_get_sc2`).
pub(super) fn curve(words: &mut Words) -> Option<Curve> {
    let mut value = |name: &str| if words.take(name) { words.next() } else { None };
    let (m1, d, m2) = (value("m1"), value("d"), value("m2"));
    if let Some(m2) = m2 {
        let first = m1.map_or(Some(0), units::rate)?;
        let lasts = d.map_or(Some(Time::ZERO), units::time)?;
        return Some(Curve { first, lasts, then: units::rate(m2)? });
    }
    let (umax, dmax, rate) = (value("umax"), value("dmax"), value("rate"));
    let then = units::rate(rate?)?;
    let umax = umax.map_or(Some(0), units::size)?;
    let dmax = dmax.map_or(Some(Time::ZERO), units::time)?;
    if umax != 0 && dmax == Time::ZERO || m1.is_some() || d.is_some() {
        return None;
    }
    let micros = dmax.as_seconds() * 1e6;
    let needed = if micros > 0.0 { (umax as f64 * 1e6 / micros).ceil() as u64 * 8 } else { 0 };
    if needed > then {
        return Some(Curve { first: needed, lasts: dmax, then });
    }
    let less = if then > 0 { umax * 1_000_000 / (then / 8).max(1) } else { 0 };
    Some(Curve { first: 0, lasts: Time::from_microseconds((micros as u64).saturating_sub(less)), then })
}
