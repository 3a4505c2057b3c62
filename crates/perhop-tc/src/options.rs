//! [`Options`]: the options of a queueing discipline, a class or an action, read by a table that accounts for
//! each of them.

use std::collections::BTreeMap;

use perhop_lint::rules;
use perhop_qos::Time;

use crate::log::Log;
use crate::nearest::suggestion;
use crate::units;
use crate::words::{Words, abbreviates};

/// What stands behind the name of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Nothing.
    None,
    /// A rate: `10mbit`.
    Rate,
    /// A rate, or a part of the device's speed: `10mbit`, `50%`.
    RateOrPercent,
    /// A size: `15k`.
    Size,
    /// A size, and how large the cells of its table are, which new kernels ignore: `5k/8`.
    SizeAndCell,
    /// A time: `5ms`.
    Time,
    /// A time, or packets: `1ms`, `5pkt`.
    TimeOrPackets,
    /// A whole number, in base 10 or as C has it.
    Integer,
    /// A whole number in hexadecimal: a class of HTB.
    Hexadecimal,
    /// A whole number that may be negative.
    Signed,
    /// A number with a fraction.
    Fraction,
    /// A part of a hundred: `10%`.
    Percent,
    /// A value and a mask: `0x1/0x3`.
    Masked,
    /// Any word.
    Word,
    /// Whole numbers up to the next option: a map of priorities.
    Integers,
    /// Words up to the next option.
    Rest,
    /// A service curve: `m1 4mbit d 10ms m2 1mbit`, `umax 1500b dmax 10ms rate 1mbit`.
    Curve,
}

/// What perhop does with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It is part of the model.
    Modelled,
    /// It changes nothing of what packets experience; why.
    Irrelevant(&'static str),
    /// It would change what packets experience; why it is not modelled.
    NotModelled(&'static str),
    /// As `NotModelled`, except with one of these values.
    NotModelledBut(&'static [&'static str], &'static str),
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    /// Its name, and other names for it.
    pub(crate) names: &'static [&'static str],
    /// Whether it may be abbreviated.
    pub(crate) short: bool,
    /// What follows it.
    pub(crate) argument: Argument,
    /// What it has without being written, and where that is decided.
    pub(crate) default: &'static str,
    /// What becomes of it.
    pub(crate) effect: Effect,
    /// Whether only `show` says it.
    pub(crate) shown: bool,
}

impl Opt {
    /// An option that is modelled.
    pub(crate) const fn new(
        names: &'static [&'static str],
        argument: Argument,
        default: &'static str,
    ) -> Opt {
        Opt { names, short: false, argument, default, effect: Effect::Modelled, shown: false }
    }
    /// This option, which tc takes abbreviated as well.
    pub(crate) const fn short(self) -> Opt {
        Opt { short: true, ..self }
    }
    /// This option with another effect.
    pub(crate) const fn effect(self, effect: Effect) -> Opt {
        Opt { effect, ..self }
    }
    /// This option as one that only `show` prints.
    pub(crate) const fn shown(self) -> Opt {
        Opt { shown: true, ..self }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    None,
    /// Bits per second.
    Rate(u64),
    /// A part of the device's speed.
    Part(f64),
    Bytes(u64),
    Time(Time),
    Number(u64),
    Signed(i64),
    Fraction(f64),
    Pair(u64, u64),
    Numbers(Vec<u64>),
    Word(String),
    Curve(Curve),
}

/// A service curve: bits per second at first, for how long, and from then on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    pub(crate) first: u64,
    pub(crate) lasts: Time,
    pub(crate) then: u64,
}

/// Options as they were given, the last of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    values: BTreeMap<&'static str, Value>,
    order: Vec<&'static str>,
}

impl Options {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.values.get(name)? {
            Value::Number(number) | Value::Bytes(number) => Some(*number),
            _ => None,
        }
    }
    pub(crate) fn rate(&self, name: &str) -> Option<u64> {
        match self.values.get(name)? {
            Value::Rate(bits) => Some(*bits),
            _ => None,
        }
    }
    pub(crate) fn time(&self, name: &str) -> Option<Time> {
        match self.values.get(name)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }
    pub(crate) fn fraction(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            Value::Fraction(value) | Value::Part(value) => Some(*value),
            _ => None,
        }
    }
    /// Its names in the order in which they are given.
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.order
    }
    /// Which of these flags was given last.
    pub(crate) fn last(&self, flags: &[&str]) -> Option<&'static str> {
        self.order.iter().rev().find(|name| flags.contains(name)).copied()
    }
    pub(crate) fn set(&mut self, name: &'static str, value: Value) {
        self.order.retain(|known| *known != name);
        self.order.push(name);
        self.values.insert(name, value);
    }
    /// What `change` leaves: what it does not mention stays.
    pub(crate) fn changed_by(&mut self, others: Options) {
        for name in others.order {
            if let Some(value) = others.values.get(name) {
                self.set(name, value.clone());
            }
        }
    }
}

/// Where options stand, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The line.
    pub(crate) line: usize,
    /// What takes them: `fq_codel`.
    pub(crate) of: &'a str,
}

/// What a table could not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// tc refuses the command; it has been said.
    Refused,
}

/// Reads options up to a word that `ends` says is none of them.
///
/// # Errors
/// Where tc refuses one; it has been said in `log`.
pub(crate) fn read(
    tables: &[&'static [Opt]],
    words: &mut Words,
    place: Place,
    ends: fn(&str) -> bool,
    log: &mut Log,
) -> Result<Options, Trouble> {
    let mut options = Options::default();
    while let Some(word) = words.peek() {
        if ends(word) {
            break;
        }
        words.next();
        let all = || tables.iter().flat_map(|table| table.iter());
        let sayable = |opt: &&Opt| words.is_shown() || !opt.shown;
        let exact = all().filter(sayable).find(|opt| opt.names.contains(&word));
        let known = exact.or_else(|| {
            let is_short = |opt: &&Opt| opt.short && opt.names.iter().any(|name| abbreviates(word, name));
            all().filter(sayable).find(is_short)
        });
        let Some(opt) = known else {
            let names = all().filter(sayable).filter_map(|opt| opt.names.first().copied());
            let help = suggestion(word, names);
            let message = format!("`{word}` is no option of {}: {help}", place.of);
            log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
            return Err(Trouble::Refused);
        };
        one(opt, tables, words, place, log, &mut options)?;
    }
    Ok(options)
}

fn one(
    opt: &'static Opt,
    tables: &[&'static [Opt]],
    words: &mut Words,
    place: Place,
    log: &mut Log,
    options: &mut Options,
) -> Result<(), Trouble> {
    let name = opt.names[0];
    let mut text = String::new();
    let value = match opt.argument {
        Argument::None => Value::None,
        Argument::Integers => {
            let mut numbers = Vec::new();
            while let Some(number) = words.peek().and_then(|word| units::integer(word, 10)) {
                words.next();
                numbers.push(number);
            }
            Value::Numbers(numbers)
        }
        Argument::Curve => {
            if let Some(curve) = curve(words) {
                Value::Curve(curve)
            } else {
                let message = format!("`{name}` of {}: write [m1 RATE d TIME] m2 RATE", place.of);
                log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
                return Err(Trouble::Refused);
            }
        }
        Argument::Rest => {
            let is_option = |word: &str| tables.iter().any(|table| names(table).any(|name| name == word));
            let mut rest = Vec::new();
            while let Some(word) = words.peek().filter(|word| !is_option(word)) {
                words.next();
                rest.push(word);
            }
            Value::Word(rest.join(" "))
        }
        argument => {
            let Some(word) = words.next() else {
                let message = format!("nothing stands behind `{name}` of {}", place.of);
                log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
                return Err(Trouble::Refused);
            };
            word.clone_into(&mut text);
            value_of(argument, word, words.is_shown(), name, place, log)?
        }
    };
    said(opt, &text, place, log);
    options.set(name, value);
    Ok(())
}

/// `q_hfsc.c:hfsc_get_sc1` and `hfsc_get_sc2`.
fn curve(words: &mut Words) -> Option<Curve> {
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

fn names(table: &'static [Opt]) -> impl Iterator<Item = &'static str> {
    table.iter().flat_map(|opt| opt.names.iter().copied())
}

/// Tells what becomes of an option.
fn said(opt: &Opt, text: &str, place: Place, log: &mut Log) {
    let written = if text.is_empty() { opt.names[0].to_owned() } else { format!("{} {text}", opt.names[0]) };
    match opt.effect {
        Effect::Modelled => {}
        Effect::Irrelevant(why) if opt.shown => {
            let _ = why;
        }
        Effect::Irrelevant(why) => log.note(place.line, format!("`{written}` is irrelevant: {why}")),
        Effect::NotModelledBut(usual, _) if usual.iter().any(|one| one.eq_ignore_ascii_case(text)) => {}
        Effect::NotModelled(why) | Effect::NotModelledBut(_, why) => {
            log.not_modelled(place.line, format!("`{written}` is not modelled: {why}"));
        }
    }
}

fn value_of(
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
            let wanted = "a rate, as 10mbit or 800kbit (mbps is megabytes per second)";
            // `show` prints the bandwidth of cake so.
            let none = || (is_shown && word == "unlimited").then_some(Value::Rate(0));
            let rate = units::rate(word).map(Value::Rate);
            (rate.or_else(|| part().map(Value::Part)).or_else(none), wanted)
        }
        Argument::Size => {
            // `show` counts packets: 20p.
            let digits = if is_shown { word.strip_suffix('p').unwrap_or(word) } else { word };
            (units::size(digits).map(Value::Bytes), "a size, as 15k or 60000")
        }
        Argument::SizeAndCell => {
            let (size, cell) = word.split_once('/').unwrap_or((word, "1"));
            let is_right = units::integer(cell, 0).is_some_and(u64::is_power_of_two);
            (units::size(size).filter(|_| is_right).map(Value::Bytes), "a size, as 15k, or with a cell: 5k/8")
        }
        Argument::Time => {
            (units::time(word).map(Value::Time), "a time, as 5ms or 500us (a number alone is us)")
        }
        Argument::TimeOrPackets => {
            let packets = word.strip_suffix("packets").or_else(|| word.strip_suffix("packet"));
            let packets = packets.or_else(|| word.strip_suffix("pkts")).or_else(|| word.strip_suffix("pkt"));
            let packets = packets.and_then(|digits| units::integer(digits, 10)).map(Value::Number);
            (units::time(word).map(Value::Time).or(packets), "a time, as 1ms, or packets, as 5pkt")
        }
        Argument::Integer | Argument::Hexadecimal => {
            let digits = if is_shown { word.strip_suffix(['p', 'b']).unwrap_or(word) } else { word };
            let base = if argument == Argument::Hexadecimal { 16 } else { 0 };
            let wanted = if base == 16 { "a number in hexadecimal, as 30" } else { "a whole number" };
            // `show` puts a unit behind sizes that commands take as numbers: 32Kb.
            let shown = || units::size(word).filter(|_| is_shown && base == 0).map(Value::Number);
            (units::integer(digits, base).map(Value::Number).or_else(shown), wanted)
        }
        Argument::Signed => (word.parse().ok().map(Value::Signed), "a whole number, as 44 or -14"),
        Argument::Fraction => (units::fraction(word).map(Value::Fraction), "a number, as 0.02"),
        Argument::Percent => (units::percent(word).map(Value::Part), "a part of a hundred, as 10%"),
        Argument::Masked => {
            let (value, mask) = word.split_once('/').unwrap_or((word, ""));
            let pair = units::integer(value, 0).zip(units::integer(mask, 0));
            (pair.map(|(value, mask)| Value::Pair(value, mask)), "a value and a mask, as 0x1/0x3")
        }
        Argument::Word | Argument::None | Argument::Integers | Argument::Rest | Argument::Curve => {
            (Some(Value::Word(word.to_owned())), "a word")
        }
    };
    if let Some(value) = value {
        if matches!(value, Value::Rate(_)) && units::counts_bytes(word) {
            tell_of_bytes(name, word, place.line, log);
        }
        return Ok(value);
    }
    if word.contains(['$', '`']) {
        let message = format!("`{name} {word}`: the value stands in a variable that only the shell knows");
        log.not_modelled(place.line, format!("{message}: write it as NAME=VALUE above"));
    } else {
        let message = format!("`{name} {word}` of {}: write {wanted}", place.of);
        log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
    }
    Err(Trouble::Refused)
}

/// A rate in bytes per second where most mean bits.
fn tell_of_bytes(name: &str, word: &str, line: usize, log: &mut Log) {
    let bits = units::in_bits(word);
    let message = format!("`{name} {word}`: bps is bytes per second: eight times `{bits}`");
    let linux = "tc takes bytes per second; so does perhop";
    let diagnostic = perhop_lint::Diagnostic::new(&rules::TC_RATE_IN_BYTES, line, message, linux);
    log.add(diagnostic.mended_by([(word.to_owned(), bits)]));
}
