//! [`Trial`]: the classes of a router that packets reach. The data plane decides, because only it has all
//! rules. A packet passes the same conditioners and classifier as in a run.

use std::collections::BTreeSet;
use std::path::Path;

use perhop_network::Devices;
use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::packet::{Encapsulation, Ingress, Protocol};
use perhop_qos::policy::queue_names;
use perhop_qos::port::PortClassifier;
use perhop_qos::random::Streams;
use perhop_qos::{ConfigError, Packet, Time, Verdict};
use perhop_scenario::{Document, Loader, Scenario};
use serde_json::{Map, Value, json};

use crate::document::{Entry, scenario};
use crate::failure::Failure;
use crate::header::{Header, packed};
use crate::network::{CosOrigin, FAR, NEAR, Network};
use crate::path_links::PathLinks;
use crate::role::Kind;
use crate::sources::sending;

/// Seconds between two packets. No policer drops a short packet after this time.
const GAP_SECONDS: u64 = 10;
/// IP bytes of a packet whose length does not matter, of IPv4 and of IPv6.
const SHORT: [u32; 2] = [40, 60];
/// IP bytes of a SYN with the options of a Linux host.
const SYN: u32 = 60;
/// The ports that traffic has by default.
const SOURCE_PORT: u16 = 49152;
const DESTINATION_PORT: u16 = 9;

/// A side of the router's conditioners on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Input,
    Output,
}

/// A class of the router.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// A stage of conditioning.
    Stage(Side, String),
    /// A queue by its path.
    Queue(String),
    /// All packets that match no conditioner.
    Rest,
}

/// The path of packets through the router in one direction.
struct Way {
    input: TrafficConditioner,
    output: TrafficConditioner,
    /// The marks that the link to the router carries.
    arrival: Encapsulation,
    /// The router's interface on this link.
    ingress: Ingress,
    /// The origin of the CoS of a tag.
    cos: CosOrigin,
    /// The classifier of the output; `None` if the port has one queue without classes.
    classifier: Option<PortClassifier>,
    queues: Vec<String>,
    /// The longest packet that leaves, IP bytes.
    longest: u32,
    now: Time,
}

/// The paths of packets through the router of a network, and of their replies.
pub(crate) struct Trial {
    forward: Way,
    back: Way,
}

impl Trial {
    /// Builds the conditioners and classifiers of a network's router.
    ///
    /// # Errors
    /// The device would refuse a feature of the path. Such an error must not look like a class without
    /// packets.
    pub(crate) fn new(network: &Network, devices: &Devices) -> Result<Trial, Failure> {
        let resolved = resolved(network, devices)?;
        let router = &network.site.router;
        let build = |from: &str, to: &str| Way::new(&resolved, router, from, to);
        match (build(NEAR, FAR), build(FAR, NEAR)) {
            (Ok(forward), Ok(back)) => Ok(Trial { forward: Way { cos: network.cos, ..forward }, back }),
            (Err(error), _) | (_, Err(error)) => Err(Failure::Option(error)),
        }
    }

    /// Returns the classes that a packet with this header reaches.
    pub(crate) fn places_of(&mut self, network: &Network, header: &Header) -> BTreeSet<Place> {
        let mut packet = packet(network, header);
        let (mut places, _) = self.forward.pass(&mut packet);
        if !places.iter().any(|place| matches!(place, Place::Stage(..))) {
            places.insert(Place::Rest);
        }
        places
    }

    /// Whether TCP works with this header: no policy drops all of its packets or all of its replies.
    pub(crate) fn has_replies(&mut self, network: &Network, header: &Header) -> bool {
        let sent = Packet { length: SYN, ..packet(network, header) };
        let reply = Packet { dscp: sent.dscp, ..Packet::new(sent.flow_key().reversed(), SYN) };
        self.forward.delivers(sent) && self.back.delivers(reply)
    }
}

impl Way {
    /// Builds the path through the router `router` from its neighbor `from` to `to`.
    fn new(scenario: &Scenario, router: &str, from: &str, to: &str) -> Result<Way, ConfigError> {
        let links = PathLinks::new(scenario, router, [from, to])?;
        let [input, output] = links.conditioners(&Streams::new(1, 0))?;
        let queueing = links.output_policy().and_then(|policy| policy.queueing.as_ref());
        let mtu = links.leaving().and_then(|end| links.departing.mtu(end));
        Ok(Way {
            input,
            output: output.leaving_by(links.departing.headers.encapsulation()),
            arrival: links.arriving.headers.encapsulation(),
            ingress: links.ingress(),
            cos: CosOrigin::Packets,
            classifier: queueing
                .map(|config| PortClassifier::build(config, links.neighbors()))
                .transpose()?,
            queues: queue_names(queueing),
            longest: mtu.map_or(u32::MAX, |mtu| mtu.as_bytes() as u32),
            now: Time::ZERO,
        })
    }

    /// Sends a packet along the path. Returns the classes that it reaches, and whether it joins a queue.
    fn pass(&mut self, packet: &mut Packet) -> (BTreeSet<Place>, bool) {
        self.now = self.now.saturating_add(Time::from_seconds(GAP_SECONDS));
        if self.cos == CosOrigin::Precedence {
            packet.set_cos(packet.dscp.precedence().into());
        }
        packet.depart(self.arrival);
        packet.arrive(self.ingress);
        let mut places = BTreeSet::new();
        if !passes_conditioner(&mut self.input, Side::Input, self.now, packet, &mut places) {
            return (places, false);
        }
        packet.length = packet.length.min(self.longest);
        if !passes_conditioner(&mut self.output, Side::Output, self.now, packet, &mut places) {
            return (places, false);
        }
        let queue = match &self.classifier {
            Some(classifier) => classifier.classify(packet).map(|queue| usize::from(queue.0)),
            None => Some(0),
        };
        let name = queue.and_then(|queue| self.queues.get(queue));
        places.extend(name.map(|name| Place::Queue(name.clone())));
        (places, name.is_some())
    }

    fn delivers(&mut self, mut packet: Packet) -> bool {
        self.pass(&mut packet).1
    }
}

/// Conditions a packet, adds the stages that match it, and returns whether the packet is not dropped.
fn passes_conditioner(
    conditioner: &mut TrafficConditioner,
    side: Side,
    now: Time,
    packet: &mut Packet,
    places: &mut BTreeSet<Place>,
) -> bool {
    let counts = |conditioner: &TrafficConditioner| -> Vec<u64> {
        conditioner.counted().map(|(_, colors)| colors.iter().map(|count| count.packets).sum()).collect()
    };
    let before = counts(conditioner);
    conditioner.announce(&packet.flow_key());
    let verdict = conditioner.condition(now, packet);
    let after = counts(conditioner);
    let names = conditioner.counted().map(|(name, _)| name);
    for (name, _) in names.zip(before.iter().zip(&after)).filter(|(_, (before, after))| before != after) {
        places.insert(Place::Stage(side, name.to_owned()));
    }
    matches!(verdict, Verdict::Pass)
}

/// Returns a packet of a sender with this header, without the marks of links.
pub(crate) fn packet(network: &Network, header: &Header) -> Packet {
    let [source, destination] = network.ends(header);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let least = SHORT[usize::from(header.is_six())];
    let length =
        header.packet_bytes.map_or(least, |bytes| if header.is_six() { bytes.max(least) } else { bytes });
    Packet {
        source: packed(source),
        destination: packed(destination),
        source_port: header.source_port.unwrap_or(SOURCE_PORT),
        destination_port: header.destination_port.unwrap_or(DESTINATION_PORT),
        protocol: text(&header.protocol).parse().unwrap_or(Protocol::UDP),
        dscp: text(&header.dscp).parse().unwrap_or_default(),
        length,
        ..Packet::default()
    }
}

/// Returns the scenario of a network with its router's configuration converted, and a small amount of
/// traffic.
pub(crate) fn resolved(network: &Network, devices: &Devices) -> Result<Scenario, Failure> {
    let mut keys = Map::new();
    keys.insert("name".into(), json!("trial"));
    keys.insert("source".into(), sending(Kind::Constant, 8000.0, 100).source);
    let entry = Entry { keys: &keys, header: &Header::default() };
    load(network, devices, &[entry], network.site.base)
}

/// Returns the scenario of a network with some traffic as it would run.
///
/// # Errors
/// The scenario is not valid.
pub(crate) fn load(
    network: &Network,
    devices: &Devices,
    entries: &[Entry],
    base: &Path,
) -> Result<Scenario, Failure> {
    let document = Document::from_json(Value::Object(scenario(network, entries, "1s")));
    let loaded = Loader::with(devices).load_document(&document, base);
    loaded
        .map(|loaded| loaded.resolved)
        .map_err(|found| Failure::Refused { found, interfaces: network.interfaces() })
}
