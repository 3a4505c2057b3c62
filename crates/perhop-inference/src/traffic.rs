//! Traffic for every class of a router: headers that reach the class, and a load derived from its rate while
//! all other classes are busy.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::rates::conditioner_limit;
use perhop_qos::buffer::BufferConfig;
use serde_json::{Map, Value, json};

use crate::header::Header;
use crate::level::LoadLevel;
use crate::network::Network;
use crate::role::{Kind, Role};
use crate::shares::Leaf;
use crate::sources::{PACKET, Sending, filling, sending};
use crate::targets::{Hit, stages};
use crate::trial::{Place, Side, Trial};
use crate::words::{percent, rate_in_words};

/// The interval in which connections start, even in the shortest run.
const START_WITHIN: &str = "20ms";
/// The assumed rate of a class to which priority classes leave no bandwidth, as a fraction of the line rate.
/// This rate suffices to show the losses of the class.
const STARVED: f64 = 0.01;
/// The relative difference up to which a guarantee and a share count as equal.
const ROUNDING: f64 = 1e-6;
/// The text about the basis of a load, for a class that has neither a limit nor a queue.
const FITS: &str = "equal share of the rate";
/// The length of a datagram, IP bytes, if the kind of the source is not the kind of the role and the user
/// sets no length.
pub(crate) const DATAGRAM: u32 = 1000;

/// An entry of traffic, and the headers that match it to its class.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) header: Header,
    /// The keys of the entry, without its ends.
    pub(crate) entry: Map<String, Value>,
    /// The name in results of the queue in which the packets wait at the leaving interface.
    pub(crate) queue: Option<String>,
    /// The load as text: rate, kind of traffic.
    pub(crate) offered: [String; 2],
    /// The offered rate, bits per second; for greedy TCP, the minimum rate that it gets.
    pub(crate) rate: f64,
}

impl Flow {
    /// Returns the class of the traffic in results.
    pub(crate) fn class(&self) -> &str {
        self.entry.get("class").or_else(|| self.entry.get("name")).and_then(Value::as_str).unwrap_or_default()
    }
}

/// The traffic through the router.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) flows: Vec<Flow>,
    /// Remarks about the traffic, one line each.
    pub(crate) remarks: Vec<String>,
    /// The duration of the run, milliseconds; `None` for a duration that follows from the load.
    pub(crate) milliseconds: Option<f64>,
}

/// Returns traffic for each class that headers reach. `loads` has the loads of queues by path, or of classes
/// without a queue by name, bits per second, in place of a guess; a load of zero omits a class.
pub(crate) fn guessed(
    network: &Network,
    trial: &mut Trial,
    hits: &[Hit],
    (level, loads): (LoadLevel, &BTreeMap<String, f64>),
) -> Traffic {
    let mut sharing: BTreeMap<&str, usize> = BTreeMap::new();
    for leaf in hits.iter().filter_map(|hit| hit.leaf(network)) {
        *sharing.entry(&leaf.path).or_default() += 1;
    }
    let crowds = hits.iter().map(|hit| {
        let in_queue = hit.leaf(network).map_or(0, |leaf| sharing[leaf.path.as_str()]);
        Crowd { all: hits.len() as f64, in_queue: in_queue as f64 }
    });
    let crowds: Vec<Crowd> = crowds.collect();
    let mut guesses: Vec<(f64, String)> =
        hits.iter().zip(&crowds).map(|(hit, crowd)| load(network, crowd, hit, level)).collect();
    share_limits(network, hits, level, &mut guesses);
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut flows = Vec::new();
    for ((hit, crowd), (guess, basis)) in hits.iter().zip(&crowds).zip(guesses) {
        let leaf = hit.leaf(network);
        let name = unlike(class_of(network, hit, leaf), &names);
        names.insert(name.clone());
        let given = match leaf {
            Some(leaf) => loads.get(&leaf.path).map(|load| load / crowd.in_queue),
            None => loads.get(&name).copied(),
        };
        let has_replies = !hit.header.is("tcp") || trial.has_replies(network, &hit.header);
        let is_more = given.is_some_and(|rate| leaf.is_some_and(|leaf| rate > leaf.share));
        let takes_all = basis != FITS && (level == LoadLevel::Overload || is_more);
        let demand = match given {
            Some(rate) => Demand { rate, basis: "given", counts_headers: false, takes_all, has_replies },
            None => Demand { rate: guess, basis: &basis, counts_headers: true, takes_all, has_replies },
        };
        if demand.rate > 0.0 {
            flows.push(flow(network, hit, &name, demand));
        }
    }
    Traffic { flows, ..Traffic::default() }
}

/// Lowers the loads of classes with a common limit, so that their sum is the level times the limit.
fn share_limits(network: &Network, hits: &[Hit], level: LoadLevel, guesses: &mut [(f64, String)]) {
    for (side, name, stage) in stages(network) {
        let Some(limit) = conditioner_limit(stage).filter(|limit| *limit > 0.0) else { continue };
        let place = Place::Stage(side, name);
        let passing: Vec<usize> = (0..hits.len()).filter(|at| hits[*at].places.contains(&place)).collect();
        let sum: f64 = passing.iter().map(|at| guesses[*at].0).sum();
        let part = level.part() * limit / sum;
        if passing.len() > 1 && part < 1.0 {
            for at in passing {
                guesses[at].0 *= part;
            }
        }
    }
}

/// The number of classes with traffic, and the number of these classes in the same queue.
struct Crowd {
    all: f64,
    in_queue: f64,
}

/// The load of a class.
#[derive(Clone, Copy)]
struct Demand<'a> {
    /// The rate, bits per second.
    rate: f64,
    basis: &'a str,
    /// Whether the rate includes the headers that the policy counts.
    counts_headers: bool,
    /// Whether greedy TCP may use the whole rate of the class.
    takes_all: bool,
    /// Whether TCP gets replies.
    has_replies: bool,
}

/// Returns the class of the packets of a hit when they leave, after the marks of an input policy.
fn class_of<'h>(network: &'h Network, hit: &'h Hit, leaf: Option<&Leaf>) -> &'h str {
    let is_input = matches!(hit.target.place, Place::Stage(Side::Input, _));
    let leaf = leaf.filter(|_| is_input && network.leaves.len() > 1);
    let place = leaf.and_then(|leaf| network.place_of(&leaf.path));
    place.map_or(&hit.target.name, |place| &network.names[place])
}

fn flow(network: &Network, hit: &Hit, name: &str, demand: Demand) -> Flow {
    let Demand { rate, basis, counts_headers, takes_all, has_replies } = demand;
    let mut kind = suited(hit.kind, &hit.header, has_replies);
    if kind == Kind::Greedy && !takes_all {
        kind = Kind::Transfers;
    }
    let usual = if kind == hit.role.kind { hit.role.packet_bytes } else { DATAGRAM };
    let packet_bytes = hit.header.packet_bytes.unwrap_or(usual);
    let leaf = hit.leaf(network);
    let rate = if counts_headers { rate * ip_part(network, leaf, kind, packet_bytes) } else { rate };
    let sent = sending(kind, rate, packet_bytes);
    let sent = match leaf.and_then(Leaf::room) {
        Some(room) => filling(sent, room),
        None => sent,
    };
    let mut words = format!("{} ({basis}): {}", hit.role.name, sent.words);
    if hit.header.is("tcp") && !has_replies {
        words += ", because TCP gets no replies";
    }
    let above = if kind == Kind::Greedy { "> " } else { "" };
    Flow {
        header: hit.header.clone(),
        entry: entry(name, &hit.header, hit.role, &sent),
        queue: leaf.map(|leaf| leaf.path.clone()),
        offered: [format!("{above}{}", rate_in_words(rate)), words],
        rate,
    }
}

/// Returns the fraction of IP bytes in the bytes that a queue counts for a source's packets.
fn ip_part(network: &Network, leaf: Option<&Leaf>, kind: Kind, packet_bytes: u32) -> f64 {
    let ip = if matches!(kind, Kind::Transfers | Kind::Greedy) { PACKET as u32 } else { packet_bytes };
    let overhead = network.output().overhead;
    let counted = ip.saturating_add_signed(overhead).max(1);
    let counted = match leaf.map(|leaf| (&leaf.class.buffer, leaf.class.share.link_layer)) {
        Some((Some(BufferConfig::Cake(cake)), _)) => cake.counted(ip, overhead),
        Some((_, Some(link_layer))) => link_layer.counted(counted),
        _ => counted,
    };
    f64::from(ip) / f64::from(counted.max(1))
}

/// Returns the kind of traffic that is most similar to `kind` among the kinds that the protocol of a header
/// allows.
pub(crate) fn suited(kind: Kind, header: &Header, has_replies: bool) -> Kind {
    let is_tcp = header.is("tcp");
    match kind {
        Kind::Transfers | Kind::Greedy if is_tcp && has_replies => kind,
        Kind::Transfers | Kind::Greedy => Kind::Datagrams,
        _ if is_tcp => Kind::Transfers,
        _ => kind,
    }
}

/// Returns the load of a class, in bits per second as the policy counts them, and its basis as text.
fn load(network: &Network, crowd: &Crowd, hit: &Hit, level: LoadLevel) -> (f64, String) {
    if !network.has_queues() {
        // No queue can fill. A class needs at most the rate that its policer passes, and all classes together
        // need at most the rate that can enter.
        let share = level.fitting_part() * network.bottleneck() / crowd.all;
        return match limit(network, crowd, hit).filter(|limit| *limit < share) {
            Some(limit) => (level.part() * limit, format!("{} of limit", percent(level.part()))),
            None => (share, FITS.to_owned()),
        };
    }
    let (rate, basis) = rate_while_others_busy(network, crowd, hit);
    (level.part() * rate, format!("{} of {basis}", percent(level.part())))
}

/// Returns the rate that a class gets while all others are busy, in bits per second as the policy counts
/// them, and its basis as text.
fn rate_while_others_busy(network: &Network, crowd: &Crowd, hit: &Hit) -> (f64, &'static str) {
    let leaf = hit.leaf(network);
    let limit = limit(network, crowd, hit);
    let line = network.bottleneck();
    let share = leaf.map_or(line / crowd.all, |leaf| leaf.share / crowd.in_queue);
    if leaf.is_some_and(|leaf| leaf.has_priority) {
        return limit.map_or((share.max(STARVED * line), "a third of the line"), |limit| (limit, "limit"));
    }
    if let Some(part) = leaf.and_then(|leaf| leaf.part).filter(|part| *part != 0.0) {
        return (part / crowd.in_queue, "its part");
    }
    if share <= 0.0 {
        return (
            STARVED * line / crowd.in_queue,
            "1 % of the line rate, because the other classes leave no rate",
        );
    }
    if let Some(limit) = limit.filter(|limit| *limit < share) {
        return (limit, "limit");
    }
    let guaranteed = leaf.and_then(|leaf| leaf.guaranteed).filter(|rate| *rate > 0.0);
    // Signaling and routing need little bandwidth, even if more is available.
    let needs_more = hit.role.kind != Kind::Datagrams;
    match guaranteed.map(|rate| rate / crowd.in_queue) {
        Some(rate) if !needs_more || share < (1.0 + ROUNDING) * rate => (rate.min(share), "guarantee"),
        _ => (share, "share"),
    }
}

/// Returns the lowest rate above which packets of a class are dropped, bits per second. Classes of one queue
/// share its limit.
fn limit(network: &Network, crowd: &Crowd, hit: &Hit) -> Option<f64> {
    let own = hit.leaf(network).and_then(|leaf| leaf.limit).map(|limit| limit / crowd.in_queue);
    let of_stages = stages(network)
        .filter(|(side, name, _)| hit.places.contains(&Place::Stage(*side, name.clone())))
        .filter_map(|(_, _, stage)| conditioner_limit(stage));
    own.into_iter().chain(of_stages).filter(|limit| *limit != 0.0).reduce(f64::min)
}

/// Returns an entry of traffic with the headers and the role; the network adds its ends.
pub(crate) fn entry(name: &str, header: &Header, role: &Role, sent: &Sending) -> Map<String, Value> {
    let mut made = Map::new();
    let mut set = |key: &str, value: Value| made.insert(key.to_owned(), value);
    set("name", json!(name));
    set("role", json!(role.judged_as));
    // The network replaces these values; they are set here only for the order of the keys.
    set("from", json!(""));
    set("to", json!(""));
    set("source", sent.source.clone());
    if let Some(dscp) = &header.dscp {
        set("dscp", json!(dscp));
    }
    if let Some(port) = header.source_port {
        set("source-port", json!(port));
    }
    if let Some(port) = header.destination_port {
        set("destination-port", json!(port));
    }
    if let Some(protocol) = header.protocol.as_deref().filter(|name| !["tcp", "udp"].contains(name)) {
        set("protocol", json!(protocol));
    }
    if sent.count > 1 {
        set("count", json!(sent.count));
        set("start-within", json!(START_WITHIN));
    }
    made
}

/// Returns a name that is not in `others`: `wanted`, with a number appended if `wanted` is taken.
pub(crate) fn unlike(wanted: &str, others: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(|name| !others.contains(name)).unwrap_or_default()
}
