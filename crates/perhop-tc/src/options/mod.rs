//! Reading of the options of a queueing discipline, a class or an action with the tables of options.

mod opt;
mod place;
mod value;
mod values;

pub(crate) use opt::{Argument, Effect, Opt};
pub(crate) use place::{Place, Trouble};
pub(crate) use values::{Curve, Options, Value};

use crate::log::Log;
use crate::nearest::suggestion;
use crate::rules;
use crate::units;
use crate::words::{Words, abbreviates};
use value::{curve, value_of};

/// Reads options up to a word for which `ends` is true.
///
/// # Errors
/// tc refuses an option. The function has reported it in `log`.
pub(crate) fn read(
    tables: &[&'static [Opt]],
    words: &mut Words,
    place: Place,
    ends: fn(&str) -> bool,
    log: &mut Log,
) -> Result<Options, Trouble> {
    let mut options = Options::default();
    let mut before = String::new();
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
            let help = joined_unit(&before, word).unwrap_or_else(|| suggestion(word, names));
            let message = format!("`{word}` is not an option of {}: {help}", place.of);
            log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
            return Err(Trouble::Refused);
        };
        if options.has(opt.names[0]) && !words.is_shown() {
            twice(opt, place, log)?;
        }
        before = read_option(opt, tables, words, place, log, &mut options)?;
    }
    Ok(options)
}

/// Reports a repeated option.
fn twice(opt: &Opt, place: Place, log: &mut Log) -> Result<(), Trouble> {
    let message = format!("`{}` of {} is written twice", opt.names[0], place.of);
    if opt.once {
        log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
        return Err(Trouble::Refused);
    }
    log.found(&rules::TC_OPTION_OVERRIDDEN, place.line, message, "tc applies the last one");
    Ok(())
}

/// Reads an option after its name. Returns its value as written.
fn read_option(
    opt: &'static Opt,
    tables: &[&'static [Opt]],
    words: &mut Words,
    place: Place,
    log: &mut Log,
    options: &mut Options,
) -> Result<String, Trouble> {
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
                let message = format!("the value of `{name}` of {} is missing", place.of);
                log.found(&rules::TC_COMMAND_REFUSED, place.line, message, "tc refuses the command");
                return Err(Trouble::Refused);
            };
            word.clone_into(&mut text);
            value_of(argument, word, words.is_shown(), name, place, log)?
        }
    };
    report_effect(opt, &text, place, log);
    options.set(name, value);
    Ok(text)
}

/// Returns the correction for a space between a number and its unit: `5 ms`.
fn joined_unit(number: &str, unit: &str) -> Option<String> {
    let whole = format!("{number}{unit}");
    let is_value = units::fraction(number).is_some()
        && (units::time(&whole).is_some() || units::rate(&whole).is_some() || units::size(&whole).is_some());
    is_value.then(|| format!("write `{whole}` in one word"))
}

fn names(table: &'static [Opt]) -> impl Iterator<Item = &'static str> {
    table.iter().flat_map(|opt| opt.names.iter().copied())
}

/// Reports the effect of an option.
fn report_effect(opt: &Opt, text: &str, place: Place, log: &mut Log) {
    let written = if text.is_empty() { opt.names[0].to_owned() } else { format!("{} {text}", opt.names[0]) };
    match opt.effect {
        Effect::Modelled => {}
        Effect::Irrelevant(why) if opt.shown => {
            let _ = why;
        }
        Effect::Irrelevant(why) => {
            log.note(place.line, format!("`{written}` has no effect in perhop: {why}"));
        }
        Effect::NotModelledBut(usual, _) if usual.iter().any(|word| word.eq_ignore_ascii_case(text)) => {}
        Effect::NotModelled(why) | Effect::NotModelledBut(_, why) => {
            log.not_modelled(place.line, format!("perhop does not model `{written}`: {why}"));
        }
    }
}
