//! [`Entry`]: the traffic of a scenario's entry in one direction, and its path.

use std::net::IpAddr;
use std::path::Path;

use perhop_qos::classifier::MatchConfig;
use perhop_qos::error::ConfigError;
use perhop_qos::policy::QueueingConfig;
use perhop_scenario::routing::LinkId;
use perhop_scenario::topology::Topology;
use perhop_scenario::{Scenario, SourceConfig, TrafficConfig};

use crate::source::sent;
use crate::stream::Stream;

/// An entry of a scenario's traffic, or the replies to its packets.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The index of the entry in the scenario's traffic.
    pub traffic: usize,
    /// Whether the packets are replies that the receivers send.
    pub answers: bool,
    /// The class of the traffic in results.
    pub class: String,
    /// The links of the path, each in one direction.
    pub path: Vec<LinkId>,
    /// The streams that enter the first link.
    pub streams: Vec<Stream>,
    /// Whether routers may fragment the packets of the entry.
    pub may_cut: bool,
}

/// Returns the entries of `scenario`'s traffic, and an entry for the replies to each.
///
/// # Errors
/// A file cannot be read, or one host has no route to another host.
pub fn entries(scenario: &Scenario, base: &Path, topology: &mut Topology) -> Result<Vec<Entry>, ConfigError> {
    let mut entries = Vec::new();
    for (index, traffic) in scenario.traffic.iter().enumerate() {
        let added = traffic_entries(scenario, base, topology, index, traffic);
        entries.extend(added.map_err(|error| error.within(index).within("traffic"))?);
    }
    Ok(entries)
}

/// Returns the entry of `traffic` and the entry of its replies.
fn traffic_entries(
    scenario: &Scenario,
    base: &Path,
    topology: &mut Topology,
    index: usize,
    traffic: &TrafficConfig,
) -> Result<Vec<Entry>, ConfigError> {
    let (from, to) = (traffic.from.as_str(), traffic.to.as_str());
    let no_route = || ConfigError::new("to", format!("there is no route from {from} to {to}"));
    let forth = topology.path(from, to)?.ok_or_else(no_route)?;
    let back = topology.path(to, from)?.ok_or_else(no_route)?;
    let ends = [topology.address(from)?, topology.address(to)?];
    let longest = longest_segment_packet(scenario, topology, forth.iter().chain(&back), ends[0]);
    // Flows of one entry differ only in their ports. If no policy matches ports, all flows of the entry form
    // one stream. A recording is replayed by a single flow.
    let replays = matches!(traffic.source, SourceConfig::Pcap(_));
    let flow_count = if replays { 1 } else { traffic.flows() };
    let (streams, flows) = if replays || !reads_ports(scenario) { (1, flow_count) } else { (flow_count, 1) };
    let class = traffic.class.as_ref().unwrap_or(&traffic.name);
    let entry = |answers: bool, path: &Vec<LinkId>| Entry {
        traffic: index,
        answers,
        class: if answers { format!("{class} (back)") } else { class.clone() },
        path: path.clone(),
        streams: Vec::new(),
        may_cut: ends[0].is_ipv4() && !traffic.dont_fragment,
    };
    let mut both = [entry(false, &forth), entry(true, &back)];
    for number in 0..streams {
        let key = traffic.flow_key(ends, number);
        for (entry, sent) in both.iter_mut().zip(sent(traffic, key, base, longest)?) {
            entry.streams.extend(sent.into_iter().map(|sent| Stream {
                traffic: index,
                answers: entry.answers,
                flows,
                packet: sent.packet,
                lengths: sent.lengths,
                own: sent.own.map(|own| own.scaled(f64::from(flows))),
                limits: Vec::new(),
            }));
        }
    }
    Ok(both.into_iter().filter(|entry| !entry.streams.is_empty()).collect())
}

/// Whether a policy of the scenario matches ports.
fn reads_ports(scenario: &Scenario) -> bool {
    scenario.policies.values().any(|policy| {
        let stages = policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref());
        stages.into_iter().any(matches_ports) || policy.queueing.as_ref().is_some_and(has_class_by_ports)
    })
}

fn has_class_by_ports(queueing: &QueueingConfig) -> bool {
    queueing.classes.iter().any(|class| {
        class.matches.as_ref().is_some_and(matches_ports)
            || class.queueing.as_ref().is_some_and(has_class_by_ports)
    })
}

fn matches_ports(matches: &MatchConfig) -> bool {
    let inner = matches.all.iter().chain(&matches.any).flatten().chain(matches.not.as_deref());
    matches.source_port.is_some()
        || matches.destination_port.is_some()
        || inner.into_iter().any(matches_ports)
}

/// The length of a TCP header without options, bytes (RFC 9293 §3.1).
const TCP_HEADER: u32 = 20;
/// The length of an IPv4 header without options, bytes (RFC 791 §3.1).
const IPV4_HEADER: u32 = 20;
/// The length of an IPv6 header, bytes (RFC 8200 §3).
const IPV6_HEADER: u32 = 40;

/// Returns the longest IP packet of a TCP connection whose two directions use `links`, bytes. Both ends
/// negotiate it when the connection is set up (`build/lengths.rs` of `perhop-sim`).
fn longest_segment_packet<'a>(
    scenario: &Scenario,
    topology: &Topology,
    links: impl Iterator<Item = &'a LinkId>,
    address: IpAddr,
) -> Option<u32> {
    let headers = TCP_HEADER + if address.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER };
    let mut longest: Option<u32> = None;
    for link in links {
        let config = &scenario.links[link.index() / 2];
        let [near, _] = topology.ends(*link);
        let near = config.interfaces.get(near).cloned().unwrap_or_default();
        let mtu = config.mtu(&near).map(|mtu| mtu.as_bytes() as u32);
        let adjusted = config.interfaces.values().filter_map(|interface| interface.adjust_mss);
        let adjusted = adjusted.map(|mss| mss.as_bytes() as u32 + headers);
        longest = longest.into_iter().chain(mtu).chain(adjusted).min();
    }
    longest
}
