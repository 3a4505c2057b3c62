//! [`PrefixLists`]: the IPv4 prefix lists of a device.

use std::collections::BTreeMap;

use perhop_qos::classifier::Prefix;

use super::super::tree::Node;

/// The length of an IPv4 address, bits.
const WHOLE: u8 = 32;

/// An entry of a prefix list.
pub(super) struct Entry {
    pub(super) line: usize,
    is_permit: bool,
    around: Prefix,
    /// The minimum and maximum prefix length that the entry matches.
    lengths: [u8; 2],
}

impl Entry {
    pub(super) fn matches(&self, subnet: Prefix) -> bool {
        let [least, most] = self.lengths;
        self.around.contains(subnet.address().into()) && (least..=most).contains(&subnet.length())
    }
}

/// The prefix lists of a device, by name.
#[derive(Default)]
pub(super) struct PrefixLists<'t> {
    lists: BTreeMap<&'t str, Vec<Entry>>,
}

impl<'t> PrefixLists<'t> {
    pub(super) fn read(nodes: &[Node<'t>]) -> PrefixLists<'t> {
        let mut found = PrefixLists::default();
        for node in nodes.iter().filter(|node| node.line.1.starts_with("ip prefix-list ")) {
            if let ["ip", "prefix-list", name, ref rest @ ..] = *node.words().as_slice() {
                found.lists.entry(name).or_default().extend(entry(node.line.0, rest));
            }
        }
        found.lists.retain(|_, entries| !entries.is_empty());
        found
    }

    /// Returns the entries of a list; `None` if the list is not defined.
    pub(super) fn entries(&self, name: &str) -> Option<&[Entry]> {
        self.lists.get(name).map(Vec::as_slice)
    }

    /// Generates the names and the entries of all lists.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'t str, &[Entry])> {
        self.lists.iter().map(|(name, entries)| (*name, entries.as_slice()))
    }

    /// Whether a list permits a subnet. A list that is not defined permits all subnets.
    pub(super) fn permit(&self, name: &str, subnet: Prefix) -> bool {
        let Some(entries) = self.lists.get(name) else { return true };
        entries.iter().find(|entry| entry.matches(subnet)).is_some_and(|entry| entry.is_permit)
    }

    /// Whether a list permits any subnet. A list that is not defined permits all subnets.
    pub(super) fn permit_any(&self, name: &str) -> bool {
        self.lists.get(name).is_none_or(|entries| entries.iter().any(|entry| entry.is_permit))
    }

    /// Generates the subnets of the entries that permit exactly one subnet, each with its line.
    pub(super) fn permitted(&self, list: &str) -> impl Iterator<Item = (usize, Prefix)> {
        let entries = self.lists.get(list).into_iter().flatten();
        let is_one = |entry: &&Entry| entry.is_permit && entry.lengths == [entry.around.length(); 2];
        entries.filter(is_one).map(|entry| (entry.line, entry.around))
    }

    /// Whether an entry denies exactly this subnet.
    pub(super) fn excludes(&self, list: &str, subnet: Prefix) -> bool {
        let is_own = |entry: &Entry| !entry.is_permit && entry.around == subnet;
        self.lists.get(list).is_some_and(|entries| entries.iter().any(is_own))
    }

    /// Whether a list has an entry whose prefix is this subnet.
    pub(super) fn name(&self, list: &str, subnet: Prefix) -> bool {
        let is_own = |entry: &Entry| entry.around.length() == subnet.length() && entry.matches(subnet);
        self.lists.get(list).is_some_and(|entries| entries.iter().any(is_own))
    }
}

/// Reads an entry from the words after the name of the list.
fn entry(line: usize, words: &[&str]) -> Option<Entry> {
    let words = if let ["seq", _, rest @ ..] = words { rest } else { words };
    let [action @ ("permit" | "deny"), around, lengths @ ..] = words else { return None };
    let around: Prefix = around.parse().ok()?;
    let mut found = [around.length(); 2];
    for pair in lengths.chunks(2) {
        match pair {
            ["eq", length] => found = [length.parse().ok()?; 2],
            ["ge", least] => found = [least.parse().ok()?, WHOLE],
            ["le", most] => found[1] = most.parse().ok()?,
            _ => return None,
        }
    }
    Some(Entry { line, is_permit: *action == "permit", around, lengths: found })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::PrefixLists;

    #[test]
    fn entries_take_prefixes_of_their_lengths() {
        let text = "ip prefix-list A seq 5 deny 10.9.0.0/16\nip prefix-list A seq 10 permit 10.0.0.0/8 ge 16 le \
                    24\nip prefix-list B permit 10.1.0.0/16\nip prefix-list C description nothing\nip prefix-list \
                    D seq 5 deny 0.0.0.0/0 le 32";
        let nodes = read(text);
        let found = PrefixLists::read(&nodes);
        for (list, subnet, permits) in [
            ("A", "10.1.0.0/16", true),
            ("A", "10.9.0.0/16", false),
            ("A", "10.1.0.0/25", false),
            ("B", "10.1.0.0/16", true),
            ("B", "10.1.0.0/24", false),
            ("C", "10.1.0.0/24", true),
        ] {
            assert_eq!(found.permit(list, subnet.parse().unwrap()), permits, "{list} {subnet}");
        }
        assert!(found.name("B", "10.1.0.0/16".parse().unwrap()));
        let excludes = |list, subnet: &str| found.excludes(list, subnet.parse().unwrap());
        assert!(
            excludes("A", "10.9.0.0/16") && !excludes("A", "10.9.0.0/24") && !excludes("B", "10.1.0.0/16")
        );
        assert!(!found.name("A", "10.1.0.0/16".parse().unwrap()));
        let permitted = |list| found.permitted(list).map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!((permitted("A"), permitted("B")), (vec![], vec![3]));
        assert!(found.permit_any("A") && !found.permit_any("D"));
    }
}
