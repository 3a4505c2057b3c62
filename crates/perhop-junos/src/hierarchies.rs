//! Top-level hierarchies other than class of service, filters and interfaces.

use perhop_device::{Forwarding, Route, RouteOrigin, RouteTarget};
use perhop_qos::classifier::Prefix;

use crate::context::{Context, Word};
use crate::firewall::prefix;
use crate::hierarchy_parts::{NOT_MODELED, SPREAD};
use crate::labels::distribution;
use crate::routing::processes;
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
    "smtp",
    "wlan",
    "unified-edge",
    "security",
    "forwarding-options",
    "services",
    "chassis",
    "vlans",
    "bridge-domains",
];

/// Reads the name of the device and static routes, and marks the remaining hierarchies.
pub(crate) fn read(context: &mut Context) -> (Option<String>, Forwarding) {
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
    for (path, note) in NOT_MODELED {
        for node in context.at_pattern(path) {
            context.not_modeled(node, note);
        }
    }
    chassis(context);
    policy_options(context);
    let processes = processes(context);
    (
        hostname,
        Forwarding {
            routes: routes(context),
            processes,
            labels: distribution(context),
            ..Forwarding::default()
        },
    )
}

/// Marks the statements about line cards that change scheduling, ports or the choice of a next hop.
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
            "number-of-sub-ports"
            | "channel-speed"
            | "channelization-speed"
            | "number-of-ports"
            | "pic-mode"
            | "port-speed"
            | "framing"
            | "unused" => "the ports of a card, and their rates",
            "device-count" => "the number of bundles",
            "maximum-ecmp" => SPREAD,
            "cluster" => "the active node of a cluster",
            "power" if context.tree.child(word.node, "off").is_some() => "cards without power",
            _ => continue,
        };
        context.not_modeled(word.node, note);
    }
}

/// Marks routing policies; the readers of filters have already read the prefix lists.
fn policy_options(context: &mut Context) {
    let Some(options) = context.tree.child(NodeId::ROOT, "policy-options") else { return };
    context.modeled(options);
    for word in context.keywords(options) {
        if word.text != "prefix-list" {
            context.irrelevant(word.node, "routing policies");
        }
        for below in context.all_below(word.node) {
            match below.text.as_str() {
                "forwarding-class" | "cos-next-hop-map" | "source-class" => {
                    context.not_modeled(below.node, "classes and next hops by route");
                }
                "destination-class" => context.not_modeled(below.node, "classes and next hops by route"),
                "install-nexthop" => context.not_modeled(below.node, "the path of labeled packets"),
                "prefix-segment" => context.not_modeled(below.node, "labels of routes"),
                "load-balance" => context.not_modeled(below.node, SPREAD),
                _ => {}
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
            _ => other_routes(context, &word),
        }
    }
    found
}

/// Marks routes that are neither static nor announced by a neighbor, and the choice among next hops.
fn other_routes(context: &mut Context, word: &Word) {
    context.irrelevant(word.node, "");
    match word.text.as_str() {
        "aggregate" | "generate" => context.not_modeled(word.node, "aggregate and generated routes"),
        "rib-groups" | "interface-routes" | "instance-import" | "auto-export" => {
            context.not_modeled(word.node, "routes of several tables");
        }
        "dynamic-tunnels" => context.not_modeled(word.node, "tunnels"),
        "multicast" => context.not_modeled(word.node, "copies of multicast packets"),
        "forwarding-table" => {
            for (key, note) in
                [("export", SPREAD), ("unicast-reverse-path", "packets from unexpected sources")]
            {
                if let Some(node) = context.tree.child(word.node, key) {
                    context.not_modeled(node, note);
                }
            }
        }
        _ => {}
    }
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
                _ => other_routes(context, &word),
            }
        }
    }
}

fn static_routes(context: &mut Context, table: NodeId, found: &mut Vec<Route>) {
    context.modeled(table);
    for word in context.keywords(table) {
        match word.text.as_str() {
            "route" => {}
            "defaults" | "rib-group" => static_options(context, &word),
            _ => context.irrelevant(word.node, ""),
        }
    }
    for route in context.items(table, "route") {
        match prefix(&route.text) {
            Some(prefix) => hops(context, route.node, prefix, found),
            None => context.irrelevant(route.node, ""),
        }
    }
}

/// Marks the options of all static routes.
fn static_options(context: &mut Context, word: &Word) {
    if word.text == "rib-group" {
        return context.not_modeled(word.node, "routes of several tables");
    }
    context.irrelevant(word.node, "");
    for option in context.keywords(word.node) {
        if matches!(option.text.as_str(), "no-install" | "preference" | "resolve") {
            context.not_modeled(option.node, "options of all static routes");
        }
    }
}

/// The preference of static routes in Junos.
const PREFERENCE: u8 = 5;

/// Reads the next hops of a static route.
fn hops(context: &mut Context, route: NodeId, prefix: Prefix, found: &mut Vec<Route>) {
    let parse = |text: &str| text.parse::<u8>().ok();
    let distance = context.parsed(route, "preference", parse).map_or(PREFERENCE, |at| at.value);
    // Juniper, "static (Routing Options)": the route is announced, but packets do not take it.
    let is_installed = context.tree.child(route, "no-install").is_none();
    let mut add = |line, via, distance| {
        if !is_installed {
            return;
        }
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
                        Err(_) => RouteTarget::Interface { name: hop.text.into(), next_hop: None },
                    };
                    add(hop.line, via, own);
                }
            }
            "preference" => {}
            "no-install" => context.modeled(word.node),
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
        || NOT_MODELED.iter().any(|(path, _)| path.first() == Some(&name))
        || matches!(
            name,
            "class-of-service" | "firewall" | "interfaces" | "policy-options" | "routing-options"
        )
}
