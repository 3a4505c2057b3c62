//! Rates in the names and descriptions of a port that contradict each other, such as the policy
//! `CUSTOMER-20M` at a port with `50M` in its description.
//!
//! Names are free texts. The rule therefore reports a port only in networks where these rates agree at most
//! ports.

use perhop_device::PortRole;

use super::{NetworkFinding, Precision, Snapshot, Topic};
use crate::rules;

/// The minimum number of ports whose rates agree, per port whose rates differ.
const FOR_EACH: usize = 3;

/// The number and text of a line, and the rate that it names, bit/s.
type Stated<'t> = (usize, &'t str, u64);

/// Reports ports whose lines name different rates.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let mut equal = 0;
    let mut different: Vec<(usize, Vec<Stated>)> = Vec::new();
    for (device, member) in snapshot.devices.iter().enumerate() {
        let lines: Vec<(usize, &str)> = member.device.numbered_lines().collect();
        for port in &snapshot.router(device).ports {
            if port.forwarding.role != PortRole::Interface {
                continue;
            }
            let stated = stated(&lines, port.line);
            let Some((first, others)) = stated.split_first() else { continue };
            if others.iter().any(|(_, _, rate)| *rate != first.2) {
                different.push((device, stated));
            } else if !others.is_empty() {
                equal += 1;
            }
        }
    }
    different.dedup();
    check_groups(snapshot, found);
    if equal < FOR_EACH * different.len() {
        return;
    }
    for (device, stated) in different {
        let (first, text, rate) = stated[0];
        for (line, other, _) in stated.iter().filter(|(_, _, other)| *other != rate) {
            let message =
                format!("`{other}` names a different rate than line {first}, `{text}`, at the same port");
            let effect = format!("the rates in the lines of {equal} other ports are equal");
            let finding = snapshot.finding(device, &rules::NETWORK_RATE_NAME, *line, (message, effect));
            found.push(finding.about(Topic::Attachment, Precision::Comparison));
        }
    }
}

/// Reports the only line of a hub that assigns to a group of tunnels a policy whose name states another rate
/// than the name of the group.
fn check_groups(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let (mut equal, mut different) = (0, Vec::new());
    for (device, member) in snapshot.devices.iter().enumerate() {
        for (line, text) in member.device.numbered_lines() {
            let words: Vec<&str> = text.split_whitespace().collect();
            let words = words.strip_prefix(&["ip"]).unwrap_or(&words);
            let ["nhrp", "map", "group", group, "service-policy", "output", policy] = words else { continue };
            let (Some(rate), Some(other)) = (rate_in(group), rate_in(policy)) else { continue };
            if rate == other {
                equal += 1;
            } else {
                different.push((device, line, (*group).to_owned(), (*policy).to_owned()));
            }
        }
    }
    let [(device, line, group, policy)] = different.as_slice() else { return };
    if equal < FOR_EACH {
        return;
    }
    let message = format!("the group {group} has the policy {policy}, whose name states another rate");
    let effect = format!("the names in {equal} other lines for groups state equal rates");
    found.push(snapshot.finding(*device, &rules::NETWORK_RATE_NAME, *line, (message, effect)));
}

/// Returns the rates in the block of a port and in the enclosing block. Excludes the blocks of other units of
/// the interface, which can belong to other customers.
fn stated<'t>(lines: &[(usize, &'t str)], first: usize) -> Vec<Stated<'t>> {
    let depth = |text: &str| text.len() - text.trim_start().len();
    let Ok(place) = lines.binary_search_by_key(&first, |(number, _)| *number) else { return Vec::new() };
    let own = depth(lines[place].1);
    let block = |start: usize, outside: usize| {
        let inside = lines[start + 1..].iter().take_while(move |(_, text)| depth(text) > outside);
        inside.copied()
    };
    // The block of a unit is inside the block of its interface, which contains the description.
    let around = (0..place).rev().find(|place| depth(lines[*place].1) < own);
    let around = around.map(|place| (place, depth(lines[place].1))).filter(|(_, outside)| *outside > 0);
    let direct = around.map(|(start, outside)| block(start, outside).filter(|(_, text)| depth(text) == own));
    let mut stated: Vec<Stated> = direct
        .into_iter()
        .flatten()
        .chain(block(place, own))
        .filter(|(_, text)| names_something(text))
        .filter_map(|(line, text)| Some((line, text.trim(), rate_in(text)?)))
        .collect();
    stated.sort_by_key(|(line, _, _)| *line);
    stated
}

/// Whether a line of a port is a description, or names a policy or a filter.
fn names_something(text: &str) -> bool {
    let first = text.split_whitespace().next();
    matches!(first, Some("description" | "service-policy" | "input" | "output"))
}

/// Returns the rate that a text names, such as `20M` between other words. `None` if the text names no rate or
/// several rates.
pub(super) fn rate_in(text: &str) -> Option<u64> {
    let is_between = |letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '/';
    let mut rates = text.split(is_between).filter_map(|word| {
        let end = word.find(|letter: char| !letter.is_ascii_digit()).filter(|end| *end > 0)?;
        let number: u64 = word[..end].parse().ok()?;
        let unit = match word[end..].to_ascii_lowercase().as_str() {
            "m" | "mb" | "mbit" | "mbps" => 1_000_000,
            "g" | "gb" | "gbit" | "gbps" => 1_000_000_000,
            _ => return None,
        };
        number.checked_mul(unit)
    });
    let first = rates.next()?;
    rates.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{rate_in, stated};

    #[test]
    fn a_rate_is_a_number_with_a_unit_between_other_words() {
        assert_eq!(rate_in(" service-policy input UNI-50M"), Some(50_000_000));
        assert_eq!(rate_in("description \"KORALM ce-kor-vie 20M AUR-2003\";"), Some(20_000_000));
        assert_eq!(rate_in(" description to core Te0/0/1 10Gbps"), Some(10_000_000_000));
        assert_eq!(rate_in(" description NL-7804"), None);
        assert_eq!(rate_in(" description 20M of 100M"), None, "two rates do not name one");
    }

    fn rates(text: &str, first: usize) -> Vec<(usize, u64)> {
        let lines: Vec<(usize, &str)> =
            text.lines().enumerate().map(|(place, line)| (place + 1, line)).collect();
        stated(&lines, first).into_iter().map(|(line, _, rate)| (line, rate)).collect()
    }

    #[test]
    fn a_unit_has_the_description_of_its_interface() {
        let text = "interfaces {\n    ge-0/0/1 {\n        description \"A 20M\";\n        unit 0 {\n            \
                    input IN-10M;\n        }\n    }\n    ge-0/0/2 {\n        description \"B 50M\";\n    }\n}";
        assert_eq!(rates(text, 4), [(3, 20_000_000), (5, 10_000_000)]);
    }

    #[test]
    fn units_of_other_customers_have_rates_of_their_own() {
        let text = "interfaces {\n    ge-0/0/1 {\n        unit 10 {\n            description \"A 20M\";\n        \
                    }\n        unit 20 {\n            description \"B 50M\";\n            input IN-50M;\n        \
                    }\n    }\n}";
        assert_eq!(rates(text, 3), [(4, 20_000_000)]);
        assert_eq!(rates(text, 6), [(7, 50_000_000), (8, 50_000_000)]);
    }
}
