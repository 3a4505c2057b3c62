//! [`Given`]: the user's traffic, read from a file, which replaces a guess.

use std::collections::BTreeSet;
use std::net::IpAddr;

use perhop_analysis::rates::class_path;
use serde::Deserialize;
use serde_json::json;

use crate::burst::Microburst;
use crate::failure::Failure;
use crate::network::Network;
use crate::role::Kind;
use crate::sources::{Sending, greedy_words, sending};
use crate::targets::{Hit, Miss, Wanted, targets};
use crate::traffic::{Flow, Traffic, entry, suited, unlike};
use crate::words::{rate_in_words, similar};

/// The length of a datagram, IP bytes, if the kind of the source is not the kind of the role and the user
/// sets no length.
const DATAGRAM: u32 = 1000;

/// Traffic that the user gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Given {
    /// Rates by class.
    Classes(Vec<ClassLoad>),
    /// Flow records.
    Records(Records),
    /// The path of a capture, as a scenario file writes it.
    Capture(String),
    /// Outputs of the device with its counters.
    Outputs(Outputs),
    /// A burst into each class.
    Microburst(Microburst),
}

impl Given {
    /// Returns the origin of the traffic in a sentence.
    pub(crate) fn sentence(&self) -> &'static str {
        match self {
            Given::Classes(_) => "load: the rates of the file",
            Given::Records(_) => "load: the flows of the file",
            Given::Capture(_) => "load: the packets of the capture",
            Given::Outputs(_) => {
                "load: the offered rates in the output, as packets of the mean size at regular intervals, in \
                 bursts where the drops show bursts"
            }
            Given::Microburst(_) => "load: one burst into each class, one class after the other",
        }
    }
}

/// The load of a class, from one line of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassLoad {
    /// The name of the class.
    pub name: String,
    /// The offered rate, bits per second; `None` for TCP without a limit.
    pub rate: Option<f64>,
    /// The length of a packet, IP bytes; `None` for the length of the role.
    pub packet_bytes: Option<u32>,
    /// The kind of traffic; `None` for the kind of the role.
    pub kind: Option<Kind>,
    /// The number of greedy TCP connections, if `rate` is `None`.
    pub connections: Option<u32>,
}

/// Outputs of a device with the counters of its classes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outputs {
    /// The text of an earlier output.
    pub earlier: Option<String>,
    /// The text of the output.
    pub text: String,
    /// The seconds between both outputs, or the counting time of a single output; `None`: use the printed
    /// rates.
    pub seconds: Option<f64>,
}

/// Flow records. Records with the same header are merged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// The conversations in the order of their first records.
    pub conversations: Vec<Conversation>,
    /// Whether the records have codepoints.
    pub has_codepoints: bool,
}

/// The flows with one header.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// The codepoint by name or number.
    pub dscp: String,
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// The protocol by name or number.
    pub protocol: String,
    /// The sender's port.
    pub source_port: Option<u16>,
    /// The receiver's port.
    pub destination_port: Option<u16>,
    /// IP bytes of all flows.
    pub bytes: f64,
    /// Packets of all flows with bytes.
    pub packets: f64,
    /// The number of flows, and the number of flows with bytes.
    pub flows: [u64; 2],
    /// The number of flows with bytes and an unknown protocol. They are treated as UDP.
    pub others: u64,
    /// The first start and the last end of a flow with bytes, seconds.
    pub span: [f64; 2],
}

/// Returns traffic with the rates of some classes.
///
/// # Errors
/// A class does not exist, or no header reaches it.
pub(crate) fn by_class(
    network: &Network,
    loads: &[ClassLoad],
    hits: &[Hit],
    misses: &[Miss],
) -> Result<Traffic, Failure> {
    let mut names: Vec<String> = Vec::new();
    for target in targets(network) {
        if !names.contains(&target.name) {
            names.push(target.name);
        }
    }
    let unknown = loads.iter().enumerate().find(|(_, load)| !names.contains(&load.name));
    if let Some((row, load)) = unknown {
        let near = similar(&load.name, names.iter().map(String::as_str), 1);
        let help = near.first().map(|name| format!("did you mean `{name}`?"));
        let help = help.unwrap_or_else(|| format!("classes: {}", names.join(", ")));
        let message = format!("{} has no class `{}`", network.leaving.name, load.name);
        return Err(Failure::of_row(row, message, help));
    }
    let mut taken = BTreeSet::new();
    let mut flows = Vec::new();
    for (row, load) in loads.iter().enumerate() {
        let Some(hit) = hit_for_class(network, hits, &load.name) else {
            let miss = misses.iter().find(|miss| miss.target.name == load.name);
            let message = miss.map_or_else(|| format!("class `{}`", load.name), Miss::to_string);
            return Err(Failure::of_row(
                row,
                message,
                "leave the class out of the file: in a run all packets enter at one interface",
            ));
        };
        flows.push(flow(network, load, hit, &mut taken));
    }
    let given: BTreeSet<&str> = loads.iter().map(|load| load.name.as_str()).collect();
    let silent = names.iter().filter(|name| !given.contains(name.as_str()));
    let silent = silent.map(|name| format!("class `{name}` gets no traffic, because it is not in the file"));
    let limited = loads.iter().zip(&flows).filter(|(load, _)| load.kind == Some(Kind::Greedy));
    let limited = limited.filter_map(|(load, flow)| {
        let rate = rate_in_words(load.rate?);
        let [_, words] = &flow.offered;
        Some(format!(
            "class `{}`: greedy TCP has no configured rate, so {words} offer {rate} instead; leave `rate` \
             empty for greedy TCP",
            load.name
        ))
    });
    let remarks = limited.chain(silent).collect();
    Ok(Traffic { flows, remarks, ..Traffic::default() })
}

/// Returns the headers for the class `name`. If no headers have this class, returns the headers of another
/// class that reach the queue `name`.
pub(crate) fn hit_for_class<'h, 'a>(
    network: &Network,
    hits: &'h [Hit<'a>],
    name: &str,
) -> Option<&'h Hit<'a>> {
    let leads_there = |hit: &&Hit| {
        hit.leaf(network)
            .and_then(|leaf| network.place_of(&leaf.path))
            .is_some_and(|place| network.names[place] == name)
    };
    let own = hits.iter().find(|hit| hit.target.name == name);
    own.or_else(|| hits.iter().find(leads_there))
}

/// Returns loads with the class names of results. A load may name a class by the path of its queue.
pub(crate) fn with_class_names(network: &Network, loads: &[ClassLoad]) -> Vec<ClassLoad> {
    let is_class = |name: &str| targets(network).iter().any(|target| target.name == name);
    let named = |load: &ClassLoad| {
        let mut leaves = network.leaves.iter();
        let place = leaves.position(|leaf| [&leaf.path, &class_path(&leaf.path)].contains(&&load.name));
        let place = place.filter(|_| !is_class(&load.name));
        let name = place.map_or(&load.name, |place| &network.names[place]);
        ClassLoad { name: name.clone(), ..load.clone() }
    };
    loads.iter().map(named).collect()
}

/// Returns the classes of the loads with the requested kinds; the last requested kind of a class applies.
pub(crate) fn wanted(loads: &[ClassLoad]) -> Wanted<'_> {
    let mut wanted = Wanted::new();
    for load in loads {
        let kind = wanted.entry(load.name.as_str()).or_default();
        *kind = load.kind.or(*kind);
    }
    wanted
}

/// Returns the traffic of a class under a name that is not in `taken`, and adds the name to `taken`.
fn flow(network: &Network, load: &ClassLoad, hit: &Hit, taken: &mut BTreeSet<String>) -> Flow {
    let mut kind = suited(load.kind.unwrap_or(hit.kind), &hit.header, true);
    if load.rate.is_some() && kind == Kind::Greedy {
        kind = Kind::Transfers;
    }
    let rate = load.rate.unwrap_or(0.0);
    let usual = if kind == hit.role.kind { hit.role.packet_bytes } else { DATAGRAM };
    let mut sent = sending(kind, rate, load.packet_bytes.unwrap_or(usual));
    if let Some(connections) = load.connections.filter(|_| kind == Kind::Greedy) {
        sent = Sending { count: connections, words: greedy_words(connections), ..sent };
    }
    let name = unlike(&load.name, taken);
    taken.insert(name.clone());
    let mut made = entry(&name, &hit.header, hit.role, &sent);
    if name != load.name {
        made.insert("class".into(), json!(load.name));
    }
    let words = load.rate.map_or_else(|| "unlimited".to_owned(), rate_in_words);
    Flow {
        header: hit.header.clone(),
        entry: made,
        queue: hit.leaf(network).map(|leaf| leaf.path.clone()),
        offered: [words, sent.words],
        rate,
    }
}
