//! Policies that no interface names, and commands with placeholders.

use std::collections::BTreeMap;

use perhop_device::{MadeInterface, OpenThresholds, PolicyUses};
use perhop_lint::Line;
use perhop_qos::Rate;

/// The interface that perhop adds for a policy. It is a serial interface, because the rate of such an
/// interface is its `bandwidth`.
const MADE: &str = "Serial99/0";

/// Returns the policies that each policy-map, interface and other block names.
pub(crate) fn policy_uses(lines: &[Line]) -> Vec<PolicyUses> {
    let mut found: Vec<PolicyUses> = Vec::new();
    let mut parts: BTreeMap<usize, usize> = BTreeMap::new();
    for line in lines {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let around = line.block.and_then(|block| parts.get(&block).copied());
        let part = around.unwrap_or_else(|| {
            found.push(PolicyUses { policy: policy_map(&words).map(str::to_owned), uses: Vec::new() });
            found.len() - 1
        });
        parts.insert(line.number, part);
        let attaches = words.iter().position(|word| *word == "service-policy");
        if let (Some(_), Some(at), Some(name)) = (around, attaches, words.last())
            && at + 1 < words.len()
        {
            found[part].uses.push((*name).to_owned());
        }
    }
    found
}

/// Returns the name of a policy-map of the queueing type; other types, such as `inspect`, do not queue.
fn policy_map<'w>(words: &[&'w str]) -> Option<&'w str> {
    match words {
        ["policy-map", "type", kind, name, ..] => kind.starts_with("queu").then_some(*name),
        ["policy-map", name, ..] => Some(*name),
        _ => None,
    }
}

/// Returns the lines of a serial interface with this rate and output policy.
pub(crate) fn interface_for(policy: &str, rate: Rate) -> MadeInterface {
    let kilobits = ((rate.as_bits_per_second() as f64 / 1000.0).round_ties_even() as u64).max(1);
    MadeInterface {
        name: MADE.to_owned(),
        policy: policy.to_owned(),
        commands: vec![
            format!("interface {MADE}"),
            format!("bandwidth {kilobits}"),
            format!("service-policy output {policy}"),
        ],
    }
}

/// Returns the name of the class that a line defines or uses.
pub(crate) fn class_name(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (["class" | "class-map"], rest) = words.split_at_checked(1)? else { return None };
    let rest = if let ["type", _, rest @ ..] = rest { rest } else { rest };
    let rest = if let ["match-all" | "match-any", rest @ ..] = rest { rest } else { rest };
    rest.first().copied()
}

/// Returns the placeholders for thresholds of `random-detect precedence` in `commands`. The class must have a
/// bandwidth in `text`.
pub(crate) fn open_thresholds(text: &str, commands: &[String]) -> Vec<OpenThresholds> {
    let mut bandwidths: BTreeMap<&str, u64> = BTreeMap::new();
    let mut class = "";
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["class", name] => class = name,
            ["bandwidth", kilobits] => {
                if let Ok(kilobits) = kilobits.parse::<u64>() {
                    bandwidths.entry(class).or_insert(kilobits.saturating_mul(1000));
                }
            }
            _ => {}
        }
    }
    let is_open = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_digit()) || (word.starts_with('{') && word.ends_with('}'))
    };
    let mut found = Vec::new();
    let mut class = "";
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["class", name] => class = name,
            ["random-detect", "precedence", precedence, min, max, rest @ ..]
                if rest.len() < 2 && [min, max].into_iter().chain(rest).all(|word| is_open(word)) =>
            {
                if let (Some(rate_bps), Ok(precedence)) = (bandwidths.get(class), precedence.parse()) {
                    let denominator = rest.first().map(|word| (*word).to_owned());
                    let (min, max) = ((*min).to_owned(), (*max).to_owned());
                    found.push(OpenThresholds { rate_bps: *rate_bps, precedence, min, max, denominator });
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn parts_name_the_policies_that_they_use() {
        let text = "policy-map A\n class X\n  service-policy B\npolicy-map type inspect Z\npolicy-map B\n class X\n\
                    interface Serial0/0\n service-policy output A\n no service-policy input OLD\n";
        let found = policy_uses(&parse(text).lines);
        let found: Vec<(Option<&str>, &[String])> =
            found.iter().map(|part| (part.policy.as_deref(), part.uses.as_slice())).collect();
        assert_eq!(found[0], (Some("A"), &["B".to_owned()][..]));
        assert_eq!(found.iter().filter(|(policy, _)| policy.is_some()).count(), 2);
        assert!(found.contains(&(None, &["A".to_owned(), "OLD".to_owned()][..])));
    }

    #[test]
    fn classes_have_names_behind_their_types() {
        for (line, name) in [
            ("class-map match-any VOICE", Some("VOICE")),
            (" class type control X", Some("X")),
            ("class-map type traffic match-all Y", Some("Y")),
            ("class", None),
            ("classes VOICE", None),
        ] {
            assert_eq!(class_name(line), name, "{line}");
        }
    }

    #[test]
    fn thresholds_have_the_bandwidth_of_their_class() {
        let text = "policy-map P\n class DATA\n  bandwidth 2000\n";
        let commands = ["policy-map P", "class DATA", "random-detect precedence 3 {low} {high} 10"];
        let commands = commands.map(str::to_owned);
        let [found] = open_thresholds(text, &commands).try_into().expect("one");
        assert_eq!((found.rate_bps, found.precedence, found.min.as_str()), (2_000_000, 3, "{low}"));
        assert_eq!(found.denominator.as_deref(), Some("10"));
        assert_eq!(open_thresholds("", &commands), [], "a class without a bandwidth");
    }
}
