//! Conversion of filters and actions in JSON (`tc/f_*.c`, `tc/m_*.c`) to the lines that `tc` prints.

use std::fmt::Write;

use super::item::{Item, place, plain};
use super::value::{Object, Value, get};

/// Keys of counters, and keys of values that are part of other words.
const COUNTED: [&str; 10] = [
    "rule_hit",
    "success",
    "fwmark_success",
    "in_hw",
    "not_in_hw",
    "in_hw_count",
    "order",
    "key_ht",
    "bkt",
    "eth_type",
];

pub(super) fn filter(object: &Object, kind: &str) -> Item {
    let mut item = Item::default();
    let mut line = String::from("filter");
    place(object, &mut line);
    for key in ["protocol", "pref"] {
        if let Some(word) = get(object, key).and_then(Value::word) {
            let _ = write!(line, " {key} {}", plain(word));
        }
    }
    let _ = write!(line, " {}", plain(kind));
    if let Some(chain) = get(object, "chain").and_then(Value::word) {
        let _ = write!(line, " chain {}", plain(chain));
    }
    item.lines.push(line);
    if let Some(options) = get(object, "options").and_then(Value::object) {
        for (key, value) in options {
            option(kind, key, value, &mut item);
        }
    }
    item
}

fn option(kind: &str, key: &str, value: &Value, item: &mut Item) {
    let mut first = |words: String| {
        item.lines[0].push(' ');
        item.lines[0].push_str(&words);
    };
    match (key, value) {
        ("handle" | "fh", value) => {
            let word = plain(value.word().unwrap_or_default());
            // Only u32 and basic print this number in hexadecimal.
            let number = if kind == "u32" || kind == "basic" { word } else { hexadecimal(&word) };
            first(format!("{} {number}", if key == "fh" { "fh" } else { "handle" }));
        }
        ("fw", Value::Object(mark)) => {
            let word = |key: &str| get(mark, key).and_then(Value::word).map(plain).unwrap_or_default();
            first(format!("handle {}/{}", word("mark"), word("mask")));
        }
        ("flowid" | "classid" | "ht_divisor" | "link" | "indev" | "input_dev", value) => {
            let word = plain(value.word().unwrap_or_default());
            match key {
                "ht_divisor" => first(format!("ht divisor {word}")),
                "input_dev" => first(format!("indev {word}")),
                _ => first(format!("{key} {word}")),
            }
        }
        ("skip_hw" | "skip_sw", _) => first(key.to_owned()),
        ("match", Value::Object(matches)) => item.lines.extend(selector(matches)),
        ("fwmark_value", value) => {
            item.lines.push(format!("  mark {}", plain(value.word().unwrap_or_default())));
        }
        ("keys", Value::Object(keys)) => keys.iter().for_each(|(key, value)| field(key, value, item)),
        ("actions", Value::List(actions)) => {
            for action in actions.iter().filter_map(Value::object) {
                self::action(action, item);
            }
        }
        // A policer of the old form is among the options of its filter.
        ("police", Value::Object(police)) => action(police, item),
        (key, _) if COUNTED.contains(&key) => {}
        (key, _) => first(plain(key)),
    }
}

/// Returns a number of JSON in hexadecimal, as in the text output.
fn hexadecimal(word: &str) -> String {
    word.parse::<u32>().map_or_else(|_| word.to_owned(), |number| format!("0x{number:x}"))
}

/// Returns the matches of u32, as numbers or, in an output with `-p`, in words.
fn selector(matches: &Object) -> Vec<String> {
    let word = |key: &str| get(matches, key).and_then(Value::word);
    if let Some((value, mask)) = word("value").zip(word("mask")) {
        let (next, off) = (word("offmask").unwrap_or_default(), word("off").unwrap_or("0"));
        return vec![format!(
            "  match {:0>8}/{:0>8} at {}{}",
            plain(value),
            plain(mask),
            plain(next),
            plain(off)
        )];
    }
    let mut lines = Vec::new();
    for (key, value) in matches {
        let text = match (key.as_str(), value) {
            ("src" | "dst", Value::Object(address)) => {
                let part = |key: &str| get(address, key).and_then(Value::word).map(plain).unwrap_or_default();
                format!("IP {key} {}/{}", part("address"), part("prefixlen"))
            }
            ("ip_ihl" | "ip_dsfield" | "ip_protocol", value) => {
                format!("IP {} {}", &key[3..], plain(value.word().unwrap_or_default()))
            }
            (key, value) => format!("{} {}", plain(key), plain(value.word().unwrap_or_default())),
        };
        lines.push(format!("  match {text}"));
    }
    lines
}

/// Adds a field of flower.
fn field(key: &str, value: &Value, item: &mut Item) {
    let text = match value {
        Value::Object(range) => {
            let part = |key: &str| get(range, key).and_then(Value::word).map(plain);
            match part("start").zip(part("end")) {
                Some((start, end)) => format!("{start}-{end}"),
                None => return item.lines.push(format!("  {}", plain(key))),
            }
        }
        value => plain(value.word().unwrap_or_default()),
    };
    if key == "eth_type" {
        return;
    }
    item.lines.push(format!("  {} {text}", plain(key)));
}

fn action(action: &Object, item: &mut Item) {
    let word = |key: &str| get(action, key).and_then(Value::word).map(plain);
    let kind = word("kind").unwrap_or_default();
    let order = word("order").unwrap_or_else(|| "1".to_owned());
    let control = get(action, "control_action").and_then(Value::object).map(control).unwrap_or_default();
    let line = match kind.as_str() {
        "police" => {
            item.missing.push("rate and burst of policers");
            return;
        }
        "gact" => format!("gact action {control}"),
        "skbedit" => {
            let keys = ["queue_mapping", "priority", "mark", "ptype"];
            let edits = keys.iter().filter_map(|key| word(key).map(|word| format!(" {key} {word}")));
            let inherits = get(action, "inheritdsfield").map(|_| " inheritdsfield".to_owned());
            format!("skbedit{} {control}", edits.chain(inherits).collect::<String>())
        }
        "mirred" => {
            let (what, way) =
                (word("mirred_action").unwrap_or_default(), word("direction").unwrap_or_default());
            format!("mirred ({way} {what} to device {}) {control}", word("to_dev").unwrap_or_default())
        }
        other => other.to_owned(),
    };
    item.lines.push(format!("\taction order {order}: {line}"));
}

/// Returns the control of an action: `drop`, `goto chain 3`.
fn control(action: &Object) -> String {
    let word = |key: &str| get(action, key).and_then(Value::word).map(plain);
    let kind = word("type").unwrap_or_default();
    match word("chain") {
        Some(chain) => format!("{kind} chain {chain}"),
        None => kind,
    }
}
