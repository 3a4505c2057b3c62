//! Expansion of nested object groups to prefixes and to protocols with ports.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_lint::MOST_LEVELS;
use perhop_qos::classifier::Prefix;

use crate::ast::{AddressMatch, Configuration, GroupMember, PrefixMatch, ServiceMatch};

/// The addresses of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Addresses {
    /// Any address.
    Any,
    /// The addresses in any of these prefixes; no address if the list is empty.
    Of(Vec<Prefix>),
    /// More prefixes than the limit.
    TooMany,
}

/// Limit on the prefixes or services of a group, because each packet is compared with each of them.
pub(crate) const MOST: usize = 4096;

impl Configuration {
    /// Returns the addresses of the group `name`; no addresses for an undefined group.
    pub(crate) fn addresses_of(&self, name: &str) -> Addresses {
        let mut prefixes = Vec::new();
        for member in self.members(name) {
            match member {
                GroupMember::Address(AddressMatch::ANY) | GroupMember::Prefix(PrefixMatch::ANY) => {
                    return Addresses::Any;
                }
                GroupMember::Address(address) => prefixes.extend(of_address(*address)),
                GroupMember::Range(first, last) => of_range(*first, *last, &mut prefixes),
                GroupMember::Prefix(prefix) => prefixes.extend(of_prefix(*prefix)),
                GroupMember::Service(_) | GroupMember::Group(_) => {}
            }
            if prefixes.len() > MOST {
                return Addresses::TooMany;
            }
        }
        Addresses::Of(prefixes)
    }

    /// Returns the protocols and ports of the group `name`; an empty list for an undefined group.
    pub(crate) fn services_of(&self, name: &str) -> Vec<&ServiceMatch> {
        let services = self.members(name).into_iter().filter_map(|member| match member {
            GroupMember::Service(service) => Some(service),
            _ => None,
        });
        services.take(MOST).collect()
    }

    /// Returns the members of a group and of its inner groups, each group once.
    fn members(&self, name: &str) -> Vec<&GroupMember> {
        let mut walk =
            Walk { configuration: self, seen: BTreeSet::new(), members: Vec::new(), is_cut: false };
        walk.collect(name, 1);
        walk.members
    }

    /// Whether groups inside the group `name` exceed the nesting limit.
    pub(crate) fn is_nested_too_deeply(&self, name: &str) -> bool {
        let mut walk =
            Walk { configuration: self, seen: BTreeSet::new(), members: Vec::new(), is_cut: false };
        walk.collect(name, 1);
        walk.is_cut
    }
}

/// A traversal of a group and its inner groups.
struct Walk<'a> {
    configuration: &'a Configuration,
    seen: BTreeSet<&'a str>,
    members: Vec<&'a GroupMember>,
    /// Whether the traversal stopped at the nesting limit.
    is_cut: bool,
}

impl Walk<'_> {
    fn collect(&mut self, name: &str, level: usize) {
        let configuration = self.configuration;
        let Some(group) = configuration.object_groups.get(name) else { return };
        if level > MOST_LEVELS {
            self.is_cut = true;
            return;
        }
        // The members of a group count once, even if several groups name this group.
        if !self.seen.insert(&group.name) {
            return;
        }
        for member in &group.members {
            if self.members.len() > MOST {
                return;
            }
            // Groups count as members, because groups can contain only other groups.
            self.members.push(&member.value);
            if let GroupMember::Group(inner) = &member.value {
                self.collect(inner, level + 1);
            }
        }
    }
}

/// Returns the prefix of a network; `None` for a non-contiguous mask.
fn of_address(address: AddressMatch) -> Option<Prefix> {
    let wildcard = address.wildcard.to_bits();
    let trailing = wildcard.trailing_ones();
    if wildcard.count_ones() != trailing {
        return None;
    }
    let network = Ipv4Addr::from_bits(address.address.to_bits() & !wildcard);
    Prefix::new(IpAddr::V4(network), 32 - trailing as u8).ok()
}

/// Adds the smallest set of prefixes that cover the addresses from `first` to `last`.
fn of_range(first: Ipv4Addr, last: Ipv4Addr, prefixes: &mut Vec<Prefix>) {
    let (mut next, last) = (u64::from(first.to_bits()), u64::from(last.to_bits()));
    while next <= last {
        // The largest aligned block that starts here and does not exceed the end.
        let aligned = if next == 0 { 32 } else { next.trailing_zeros().min(32) };
        let fitting = (last - next + 1).ilog2();
        let bits = aligned.min(fitting);
        prefixes.extend(Prefix::new(IpAddr::V4(Ipv4Addr::from_bits(next as u32)), 32 - bits as u8).ok());
        next += 1 << bits;
    }
}

/// Returns the prefix with the host bits cleared.
pub(crate) fn of_prefix(prefix: PrefixMatch) -> Option<Prefix> {
    let PrefixMatch { address, length } = prefix;
    let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    Prefix::new(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask)), length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_the_fewest_prefixes() {
        let range = |first: &str, last: &str| {
            let mut prefixes = Vec::new();
            of_range(first.parse().unwrap(), last.parse().unwrap(), &mut prefixes);
            prefixes.iter().map(Prefix::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(range("10.0.0.5", "10.0.0.5"), "10.0.0.5/32");
        assert_eq!(range("10.0.0.1", "10.0.0.6"), "10.0.0.1/32 10.0.0.2/31 10.0.0.4/31 10.0.0.6/32");
        assert_eq!(range("10.0.0.0", "10.0.1.255"), "10.0.0.0/23");
        assert_eq!(range("0.0.0.0", "255.255.255.255"), "0.0.0.0/0");
        assert_eq!(range("255.255.255.254", "255.255.255.255"), "255.255.255.254/31");
    }

    #[test]
    fn groups_that_name_each_other_end() {
        let text = "object-group network A\n group-object A\n group-object B\n host 10.0.0.1\n\
                    object-group network B\n group-object A\n group-object B\n";
        let Addresses::Of(prefixes) = crate::parse(text).addresses_of("A") else { panic!() };
        assert!(prefixes.iter().all(|prefix| prefix.to_string() == "10.0.0.1/32"));
    }
}
