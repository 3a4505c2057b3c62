//! The global commands that perhop models.

use perhop_lint::LineState;

use super::access_list::{ipv6, named, numbered};
use super::command::{Command, modelled, noted, recorded};
use super::queueing::other_type;
use super::{
    control_plane, controller, crypto, interface_name, interface_range, object_group, route, router,
    table_map,
};
use crate::ast::{At, CLASS_DEFAULT, ClassMap, Combination, Configuration, PolicyMap};
use crate::grammar::Grammar;
use crate::mode::Mode;
use crate::rules;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    modelled("access-list", numbered),
    modelled("class-map", class_map),
    modelled("control-plane", control_plane::open),
    modelled("controller", controller::open),
    modelled("crypto ipsec profile", crypto::profile),
    modelled("crypto ipsec transform-set", crypto::transform_set),
    modelled("crypto map", crypto::map),
    modelled("hostname", hostname),
    modelled("interface", open_interface),
    modelled("ip access-list", named),
    modelled("ip cef", cef),
    modelled("ip route", route::ipv4),
    modelled("ipv6 access-list", ipv6),
    modelled("ipv6 route", route::ipv6),
    noted("ipv6 router", router::open_ipv6),
    modelled("object-group", object_group::open),
    modelled("policy-map", policy_map),
    recorded(
        "qos queue-softmax-multiplier",
        "the shared buffers of a switch's queues: `perhop buffers` shows them",
        softmax_multiplier,
    ),
    noted("router", router::open),
    modelled("table-map", table_map::open),
    modelled("version", version),
];

#[allow(clippy::unnecessary_wraps)] // all readers of a table have one type
pub(super) fn hostname(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.next().map(str::to_owned);
    configuration.hostname = name.filter(|_| !reader.negated());
    Ok(Finding::IRRELEVANT)
}

fn version(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let word = reader.word("a release")?;
    let mut parts = word.split('.').map(str::parse::<u32>);
    if let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) {
        configuration.version = Some((major, minor));
    }
    Ok(Finding::MODELLED)
}

/// Reads `ip cef`. Only express forwarding has class-based marking and WRED by class.
#[allow(clippy::unnecessary_wraps)]
fn cef(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let what = reader.keyword(&["distributed", "linecard"]);
    if what.is_none() && reader.peek().is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    configuration.express_forwarding = Some(At::new(reader.line, !reader.negated()));
    Ok(Finding::MODELLED)
}

/// Reads `qos queue-softmax-multiplier 1200`.
fn softmax_multiplier(configuration: &mut Configuration, reader: &mut Reader) -> Result<(), Finding> {
    if reader.negated() {
        configuration.softmax_multiplier = None;
        return Ok(());
    }
    let percent = reader.number("a percentage", 100..=1200)?;
    configuration.softmax_multiplier = Some(At::new(reader.line, percent));
    Ok(())
}

pub(super) fn class_map(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if let Some(finding) = of_other_type(reader) {
        return Ok(finding);
    }
    let combination = match reader.keyword(&["match-all", "match-any"]) {
        Some("match-any") => Combination::MatchAny,
        // Cisco, "Modular QoS Command Reference for Cisco NCS 540", class-map: any criterion by default.
        None if configuration.grammar == Grammar::IosXr => Combination::MatchAny,
        _ => Combination::MatchAll,
    };
    let name = reader.word("the class-map's name")?;
    reader.end()?;
    let maps = &mut configuration.class_maps;
    if reader.negated() {
        maps.remove(name);
        return Ok(Finding::MODELLED);
    }
    if name == CLASS_DEFAULT {
        reader.report(
            &rules::CLASS_DEFAULT_DEFINED,
            "class-default cannot be defined, because it matches all packets without another class",
            "the router refuses the line",
        );
    }
    let line = reader.line;
    let new = || ClassMap { name: name.to_owned(), line, combination, statements: Vec::new() };
    let place = maps.place(name, new);
    if let Some(map) = maps.at_mut(place).filter(|map| map.combination != combination) {
        map.combination = combination;
        reader.report(
            &rules::CLASS_MAP_REDEFINED,
            format!("class-map {name} has both match-all and match-any (line {})", map.line),
            "the router applies the last of the two to all criteria",
        );
    }
    reader.opens = Some(Mode::ClassMap(place));
    Ok(Finding::MODELLED)
}

/// Reads `type …`. For a type other than quality of service, returns a finding and skips the block of the
/// line.
fn of_other_type(reader: &mut Reader) -> Option<Finding> {
    if !reader.eat("type") || reader.keyword(&["qos", "queueing", "lan-queueing"]).is_some() {
        return None;
    }
    let finding = other_type(reader.peek());
    let block = match finding.state {
        LineState::Irrelevant => Mode::Irrelevant,
        _ => Mode::NotModelled("the policy has a type other than quality of service"),
    };
    reader.opens = (!reader.negated()).then_some(block);
    Some(finding)
}

pub(super) fn policy_map(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if let Some(finding) = of_other_type(reader) {
        return Ok(finding);
    }
    let name = reader.word("the policy-map's name")?;
    reader.end()?;
    let maps = &mut configuration.policy_maps;
    if reader.negated() {
        maps.remove(name);
        return Ok(Finding::MODELLED);
    }
    let line = reader.line;
    let place = maps.place(name, || PolicyMap { name: name.to_owned(), line, classes: Vec::new() });
    reader.opens = Some(Mode::PolicyMap(place));
    Ok(Finding::MODELLED)
}

pub(super) fn open_interface(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if reader.eat("range") {
        let list = reader.rest().join("");
        return Ok(interface_range::open(configuration, reader, &list, interface_name::new));
    }
    let mut name = reader.word("an interface")?.to_owned();
    // A space may precede the number: `interface Serial 0/0`.
    if !name.ends_with(|last: char| last.is_ascii_digit())
        && reader.peek().is_some_and(|next| next.starts_with(|first: char| first.is_ascii_digit()))
    {
        name.push_str(reader.next().unwrap_or_default());
    }
    let link = reader.keyword(&["point-to-point", "multipoint", "l2transport"]);
    reader.end()?;
    let interface = interface_name::new(&name, reader.line);
    let interfaces = &mut configuration.interfaces;
    if reader.negated() {
        interfaces.remove(&interface.name);
        return Ok(Finding::MODELLED);
    }
    let name = interface.name.clone();
    reader.opens = Some(Mode::Interface(interfaces.place(&name, || interface)));
    Ok(match link {
        Some("l2transport") => Finding::not_modelled("an interface that carries no IP"),
        _ => Finding::MODELLED,
    })
}
