//! Policers whose rate lacks a digit: the rate is a tenth of the rate of the same class on other devices, and
//! the burst is equal.

use std::collections::BTreeMap;

use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The factor of one decimal digit.
const DIGIT: u64 = 10;

/// A policer: its device, its line, its rate, and the words after the rate.
type Policer<'t> = (usize, usize, u64, Vec<&'t str>);

/// Reports the policer of one device whose rate is a tenth of the rate of the same class on all other
/// devices. The equal burst shows an error: at a tenth of the rate, the same burst lasts ten times as long.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut by_class: BTreeMap<(&str, &str), Vec<Policer>> = BTreeMap::new();
    for (device, parts) in devices.iter().enumerate() {
        for class in &parts.classes {
            for (line, words) in &class.lines {
                if let Some((rate, rest)) = rate_and_burst(words) {
                    let own = (device, *line, rate, rest);
                    by_class.entry((class.policy, class.name)).or_default().push(own);
                }
            }
        }
    }
    for ((policy, class), all) in &by_class {
        let Some(least) = all.iter().map(|(_, _, rate, _)| *rate).min() else { continue };
        let (low, others): (Vec<&Policer>, Vec<&Policer>) =
            all.iter().partition(|(_, _, rate, _)| *rate == least);
        let [(device, line, rate, rest)] = low.as_slice() else { continue };
        let is_longer = |(_, _, other, words): &&Policer| *other == DIGIT * rate && words == rest;
        if others.is_empty() || !others.iter().all(is_longer) {
            continue;
        }
        let others = match others.len() {
            1 => "another device polices".to_owned(),
            count => format!("{count} other devices police"),
        };
        let message = format!(
            "{} polices class {class} of {policy} to {rate} b/s, but {others} it to {} b/s with the same burst",
            snapshot.devices[*device].name,
            DIGIT * rate
        );
        let effect = "if the rate lacks a digit, most packets of the class are dropped".to_owned();
        found.push(snapshot.finding(*device, &rules::NETWORK_NAMESAKE_DIFFERS, *line, (message, effect)));
    }
}

/// Returns the rate of a policer in b/s, and the words after it. Both forms of the command are equal:
/// `police cir RATE bc BURST` and `police RATE BURST`.
fn rate_and_burst<'t>(words: &[&'t str]) -> Option<(u64, Vec<&'t str>)> {
    let rest = words.strip_prefix(&["police"])?;
    let rest = rest.strip_prefix(&["cir"]).unwrap_or(rest);
    let (rate, after) = rest.split_first()?;
    let after: Vec<&str> = after.iter().copied().filter(|word| *word != "bc").collect();
    Some((rate.parse().ok()?, after)).filter(|(_, after)| !after.is_empty())
}

#[cfg(test)]
mod tests {
    use super::rate_and_burst;

    #[test]
    fn both_forms_of_a_policer_are_equal() {
        let read = |line: &'static str| rate_and_burst(&line.split(' ').collect::<Vec<_>>());
        let short = read("police 64000 8000 exceed-action drop");
        assert_eq!(short, Some((64_000, vec!["8000", "exceed-action", "drop"])));
        assert_eq!(read("police cir 64000 bc 8000 exceed-action drop"), short);
        assert!(read("police cir 64000").is_none() && read("police rate 10 mbps").is_none());
    }
}
