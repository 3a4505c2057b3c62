//! The configured neighbors of routing protocols, and the packets that they send to the router.

use std::net::Ipv4Addr;

use perhop_qos::Packet;
use perhop_qos::packet::{Address, FlowKey, Protocol as IpProtocol};

use crate::ast::{Configuration, Interface};
use crate::syntax::interface_name;

/// A routing protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Ospf,
    Eigrp,
    Bgp,
}

/// IP bytes of the longest packet on an Ethernet.
pub(super) const LONGEST: u32 = 1500;
/// The port of BGP (RFC 4271 §8.2.1).
const BGP_PORT: u16 = 179;
/// A port that no routing protocol uses.
const OTHER_PORT: u16 = 40_000;

impl Protocol {
    pub(super) const ALL: [Protocol; 3] = [Protocol::Ospf, Protocol::Eigrp, Protocol::Bgp];

    pub(super) fn name(self) -> &'static str {
        match self {
            Protocol::Ospf => "OSPF",
            Protocol::Eigrp => "EIGRP",
            Protocol::Bgp => "BGP",
        }
    }

    /// Returns the first word after `router`.
    fn keyword(self) -> &'static str {
        match self {
            Protocol::Ospf => "ospf",
            Protocol::Eigrp => "eigrp",
            Protocol::Bgp => "bgp",
        }
    }

    /// Returns the interval at which a neighbor that waits for an answer retransmits, seconds.
    pub(super) fn interval_s(self) -> u64 {
        match self {
            // RFC 2328 appendix C.3: RxmtInterval of a local network; RFC 7868: the interval of hellos.
            Protocol::Ospf | Protocol::Eigrp => 5,
            // RFC 6298 §2.4: the least retransmission timeout of TCP.
            Protocol::Bgp => 1,
        }
    }

    /// Returns the document that specifies [`Protocol::interval_s`].
    pub(super) fn source(self) -> &'static str {
        match self {
            Protocol::Ospf => "RFC 2328 C.3",
            Protocol::Eigrp => "RFC 7868",
            Protocol::Bgp => "RFC 6298",
        }
    }

    /// Returns packets from `neighbor` to the router's address `own`, one for each possible classification.
    fn packets(self, neighbor: Ipv4Addr, own: Ipv4Addr) -> Vec<Packet> {
        // RFC 2328 §A.1 and appendix A.1 of RFC 7868: IP protocols and groups.
        let protocol_packet = |number: u8, to: Ipv4Addr| packet(IpProtocol(number), (neighbor, 0), (to, 0));
        match self {
            Protocol::Ospf => {
                vec![protocol_packet(89, Ipv4Addr::new(224, 0, 0, 5)), protocol_packet(89, own)]
            }
            Protocol::Eigrp => {
                vec![protocol_packet(88, Ipv4Addr::new(224, 0, 0, 10)), protocol_packet(88, own)]
            }
            Protocol::Bgp => vec![
                packet(IpProtocol::TCP, (neighbor, OTHER_PORT), (own, BGP_PORT)),
                packet(IpProtocol::TCP, (neighbor, BGP_PORT), (own, OTHER_PORT)),
            ],
        }
    }
}

/// Returns a packet to the router that has the source address of `like` and belongs to no routing protocol.
pub(super) fn plain_packet(like: &Packet) -> Packet {
    let key = FlowKey { protocol: IpProtocol::UDP, source_port: OTHER_PORT, ..like.flow_key() };
    Packet::new(FlowKey { destination_port: OTHER_PORT, ..key }, LONGEST)
}

fn packet(protocol: IpProtocol, from: (Ipv4Addr, u16), to: (Ipv4Addr, u16)) -> Packet {
    let (source, destination) = (Address::from_ipv4(from.0), Address::from_ipv4(to.0));
    let key = FlowKey { source, destination, source_port: from.1, destination_port: to.1, protocol };
    Packet::new(key, LONGEST)
}

/// The neighbors of one protocol.
pub(super) struct Neighbors {
    pub(super) protocol: Protocol,
    /// Whether a `router` block runs the protocol; `None` if the configuration has no such block.
    pub(super) is_configured: Option<bool>,
    /// Whether the number of neighbors is assumed: one neighbor on each interface, or one in total.
    pub(super) is_assumed: bool,
    /// The packets of each neighbor. A neighbor has several packets if the router can classify them
    /// differently.
    pub(super) packets: Vec<Vec<Packet>>,
}

/// The address of the router if the configuration contains no addresses (RFC 5737).
const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The address of the assumed neighbor if the configuration contains no addresses (RFC 5737).
const OTHER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// Returns the neighbors of `protocol`; a single assumed neighbor if the configuration names no neighbor.
pub(super) fn neighbors(configuration: &Configuration, protocol: Protocol) -> Neighbors {
    let blocks: Vec<Vec<&str>> = configuration
        .processes
        .iter()
        .map(|process| process.line)
        .filter(|line| runs(configuration, *line, protocol))
        .map(|line| block(configuration, line))
        .collect();
    let pairs: Vec<(Ipv4Addr, Ipv4Addr)> = match protocol {
        Protocol::Bgp => peers(configuration, &blocks),
        Protocol::Ospf | Protocol::Eigrp => {
            let interfaces = configuration.interfaces.iter();
            let speaking = interfaces.filter(|interface| speaks(configuration, interface, protocol, &blocks));
            speaking.filter_map(beyond).collect()
        }
    };
    let is_assumed = protocol != Protocol::Bgp || pairs.is_empty();
    let pairs = if pairs.is_empty() { vec![any_pair(configuration)] } else { pairs };
    Neighbors {
        protocol,
        is_configured: (!configuration.processes.is_empty()).then_some(!blocks.is_empty()),
        is_assumed,
        packets: pairs.into_iter().map(|(neighbor, own)| protocol.packets(neighbor, own)).collect(),
    }
}

fn runs(configuration: &Configuration, line: usize, protocol: Protocol) -> bool {
    let text = configuration.lines.get(line - 1).map_or("", |line| line.text.as_str());
    let mut words = text.split_whitespace();
    let is_router = words.next().is_some_and(|word| word.eq_ignore_ascii_case("router"));
    is_router && words.next().is_some_and(|word| word.eq_ignore_ascii_case(protocol.keyword()))
}

/// Returns the lines of the block that `line` opens.
fn block(configuration: &Configuration, line: usize) -> Vec<&str> {
    let inside = configuration.lines.iter().filter(|candidate| candidate.block == Some(line));
    inside.map(|line| line.text.trim()).collect()
}

/// Returns the address of each `neighbor` of BGP, and the router's address on the path to it.
fn peers(configuration: &Configuration, blocks: &[Vec<&str>]) -> Vec<(Ipv4Addr, Ipv4Addr)> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    for line in blocks.iter().flatten() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["neighbor", address, "remote-as" | "peer-group" | "inherit", ..] = words.as_slice() else {
            continue;
        };
        if let Some(address) = address.parse().ok().filter(|address| !found.contains(address)) {
            found.push(address);
        }
    }
    let own = |neighbor: Ipv4Addr| {
        let addresses = || configuration.interfaces.iter().flat_map(|interface| &interface.addresses);
        let near = addresses().find(|own| within(neighbor, own.address, own.prefix_length));
        near.or_else(|| addresses().next()).map_or(OWN, |own| own.address)
    };
    found.into_iter().map(|neighbor| (neighbor, own(neighbor))).collect()
}

/// Whether `protocol` has neighbors on `interface`.
fn speaks(
    configuration: &Configuration,
    interface: &Interface,
    protocol: Protocol,
    blocks: &[Vec<&str>],
) -> bool {
    if !has_line(interface) {
        return false;
    }
    let has_own_line = protocol == Protocol::Ospf
        && block(configuration, interface.line).iter().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            matches!(words.as_slice(), ["ip", "ospf", _, "area", ..])
        });
    has_own_line && !blocks.is_empty() && blocks.iter().all(|block| !is_passive(interface, block))
        || blocks.iter().any(|block| !is_passive(interface, block) && is_in_a_network(interface, block))
}

/// Whether `interface` is up and can connect to another router.
fn has_line(interface: &Interface) -> bool {
    interface.shutdown.is_none() && !interface.name.starts_with("Loopback")
}

/// Whether `passive-interface` names the interface, or `passive-interface default` without an exception for
/// it.
fn is_passive(interface: &Interface, block: &[&str]) -> bool {
    let mut passive = false;
    for line in block {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["passive-interface", "default"] => passive = true,
            ["passive-interface", name @ ..] if is_named(interface, name) => passive = true,
            ["no", "passive-interface", name @ ..] if is_named(interface, name) => passive = false,
            _ => {}
        }
    }
    passive
}

fn is_named(interface: &Interface, words: &[&str]) -> bool {
    !words.is_empty() && interface_name(&words.concat()) == interface.name
}

/// Whether a line `network ADDRESS [WILDCARD] [area …]` contains an address of the interface.
fn is_in_a_network(interface: &Interface, block: &[&str]) -> bool {
    block.iter().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["network", address, rest @ ..] = words.as_slice() else { return false };
        let Ok(network) = address.parse::<Ipv4Addr>() else { return false };
        let wildcard = rest.first().and_then(|word| word.parse::<Ipv4Addr>().ok());
        let free = wildcard.map_or_else(|| classful_wildcard(network), Ipv4Addr::to_bits);
        let fixed = |address: Ipv4Addr| address.to_bits() & !free;
        interface.addresses.iter().any(|own| fixed(own.address) == fixed(network))
    })
}

/// Returns the host bits of the class of an address (RFC 791 §3.2); all bits for 0.0.0.0.
fn classful_wildcard(network: Ipv4Addr) -> u32 {
    match network.octets()[0] {
        0 => u32::MAX,
        1..=127 => 0x00ff_ffff,
        128..=191 => 0x0000_ffff,
        _ => 0x0000_00ff,
    }
}

/// Returns the address of an assumed neighbor on `interface`, and the router's address on this interface.
fn beyond(interface: &Interface) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let own = interface.addresses.first()?;
    let (bits, length) = (own.address.to_bits(), own.prefix_length);
    let next = Ipv4Addr::from_bits(bits.wrapping_add(1));
    let host = !mask(length);
    let is_broadcast = length < 31 && next.to_bits() & host == host;
    let is_next = within(next, own.address, length) && !is_broadcast;
    let neighbor = if is_next { next } else { Ipv4Addr::from_bits(bits.wrapping_sub(1)) };
    Some((neighbor, own.address))
}

fn any_pair(configuration: &Configuration) -> (Ipv4Addr, Ipv4Addr) {
    let mut lines = configuration.interfaces.iter().filter(|interface| has_line(interface));
    lines.find_map(beyond).unwrap_or((OTHER, OWN))
}

fn mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0)
}

fn within(address: Ipv4Addr, network: Ipv4Addr, length: u8) -> bool {
    (address.to_bits() ^ network.to_bits()) & mask(length) == 0
}
