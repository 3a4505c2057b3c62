//! The global commands of NX-OS that perhop models.

use super::{access_list, vrf};
use crate::ast::{
    At, CLASS_DEFAULT, ClassMap, Combination, Configuration, Interface, NetworkPolicy, PolicyCopy, PolicyMap,
    PolicyType,
};
use crate::mode::Mode;
use crate::nexus;
use crate::rules;
use crate::syntax::command::{Command, modelled, noted};
use crate::syntax::route::{ipv6_in, prefix_route};
use crate::syntax::{global, interface_name, interface_range, router};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    modelled("class-map", class_map),
    modelled("policy-map", policy_map),
    modelled("system qos", |_, reader| {
        reader.end()?;
        reader.opens = (!reader.negated()).then_some(Mode::SystemQos);
        Ok(Finding::MODELLED)
    }),
    modelled("qos copy policy-map", copy),
    modelled("hardware qos dynamic-buffer-sharing", |configuration, reader| {
        reader.end()?;
        configuration.nx_os.dynamic_sharing = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(Finding::modelled("the slices of the chip share a part of their memory"))
    }),
    modelled("switching-mode store-forward", |_, reader| {
        reader.end()?;
        Ok(if reader.negated() { Finding::not_modelled(CUT_THROUGH) } else { Finding::MODELLED })
    }),
    modelled("interface", interface),
    modelled("ip access-list", access_list::ipv4),
    modelled("ipv6 access-list", access_list::ipv6),
    modelled("object-group", access_list::open_group),
    modelled("ip route", |configuration, reader| prefix_route(configuration, reader, None)),
    modelled("ipv6 route", |configuration, reader| ipv6_in(configuration, reader, None)),
    modelled("vrf context", vrf::open),
    modelled("hostname", global::hostname),
    modelled("switchname", global::hostname),
    noted("router", router::open),
];

/// The effect of the default switching mode.
pub(super) const CUT_THROUGH: &str = "the switch starts to send a frame before all of it has arrived \
                                      (cut-through); perhop waits for the whole frame";
const NETWORK_CLASS: &str =
    "classes of type network-qos set the MTU and the priority flow control of a qos-group";
/// The effect of a block that configures the control plane.
const CONTROL_PLANE: &str = "the switch polices packets that are addressed to itself";

/// Reads `class-map [type qos|queuing|network-qos|control-plane] [match-any|match-all] NAME`.
fn class_map(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let kind = kind(reader)?;
    if kind == "control-plane" {
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(CONTROL_PLANE));
        return Ok(Finding::not_modelled(CONTROL_PLANE));
    }
    // All criteria by default: Cisco, "Nexus 9000 Series NX-OS Quality of Service Configuration Guide".
    let combination = match reader.keyword(&["match-all", "match-any", "match-first"]) {
        Some("match-any") => Combination::MatchAny,
        _ if kind == "queuing" => Combination::MatchAny,
        _ => Combination::MatchAll,
    };
    let name = reader.word("the class-map's name")?;
    reader.end()?;
    let line = reader.line;
    if kind == "network-qos" {
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(NETWORK_CLASS));
        return Ok(Finding::not_modelled(NETWORK_CLASS));
    }
    if reader.negated() {
        configuration.class_maps.remove(name);
        configuration.nx_os.queuing_maps.remove(name);
        return Ok(Finding::MODELLED);
    }
    if kind == "queuing" {
        configuration.nx_os.queuing_maps.entry(name.to_owned()).or_insert(line);
    }
    if name == CLASS_DEFAULT {
        reader.report(
            &rules::CLASS_DEFAULT_DEFINED,
            "class-default cannot be defined, because it matches all packets without another class",
            "the switch refuses the line",
        );
    }
    let new = || ClassMap { name: name.to_owned(), line, combination, statements: Vec::new() };
    let place = configuration.class_maps.place(name, new);
    reader.opens = Some(Mode::ClassMap(place));
    Ok(Finding::MODELLED)
}

/// Reads `policy-map [type qos|queuing|network-qos|control-plane] NAME`.
fn policy_map(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let kind = kind(reader)?;
    if kind == "control-plane" {
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(CONTROL_PLANE));
        return Ok(Finding::not_modelled(CONTROL_PLANE));
    }
    let name = reader.word("the policy-map's name")?;
    // `match-first` is a word of older releases.
    reader.keyword(&["match-first"]);
    reader.end()?;
    let line = reader.line;
    let (maps, settings) = (&mut configuration.policy_maps, &mut configuration.nx_os);
    if kind == "network-qos" {
        if reader.negated() {
            settings.network_policies.remove(name);
            return Ok(Finding::IRRELEVANT);
        }
        let new = || NetworkPolicy { name: name.to_owned(), line, classes: Vec::new() };
        reader.opens = Some(Mode::NetworkPolicy(settings.network_policies.place(name, new)));
        return Ok(Finding::MODELLED);
    }
    if reader.negated() {
        maps.remove(name);
        settings.policy_types.remove(name);
        return Ok(Finding::MODELLED);
    }
    let policy_type = if kind == "queuing" { PolicyType::Queuing } else { PolicyType::Qos };
    settings.policy_types.insert(name.to_owned(), policy_type);
    let place = maps.place(name, || PolicyMap { name: name.to_owned(), line, classes: Vec::new() });
    reader.opens = Some(Mode::PolicyMap(place));
    Ok(Finding::MODELLED)
}

/// Parses `type KIND`; the default is `qos`, as on the switch.
fn kind(reader: &mut Reader) -> Result<&'static str, Finding> {
    if !reader.eat("type") {
        return Ok("qos");
    }
    reader.one_of(&["qos", "queuing", "network-qos", "control-plane"])
}

/// Reads `qos copy policy-map type queuing ORIGINAL prefix|suffix WORD`.
fn copy(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if reader.eat("type") {
        reader.one_of(&["queuing"])?;
    }
    let original = reader.word("a policy of the system")?;
    let is_prefix = reader.one_of(&["prefix", "suffix"])? == "prefix";
    let word = reader.word("a word")?;
    reader.end()?;
    let Some(mut policy) = nexus::system_policy(original) else {
        return Ok(Finding::not_modelled("the line copies a policy that perhop does not know"));
    };
    let stem = original.trim_start_matches("default-").trim_end_matches("-policy");
    let name = if is_prefix { format!("{word}{stem}") } else { format!("{stem}{word}") };
    policy.name.clone_from(&name);
    policy.line = reader.line;
    let line = reader.line;
    configuration.policy_maps.place(&name, || policy);
    configuration.nx_os.policy_types.insert(name.clone(), PolicyType::Queuing);
    configuration.nx_os.copies.push(At::new(line, PolicyCopy { original: original.to_owned(), name }));
    Ok(Finding::MODELLED)
}

/// Returns the interface called `name`, which `line` opens.
fn named(name: &str, line: usize) -> Interface {
    let mut interface = interface_name::new(name, line);
    // The name of a port does not contain its rate, so a rate is assumed.
    if interface.name.starts_with("Ethernet") {
        interface.nominal_kilobits = Some(nexus::ASSUMED_KILOBITS);
    }
    interface
}

/// Reads `interface Ethernet1/1`.
fn interface(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let rest = reader.rest().join("");
    let number = rest.trim_start_matches(|first: char| first.is_ascii_alphabetic());
    let is_port_channel = rest.to_ascii_lowercase().starts_with("port-channel");
    let number = if is_port_channel { number.trim_start_matches("-channel") } else { number };
    if rest.contains(',') || number.contains('-') {
        return Ok(interface_range::open(configuration, reader, &rest, named));
    }
    let mut name = reader.word("an interface")?.to_owned();
    // A space may precede the number: `interface Ethernet 1/1`.
    if !name.ends_with(|last: char| last.is_ascii_digit())
        && reader.peek().is_some_and(|next| next.starts_with(|first: char| first.is_ascii_digit()))
    {
        name.push_str(reader.next().unwrap_or_default());
    }
    reader.keyword(&["point-to-point"]);
    reader.end()?;
    let interface = named(&name, reader.line);
    let interfaces = &mut configuration.interfaces;
    if reader.negated() {
        interfaces.remove(&interface.name);
        return Ok(Finding::MODELLED);
    }
    let name = interface.name.clone();
    reader.opens = Some(Mode::Interface(interfaces.place(&name, || interface)));
    Ok(Finding::MODELLED)
}
