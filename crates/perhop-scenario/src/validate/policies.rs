//! Checks of policies. Builds the policies as a run does, and reports errors at the lines of the scenario.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::ConfigError;
use perhop_qos::buffer::MemoryPools;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{PolicyConfig, QueueingConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::Rate;

use super::findings::Findings;
use super::topology::Network;
use crate::path::ValuePath;
use crate::{InterfaceConfig, Scenario};

/// The wire for an unused policy, which is faster than any rate in a policy.
const NOMINAL: WireConfig = WireConfig {
    rate: Rate::from_bits_per_second(1_000_000_000_000),
    framing: Framing::Raw,
    headers: HeaderStack::EMPTY,
    ring: RingConfig::Packets(1),
};

/// The interface at which a policy is built: the interface names of the node, and the wire of the port.
struct Place<'a> {
    interfaces: &'a [String],
    wire: WireConfig,
}

/// Builds every policy at every interface that uses it, and warns about unused policies.
pub(super) fn check(scenario: &Scenario, network: &Network, findings: &mut Findings) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    // The interfaces of each node. An interface has the name of the neighbor at its other end.
    let mut neighbors: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    // The memory of each node, which its ports may share.
    let mut pools: BTreeMap<&str, MemoryPools> = BTreeMap::new();
    let mut built = BTreeSet::new();
    for (index, link) in scenario.links.iter().enumerate() {
        for (node, interface) in &link.interfaces {
            used.extend([&interface.input, &interface.output].into_iter().flatten().map(String::as_str));
            if let Err(error) = interface.ring.build() {
                let path = ValuePath::from("links").join(index).join("interfaces").join(node);
                report(&path.join("ring"), error, findings);
                continue;
            }
            let rate = interface.rate.unwrap_or(link.rate);
            // Headers do not affect the faults of a policy, and the checks of links already check headers.
            let headers = HeaderStack::EMPTY;
            let wire = WireConfig { rate, framing: link.framing(), headers, ring: interface.ring };
            // Interfaces of one node with the same policies and wire have the same errors.
            let same = (node, &interface.input, &interface.output, format!("{wire:?}"));
            // Stop at the limit of shown errors, and do not build the same port twice.
            if findings.is_full() || !built.insert(same) {
                continue;
            }
            let interfaces =
                neighbors.entry(node).or_insert_with(|| network.neighbors(node).map(str::to_owned).collect());
            let pools = pools.entry(node).or_default();
            at_interface(scenario, interface, &Place { interfaces, wire }, pools, findings);
        }
    }
    // If a name is misspelled, its policy is unused, but the misspelling is already reported.
    let all_known = used.iter().all(|name| scenario.policies.contains_key(*name));
    for (name, policy) in &scenario.policies {
        let path = ValuePath::from("policies").join(name);
        if !used.contains(name.as_str()) {
            if !findings.is_full() {
                check_alone(&path, policy, findings);
            }
            if all_known {
                findings.warning(&path, format!("policy `{name}` is not used by any interface")).help =
                    Some("name it as `input` or `output` under a link's `interfaces`".into());
            }
        } else if policy.conditioners.is_empty() && policy.queueing.is_none() {
            findings.warning(&path, format!("policy `{name}` has no effect")).help =
                Some("add `conditioners` or `queueing`".into());
        }
    }
}

fn at_interface(
    scenario: &Scenario,
    interface: &InterfaceConfig,
    place: &Place,
    pools: &mut MemoryPools,
    findings: &mut Findings,
) {
    let policy = |name: &Option<String>| {
        let name = name.as_ref()?;
        Some((ValuePath::from("policies").join(name), scenario.policies.get(name)?))
    };
    if let Some((path, policy)) = policy(&interface.input) {
        conditioners(&path, policy, place, findings);
    }
    if let Some((path, policy)) = policy(&interface.output) {
        conditioners(&path, policy, place, findings);
        if place.wire.rate.as_bits_per_second() > 0 {
            queueing(&path, policy, place, pools, findings);
        }
    }
}

/// Checks a policy that no interface uses, by building it at a nominal wire.
pub(super) fn check_alone(path: &ValuePath, policy: &PolicyConfig, findings: &mut Findings) {
    // The neighbors are unknown, so all interface names in the policy are assumed to exist.
    let interfaces = named_interfaces(policy);
    let place = Place { interfaces: &interfaces, wire: NOMINAL };
    conditioners(path, policy, &place, findings);
    queueing(path, policy, &place, &mut MemoryPools::default(), findings);
}

fn named_interfaces(policy: &PolicyConfig) -> Vec<String> {
    fn collect(value: &serde_json::Value, names: &mut Vec<String>) {
        match value {
            serde_json::Value::Array(elements) => elements.iter().for_each(|inner| collect(inner, names)),
            serde_json::Value::Object(entries) => {
                for (key, inner) in entries {
                    if key == "input" {
                        let listed = inner.as_array().into_iter().flatten().chain(Some(inner));
                        names.extend(listed.filter_map(serde_json::Value::as_str).map(str::to_owned));
                    }
                    collect(inner, names);
                }
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    collect(&serde_json::to_value(policy).unwrap_or_default(), &mut names);
    names
}

/// Checks match and meter of each conditioner, then the whole chain.
fn conditioners(path: &ValuePath, policy: &PolicyConfig, place: &Place, findings: &mut Findings) {
    let path = path.join("conditioners");
    for (index, conditioner) in policy.conditioners.iter().enumerate() {
        let path = path.join(index);
        if let Some(Err(error)) = conditioner.matches.as_ref().map(|matches| matches.build(place.interfaces))
        {
            report(&path.join("match"), error, findings);
        }
        if let Some(Err(error)) = conditioner.meter.as_ref().map(|meter| meter.build(&streams())) {
            report(&path.join("meter"), error, findings);
        }
    }
    let already = findings.has_errors_within(&path);
    if let Err(error) = policy.build_conditioner(place.interfaces, &streams())
        && !already
    {
        report(&path.parent(), error, findings);
    }
}

/// Checks each class, then the whole port, whose memory is in `pools`.
fn queueing(
    path: &ValuePath,
    policy: &PolicyConfig,
    place: &Place,
    pools: &mut MemoryPools,
    findings: &mut Findings,
) {
    if let Some(queueing) = &policy.queueing {
        classes(&path.join("queueing"), queueing, place, findings);
    }
    let already = findings.has_errors_within(&path.join("queueing"));
    if let Err(error) = policy.build_port_in(&place.wire, place.interfaces, &streams(), pools)
        && !already
    {
        report(path, error, findings);
    }
}

fn classes(path: &ValuePath, queueing: &QueueingConfig, place: &Place, findings: &mut Findings) {
    for (index, class) in queueing.classes.iter().enumerate() {
        let path = path.join("classes").join(index);
        if let Some(Err(error)) = class.matches.as_ref().map(|matches| matches.build(place.interfaces)) {
            report(&path.join("match"), error, findings);
        }
        if let Some(Err(error)) =
            class.buffer.as_ref().map(|buffer| buffer.build(place.wire.rate, &streams()))
        {
            report(&path.join("buffer"), error, findings);
        }
        if let Some(inner) = &class.queueing {
            classes(&path.join("queueing"), inner, place, findings);
        }
    }
}

/// Returns random streams with an arbitrary seed, because the built policies are discarded.
fn streams() -> Streams {
    Streams::new(0, 0)
}

fn report(path: &ValuePath, error: ConfigError, findings: &mut Findings) {
    findings.error(&path.extend(&error.path), error.message).help = error.help;
}
