//! [`CommonPort`]: a port with the policies of all tunnels and sub-interfaces that send through it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use perhop_device::{AttachedClass, GuaranteeKind, Port, Router, ports_above};
use perhop_network::forwarding::{Table, addresses};
use perhop_network::{
    CarriedPort, different_wires, has_classes, has_input_policy, has_nodes, has_output_policy, whole_port,
};
use perhop_qos::classifier::Prefix;

use crate::failure::Failure;

/// The first destination network of ports without addresses and routes, from the networks for benchmarks (RFC
/// 2544).
const FIRST_FREE: u32 = Ipv4Addr::new(198, 18, 0, 0).to_bits();
/// The prefix length of such a network, and the number of networks.
const FREE_LENGTH: u8 = 24;
const FREE: u32 = 512;

/// A port that tunnels and sub-interfaces share.
#[derive(Debug)]
pub(crate) struct CommonPort {
    /// The name of the port.
    pub(crate) name: String,
    /// The ports of the router: the common port with all policies, and the ports that it does not carry.
    pub(crate) ports: Vec<Port>,
    /// The ports carried by this port, with the destinations of their packets.
    pub(crate) carries: BTreeMap<String, Vec<Prefix>>,
    /// The assumptions about the carried ports, one line each.
    pub(crate) assumed: Vec<String>,
    /// The parts of the configuration that the run does not apply to these ports, one line each.
    pub(crate) not_looked_at: Vec<String>,
}

impl CommonPort {
    /// Returns the port `below` of `router` with the policies of the ports above it.
    ///
    /// # Errors
    /// None of these ports has a policy.
    pub(crate) fn new(router: &Router, below: &Port) -> Result<CommonPort, Failure> {
        let own = below.forwarding.output_line;
        // A sub-interface without a policy uses the policy of the port, which applies to all such
        // sub-interfaces together.
        let has_own = |port: &&Port| own.is_none() || port.forwarding.output_line != own;
        let above = ports_above(&router.ports, below).into_iter().filter(has_own);
        let (carried, plain): (Vec<&Port>, Vec<&Port>) = above.partition(|port| is_carried(port));
        if carried.is_empty() {
            return Err(Failure::invalid(
                format!("no tunnel or sub-interface with an output policy uses `{}`", below.name),
                "choose the interface with --interface",
            ));
        }
        let mut assumed = Vec::new();
        if !has_nodes(below) {
            assumed.push(format!(
                "the tunnels and sub-interfaces of {} get equal parts of its rate while the port is full; \
                 priority applies within each part",
                below.name
            ));
        }
        let destinations = destinations_of(router, &carried, &mut assumed);
        let pairs: Vec<CarriedPort> = carried
            .iter()
            .zip(&destinations)
            .map(|(port, destinations)| CarriedPort { port, destinations })
            .collect();
        let not_looked_at = not_looked_at(below, &pairs, &plain);
        let whole = whole_port(below, &pairs);
        let names = carried.iter().map(|port| port.name.clone());
        let carries: BTreeMap<String, Vec<Prefix>> = names.zip(destinations).collect();
        let is_other = |port: &&Port| !carries.contains_key(&port.name);
        let others = router.ports.iter().filter(is_other);
        let ports = others.map(|port| if port.name == below.name { &whole } else { port }).cloned().collect();
        Ok(CommonPort { name: below.name.clone(), ports, carries, assumed, not_looked_at })
    }
}

/// Whether a port has an output policy, queues with classes, or limiters. Stages that only mark tags do not
/// count, because a router has them on ports without a policy.
fn is_carried(port: &Port) -> bool {
    port.forwarding.output_line.is_some() || has_classes(port) || !port.links.output.limiters.is_empty()
}

/// Whether the only class of a port has a share of the remaining rate. Such a share divides the rate of the
/// common port among the carried ports.
fn shares_rest(port: &Port) -> bool {
    let is_rest = |class: &AttachedClass| {
        class.bandwidth.is_some_and(|own| {
            matches!(own.kind, GuaranteeKind::RemainingPercent | GuaranteeKind::RemainingRatio)
        })
    };
    port.output_policy().is_some_and(|policy| matches!(policy.classes.as_slice(), [only] if is_rest(only)))
}

/// Returns the destinations of the packets of each port: its subnets and the prefixes of its static routes.
fn destinations_of(router: &Router, carried: &[&Port], assumed: &mut Vec<String>) -> Vec<Vec<Prefix>> {
    let table = Table::configured(router);
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut found: Vec<Vec<Prefix>> = Vec::new();
    for port in carried {
        let subnets = addresses(port).filter_map(|own| own.subnet());
        let routes = router.forwarding.routes.iter();
        let routes =
            routes.filter(|route| table.port_of(route).is_some_and(|carrier| carrier.name == port.name));
        let all = subnets.chain(routes.map(|route| route.prefix));
        found.push(all.filter(|prefix| taken.insert(prefix.to_string())).collect());
    }
    for (port, destinations) in carried.iter().zip(&mut found) {
        let free = (0..FREE).map(|place| Ipv4Addr::from_bits(FIRST_FREE + (place << (32 - FREE_LENGTH))));
        let mut free = free.filter_map(|first| Prefix::new(IpAddr::V4(first), FREE_LENGTH).ok());
        if destinations.is_empty()
            && let Some(prefix) = free.find(|prefix| !taken.contains(&prefix.to_string()))
        {
            taken.insert(prefix.to_string());
            assumed.push(format!(
                "packets to {prefix} leave via {}, because the configuration has no destination for this \
                 interface",
                port.name
            ));
            destinations.push(prefix);
        }
    }
    found
}

/// Returns the parts of the ports above `below` that the run does not apply.
fn not_looked_at(below: &Port, carried: &[CarriedPort], plain: &[&Port]) -> Vec<String> {
    let mut found = Vec::new();
    let names = |ports: &[&Port]| {
        let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
        names.join(", ")
    };
    if !plain.is_empty() {
        found.push(format!("packets of {}, which share the port and have no output policy", names(plain)));
    }
    if has_output_policy(below) {
        let above: Vec<&Port> = carried.iter().map(|carried_port| carried_port.port).collect();
        found.push(format!(
            "the output policy of {}, which also applies to packets of {}",
            below.name,
            names(&above)
        ));
    }
    let sharing: Vec<&Port> =
        carried.iter().map(|carried_port| carried_port.port).filter(|port| shares_rest(port)).collect();
    if !sharing.is_empty() {
        found.push(format!(
            "the bandwidth remaining of {}: its share of the rate that the other interfaces of {} leave",
            names(&sharing),
            below.name
        ));
    }
    let inputs = carried.iter().map(|carried_port| carried_port.port).filter(|port| has_input_policy(port));
    found.extend(inputs.map(|port| format!("the input policy of {}", port.name)));
    let first = carried.first().map_or("", |carried_port| carried_port.port.name.as_str());
    let differences = different_wires(carried).into_iter();
    found.extend(differences.map(|words| {
        format!(
            "different {words} of the interfaces of {}: the run uses the {words} of {first} for all of them",
            below.name
        )
    }));
    found
}
