//! [`are_all_reached`]: a quick proof that no entry of an access list is hidden. It finds one packet for each
//! entry. An entry is reached if one of its packets matches no earlier entry. Most lists have no hidden
//! entry, and this search is far faster than sets of packets. Lists for which the search fails are checked by
//! sets of packets.

use std::net::{IpAddr, Ipv4Addr};

use perhop_device::intent::Condition;
use perhop_qos::Packet;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::{Address, Protocol};

use crate::ast::{AccessList, Configuration};
use crate::convert::intent::condition::of_entry;

/// Limit on the entries of a list, because the entries are compared in pairs.
const MOST_ENTRIES: usize = 3000;
/// A protocol that no entry names (RFC 3692).
const UNUSUAL: Protocol = Protocol(253);

/// A superset of the packets that match an entry: one prefix per address, the protocol, and one range per
/// port.
struct Outline {
    source: (u32, u32),
    destination: (u32, u32),
    protocol: Option<Protocol>,
    source_ports: (u16, u16),
    destination_ports: (u16, u16),
}

impl Outline {
    fn new(config: &MatchConfig) -> Outline {
        Outline {
            source: prefix(config.source.as_ref()),
            destination: prefix(config.destination.as_ref()),
            protocol: only(config.protocol.as_ref()).copied(),
            source_ports: range(config.source_port.as_ref()),
            destination_ports: range(config.destination_port.as_ref()),
        }
    }

    /// Whether the outline can contain the packet with these addresses.
    fn may_have(&self, packet: &Packet, source: u32, destination: u32) -> bool {
        let is_in = |(network, mask): (u32, u32), address: u32| address & mask == network;
        let is_within = |(first, last): (u16, u16), port: u16| first <= port && port <= last;
        is_in(self.source, source)
            && is_in(self.destination, destination)
            && self.protocol.is_none_or(|protocol| protocol == packet.protocol)
            && is_within(self.source_ports, packet.source_port)
            && is_within(self.destination_ports, packet.destination_port)
    }
}

fn only<T>(list: Option<&OneOrMany<T>>) -> Option<&T> {
    list.and_then(|list| if let [only] = list.0.as_slice() { Some(only) } else { None })
}

/// Returns the network and the mask of a single IPv4 prefix. For several prefixes and for other prefixes,
/// returns the mask that matches all addresses.
fn prefix(prefixes: Option<&OneOrMany<Prefix>>) -> (u32, u32) {
    match only(prefixes).map(|prefix| (prefix.network(), prefix.length())) {
        Some((IpAddr::V4(network), length)) => {
            (network.to_bits(), u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0))
        }
        _ => (0, 0),
    }
}

fn range(ranges: Option<&OneOrMany<PortRange>>) -> (u16, u16) {
    only(ranges).map_or((0, u16::MAX), |range| (range.first(), range.last()))
}

/// Whether each entry of a list is reached by a packet. False also if this search does not find a packet.
pub(super) fn are_all_reached(configuration: &Configuration, list: &AccessList) -> bool {
    if list.entries.len() > MOST_ENTRIES {
        return false;
    }
    let mut earlier: Vec<Outline> = Vec::new();
    list.entries.iter().all(|entry| {
        let config = match of_entry(configuration, entry) {
            Condition::Never => return true,
            Condition::Always => MatchConfig::default(),
            Condition::When(config) => *config,
        };
        let packet = packet_of(&config);
        // A default configuration has no condition, so all packets match.
        let has_packet = config == MatchConfig::default()
            || config.build(&[]).is_ok_and(|matches| matches.matches(&packet));
        let (IpAddr::V4(source), IpAddr::V4(destination)) =
            (packet.source.to_ip(), packet.destination.to_ip())
        else {
            return false;
        };
        let (source, destination) = (source.to_bits(), destination.to_bits());
        let is_hidden = earlier.iter().any(|other| other.may_have(&packet, source, destination));
        earlier.push(Outline::new(&config));
        has_packet && !is_hidden
    })
}

/// Returns a packet that matches the condition and probably few other conditions.
fn packet_of(config: &MatchConfig) -> Packet {
    let address = |prefixes: &Option<OneOrMany<Prefix>>| -> Address {
        let first = prefixes.as_ref().and_then(|prefixes| prefixes.0.first());
        first.map_or(IpAddr::from(Ipv4Addr::UNSPECIFIED), Prefix::network).into()
    };
    let port = |ranges: &Option<OneOrMany<PortRange>>| {
        ranges.as_ref().and_then(|ranges| ranges.0.first()).map_or(0, PortRange::first)
    };
    let protocol = config.protocol.as_ref().and_then(|all| all.0.first().copied());
    Packet {
        source: address(&config.source),
        destination: address(&config.destination),
        protocol: protocol.unwrap_or(UNUSUAL),
        source_port: port(&config.source_port),
        destination_port: port(&config.destination_port),
        dscp: config.dscp.as_ref().and_then(|all| all.0.first().copied()).unwrap_or_default(),
        ..Packet::default()
    }
}

#[cfg(test)]
mod tests {
    use super::are_all_reached;

    #[test]
    fn lists_with_a_hidden_entry_are_not_proved() {
        for (entries, is_proved) in [
            (
                " permit tcp 10.0.0.0 0.255.255.255 any eq 80\n permit tcp any any eq 80\n deny ip any any\n",
                true,
            ),
            (" permit tcp any any eq 80\n permit tcp 10.0.0.0 0.255.255.255 any eq 80\n", false),
            (" permit ip any any\n permit tcp any any eq 80\n", false),
            (" permit udp any any range 100 200\n permit udp any any eq 50\n permit udp any any\n", true),
            (" permit ip any any\n deny ip any any\n", false),
        ] {
            let configuration = crate::parse(&format!("ip access-list extended LIST\n{entries}"));
            let list = configuration.access_lists.iter().next().unwrap();
            assert_eq!(are_all_reached(&configuration, list), is_proved, "{entries}");
        }
    }
}
