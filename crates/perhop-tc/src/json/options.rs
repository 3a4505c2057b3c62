//! Conversion of options in JSON to the words that `tc` prints.
//!
//! Names and units are those of `print_opt` of iproute2 6.1 to 7.1 (`tc/q_*.c`): rates in bytes per second,
//! times in microseconds, sizes in bytes.

use std::fmt::Write;

use super::item::plain;
use super::value::{Object, Value};
use crate::options::{Argument, Opt};

/// Options whose names in JSON and in text differ: discipline, name in JSON, name in text.
const NAMES: [(&str, &str, &str); 16] = [
    ("gred", "dp_cnt", "vqs"),
    ("gred", "dp_default", "default"),
    ("dualpi2", "memory-limit", "memlimit"),
    ("dualpi2", "step-thresh-us", "step_thresh"),
    ("dualpi2", "min-qlen-step", "min_qlen_step"),
    ("dualpi2", "coupling", "coupling_factor"),
    ("dualpi2", "c-protection", "classic_protection"),
    ("htb", "mpu_rate", "mpu"),
    ("htb", "burst_cell", ""),
    ("htb", "cburst_cell", ""),
    ("htb", "mpu_ceil", ""),
    ("tbf", "burst_raw", ""),
    ("tbf", "mtu_raw", ""),
    ("codel", "burst_raw", ""),
    ("cake", "diffserv", "="),
    ("cake", "flowmode", "="),
];

/// Values of JSON that are options in text: discipline, name in JSON, value, option.
const VALUES: [(&str, &str, &str, &str); 10] = [
    ("cake", "ack-filter", "enabled", "ack-filter"),
    ("cake", "ack-filter", "aggressive", "ack-filter-aggressive"),
    ("cake", "ack-filter", "disabled", "no-ack-filter"),
    ("dualpi2", "drop-overload", "drop", "drop_on_overload"),
    ("dualpi2", "drop-overload", "overflow", "overflow"),
    ("dualpi2", "drop-early", "drop-enqueue", "drop_enqueue"),
    ("dualpi2", "drop-early", "drop-dequeue", "drop_dequeue"),
    ("dualpi2", "ecn-mask", "l4s-ect", "l4s_ect"),
    ("dualpi2", "ecn-mask", "any-ect", "any_ect"),
    ("cake", "fwmark", "0", ""),
];

/// Adds the words of `options` to `line`, separate rows to `inside`, and the names of parts that JSON does
/// not contain to `missing`.
pub(super) fn shown_options(
    kind: &str,
    table: &[Opt],
    options: &Object,
    line: &mut String,
    inside: &mut Vec<String>,
    missing: &mut Vec<&'static str>,
) {
    // `print_opt` of tbf prints the peak rate only in text, but its parameters in both.
    let has_peak = |(key, _): &(String, Value)| matches!(key.as_str(), "minburst" | "mtu");
    if kind == "tbf" && options.iter().any(has_peak) {
        missing.push("the peakrate of tbf");
    }
    for (key, value) in options {
        match (kind, key.as_str(), value) {
            ("gred", "vqs", Value::List(rows)) => {
                for row in rows.iter().filter_map(Value::object) {
                    let mut text = String::new();
                    shown_options(kind, table, row, &mut text, inside, missing);
                    inside.push(text);
                }
            }
            ("fq_codel", "ce_threshold_selector", value) => {
                let _ = write!(line, " ce_threshold_selector {}", plain(value.word().unwrap_or_default()));
            }
            // The mask follows its value: `0x1/0x3`.
            ("fq_codel", "ce_threshold_mask", value) => {
                let _ = write!(line, "/{}", plain(value.word().unwrap_or_default()));
            }
            ("sfq", "perturb", value) => {
                let _ = write!(line, " perturb {}sec", plain(value.word().unwrap_or_default()));
            }
            ("dualpi2", "step-thresh-pkts", value) => {
                let _ = write!(line, " step_thresh {}pkt", plain(value.word().unwrap_or_default()));
            }
            (_, key, value) => option(kind, table, (key, value), line),
        }
    }
}

fn option(kind: &str, table: &[Opt], (key, value): (&str, &Value), line: &mut String) {
    if let Some(word) = value.word() {
        let is_own = |(of, name, value, _): &&(&str, &str, &str, &str)| {
            *of == kind && *name == key && (*value == word || (*value == "0" && word == "0x0"))
        };
        if let Some((.., option)) = VALUES.iter().find(is_own) {
            return push_word(line, option);
        }
    }
    let named = NAMES.iter().find(|(of, name, _)| *of == kind && *name == key).map(|(.., name)| *name);
    let name = match named {
        Some("") => return,
        Some("=") => return push_word(line, value.word().unwrap_or("unknown")),
        Some(name) => name,
        // In text, cake's cell types are separate options.
        None if kind == "cake" && matches!(key, "atm" | "autorate") => {
            return push_word(line, value.word().unwrap_or("unknown"));
        }
        None => key,
    };
    let spelled = [name.to_owned(), name.replace('_', "-"), name.replace('-', "_")];
    let known = spelled.iter().find_map(|name| {
        table.iter().find(|opt| opt.names.contains(&name.as_str())).map(|opt| (name.as_str(), opt))
    });
    let (name, opt) = known.map_or((name, None), |(name, opt)| (name, Some(opt)));
    match value {
        Value::Flag(true) | Value::Null | Value::Object(_) => push_word(line, name),
        Value::Flag(false) => {
            // Some options have a separate name for the off state: nonat, no-split-gso.
            let off = [format!("no{name}"), format!("no-{name}")];
            let known = off.iter().find(|off| table.iter().any(|opt| opt.names.contains(&off.as_str())));
            if let Some(off) = known {
                push_word(line, off);
            }
        }
        Value::Number(number) => {
            push_word(line, name);
            push_word(line, &with_unit(opt.map(|opt| opt.argument), number));
        }
        Value::Text(text) => {
            push_word(line, name);
            push_word(line, text);
        }
        Value::List(list) => {
            push_word(line, name);
            list.iter().filter_map(Value::word).for_each(|word| push_word(line, word));
        }
    }
}

fn push_word(line: &mut String, word: &str) {
    if !word.is_empty() {
        line.push(' ');
        line.push_str(&plain(word));
    }
}

/// Adds the unit that JSON omits.
fn with_unit(argument: Option<Argument>, number: &str) -> String {
    match argument {
        Some(Argument::Rate | Argument::RateOrPercent) => match number.parse::<u64>() {
            Ok(bytes) => format!("{}bit", u128::from(bytes) * 8),
            Err(_) => number.to_owned(),
        },
        Some(Argument::Time | Argument::TimeOrPackets) => format!("{number}us"),
        Some(Argument::Percent) => format!("{number}%"),
        _ => number.to_owned(),
    }
}
