//! The scenario of a [`Network`] with traffic, as the keys of a scenario file in their order.

use std::net::IpAddr;

use perhop_device::Port;
use perhop_network::snapshot::AMPLE;
use perhop_qos::Rate;
use serde_json::{Map, Value, json};

use crate::header::Header;
use crate::network::{Carried, CosOrigin, FAR, Interface, NEAR, Network};
use crate::words::as_rate;

/// The ratio of the rate of links between hosts and their routers to the rate of the path through the router.
const WIDER: f64 = 10.0;
/// The minimum rate of such a link, bits per second.
const LEAST_PLAIN: f64 = 1e9;
/// The delay of the line behind the router: a few hundred kilometers and another router.
const DELAY: &str = "5ms";
/// The delay of a fast line, as in a metropolitan network. A few connections cannot fill a long, fast line.
const SHORT_DELAY: &str = "1ms";
/// The minimum rate of a fast line, bits per second.
const FAST: f64 = 100e6;
/// The queue limit of the policy `ample`, for queues outside the router. It exceeds the sum of all windows
/// and the datagrams of a second.
const AMPLE_LIMIT: &str = "10000000 packets";
/// The policy `ample` that also sets the CoS of every packet to its precedence.
const TAGGING: &str = "ample-with-cos";

/// An entry of traffic without its ends, and the headers that determine the ends.
pub(crate) struct Entry<'a> {
    pub(crate) keys: &'a Map<String, Value>,
    pub(crate) header: &'a Header,
}

/// Returns a scenario with this traffic and `duration`.
pub(crate) fn scenario(network: &Network, entries: &[Entry], duration: &str) -> Map<String, Value> {
    let site = network.site;
    let (mut senders, mut receivers) = (Hosts::new("sender"), Hosts::new("receiver"));
    let mut traffic = Vec::new();
    for Entry { keys, header } in entries {
        let [source, destination] = network.ends(header);
        let mut entry = (*keys).clone();
        entry.insert("from".into(), senders.named(source).into());
        entry.insert("to".into(), receivers.named(destination).into());
        traffic.push(Value::Object(entry));
    }
    let copies = network.copies.iter().enumerate();
    let copies: Vec<Value> = copies.flat_map(|(number, copy)| copied(&traffic, number, copy)).collect();
    traffic.extend(copies);
    let mut routers = Map::new();
    routers.insert(site.router.clone(), json!({"configuration": site.configuration_with(&network.added)}));
    let others = (0..network.others.len()).map(other_name);
    let fixed = [NEAR.to_owned(), FAR.to_owned()];
    routers.extend(fixed.into_iter().chain(others).map(|name| (name, json!({}))));
    let links = links(network, &senders, &receivers);
    let mut hosts = Map::new();
    hosts.extend(
        senders.0.into_iter().chain(receivers.0).map(|(address, name)| (name, json!({"address": address}))),
    );
    hosts.extend((0..network.copies.len()).map(|number| (copy_receiver(number), json!({}))));
    let queueing = ample_queueing();
    let mut policies = Map::new();
    policies.insert(AMPLE.to_owned(), json!({"queueing": queueing}));
    if network.cos == CosOrigin::Precedence {
        let stages: Vec<Value> = (1..8).map(|cos| json!({
            "name": format!("CoS {cos}"), "match": {"precedence": cos}, "actions": [{"mark-cos": cos}],
        })).collect();
        policies.insert(TAGGING.to_owned(), json!({"conditioners": stages, "queueing": queueing}));
    }
    let keys = [
        ("perhop", json!(1)),
        ("name", json!(format!("Inferred from {}", site.router))),
        ("duration", json!(duration)),
        ("hosts", Value::Object(hosts)),
        ("routers", Value::Object(routers)),
        ("links", Value::Array(links)),
        ("policies", Value::Object(policies)),
        ("traffic", Value::Array(traffic)),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The hosts at one side of the router: one for each address that traffic uses.
struct Hosts(Vec<(IpAddr, String)>, &'static str);

impl Hosts {
    fn new(kind: &'static str) -> Hosts {
        Hosts(Vec::new(), kind)
    }

    /// Returns the name of the host with an address. Adds the host if needed.
    fn named(&mut self, address: IpAddr) -> String {
        if let Some((_, name)) = self.0.iter().find(|(known, _)| *known == address) {
            return name.clone();
        }
        let kind = self.1;
        let name = if self.0.is_empty() { kind.to_owned() } else { format!("{kind}-{}", self.0.len() + 1) };
        self.0.push((address, name.clone()));
        name
    }
}

fn links(network: &Network, senders: &Hosts, receivers: &Hosts) -> Vec<Value> {
    let Network { site, entering, leaving, .. } = network;
    let widest = entering.bits_per_second().max(leaving.bits_per_second()).max(LEAST_PLAIN / WIDER);
    let plain = as_rate(WIDER * widest);
    let delay = if network.bottleneck() > FAST { SHORT_DELAY } else { DELAY };
    let router = &site.router;
    let mut ends = named(leaving);
    if let Some(common) = site.common {
        ends["carries"] = json!(common.carries);
    }
    if let Some(ring) = site.ring {
        ends["ring"] = json!({"packets": ring});
    }
    let to_router = match network.cos {
        CosOrigin::Packets => ample(),
        CosOrigin::Precedence => json!({"output": TAGGING}),
    };
    let near = json!({
        "between": [NEAR, router], "rate": entering.rate.to_string(),
        "interfaces": {NEAR: to_router, router: entrance(network, entering)},
    });
    let mut far = json!({
        "between": [router, FAR], "rate": leaving.rate.to_string(), "delay": delay,
        "interfaces": {router: ends, FAR: ample()},
    });
    let mut links: Vec<Value> =
        senders.0.iter().map(|(_, name)| carrying(network, plain_link(name, NEAR, &plain), None)).collect();
    links.push(carrying(network, near, entering.port));
    if let Some(port) = leaving.port.filter(|_| network.leaves_labeled) {
        far["framing"] = json!(framing_of(Some(port)));
        far["headers"] = json!([Carried::Mpls.name()]);
    }
    links.push(far);
    links.extend(network.others.iter().enumerate().map(|(number, other)| {
        let rate: Rate = other.rate;
        json!({
            "between": [router, other_name(number)], "rate": rate.to_string(),
            "interfaces": {router: entrance(network, other)},
        })
    }));
    links.extend(receivers.0.iter().map(|(_, name)| plain_link(FAR, name, &plain)));
    links.extend(network.copies.iter().enumerate().map(|(number, copy)| {
        json!({
            "between": [router, copy_receiver(number)], "rate": copy.rate.to_string(), "delay": delay,
            "interfaces": {router: named(copy)},
        })
    }));
    links
}

/// Returns copies of the traffic `entries`, with the receiver behind the interface `copy`. `number` is the
/// number of the copy.
fn copied(entries: &[Value], number: usize, copy: &Interface) -> Vec<Value> {
    let renamed = |entry: &Value| {
        let mut entry = entry.clone();
        let class = entry.get("class").or(entry.get("name")).and_then(Value::as_str).unwrap_or_default();
        let class = format!("{class} at {}", copy.name);
        let own = format!("{} at {}", entry["name"].as_str().unwrap_or_default(), copy.name);
        if class != own {
            entry["class"] = json!(class);
        }
        entry["name"] = json!(own);
        entry["to"] = json!(copy_receiver(number));
        entry
    };
    entries.iter().map(renamed).collect()
}

/// Returns the name of the host behind the interface of a copy.
fn copy_receiver(number: usize) -> String {
    format!("receiver-of-copy-{}", number + 1)
}

/// Returns the link to a port. If the port has no headers, the link gets headers that carry the marks.
fn carrying(network: &Network, mut link: Value, port: Option<&Port>) -> Value {
    if network.carried.is_empty() || port.is_some_and(|port| !port.wire.headers.is_empty()) {
        return link;
    }
    let framing = framing_of(port);
    // A tag requires Ethernet framing. Labels do not.
    let is_ethernet = framing.starts_with("ethernet");
    let headers = network.carried.iter().filter(|header| is_ethernet || **header == Carried::Mpls);
    let headers: Vec<&str> = headers.map(|header| header.name()).collect();
    link["framing"] = json!(framing);
    link["headers"] = json!(headers);
    link
}

/// Returns the framing of the link to a port.
fn framing_of(port: Option<&Port>) -> String {
    let framing = port.and_then(|port| port.wire.framing);
    framing.map_or_else(|| "ethernet-wire".to_owned(), |framing| framing.to_string())
}

/// Returns the queueing of nodes outside the devices, which lose no packet.
pub(crate) fn ample_queueing() -> Value {
    json!({"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": AMPLE_LIMIT}}}]})
}

fn ample() -> Value {
    json!({"output": AMPLE})
}

fn named(interface: &Interface) -> Value {
    json!({"name": interface.name})
}

fn plain_link(first: &str, second: &str, rate: &str) -> Value {
    json!({"between": [first, second], "rate": rate, "interfaces": {first: ample(), second: ample()}})
}

/// Returns the interface where packets enter. Queues that are not modeled drop no replies.
fn entrance(network: &Network, interface: &Interface) -> Value {
    let mut end = named(interface);
    if has_unmodeled_queues(network, interface) {
        end["output"] = json!(AMPLE);
    }
    end
}

/// Whether packets that leave via an interface wait in queues that are not modeled. A switch also has no
/// memory for an added interface.
pub(crate) fn has_unmodeled_queues(network: &Network, interface: &Interface) -> bool {
    match interface.port {
        Some(port) => port.unmodeled_queues.is_some(),
        None => network.site.model.memory.is_some(),
    }
}

/// Returns the name of the router behind an interface that classes match but no packets use.
fn other_name(number: usize) -> String {
    format!("beside-{}", number + 1)
}
