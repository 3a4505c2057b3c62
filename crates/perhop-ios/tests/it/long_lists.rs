//! The first matching entry of a list applies, in lists of any length.

use std::fmt::Write;

use perhop_ios::Profile;
use perhop_qos::Packet;
use perhop_qos::packet::Protocol;
use proptest::prelude::*;

use crate::node::{Node, PLAIN, packet};

/// Whether an entry permits, and the destination ports that it matches.
#[derive(Clone, Copy, Debug)]
struct Entry {
    permits: bool,
    first: u16,
    last: u16,
}

/// Returns a router that marks the packets of a list with EF.
fn router(entries: &[Entry]) -> Node {
    let mut text = "ip access-list extended LIST\n".to_owned();
    for Entry { permits, first, last } in entries {
        let action = if *permits { "permit" } else { "deny" };
        writeln!(text, " {action} udp any any range {first} {last}").unwrap();
    }
    text += "class-map C\n match access-group name LIST\npolicy-map P\n class C\n  set dscp ef\n\
             interface GigabitEthernet0/0\n service-policy input P\n";
    Node::from_text(&text, Profile::Hqf)
}

/// Checks the mark of one packet to each of `ports` against a linear search in the list.
fn check(entries: &[Entry], ports: impl Iterator<Item = u16>) {
    let node = router(entries);
    let packets: Vec<Packet> = ports
        .map(|port| Packet { protocol: Protocol::UDP, destination_port: port, ..packet("default") })
        .collect();
    let marked = node.receive_all("GigabitEthernet0/0", &packets, PLAIN);
    assert_eq!(marked.len(), packets.len());
    for (sent, received) in packets.iter().zip(marked) {
        let port = sent.destination_port;
        let met = entries.iter().find(|entry| (entry.first..=entry.last).contains(&port));
        let is_permitted = met.is_some_and(|entry| entry.permits);
        assert_eq!(received.dscp == "ef".parse().unwrap(), is_permitted, "port {port} meets {met:?}");
    }
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = (any::<bool>(), 1..200u16, 0..20u16).prop_map(|(permits, first, more)| Entry {
        permits,
        first,
        last: first + more,
    });
    prop::collection::vec(entry, 1..120)
}

proptest! {
    #[test]
    fn the_first_matching_entry_decides(entries in entries()) {
        check(&entries, 0..230);
    }
}

#[test]
fn the_last_of_five_thousand_alternating_entries_counts() {
    let entries: Vec<Entry> = (1..=5000)
        .map(|port| Entry { permits: port % 2 == 0, first: port, last: if port == 1 { 3 } else { port } })
        .collect();
    check(&entries, [1, 2, 3, 4, 399, 400, 401, 402, 4997, 4998, 4999, 5000, 5001].into_iter());
}
