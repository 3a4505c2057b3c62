//! [`device_properties`] and [`port_properties`]: the parts of a model that determine the path of packets, as
//! properties.
//!
//! Every field is named here, so a new field does not compile until it is compared or omitted.

use perhop_device::intent::{Condition, Direction};
use perhop_device::{
    AccessGroup, AccessList, AnnouncedSubnets, ClassifiedHeader, Encryption, Forwarding, InterfaceAddress,
    LabelDistribution, PortForwarding, PortRouting, Route, RouteTarget, RoutingProcess, SharedAddress,
    Tunnel, TunnelMap, TunnelSource,
};
use serde_json::{Map, Value, json};

/// The prefix of the names of access lists as properties.
pub(crate) const ACCESS_LIST: &str = "access list ";

/// Returns the properties of the routes, access lists and routing processes of a device.
pub(crate) fn device_properties(forwarding: &Forwarding) -> Map<String, Value> {
    let Forwarding { routes, access_lists, processes, labels } = forwarding;
    let mut found: Map<String, Value> = Map::new();
    for route in routes {
        let Route { line: _, vrf, prefix, via, distance, is_conditional, origin: _ } = route;
        let table = vrf.as_ref().map(|vrf| format!(" of {vrf}")).unwrap_or_default();
        let condition = if *is_conditional { ", only while a test (track) succeeds" } else { "" };
        let written = json!(format!("{}, distance {distance}{condition}", target(via)));
        let known = found.entry(format!("route {prefix}{table}")).or_insert_with(|| json!([]));
        known.as_array_mut().expect("made as a list").push(written);
    }
    for (name, list) in access_lists {
        let AccessList { line, entries, rest } = list;
        let entries: Vec<Value> =
            entries.iter().map(|entry| json!([entry.decision, condition(&entry.condition)])).collect();
        let is_defined = *line > 0;
        found.insert(
            format!("{ACCESS_LIST}{name}"),
            json!({ "defined": is_defined, "entries": entries, "rest": rest }),
        );
    }
    let LabelDistribution { destinations: _, explicit_null, not_computed } = labels;
    if explicit_null.is_some() || !not_computed.is_empty() {
        let value = json!({
            "explicit null": explicit_null.is_some(), "lines that perhop does not compute": not_computed.len(),
        });
        found.insert("MPLS labels".to_owned(), value);
    }
    for (place, process) in processes.iter().enumerate() {
        let RoutingProcess {
            line: _,
            protocol,
            vrf,
            distance,
            identity,
            redistributed: _,
            default_route,
            not_computed,
        } = process;
        let value = json!({
            "protocol": format!("{protocol:?}"), "table": vrf, "distance": distance,
            "identity": identity.as_ref().map(|at| &at.value),
            "default \
             route": default_route.is_some(), "lines that perhop does not compute": not_computed.len(),
        });
        found.insert(format!("routing process {}", place + 1), value);
    }
    found
}

fn target(via: &RouteTarget) -> String {
    match via {
        RouteTarget::NextHop(address) => format!("via {address}"),
        RouteTarget::Interface { name, next_hop: None } => format!("out of {name}"),
        RouteTarget::Interface { name, next_hop: Some(address) } => format!("out of {name} via {address}"),
        RouteTarget::Discard => "dropped".to_owned(),
        RouteTarget::Learned => "via a next hop that the router learns".to_owned(),
    }
}

/// Returns the properties of a port that determine the path of its packets. The policies of the port are
/// compared by their effects instead.
pub(crate) fn port_properties(forwarding: &PortForwarding) -> Map<String, Value> {
    let PortForwarding {
        role: _,
        vrf,
        addresses6,
        parent,
        description: _,
        below,
        access_groups,
        tunnel,
        encryption,
        routing,
        ldp,
        shared_addresses,
        settings,
        input_line: _,
        output_line: _,
        mtu_line: _,
        tag_line: _,
        shutdown_line: _,
    } = forwarding;
    let mut found = Map::new();
    let mut insert = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            found.insert(key.to_owned(), value);
        }
    };
    insert("routing table", vrf.as_ref().map(|vrf| json!(vrf.value)));
    let address = |own: &InterfaceAddress| format!("{}/{}", own.address, own.prefix_length);
    let addresses: Vec<String> = addresses6.iter().map(address).collect();
    insert("IPv6 addresses", (!addresses.is_empty()).then(|| json!(addresses)));
    insert("interfaces below", (!below.is_empty()).then(|| json!(below)));
    insert("part of", parent.as_ref().map(|parent| json!(parent)));
    for AccessGroup { line: _, list, direction, version } in access_groups {
        let direction = match direction {
            Direction::Input => "arriving",
            Direction::Output => "departing",
        };
        insert(&format!("access list for {direction} packets ({version:?})"), Some(json!(list)));
    }
    if let Some(tunnel) = tunnel {
        add_tunnel(tunnel, &mut insert);
    }
    for setting in settings {
        insert(setting.kind.words(), Some(json!(setting.value)));
    }
    insert("MPLS labels (LDP)", ldp.map(|_| json!("on")));
    add_routing(routing, shared_addresses, &mut insert);
    if let Some(Encryption { line: _, name, encrypts, peers, classified_by }) = encryption {
        insert("encryption", Some(json!(name)));
        insert("encrypted packets", Some(condition(encrypts)));
        insert("encryption's peers", Some(json!(peers)));
        insert("header by which policies classify encrypted packets", Some(json!(header(*classified_by))));
    }
    found
}

/// Adds the properties of a tunnel.
fn add_tunnel(tunnel: &Tunnel, insert: &mut impl FnMut(&str, Option<Value>)) {
    let Tunnel { source, destination, vrf, ends, maps, protocol, headers, classified_by } = tunnel;
    let source = source.as_ref().map(|source| match &source.value {
        TunnelSource::Interface(name) => json!(name),
        TunnelSource::Address(address) => json!(address),
    });
    insert("tunnel from", source);
    insert("tunnel to", destination.map(|address| json!(address.value)));
    insert("tunnel's routing table", vrf.as_ref().map(|vrf| json!(vrf.value)));
    let map = |map: &TunnelMap| format!("{} at {}", map.inside, map.outside);
    let maps: Vec<String> = maps.iter().map(map).collect();
    insert("tunnel's next hops", (!maps.is_empty()).then(|| json!(maps)));
    insert("tunnel's ends", Some(json!(format!("{ends:?}").to_lowercase())));
    insert("tunnel's protocol", Some(json!(protocol.to_string())));
    insert("tunnel's headers", Some(json!(headers)));
    insert("header by which policies classify packets of the tunnel", Some(json!(header(*classified_by))));
}

/// Adds the settings of a port for routing protocols and for groups of routers with a virtual address.
fn add_routing(
    routing: &[PortRouting],
    shared_addresses: &[SharedAddress],
    insert: &mut impl FnMut(&str, Option<Value>),
) {
    for PortRouting { line: _, process, area, cost, passive, announced } in routing {
        let announces = match announced {
            AnnouncedSubnets::OfAddresses => Value::Null,
            AnnouncedSubnets::Host(host) => json!(host.to_string()),
            AnnouncedSubnets::Nothing => json!("nothing"),
        };
        let value = json!({
            "area": area, "cost": cost.value, "passive": passive.is_some(), "announces": announces,
        });
        insert(&format!("part in routing process {}", process + 1), Some(value));
    }
    for SharedAddress { line: _, group, address, priority } in shared_addresses {
        let value = json!({ "address": address, "priority": priority });
        insert(&format!("virtual address of group {group}"), Some(value));
    }
}

fn header(classified_by: ClassifiedHeader) -> &'static str {
    match classified_by {
        ClassifiedHeader::Outer => "the outer header",
        ClassifiedHeader::Inner(_) => "the inner header",
    }
}

fn condition(condition: &Condition) -> Value {
    match condition {
        Condition::Always => json!({}),
        // No packet matches an empty list of alternatives.
        Condition::Never => json!({ "any": [] }),
        Condition::When(config) => json!(config),
    }
}
