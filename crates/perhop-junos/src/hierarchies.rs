//! Top-level hierarchies other than class of service, filters and interfaces.

use perhop_device::{Route, RouteOrigin, RouteTarget};

use crate::context::Context;
use crate::firewall::prefix;
use crate::tree::NodeId;

/// Hierarchies without effect on the queueing and dropping of transit packets.
const IRRELEVANT: [&str; 28] = [
    "version",
    "system",
    "snmp",
    "event-options",
    "groups",
    "apply-groups",
    "apply-groups-except",
    "protocols",
    "routing-instances",
    "vlans",
    "bridge-domains",
    "switch-options",
    "ethernet-switching-options",
    "virtual-chassis",
    "access",
    "access-profile",
    "accounting-options",
    "logical-systems",
    "poe",
    "multi-chassis",
    "redundant-power-system",
    "jsrc",
    "diameter",
    "tenants",
    "applications",
    "smtp",
    "wlan",
    "unified-edge",
];

/// Hierarchies whose statements can change what packets experience.
const NOT_MODELED: [(&str, &[(&str, &str)]); 5] = [
    (
        "security",
        &[
            ("policies", "packets that security policies reject"),
            ("zones", "packets between security zones"),
            ("nat", "address translation"),
            ("screen", "packets that screens drop"),
            ("flow", "sessions"),
            ("idp", "intrusion detection"),
            ("ipsec", "encryption"),
        ],
    ),
    (
        "forwarding-options",
        &[
            ("family", "filters of whole routing tables"),
            ("storm-control", "storm control"),
            ("storm-control-profiles", "storm control"),
        ],
    ),
    ("services", &[("network-slicing", "hierarchical scheduling")]),
    (
        "chassis",
        &[
            ("ingress-policer-overhead", "bytes that policers count"),
            ("egress-policer-overhead", "bytes that policers count"),
        ],
    ),
    ("dynamic-profiles", &[]),
];

/// Reads the name of the device and static routes, and marks the remaining hierarchies.
pub(crate) fn read(context: &mut Context) -> (Option<String>, Vec<Route>) {
    let hostname = context
        .tree
        .at(NodeId::ROOT, &["system", "host-name"])
        .and_then(|node| context.tree.last_value(node))
        .map(|node| context.tree.word(node).to_owned());
    // The statements of groups have the states of the places that inherit them.
    for name in IRRELEVANT.into_iter().filter(|name| *name != "groups") {
        if let Some(node) = context.tree.child(NodeId::ROOT, name) {
            context.irrelevant(node, "");
        }
    }
    for (name, parts) in NOT_MODELED {
        let Some(node) = context.tree.child(NodeId::ROOT, name) else { continue };
        if parts.is_empty() {
            context.not_modeled(node, "dynamic profiles");
            continue;
        }
        context.irrelevant(node, "");
        for (part, note) in parts {
            if let Some(part) = context.tree.child(node, part) {
                context.not_modeled(part, note);
            }
        }
    }
    chassis(context);
    policy_options(context);
    (hostname, routes(context))
}

/// Marks the statements about line cards that change scheduling.
fn chassis(context: &mut Context) {
    let Some(chassis) = context.tree.child(NodeId::ROOT, "chassis") else { return };
    let words = context.flat(chassis);
    for word in words {
        let note = match word.text.as_str() {
            "traffic-manager" => "the mode and the counted bytes of queueing chips",
            "flexible-queuing-mode" => "the weights of queueing chips",
            "q-pic-large-buffer" => "large delay buffers",
            "max-queues-per-interface" | "red-buffer-occupancy" => "queues of line cards",
            "no-packet-scheduling" | "packet-scheduling" => "packet scheduling of line cards",
            _ => continue,
        };
        context.not_modeled(word.node, note);
    }
}

/// Marks routing policies; filters have read the prefix lists.
fn policy_options(context: &mut Context) {
    let Some(options) = context.tree.child(NodeId::ROOT, "policy-options") else { return };
    context.modeled(options);
    for word in context.keywords(options) {
        if word.text != "prefix-list" {
            context.irrelevant(word.node, "routing policies");
        }
    }
}

/// Reads static routes of the main routing table.
fn routes(context: &mut Context) -> Vec<Route> {
    let mut found = Vec::new();
    let Some(options) = context.tree.child(NodeId::ROOT, "routing-options") else { return found };
    context.modeled(options);
    for word in context.keywords(options) {
        if word.text != "static" {
            context.irrelevant(word.node, "");
        }
    }
    let Some(table) = context.tree.child(options, "static") else { return found };
    context.modeled(table);
    for word in context.keywords(table) {
        if word.text != "route" {
            context.irrelevant(word.node, "");
        }
    }
    for route in context.items(table, "route") {
        let Some(prefix) = prefix(&route.text) else {
            context.irrelevant(route.node, "");
            continue;
        };
        let mut distance = 5;
        for word in context.keywords(route.node) {
            let via = match word.text.as_str() {
                "next-hop" | "qualified-next-hop" => None,
                "discard" | "reject" => {
                    context.modeled(word.node);
                    Some(RouteTarget::Discard)
                }
                "preference" => {
                    let parse = |text: &str| text.parse::<u8>().ok();
                    distance = context.parsed(route.node, "preference", parse).map_or(5, |at| at.value);
                    continue;
                }
                _ => {
                    context.irrelevant(word.node, "");
                    continue;
                }
            };
            let targets = match via {
                Some(via) => vec![(word.line, via)],
                None => {
                    let hops = context.items(route.node, &word.text);
                    let target = |hop: crate::context::Word| {
                        let via = match hop.text.parse() {
                            Ok(address) => RouteTarget::NextHop(address),
                            Err(_) => RouteTarget::Interface { name: hop.text, next_hop: None },
                        };
                        (hop.line, via)
                    };
                    hops.into_iter().map(target).collect()
                }
            };
            for (line, via) in targets {
                // Junos prefers static routes by 5; a qualified next hop can have another preference.
                let route = Route {
                    line,
                    vrf: None,
                    prefix,
                    via,
                    distance,
                    is_conditional: false,
                    origin: RouteOrigin::Configured,
                };
                found.push(route);
            }
        }
    }
    found
}

/// Whether perhop knows a top-level hierarchy.
pub(crate) fn is_known(name: &str) -> bool {
    IRRELEVANT.contains(&name)
        || NOT_MODELED.iter().any(|(known, _)| *known == name)
        || matches!(
            name,
            "class-of-service" | "firewall" | "interfaces" | "policy-options" | "routing-options"
        )
}
