//! [`are_all_reached`]: a quick proof that no entry of an access list is hidden, by one packet for each entry.
//!
//! Most lists have no hidden entry, and sets of packets take far longer than a look at their entries. An
//! entry is reached if one of its packets meets no earlier entry. Other lists are left to sets of packets.

use perhop_device::intent::Condition;
use perhop_qos::Packet;
use perhop_qos::classifier::{Match, MatchConfig, OneOrMany, Prefix};
use perhop_qos::packet::{Address, Protocol};

use crate::ast::{AccessList, Configuration};
use crate::convert::intent::condition::of_entry;

/// Limit on the entries that are compared in pairs.
const MOST_ENTRIES: usize = 3000;
/// A protocol that no entry names (RFC 3692).
const UNUSUAL: Protocol = Protocol(253);

/// Whether a packet reaches each entry of a list; false where that is not obvious.
pub(super) fn are_all_reached(configuration: &Configuration, list: &AccessList) -> bool {
    if list.entries.len() > MOST_ENTRIES {
        return false;
    }
    let mut earlier: Vec<Match> = Vec::new();
    list.entries.iter().all(|entry| {
        let config = match of_entry(configuration, entry) {
            Condition::Never => return true,
            Condition::Always => MatchConfig::default(),
            Condition::When(config) => *config,
        };
        let packet = packet_of(&config);
        let is_always = config == MatchConfig::default();
        let Ok(own) = config.build(&[]) else {
            // An entry for all packets is the last one that can be reached.
            return is_always && !earlier.iter().any(|other| other.matches(&packet));
        };
        let is_reached = own.matches(&packet) && !earlier.iter().any(|other| other.matches(&packet));
        earlier.push(own);
        is_reached
    })
}

/// Returns a packet that most likely meets the condition and few others.
fn packet_of(config: &MatchConfig) -> Packet {
    let address = |prefixes: &Option<OneOrMany<Prefix>>| {
        let first = prefixes.as_ref().and_then(|prefixes| prefixes.0.first());
        first.map_or_else(Address::default, |prefix| prefix.network().into())
    };
    let port = |ranges: &Option<OneOrMany<perhop_qos::classifier::PortRange>>| {
        ranges.as_ref().and_then(|ranges| ranges.0.first()).map_or(0, |range| range.first())
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
