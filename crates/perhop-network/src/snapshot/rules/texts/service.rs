//! [`Service`]: the protocol, host and port that an entry of an access list matches.

use std::fmt;

/// The words that precede ports in an entry.
const OF_PORTS: &[&str] = &["eq", "gt", "lt", "neq", "range"];

/// A service: a protocol with the ports of a host or subnet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Service<'t> {
    /// `tcp` or `udp`.
    pub(super) protocol: &'t str,
    /// The address of the host or subnet, or `any`.
    pub(super) host: &'t str,
    /// The wildcard of the subnet.
    wildcard: &'t str,
    /// The ports as written, such as `range 10 20`.
    pub(super) ports: String,
}

impl fmt::Display for Service<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Service { protocol, host, wildcard, ports } = self;
        let space = if wildcard.is_empty() { "" } else { " " };
        write!(formatter, "`{protocol} {host}{space}{wildcard} {ports}`")
    }
}

impl Service<'_> {
    /// Returns the host or port of this service, if the service differs from another service only in this
    /// part and a typing error can be the cause. `None` if the services differ in another way, for example in
    /// the protocol.
    pub(super) fn typing_error(&self, other: &Service) -> Option<(&'static str, &str)> {
        let is_same = [
            self.protocol == other.protocol,
            self.host == other.host && self.wildcard == other.wildcard,
            self.ports == other.ports,
        ];
        match is_same {
            [true, false, true] if self.wildcard == other.wildcard && is_close(self.host, other.host) => {
                Some(("host", self.host))
            }
            [true, true, false] if is_close(&self.ports, &other.ports) => Some(("port", &self.ports)),
            _ => None,
        }
    }

    /// Whether the ports of this service are a subset of the ports of another service of the same host.
    pub(super) fn is_part_of(&self, other: &Service) -> bool {
        let is_same = self.protocol == other.protocol && self.host == other.host;
        let ranges = [range(&self.ports), range(&other.ports)];
        let is_inside = |[own, other]: [(u32, u32); 2]| other.0 <= own.0 && own.1 <= other.1 && own != other;
        is_same
            && self.wildcard == other.wildcard
            && matches!(ranges, [Some(own), Some(other)] if is_inside([own, other]))
    }

    /// Whether the host is a subnet.
    pub(super) fn is_subnet(&self) -> bool {
        !self.wildcard.is_empty()
    }

    /// Returns the port of this service, if two services differ only in the port.
    pub(super) fn other_port(&self, other: &Service) -> Option<(&'static str, &str)> {
        let is_same = self.protocol == other.protocol && self.host == other.host;
        (is_same && self.wildcard == other.wildcard && self.ports != other.ports)
            .then_some(("port", self.ports.as_str()))
    }
}

/// Whether two texts differ by one inserted, removed or replaced character, or by the order of up to three
/// adjacent characters.
pub(super) fn is_close(own: &str, other: &str) -> bool {
    let (own, other) = (own.as_bytes(), other.as_bytes());
    let start = own.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (own, other) = (&own[start..], &other[start..]);
    let end = own.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&own[..own.len() - end], &other[..other.len() - end]) {
        ([_], [_] | []) | ([], [_]) => true,
        (own @ ([_, _] | [_, _, _]), other) => {
            let sorted = |letters: &[u8]| {
                let mut letters = letters.to_vec();
                letters.sort_unstable();
                letters
            };
            sorted(own) == sorted(other)
        }
        _ => false,
    }
}

/// Returns the first and the last port of `eq PORT` or `range FIRST LAST`.
fn range(ports: &str) -> Option<(u32, u32)> {
    match ports.split(' ').collect::<Vec<_>>().as_slice() {
        ["eq", port] => Some((port.parse().ok()?, port.parse().ok()?)),
        ["range", first, last] => Some((first.parse().ok()?, last.parse().ok()?)),
        _ => None,
    }
}

/// Returns the services that an entry matches: the service of its source, and the service of its destination.
pub(super) fn services<'t>(words: &[&'t str]) -> Vec<Service<'t>> {
    let ["permit", protocol @ ("tcp" | "udp"), rest @ ..] = words else { return Vec::new() };
    let mut rest = rest;
    let mut found = Vec::new();
    for _ in 0..2 {
        let (host, wildcard, after) = match rest {
            ["host", host, after @ ..] => (*host, "", after),
            ["any", after @ ..] => ("any", "", after),
            [host, wildcard, after @ ..] => (*host, *wildcard, after),
            _ => return found,
        };
        let is_word = |word: &&str| {
            let first = word.bytes().next().unwrap_or_default();
            OF_PORTS.contains(word) || first.is_ascii_digit() && !word.contains('.')
        };
        // The ports follow the address without a word between them.
        let named = after.first().is_some_and(|word| OF_PORTS.contains(word));
        let count = after.iter().take_while(|word| is_word(word)).count().max(if named { 2 } else { 0 });
        let (ports, after) = after.split_at(count.min(after.len()));
        if !ports.is_empty() {
            found.push(Service { protocol, host, wildcard, ports: ports.join(" ") });
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{is_close, services};

    #[test]
    fn an_entry_names_the_service_of_its_source_or_destination() {
        for (entry, shown) in [
            ("permit tcp any host 192.0.2.9 eq 1521", vec!["`tcp 192.0.2.9 eq 1521`"]),
            ("permit tcp host 192.0.2.9 eq www any", vec!["`tcp 192.0.2.9 eq www`"]),
            ("permit udp 10.1.0.0 0.0.0.255 range 10 20 any", vec!["`udp 10.1.0.0 0.0.0.255 range 10 20`"]),
            ("permit udp any any range 16384 32767", vec!["`udp any range 16384 32767`"]),
            ("permit ip any host 192.0.2.9", vec![]),
            ("deny tcp any host 192.0.2.9 eq 22", vec![]),
        ] {
            let words: Vec<&str> = entry.split(' ').collect();
            let found: Vec<String> = services(&words).iter().map(ToString::to_string).collect();
            assert_eq!(found, shown, "{entry}");
        }
    }

    #[test]
    fn one_letter_or_the_order_of_three_is_a_typing_error() {
        for (own, other, close) in [
            ("eq 1521", "eq 1512", true),
            ("eq 3299", "eq 3229", true),
            ("192.0.2.5", "192.0.2.50", true),
            ("eq 7443", "eq 7344", true),
            ("eq 443", "eq 80", false),
            ("eq 2000", "eq 2000", false),
            ("eq 1234", "eq 4321", false),
        ] {
            assert_eq!(is_close(own, other), close, "{own} {other}");
        }
    }
}
