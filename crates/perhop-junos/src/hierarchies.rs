//! Top-level hierarchies other than class of service, filters and interfaces.

use perhop_device::{Route, RouteOrigin, RouteTarget};
use perhop_qos::classifier::Prefix;

use crate::context::Context;
use crate::firewall::prefix;
use crate::tree::NodeId;

/// Hierarchies without effect on the queueing and dropping of transit packets.
const IRRELEVANT: [&str; 23] = [
    "version",
    "system",
    "snmp",
    "event-options",
    "groups",
    "apply-groups",
    "apply-groups-except",
    "protocols",
    "switch-options",
    "ethernet-switching-options",
    "virtual-chassis",
    "access",
    "access-profile",
    "accounting-options",
    "poe",
    "multi-chassis",
    "redundant-power-system",
    "jsrc",
    "diameter",
    "applications",
    "smtp",
    "wlan",
    "unified-edge",
];

/// Hierarchies whose statements can change the treatment of packets. A hierarchy without parts counts as a
/// whole.
const NOT_MODELED: [(&str, &[(&str, &str)]); 8] = [
    ("logical-systems", &[("", "logical systems")]),
    ("tenants", &[("", "tenant systems")]),
    ("routing-instances", &[("", "forwarding in routing instances")]),
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
            ("vxlan-tos-copy-filter", "the codepoints of packets in VXLAN tunnels"),
        ],
    ),
    (
        "services",
        &[
            ("network-slicing", "hierarchical scheduling"),
            ("service-set", "services such as address translation"),
            ("stateful-firewall", "packets that stateful firewalls drop"),
            ("ids", "packets that intrusion detection drops"),
            ("traffic-load-balance", "next hops by load"),
            ("nat", "address translation"),
        ],
    ),
    ("chassis", &[]),
    ("dynamic-profiles", &[("", "dynamic profiles")]),
];

/// Reads the name of the device and static routes, and marks the remaining hierarchies.
pub(crate) fn read(context: &mut Context) -> (Option<String>, Vec<Route>) {
    let hostname = context
        .tree
        .at(NodeId::ROOT, &["system", "host-name"])
        .and_then(|node| context.tree.last_value(node))
        .map(|node| context.tree.word(node).to_owned());
    // A statement of a group gets its state from the places that inherit it.
    for name in IRRELEVANT.into_iter().filter(|name| *name != "groups") {
        if let Some(node) = context.tree.child(NodeId::ROOT, name) {
            context.irrelevant(node, "");
        }
    }
    for (name, parts) in NOT_MODELED {
        let Some(node) = context.tree.child(NodeId::ROOT, name) else { continue };
        context.irrelevant(node, "");
        for (part, note) in parts {
            if part.is_empty() {
                context.not_modeled(node, note);
            } else if let Some(part) = context.tree.child(node, part) {
                context.not_modeled(part, note);
            }
        }
    }
    chassis(context);
    labels(context);
    bridges(context);
    policy_options(context);
    (hostname, routes(context))
}

/// Marks the statements about line cards that change scheduling.
fn chassis(context: &mut Context) {
    let Some(chassis) = context.tree.child(NodeId::ROOT, "chassis") else { return };
    let words = context.all_below(chassis);
    for word in words {
        let note = match word.text.as_str() {
            "traffic-manager" => {
                for option in context.keywords(word.node) {
                    // The reader of interfaces has already marked `egress-shaping-overhead` of their cards.
                    if option.text != "egress-shaping-overhead" || context.tree.mark_of(option.node).is_none()
                    {
                        context.not_modeled(option.node, "the mode and the counted bytes of queueing chips");
                    }
                }
                continue;
            }
            "flexible-queuing-mode" => "the weights of queueing chips",
            "q-pic-large-buffer" => "large delay buffers",
            "tunnel-services" => "the rate of tunnel ports",
            "max-queues-per-interface" | "red-buffer-occupancy" => "queues of line cards",
            "ingress-policer-overhead" | "egress-policer-overhead" => "bytes that policers count",
            "no-packet-scheduling" | "packet-scheduling" => "packet scheduling of line cards",
            _ => continue,
        };
        context.not_modeled(word.node, note);
    }
}

/// Marks the interfaces with MPLS.
fn labels(context: &mut Context) {
    if let Some(mpls) = context.tree.at(NodeId::ROOT, &["protocols", "mpls", "interface"]) {
        context.not_modeled(mpls, "labels make packets longer and hide the DS field");
    }
}

/// Marks VLANs and bridge domains. Only their filters affect packets.
fn bridges(context: &mut Context) {
    for name in ["vlans", "bridge-domains"] {
        let Some(all) = context.tree.child(NodeId::ROOT, name) else { continue };
        context.irrelevant(all, "");
        for one in context.keywords(all) {
            for options in [&["filter"][..], &["forwarding-options", "filter"]] {
                if let Some(filter) = context.tree.at(one.node, options) {
                    context.not_modeled(filter, "filters of VLANs and bridge domains");
                }
            }
        }
    }
}

/// Marks routing policies. The reader of filters has already read the prefix lists.
fn policy_options(context: &mut Context) {
    let Some(options) = context.tree.child(NodeId::ROOT, "policy-options") else { return };
    context.modeled(options);
    for word in context.keywords(options) {
        if word.text != "prefix-list" {
            context.irrelevant(word.node, "routing policies");
        }
        for below in context.all_below(word.node) {
            if matches!(below.text.as_str(), "forwarding-class" | "cos-next-hop-map" | "source-class") {
                context.not_modeled(below.node, "classes and next hops by route");
            }
        }
    }
}

/// Reads static routes of the main routing tables.
fn routes(context: &mut Context) -> Vec<Route> {
    let mut found = Vec::new();
    let Some(options) = context.tree.child(NodeId::ROOT, "routing-options") else { return found };
    context.modeled(options);
    for word in context.keywords(options) {
        match word.text.as_str() {
            "static" => static_routes(context, word.node, &mut found),
            "rib" => ribs(context, word.node, &mut found),
            "flow" => context.not_modeled(word.node, "flow routes, which filter packets"),
            _ => context.irrelevant(word.node, ""),
        }
    }
    found
}

/// Reads the static routes of `rib inet.0` and `rib inet6.0`.
fn ribs(context: &mut Context, ribs: NodeId, found: &mut Vec<Route>) {
    context.modeled(ribs);
    for rib in context.names(ribs) {
        let is_main = matches!(rib.text.as_str(), "inet.0" | "inet6.0");
        for word in context.keywords(rib.node) {
            match word.text.as_str() {
                "static" if is_main => static_routes(context, word.node, found),
                "static" => context.not_modeled(word.node, "routes of other tables"),
                _ => context.irrelevant(word.node, ""),
            }
        }
    }
}

fn static_routes(context: &mut Context, table: NodeId, found: &mut Vec<Route>) {
    context.modeled(table);
    for word in context.keywords(table) {
        if word.text != "route" {
            context.irrelevant(word.node, "");
        }
    }
    for route in context.items(table, "route") {
        match prefix(&route.text) {
            Some(prefix) => hops(context, route.node, prefix, found),
            None => context.irrelevant(route.node, ""),
        }
    }
}

/// The preference of static routes in Junos.
const PREFERENCE: u8 = 5;

/// Reads the next hops of a static route.
fn hops(context: &mut Context, route: NodeId, prefix: Prefix, found: &mut Vec<Route>) {
    let parse = |text: &str| text.parse::<u8>().ok();
    let distance = context.parsed(route, "preference", parse).map_or(PREFERENCE, |at| at.value);
    let mut add = |line, via, distance| {
        found.push(Route {
            line,
            vrf: None,
            prefix,
            via,
            distance,
            is_conditional: false,
            origin: RouteOrigin::Configured,
        });
    };
    for word in context.keywords(route) {
        match word.text.as_str() {
            "discard" | "reject" => {
                context.modeled(word.node);
                add(word.line, RouteTarget::Discard, distance);
            }
            "next-hop" | "qualified-next-hop" => {
                for hop in context.items(route, &word.text) {
                    let own = context.parsed(hop.node, "preference", parse).map_or(distance, |at| at.value);
                    let via = match hop.text.parse() {
                        Ok(address) => RouteTarget::NextHop(address),
                        Err(_) => RouteTarget::Interface { name: hop.text, next_hop: None },
                    };
                    add(hop.line, via, own);
                }
            }
            "preference" => {}
            "next-table" | "lsp-next-hop" | "static-lsp-next-hop" | "receive" => {
                context.not_modeled(word.node, "routes to other tables, label-switched paths and the device");
            }
            _ => context.irrelevant(word.node, ""),
        }
    }
}

/// Whether perhop knows a top-level hierarchy.
pub(crate) fn is_known(name: &str) -> bool {
    IRRELEVANT.contains(&name)
        || NOT_MODELED.iter().any(|(known, _)| *known == name)
        || matches!(
            name,
            "class-of-service"
                | "firewall"
                | "interfaces"
                | "policy-options"
                | "routing-options"
                | "vlans"
                | "bridge-domains"
        )
}
