//! Reading of the output of `tc -j`. perhop converts each discipline, class and filter to the lines that `tc`
//! prints without `-j`, and parses these lines. perhop reports parts that the JSON does not contain.

mod filter;
mod item;
mod options;
mod value;

use std::collections::BTreeMap;

pub(crate) use item::Item;
use item::{place, plain};
use options::shown_options;
use value::{Object, Value, get};

use crate::syntax;

/// A text separated into JSON items and the rest.
#[derive(Debug, Default)]
pub(crate) struct Split {
    /// The rest of the text, with empty lines in place of items.
    pub(crate) rest: String,
    /// The items by the number of their first line. An `Err` is the reason why perhop cannot read an item.
    pub(crate) items: BTreeMap<usize, Vec<Result<Item, String>>>,
    /// For each line, the number of the line on which its content began.
    pub(crate) begun: BTreeMap<usize, usize>,
}

impl Split {
    /// Returns the items in order if the text consists only of items and several items share a line. The
    /// numbers of the items then replace the line numbers.
    pub(crate) fn numbered(&self) -> Option<Vec<&Result<Item, String>>> {
        let is_all = self.rest.lines().all(|line| line.trim().is_empty());
        let is_dense = self.items.values().any(|items| items.len() > 1);
        (is_all && is_dense).then(|| self.items.values().flatten().collect())
    }
}

/// Whether JSON of tc may begin in this line.
pub(crate) fn begins(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('[') else { return false };
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with(['{', ']'])
}

/// Separates the JSON from the rest of `text`; `None` if the text contains no JSON.
pub(crate) fn split(text: &str) -> Option<Split> {
    if !text.lines().any(begins) {
        return None;
    }
    let mut split = Split::default();
    let (mut at, mut number) = (0, 1);
    while at < text.len() {
        let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
        if begins(line) {
            let length = document(&text[at..], number, &mut split);
            let taken = &text[at..at + length];
            let lines = taken.lines().count();
            split.rest.push_str(&"\n".repeat(lines));
            at += length;
            number += lines;
        } else {
            split.rest.push_str(line);
            at += line.len();
            number += 1;
        }
    }
    Some(split)
}

/// Reads a list that begins in line `number`. Returns the length of the list, including the rest of its last
/// line.
fn document(text: &str, number: usize, split: &mut Split) -> usize {
    let mut at = text.find('[').map_or(0, |bracket| bracket + 1);
    let mut lines = Lines { text, at: 0, number };
    let mut opener = number;
    let mut known = number;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t', '\r', '\n', ',']).len();
        if text[at..].starts_with(']') || text[at..].is_empty() {
            at = (at + 1).min(text.len());
            break;
        }
        let line = lines.line_at(at);
        split.begun.extend((known..line).map(|line| (line, opener)));
        (opener, known) = (line, line);
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            let why = "not JSON: tc prints some classes and filters as text even with -j; use the output \
                       without -j";
            split.items.entry(line).or_default().push(Err(why.to_owned()));
            break;
        };
        at += values.byte_offset();
        split.items.entry(line).or_default().push(item(&value));
    }
    // Other text in the last line is ignored.
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let last = lines.line_at(end.saturating_sub(usize::from(text[..end].ends_with('\n'))).max(at));
    split.begun.extend((known..=last).map(|line| (line, opener)));
    end
}

/// Line numbers of increasing positions in a text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl Lines<'_> {
    fn line_at(&mut self, at: usize) -> usize {
        self.number += self.text.get(self.at..at).map_or(0, |part| part.matches('\n').count());
        self.at = at;
        self.number
    }
}

/// Converts a discipline, class or filter to text.
fn item(value: &Value) -> Result<Item, String> {
    let object = value.object().ok_or("expected an object: a discipline, class or filter")?;
    let text = |key: &str| get(object, key).and_then(Value::word);
    if let Some(kind) = text("class") {
        return Ok(class(object, kind));
    }
    let kind = text("kind");
    if ["protocol", "pref", "chain"].iter().any(|key| get(object, key).is_some()) {
        return Ok(filter::filter(object, kind.unwrap_or_default()));
    }
    match kind {
        Some(kind) => Ok(qdisc(object, kind)),
        None => Err("the object has neither `kind` nor `class`".to_owned()),
    }
}

fn qdisc(object: &Object, kind: &str) -> Item {
    let handle = get(object, "handle").and_then(Value::word).unwrap_or("0:");
    let mut item = Item::default();
    let mut line = format!("qdisc {} {}", plain(kind), plain(handle));
    place(object, &mut line);
    let options = get(object, "options").and_then(Value::object);
    let table = syntax::kind(kind).map_or(&[][..], |kind| kind.options);
    let mut inside = Vec::new();
    if let Some(options) = options {
        shown_options(kind, table, options, &mut line, &mut inside, &mut item.missing);
    }
    item.lines.push(line);
    item.lines.extend(inside);
    if let Some(stab) = get(object, "stab").and_then(Value::object) {
        let mut line = String::from(" ");
        shown_options("stab", syntax::STAB, stab, &mut line, &mut Vec::new(), &mut item.missing);
        item.lines.push(line);
    }
    item
}

/// Keys of a class for its position and its counters.
const OF_CLASS: [&str; 7] = ["class", "handle", "dev", "root", "parent", "leaf", "stats"];

fn class(object: &Object, kind: &str) -> Item {
    let mut item = Item::default();
    let handle = get(object, "handle").and_then(Value::word).unwrap_or("0:0");
    let mut line = format!("class {} {}", plain(kind), plain(handle));
    place(object, &mut line);
    let own: Object = object.iter().filter(|(key, _)| !OF_CLASS.contains(&key.as_str())).cloned().collect();
    let table = syntax::kind(kind).and_then(|kind| kind.class).unwrap_or_default();
    if kind == "drr" && get(&own, "quantum").is_none() {
        item.missing.push("the quantum of classes of drr");
    }
    if kind == "hfsc" {
        item.missing.push("the service curves of classes of hfsc");
    }
    shown_options(kind, table, &own, &mut line, &mut Vec::new(), &mut item.missing);
    item.lines.push(line);
    item
}
