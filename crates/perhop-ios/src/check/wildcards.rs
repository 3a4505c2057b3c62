//! Reports subnet masks in access lists, whose syntax requires wildcards.

use std::net::Ipv4Addr;

use perhop_lint::{Diagnostic, Line};

use crate::ast::Configuration;
use crate::rules;

/// The beginning of every mask of a class A network or of a smaller network.
const MASK: &str = "255.";

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for line in &configuration.lines {
        let Some((address, mask)) = masked(line) else { continue };
        let wildcard = Ipv4Addr::from_bits(!mask.to_bits());
        found.push(Diagnostic::new(
            &rules::WILDCARD_IS_MASK,
            line.number,
            format!(
                "{mask} after {address} is a subnet mask, but access lists require wildcards; as a wildcard, \
                 it ignores the first bits of the address"
            ),
            format!(
                "the entry does not match the subnet of {address}; the wildcard of this subnet is {wildcard}"
            ),
        ));
    }
}

/// Returns an address that is followed by a subnet mask instead of a wildcard, and the mask.
fn masked(line: &Line) -> Option<(Ipv4Addr, Ipv4Addr)> {
    if !line.text.contains(MASK) {
        return None;
    }
    let words: Vec<&str> = line.text.split_whitespace().collect();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let entry = match words.as_slice() {
        ["access-list", number, entry @ ..] if is_number(number) => entry,
        [number, entry @ ..] if is_number(number) && line.text.starts_with(' ') => entry,
        entry if line.text.starts_with(' ') => entry,
        _ => return None,
    };
    let ["permit" | "deny", rest @ ..] = entry else { return None };
    let mut rest = rest;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == "host" {
            rest = after.get(1..)?;
        } else if let (Ok(address), [second, after @ ..]) = (first.parse::<Ipv4Addr>(), after) {
            let Ok(wildcard) = second.parse::<Ipv4Addr>() else { continue };
            if is_mask(wildcard) {
                return Some((address, wildcard));
            }
            rest = after;
        }
    }
    None
}

/// Whether an address consists of ones and then zeros, with at least the eight ones of a class A network.
fn is_mask(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    bits != u32::MAX && bits.leading_ones() >= 8 && bits.leading_ones() + bits.trailing_zeros() == 32
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::is_mask;

    #[test]
    fn ones_before_zeros_are_a_mask() {
        for (text, mask) in [
            ("255.255.255.0", true),
            ("255.0.0.0", true),
            ("0.0.0.255", false),
            ("255.255.255.255", false),
            ("0.0.0.0", false),
            ("255.0.255.0", false),
        ] {
            assert_eq!(is_mask(text.parse::<Ipv4Addr>().unwrap()), mask, "{text}");
        }
    }
}
