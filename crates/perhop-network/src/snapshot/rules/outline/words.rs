//! [`Entry`]: a line of a block as a shape with values, for the comparison of lines on several devices.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::Deref;
use std::sync::Arc;

use perhop_qos::Dscp;

use super::hidden::{hide, is_hidden};

/// Commands inside blocks that do not affect the path or the delay of packets.
const WITHOUT_EFFECT: &[&str] = &[
    "cdp",
    "description",
    "duplex",
    "exit-address-family",
    "keepalive",
    "lldp",
    "load-interval",
    "log-adjacency-changes",
    "logging",
    "name",
    "negotiation",
    "no",
    "remark",
    "snmp",
    "speed",
];
/// Words of lines about policers. Other rules compare policers, because a policer with a higher rate drops
/// fewer packets.
const OF_POLICERS: &[&str] = &["conform-action", "exceed-action", "police", "violate-action"];
/// Commands whose negation with `no` is compared as a separate line.
const NEGATED: &[&str] = &["passive-interface"];
/// Commands whose negation with `no ip` is compared as a separate line.
const NEGATED_IP: &[&str] = &["next-hop-self", "split-horizon"];
/// Words that have no effect and may be omitted.
const FILLERS: &[&str] = &["bc", "be", "cir", "pir"];
/// Names of ports in access lists, with the port numbers (IANA, service names).
const PORTS: &[(&str, &str)] = &[
    ("bgp", "179"),
    ("domain", "53"),
    ("ftp", "21"),
    ("isakmp", "500"),
    ("non500-isakmp", "4500"),
    ("ntp", "123"),
    ("snmp", "161"),
    ("snmptrap", "162"),
    ("syslog", "514"),
    ("telnet", "23"),
    ("tftp", "69"),
    ("www", "80"),
];

/// A line of a block, or one criterion of a line with several criteria.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The number of the line.
    pub(super) line: usize,
    /// The content of the line. Equal lines share one content.
    pub(super) content: Arc<Content>,
}

impl Deref for Entry {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.content
    }
}

impl Entry {
    /// Returns the entry without its first word and the first value.
    pub(super) fn behind_first_value(&self) -> Entry {
        let shape = self.shape.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
        let content = Content::of_parts(shape, self.values[1..].to_vec());
        Entry { line: self.line, content: Arc::new(content) }
    }
}

/// The words of a line.
#[derive(Debug)]
pub(super) struct Content {
    /// The words, with `#` in place of values.
    pub(super) shape: String,
    /// The values: words with digits or capital letters, and names of blocks.
    pub(super) values: Vec<String>,
    text: String,
    /// The addresses among the values, with or without a prefix length, each with the index of the value.
    addresses: Vec<(usize, Ipv4Addr)>,
}

impl Content {
    /// Returns the content of a line that consists of `words`.
    pub(super) fn new(words: &[String], names: &BTreeSet<&str>) -> Content {
        let (mut shape, mut values) = (String::new(), Vec::new());
        for word in words {
            if !shape.is_empty() {
                shape.push(' ');
            }
            if is_value(word) || names.contains(word.as_str()) {
                shape.push('#');
                values.push(word.clone());
            } else {
                shape.push_str(word);
            }
        }
        Content::of_parts(shape, values)
    }

    /// Returns the content of a line with a shape and values.
    pub(super) fn of_parts(shape: String, values: Vec<String>) -> Content {
        let mut rest = values.iter();
        let words = shape.split(' ').map(|word| match word {
            "#" => rest.next().map_or("#", String::as_str),
            _ => word,
        });
        let text = words.collect::<Vec<_>>().join(" ");
        let address = |(place, value): (usize, &String)| Some((place, address(value)?));
        let addresses = values.iter().enumerate().filter_map(address).collect();
        Content { shape, values, text, addresses }
    }

    /// Returns the text of the line, including its values.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the addresses among the values, with or without a prefix length, each with the index of the
    /// value.
    pub(super) fn addresses(&self) -> &[(usize, Ipv4Addr)] {
        &self.addresses
    }

    /// Returns the value at an index as an address; `None` if it is not an address with or without a prefix
    /// length.
    pub(super) fn address(&self, place: usize) -> Option<Ipv4Addr> {
        self.addresses.iter().find(|(own, _)| *own == place).map(|(_, address)| *address)
    }

    /// Returns the first word.
    pub(super) fn command(&self) -> &str {
        self.shape.split(' ').next().unwrap_or_default()
    }
}

/// Returns the address in a word with or without a prefix length: 10.0.0.1 for `10.0.0.1/32`.
pub(super) fn address(word: &str) -> Option<Ipv4Addr> {
    word.split('/').next().unwrap_or(word).parse().ok()
}

fn is_value(word: &str) -> bool {
    is_hidden(word) || word.chars().any(|letter| letter.is_ascii_digit() || letter.is_ascii_uppercase())
}

/// Whether a line is not compared, because it has no effect on packets or because other rules compare it.
pub(super) fn is_left_out(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_both = |known: &str| known.split_once(' ') == Some((first, second));
    let is_listed =
        OF_POLICERS.contains(&first) || WITHOUT_EFFECT.iter().any(|known| *known == first || is_both(known));
    let is_negated = NEGATED.contains(&second)
        || second == "ip" && words.next().is_some_and(|third| NEGATED_IP.contains(&third));
    is_listed && !(first == "no" && is_negated)
}

/// Returns the words of a line inside a block in a canonical form, so that equivalent lines are equal. Each
/// criterion of a class becomes a line of its own, codepoints, ports and areas become numbers, and sequence
/// numbers are removed.
pub(super) fn canonical(text: &str) -> Vec<Vec<String>> {
    let mut words: Vec<&str> = text.split_whitespace().map(|word| word.trim_end_matches(';')).collect();
    let is_numbered = |words: &[&str]| {
        matches!(words, [first, second, ..] if first.bytes().all(|byte| byte.is_ascii_digit())
            && ["deny", "permit"].contains(second))
    };
    if is_numbered(&words) {
        words.remove(0);
    }
    let hidden = hide(&words);
    for (place, word) in &hidden {
        words[*place] = word;
    }
    match words.as_slice() {
        ["match" | "set", "ip", "dscp" | "precedence", ..] => {
            words.remove(1);
        }
        ["shape", ..] => words.retain(|word| !FILLERS.contains(word)),
        _ => {}
    }
    match words.as_slice() {
        ["match", field @ ("dscp" | "precedence" | "cos"), values @ ..] => values
            .iter()
            .map(|value| vec!["match".to_owned(), (*field).to_owned(), codepoint(value)])
            .collect(),
        ["set", "dscp", value] => vec![vec!["set".to_owned(), "dscp".to_owned(), codepoint(value)]],
        ["shape", "average", rate, ..] => {
            vec![vec!["shape".to_owned(), "average".to_owned(), (*rate).to_owned()]]
        }
        ["random-detect", "dscp", value, rest @ ..] => {
            let mut found = vec!["random-detect".to_owned(), "dscp".to_owned(), codepoint(value)];
            found.extend(rest.iter().map(|word| (*word).to_owned()));
            vec![found]
        }
        [.., "code-point" | "code-points", value] => {
            let rest = &words[..words.len() - 1];
            vec![rest.iter().map(|word| (*word).to_owned()).chain([bits(value)]).collect()]
        }
        ["permit" | "deny", ..] => vec![words.iter().map(|word| port(word)).collect()],
        [rest @ .., "area", value] => {
            let rest = rest.iter().map(|word| (*word).to_owned());
            vec![rest.chain(["area".to_owned(), area(value)]).collect()]
        }
        _ => vec![words.iter().map(|word| (*word).to_owned()).collect()],
    }
}

/// Returns the words of a line as the first line of a block.
pub(super) fn first_line(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut own: Vec<String> = words.iter().map(ToString::to_string).collect();
    for (place, word) in hide(&words) {
        own[place] = word;
    }
    own
}

fn codepoint(word: &str) -> String {
    word.parse::<Dscp>().map_or_else(|_| word.to_owned(), |dscp| dscp.value().to_string())
}

/// Returns a message with the names of codepoints in place of the numbers after `dscp`.
pub(super) fn with_codepoint_names(message: &str) -> String {
    let mut is_behind = false;
    let words = message.split(' ').map(|word| {
        let end = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        let dscp = word[..end].parse().ok().filter(|_| is_behind).and_then(Dscp::new);
        is_behind = word.ends_with("dscp");
        dscp.map_or_else(|| word.to_owned(), |dscp| format!("{dscp}{}", &word[end..]))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the usual form of a codepoint that is written as six bits. Returns other words unchanged.
fn bits(word: &str) -> String {
    let is_bits = word.len() == 6 && word.bytes().all(|digit| matches!(digit, b'0' | b'1'));
    let value = is_bits.then(|| u8::from_str_radix(word, 2).ok()).flatten();
    value.and_then(Dscp::new).map_or_else(|| word.to_owned(), |dscp| dscp.to_string())
}

/// Returns the number of an area that is written like an address (RFC 2328 §C.2). Returns other words
/// unchanged.
fn area(word: &str) -> String {
    word.parse::<Ipv4Addr>().map_or_else(|_| word.to_owned(), |address| address.to_bits().to_string())
}

fn port(word: &str) -> String {
    let number = PORTS.iter().find(|(name, _)| *name == word);
    number.map_or(word, |(_, number)| number).to_owned()
}

/// Generates the numbers in a value, from left to right.
pub(super) fn numbers(value: &str) -> impl Iterator<Item = u64> {
    let runs = value.split(|letter: char| !letter.is_ascii_digit());
    runs.filter(|run| !run.is_empty()).filter_map(|run| run.parse().ok())
}

/// Returns a path without its values. `ipv4` is not a value, although it contains a digit.
pub(super) fn without_values(path: &str) -> String {
    let is_value = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_digit())
            || word.contains(|letter: char| letter.is_ascii_uppercase())
    };
    let words = path.split(' ').map(|word| if is_value(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{canonical, with_codepoint_names};

    #[test]
    fn both_forms_of_an_area_are_equal() {
        assert_eq!(canonical("ip ospf 10 area 0.0.0.0"), canonical("ip ospf 10 area 0"));
        assert_eq!(canonical("ip ospf 10 area 0.0.1.2"), canonical("ip ospf 10 area 258"));
        assert_ne!(canonical("ip ospf 10 area 0.0.0.1"), canonical("ip ospf 10 area 0"));
    }

    #[test]
    fn numbers_after_dscp_are_codepoints() {
        assert_eq!(
            with_codepoint_names("`A` lacks `match dscp 10`, which 4 such blocks have"),
            "`A` lacks `match dscp af11`, which 4 such blocks have"
        );
        let text = "`random-detect dscp 18 40 80 10` and `dscp ef` in dscp-based";
        assert_eq!(with_codepoint_names(text), text.replace("18", "af21"));
    }
}
