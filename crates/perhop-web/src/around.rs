//! [`around`]: a small scenario around one interface of a router, whose classes each have traffic of a rate.
//!
//! Its packets are those of `perhop-analysis`: for every queue one that gets there. What each class offers is
//! for whoever looks to say; where nobody does, each offers what makes its queue matter ([`offered`]).

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_analysis::{PacketSpace, Set, TooComplex, before, classes_of, departing};
use perhop_device::{AddedInterface, AttachedClass, AttachedPolicy, ParseOptions, Port};
use perhop_front_ends::FRONT_ENDS;
use perhop_qos::ConfigError;
use perhop_qos::packet::{Encapsulation, Packet, Protocol};
use perhop_qos::units::Rate;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::ask::Around;

/// Part of the limit of a priority class that is offered to it, so that its policer stays idle.
const FILLED: f64 = 0.8;
/// Load of another class by its guarantee or its equal part: more, so that its queue fills.
const ABOVE: f64 = 1.25;
/// IP bytes of packets with priority: G.711 every 20 ms. Of others: between short and full ones.
const SHORT: u32 = 200;
const LONG: u32 = 1000;
/// TCP sends what it can: as many connections stand for a load as there are of these in it, bits per second.
const CONNECTION: f64 = 500e3;

/// The rate of a line that the configuration does not set, bits per second: Gigabit Ethernet.
const UNKNOWN_RATE: u64 = 1_000_000_000;

/// A class with a queue, and a packet that gets there.
struct Entry {
    queue: String,
    packet: Packet,
    has_priority: bool,
    load: f64,
}

/// A scenario around the interface that `asked` names, and its classes.
///
/// # Errors
/// Where there is no such interface, or none with queues.
pub(crate) fn around(asked: &Around) -> Result<Answer, Answer> {
    let refused = |error: ConfigError| Answer::failed(&error.message, &error.help.unwrap_or_default());
    let front_end = FRONT_ENDS.choose(&asked.text, None).map_err(refused)?;
    let device = front_end.parse(&asked.text, &ParseOptions::default()).map_err(refused)?;
    if let Some(refusal) = device.refusal() {
        return Err(Answer::failed(&refusal.message, &refusal.router));
    }
    let router = device.router;
    let entering = front_end.added_interface();
    let named = |port: &&Port| asked.interface.as_ref().is_none_or(|name| *name == port.name);
    let has_queues = |port: &&Port| port.output.queueing.is_some() && !port.shutdown;
    // One without a policy is a plain queue: only where nothing else is there to see.
    let ports = || router.ports.iter().filter(has_queues).filter(named);
    let port = ports().find(|port| attached(port).is_some()).or_else(|| ports().next());
    let port = port.ok_or_else(|| {
        let message = asked.interface.as_ref().map_or_else(
            || "no interface has queues".to_owned(),
            |name| format!("interface {name} has no queues"),
        );
        Answer::failed(&message, "attach a policy with `service-policy output`")
    })?;
    let rate = rate_of(asked, port)?;
    let interfaces = [port.name.clone(), entering.name.clone()];
    let reached = reached(port, &interfaces).map_err(|error| Answer::failed(&error.to_string(), ""))?;
    let unreached: Vec<&String> =
        reached.iter().filter(|(_, packet)| packet.is_none()).map(|(queue, _)| queue).collect();
    let classes = attached(port).map_or(&[][..], |policy| &policy.classes);
    let part = rate.as_bits_per_second() as f64 / reached.len().max(1) as f64;
    let entries: Vec<Entry> = reached
        .iter()
        .filter_map(|(queue, packet)| {
            let class = of_queue(classes, queue);
            let has_priority = class.is_some_and(|class| class.priority.is_some());
            let load = asked.loads.get(queue).copied();
            let load = load.unwrap_or_else(|| offered(class, part)).round();
            packet.map(|packet| Entry { queue: queue.clone(), packet, has_priority, load })
        })
        .collect();
    let loads: Vec<Value> = entries
        .iter()
        .map(|one| {
            let is_tcp = one.packet.protocol == Protocol::TCP;
            json!({"queue": one.queue, "load": one.load, "priority": one.has_priority, "tcp": is_tcp})
        })
        .collect();
    let name = router.hostname.as_deref().unwrap_or("router");
    let scenario = scenario(asked, &Place { name, port, rate, entering }, &entries);
    Ok(Answer::of(json!({
        "scenario": scenario, "interface": port.name, "rate": rate.as_bits_per_second(), "classes": loads,
        "unreached": unreached,
    })))
}

/// The policy of departing packets that the configuration attaches.
fn attached(port: &Port) -> Option<&AttachedPolicy> {
    port.attachments.as_ref()?.output.as_ref()
}

fn rate_of(asked: &Around, port: &Port) -> Result<Rate, Answer> {
    let Some(written) = &asked.rate else {
        let known = port.wire.rate.or(port.assumed_rate).or(port.bandwidth);
        return Ok(known.unwrap_or(Rate::from_bits_per_second(UNKNOWN_RATE)));
    };
    let read: Result<Rate, _> = written.parse();
    let positive = read.ok().filter(|rate| rate.as_bits_per_second() > 0);
    positive.ok_or_else(|| Answer::failed(&format!("`{written}` is not a rate"), "for example 2Mb/s"))
}

/// The queues of `port`, and a packet that gets to each, as it comes to the router.
fn reached(port: &Port, interfaces: &[String]) -> Result<Vec<(String, Option<Packet>)>, TooComplex> {
    let Some(queueing) = &port.output.queueing else { return Ok(Vec::new()) };
    let mut space = PacketSpace::new(interfaces);
    let mut found = Vec::new();
    for class in classes_of(&mut space, queueing, Set::ALL)? {
        let set = before(&mut space, &port.output.conditioners, class.takes)?;
        let set = departing(&mut space, Encapsulation { tag: false, labels: false }, set)?;
        let packet = space.witness(set)?.map(|witness| witness.packet);
        let packet = packet.map(|packet| {
            let segment = Packet { protocol: Protocol::TCP, ..packet };
            let is_rest = class.name.ends_with("class-default") && space.contains(set, &segment);
            if is_rest { segment } else { packet }
        });
        found.push((class.name, packet));
    }
    Ok(found)
}

/// The class whose packets wait in `queue`.
fn of_queue<'c>(classes: &'c [AttachedClass], queue: &str) -> Option<&'c AttachedClass> {
    classes.iter().find_map(|class| {
        let inner = class.policy.as_ref().and_then(|policy| of_queue(&policy.classes, queue));
        inner.or_else(|| (class.queue.as_deref() == Some(queue)).then_some(class))
    })
}

/// What a class offers where nobody says: less than its limit where it has priority, else more than its
/// guarantee, or than its equal `part` of the wire.
fn offered(class: Option<&AttachedClass>, part: f64) -> f64 {
    let Some(class) = class else { return ABOVE * part };
    if let Some(priority) = &class.priority {
        let limit = priority.rate_bps.or(class.police.as_ref().map(|police| police.cir_bps));
        return FILLED * limit.map_or(part, |limit| limit as f64);
    }
    let guaranteed = class.bandwidth.as_ref().map(|bandwidth| bandwidth.rate_bps as f64);
    ABOVE * guaranteed.filter(|rate| *rate > 0.0).unwrap_or(part)
}

/// The router in the middle of the scenario.
struct Place<'a> {
    name: &'a str,
    /// The port by which packets leave.
    port: &'a Port,
    rate: Rate,
    /// The interface by which packets arrive.
    entering: AddedInterface,
}

fn scenario(asked: &Around, place: &Place, entries: &[Entry]) -> Value {
    let Place { name, port, rate, entering } = place;
    let (mut hosts, mut traffic) = (Hosts::default(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.load > 0.0) {
        let Packet { source, destination, source_port, destination_port, dscp, protocol, .. } = entry.packet;
        let from = hosts.named("sender", source.to_ip());
        let to = hosts.named("receiver", destination.to_ip());
        let mut one = json!({
            "name": entry.queue, "from": from, "to": to, "dscp": dscp.to_string(),
            "source": source_of(entry),
        });
        if protocol == Protocol::TCP {
            let connections = (entry.load / CONNECTION).ceil().clamp(1.0, 50.0) as u32;
            (one["count"], one["start-within"]) = (json!(connections), json!("1s"));
        }
        if [Protocol::TCP, Protocol::UDP].contains(&protocol) {
            (one["source-port"], one["destination-port"]) = (json!(source_port), json!(destination_port));
        } else {
            one["protocol"] = json!(protocol.to_string());
        }
        traffic.push(one);
    }
    let near = format!("{name}-lan");
    let far = format!("{name}-far");
    let wide = Rate::from_bits_per_second((10 * rate.as_bits_per_second()).max(1_000_000_000)).to_string();
    let mut leaving = json!({ "name": port.name });
    if let Some(ring) = asked.ring {
        leaving["ring"] = json!({ "packets": ring });
    }
    let mut links = vec![
        json!({"between": [near, name], "rate": wide, "interfaces": {*name: {"name": entering.name}}}),
        json!({"between": [name, far], "rate": rate.to_string(), "delay": "5ms", "interfaces": {*name: leaving}}),
    ];
    for (host, (_, side)) in &hosts.0 {
        let router = if *side == "sender" { &near } else { &far };
        let between = if *side == "sender" { json!([host, router]) } else { json!([router, host]) };
        links.push(json!({"between": between, "rate": wide}));
    }
    let addresses: BTreeMap<&String, Value> =
        hosts.0.iter().map(|(host, (address, _))| (host, json!({"address": address}))).collect();
    let configuration = json!({"text": asked.text, "add": [entering.command]});
    json!({
        "perhop": 1, "name": format!("{name}, {}", port.name),
        "description": "Made around one interface; every class has traffic of a chosen rate.",
        "duration": "20s", "hosts": addresses,
        "routers": {*name: {"configuration": configuration}, near: {}, far: {}},
        "links": links, "traffic": traffic, "measure": {"warmup": "2s"},
    })
}

/// Priority is for packets at regular intervals, anything else comes at random, or as TCP sends it.
fn source_of(entry: &Entry) -> Value {
    let rate = Rate::from_bits_per_second(entry.load.max(1.0) as u64).to_string();
    if entry.packet.protocol == Protocol::TCP {
        return json!({"bulk": {"tcp": {"profile": "linux-modern"}}});
    }
    if entry.has_priority {
        json!({"cbr": {"rate": rate, "packet": {"ip": format!("{SHORT}B")}}})
    } else {
        json!({"poisson": {"rate": rate, "packet": {"ip": format!("{LONG}B")}}})
    }
}

/// The hosts on both sides of the router: one for each address of a side.
#[derive(Default)]
struct Hosts(BTreeMap<String, (IpAddr, &'static str)>);

impl Hosts {
    /// The name of the host with `address` on this `side`.
    fn named(&mut self, side: &'static str, address: IpAddr) -> String {
        let known = self.0.iter().find(|(_, known)| **known == (address, side));
        if let Some((name, _)) = known {
            return name.clone();
        }
        let number = self.0.values().filter(|(_, known)| *known == side).count() + 1;
        let name = if number == 1 { side.to_owned() } else { format!("{side}-{number}") };
        self.0.insert(name.clone(), (address, side));
        name
    }
}
