//! The hierarchy `[edit interfaces]`.

use std::net::IpAddr;

use perhop_device::InterfaceAddress;
use perhop_device::intent::At;
use perhop_qos::Rate;

use crate::context::{Context, Word};
use crate::firewall::{FilterFamily, Firewall};
use crate::interface_options::{
    ETHERNET_NOT_MODELED, ETHERNET_OPTIONS, FAMILY_NOT_MODELED, FAMILY_OPTIONS, UNIT_NOT_MODELED,
    UNIT_OPTIONS, lacking, mark_port_option,
};
use crate::tree::NodeId;
use crate::unit_filters::{Sides, filters, frame_policers, policers};
use crate::values::number;

/// An interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interface {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) description: Option<String>,
    pub(crate) disabled: Option<usize>,
    pub(crate) mtu: Option<At<u64>>,
    /// The configured rate.
    pub(crate) speed: Option<At<Rate>>,
    /// Bytes per packet that queues count in addition to the frame.
    pub(crate) shaping_overhead: Option<At<i32>>,
    /// The bundle of which the interface is a link.
    pub(crate) bundle: Option<String>,
    pub(crate) is_tagged: bool,
    pub(crate) scheduling: Scheduling,
    pub(crate) units: Vec<Unit>,
}

/// The scheduling mode of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// One scheduler for the port.
    #[default]
    Port,
    /// One scheduler for each unit (`per-unit-scheduler`).
    Units,
    /// A tree of profiles (`hierarchical-scheduler`).
    Hierarchy,
}

/// A logical unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unit {
    pub(crate) number: String,
    pub(crate) line: usize,
    pub(crate) description: Option<String>,
    pub(crate) disabled: Option<usize>,
    pub(crate) vlan: Option<At<u64>>,
    /// The number of tags of a packet.
    pub(crate) tags: u16,
    pub(crate) addresses: Vec<InterfaceAddress>,
    pub(crate) addresses6: Vec<InterfaceAddress>,
    /// The set of units that contains the unit (`interface-set`).
    pub(crate) set: Option<String>,
    /// The families of IP packets.
    pub(crate) families: Vec<FilterFamily>,
    /// The line that enables MPLS on the unit.
    pub(crate) mpls: Option<usize>,
    pub(crate) sides: Sides,
}

/// Reads `[edit interfaces]`.
pub(crate) fn read(context: &mut Context, firewall: &Firewall) -> Vec<Interface> {
    let mut found = Vec::new();
    let Some(node) = context.tree.child(NodeId::ROOT, "interfaces") else { return found };
    context.modeled(node);
    let mut sets = Vec::new();
    for name in context.names(node) {
        match name.text.as_str() {
            "interface-range" => range(context, name.node),
            "interface-set" => sets = self::sets(context, name.node),
            "traceoptions" => context.irrelevant(name.node, "tracing"),
            _ => found.push(interface(context, &name, firewall)),
        }
    }
    for SetOfUnit { set, interface, unit } in sets {
        let own = found.iter_mut().filter(|known: &&mut Interface| known.name == interface);
        let units = own.flat_map(|known| &mut known.units).filter(|known| known.number == unit);
        units.for_each(|known| known.set = Some(set.clone()));
    }
    found
}

/// A unit in a set.
struct SetOfUnit {
    set: String,
    interface: String,
    unit: String,
}

/// Reads the units of interface sets.
fn sets(context: &mut Context, node: NodeId) -> Vec<SetOfUnit> {
    let mut found = Vec::new();
    for set in context.names(node) {
        for interface in context.items(set.node, "interface") {
            for unit in context.items(interface.node, "unit") {
                let (set, interface) = (set.text.clone(), interface.text.clone());
                found.push(SetOfUnit { set, interface, unit: unit.text });
            }
            for other in context.keywords(interface.node).into_iter().filter(|word| word.text != "unit") {
                context.not_modeled(other.node, "sets of VLANs");
            }
        }
    }
    found
}

/// Marks the statements of interface ranges. The readers use the copies at the members of a range.
fn range(context: &mut Context, node: NodeId) {
    for range in context.names(node) {
        for key in ["member", "member-range"] {
            for member in context.items(range.node, key) {
                if let Some(to) = context.tree.child(member.node, "to") {
                    context.modeled(to);
                    context.names(to);
                }
            }
        }
    }
}

fn interface(context: &mut Context, name: &Word, firewall: &Firewall) -> Interface {
    let node = name.node;
    let mut found = Interface { name: name.text.clone(), line: name.line, ..Interface::default() };
    found.speed = chassis_speed(context, &name.text).or_else(|| channel_speed(context, &name.text));
    found.shaping_overhead = shaping_overhead(context, &name.text);
    for word in context.keywords(node) {
        match word.text.as_str() {
            "description" => found.description = text(context, node, "description"),
            // Juniper's CLI reference, `unused`: the device creates no interface for the port.
            "disable" | "unused" => {
                context.modeled(word.node);
                found.disabled = Some(word.line);
            }
            "mtu" => found.mtu = context.parsed(node, "mtu", number),
            "speed" | "link-speed" => found.speed = speed(context, node, &word),
            "gigether-options"
            | "ether-options"
            | "fastether-options"
            | "aggregated-ether-options"
            | "redundant-ether-options" => options(context, &word, &mut found),
            "vlan-tagging" | "flexible-vlan-tagging" | "stacked-vlan-tagging" => {
                context.modeled(word.node);
                found.is_tagged = true;
            }
            "per-unit-scheduler" | "shared-scheduler" => {
                context.modeled(word.node);
                found.scheduling = Scheduling::Units;
            }
            "hierarchical-scheduler" => {
                context.modeled(word.node);
                for option in context.keywords(word.node) {
                    context.irrelevant(option.node, "limits of levels");
                }
                found.scheduling = Scheduling::Hierarchy;
            }
            "unit" => {
                context.modeled(word.node);
                for unit in context.names(word.node) {
                    let unit = self::unit(context, &unit, firewall);
                    found.units.push(unit);
                }
            }
            "number-of-sub-ports" => {
                context.modeled(word.node);
                context.names(word.node);
            }
            "layer2-policer" => {}
            _ => mark_port_option(context, &word),
        }
    }
    if let Some(node) = context.tree.child(node, "layer2-policer") {
        match found.units.as_mut_slice() {
            [unit] => frame_policers(context, node, firewall, &mut unit.sides),
            _ => context.not_modeled(node, "one policer for the units of a port"),
        }
    }
    found
}

/// Reads options of Ethernet: `speed`, flow control, membership in a bundle.
fn options(context: &mut Context, word: &Word, found: &mut Interface) {
    context.modeled(word.node);
    for option in context.keywords(word.node) {
        match option.text.as_str() {
            "speed" => found.speed = speed(context, word.node, &option).or(found.speed),
            "flow-control" | "rx-flow-control" | "tx-flow-control" | "configured-flow-control" => {
                context.not_modeled(option.node, "pause frames");
            }
            "802.3ad" | "ieee-802.3ad" => {
                let words = context.flat(option.node);
                found.bundle = words.into_iter().map(|word| word.text).find(|text| text.starts_with("ae"));
                context.tree.mark_deep(option.node, perhop_lint::LineState::Modelled, "");
            }
            name if ETHERNET_OPTIONS.contains(&name) => context.irrelevant(option.node, ""),
            "link-mode" => mark_port_option(context, &option),
            name => {
                if let Some(note) = lacking(&ETHERNET_NOT_MODELED, name) {
                    context.not_modeled(option.node, note);
                }
            }
        }
    }
}

fn speed(context: &mut Context, node: NodeId, word: &Word) -> Option<At<Rate>> {
    context.modeled(word.node);
    if word.text == "link-speed" || context.tree.last_value(word.node).is_none() {
        context.irrelevant(word.node, "");
        return None;
    }
    let value = context.value(node, "speed")?;
    let bits = if value.text == "auto" { None } else { number(value.text.trim_end_matches("bps")) };
    if bits.is_none() && !value.text.starts_with("auto") {
        context.invalid(&value, "speed");
    }
    bits.filter(|bits| *bits > 0).map(|bits| At::new(value.line, Rate::from_bits_per_second(bits)))
}

/// Returns the slot, the card and the port of `et-1/0/2`.
fn place(name: &str) -> Option<(&str, &str, &str)> {
    let (_, place) = name.split_once('-')?;
    let mut numbers = place.split(['/', ':']);
    Some((numbers.next()?, numbers.next()?, numbers.next()?))
}

/// Returns the bytes that queues count in addition to the frame (the topic
/// `egress-shaping-overhead-edit-chassis`).
fn shaping_overhead(context: &mut Context, name: &str) -> Option<At<i32>> {
    let (slot, card, _) = place(name)?;
    let manager = context.tree.at(NodeId::ROOT, &["chassis", "fpc", slot, "pic", card, "traffic-manager"])?;
    context.modeled(manager);
    context.parsed(manager, "egress-shaping-overhead", |text| {
        text.parse().ok().filter(|bytes| (-63..=192).contains(bytes))
    })
}

/// Returns the speed of `et-1/0/2` from `chassis fpc 1 pic 0 port 2 speed`.
fn chassis_speed(context: &mut Context, name: &str) -> Option<At<Rate>> {
    let (slot, card, port) = place(name)?;
    let port = context.tree.at(NodeId::ROOT, &["chassis", "fpc", slot, "pic", card, "port", port])?;
    let word = context.tree.child(port, "speed").and_then(|speed| context.tree.last_value(speed))?;
    let bits = number(context.tree.word(word)).filter(|bits| *bits > 0)?;
    context.modeled(word);
    Some(At::new(context.tree.line(word), Rate::from_bits_per_second(bits)))
}

/// Returns the speed of the channel `et-0/0/1:2` from its port. If the port has `number-of-sub-ports`,
/// `speed` is the speed of each channel (Juniper, "Port Speed").
fn channel_speed(context: &mut Context, name: &str) -> Option<At<Rate>> {
    let (port, _) = name.split_once(':')?;
    let port = context.tree.at(NodeId::ROOT, &["interfaces", port])?;
    context.tree.child(port, "number-of-sub-ports")?;
    let word = context.tree.child(port, "speed").and_then(|speed| context.tree.last_value(speed))?;
    let bits = number(context.tree.word(word).trim_end_matches("bps")).filter(|bits| *bits > 0)?;
    Some(At::new(context.tree.line(word), Rate::from_bits_per_second(bits)))
}

fn text(context: &mut Context, node: NodeId, key: &str) -> Option<String> {
    let statement = context.tree.child(node, key)?;
    let text = context.tree.last_value(statement).map(|value| context.tree.word(value).to_owned());
    context.irrelevant(statement, "");
    text
}

fn unit(context: &mut Context, name: &Word, firewall: &Firewall) -> Unit {
    let node = name.node;
    let mut found = Unit { number: name.text.clone(), line: name.line, ..Unit::default() };
    for word in context.keywords(node) {
        match word.text.as_str() {
            "description" => found.description = text(context, node, "description"),
            "disable" => {
                context.modeled(word.node);
                found.disabled = Some(word.line);
            }
            "vlan-id" => {
                found.vlan = context.parsed(node, "vlan-id", number);
                found.tags = u16::from(found.vlan.is_some());
            }
            "vlan-tags" => tags(context, &word, &mut found),
            "family" => {
                context.modeled(word.node);
                for family in context.names(word.node) {
                    self::family(context, &family, firewall, &mut found);
                }
            }
            "filter" => filters(context, (FilterFamily::Any, &word), firewall, &mut found.sides),
            "layer2-policer" => frame_policers(context, word.node, firewall, &mut found.sides),
            name if UNIT_OPTIONS.contains(&name) => context.irrelevant(word.node, ""),
            name => {
                if let Some(note) = lacking(&UNIT_NOT_MODELED, name) {
                    context.not_modeled(word.node, note);
                }
            }
        }
    }
    found
}

/// Reads `vlan-tags outer 100 inner 200`.
fn tags(context: &mut Context, word: &Word, unit: &mut Unit) {
    context.modeled(word.node);
    let words = context.flat(word.node);
    for word in &words {
        context.modeled(word.node);
        match word.text.as_str() {
            "outer" | "inner" => unit.tags += 1,
            "inner-list" | "inner-range" => {
                unit.tags += 1;
                context.irrelevant(word.node, "");
            }
            // The tag can have a protocol prefix: `0x88a8.100`.
            text => {
                let id = text.rsplit('.').next().and_then(number);
                unit.vlan = unit.vlan.or(id.map(|id| At::new(word.line, id)));
            }
        }
    }
}

fn family(context: &mut Context, family: &Word, firewall: &Firewall, unit: &mut Unit) {
    if family.text == "mpls" {
        unit.mpls = Some(family.line);
    }
    let known = FilterFamily::named(&family.text);
    let Some(known @ (FilterFamily::Inet | FilterFamily::Inet6)) = known else {
        return other_family(context, family, known, firewall, unit);
    };
    unit.families.push(known);
    for word in context.keywords(family.node) {
        match word.text.as_str() {
            "address" => addresses(context, known, &word, unit),
            "filter" => filters(context, (known, &word), firewall, &mut unit.sides),
            "policer" => policers(context, (known, &word), firewall, &mut unit.sides),
            name if FAMILY_OPTIONS.contains(&name) => context.irrelevant(word.node, ""),
            name => {
                if let Some(note) = lacking(&FAMILY_NOT_MODELED, name) {
                    context.not_modeled(word.node, note);
                }
            }
        }
    }
}

/// Reads a family of frames or labels, or a family without filters.
fn other_family(
    context: &mut Context,
    family: &Word,
    known: Option<FilterFamily>,
    firewall: &Firewall,
    unit: &mut Unit,
) {
    for word in context.keywords(family.node) {
        match (word.text.as_str(), known) {
            ("filter", Some(known)) => filters(context, (known, &word), firewall, &mut unit.sides),
            ("policer", Some(known)) => policers(context, (known, &word), firewall, &mut unit.sides),
            ("filter" | "policer", None) => context.not_modeled(word.node, "filters of other families"),
            ("storm-control", _) => context.not_modeled(word.node, "storm control"),
            ("mtu", Some(_)) => context.not_modeled(word.node, "the MTU of a family"),
            ("destination-udp-port", _) => context.not_modeled(word.node, "tunnels"),
            (
                "vlan" | "vlan-id" | "vlan-id-list" | "inner-vlan-id-list" | "native-vlan-id"
                | "interface-mode" | "port-mode" | "vlan-rewrite",
                _,
            ) => context.not_modeled(word.node, "forwarding in VLANs"),
            _ => context.irrelevant(word.node, ""),
        }
    }
}

fn addresses(context: &mut Context, family: FilterFamily, word: &Word, unit: &mut Unit) {
    context.modeled(word.node);
    for address in context.names(word.node) {
        let parsed = address.text.split_once('/').and_then(|(ip, length)| {
            let ip: IpAddr = ip.parse().ok()?;
            let most = if ip.is_ipv4() { 32 } else { 128 };
            Some((ip, length.parse::<u8>().ok().filter(|length| *length <= most)?))
        });
        for option in context.keywords(address.node) {
            match option.text.as_str() {
                "vrrp-group" | "vrrp-inet6-group" | "virtual-gateway-address" => {
                    context.not_modeled(option.node, "an address that several devices share");
                }
                _ => context.irrelevant(option.node, ""),
            }
        }
        match parsed {
            Some((ip, prefix_length)) => {
                let found = InterfaceAddress { line: address.line, address: ip, prefix_length };
                let list =
                    if family == FilterFamily::Inet6 { &mut unit.addresses6 } else { &mut unit.addresses };
                list.push(found);
            }
            None => context.invalid(&address, "address"),
        }
    }
}
