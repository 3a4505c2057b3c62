//! `router`: the commands of a routing protocol that determine its routes.

use std::net::Ipv4Addr;

use perhop_device::intent::At;
use perhop_device::{LinkSettingKind, RoutingProtocol};

use super::command::{Command, noted};
use super::interface_name::full_name;
use super::numbers::address;
use crate::ast::{Configuration, Network, RouterProcess};
use crate::mode::Mode;
use crate::words::{Form, Reader};

/// The rate of a port with cost 1, megabits per second (Cisco, "ip ospf cost").
const REFERENCE: u64 = 100;

pub(super) const COMMANDS: &[Command<RouterProcess>] = &[
    noted("area", |process, reader| {
        // perhop computes the routes of an area only without filters, summaries and virtual links.
        let rest = reader.rest();
        let changes = ["filter-list", "nssa", "range", "stub", "virtual-link"];
        if rest.iter().any(|word| changes.contains(word)) {
            not_computed(process, reader);
        }
    }),
    noted("auto-cost reference-bandwidth", |process, reader| {
        process.reference_megabits = reader.maybe_number().filter(|_| !reader.negated()).unwrap_or(REFERENCE);
    }),
    noted("default-information originate", |process, reader| {
        process.default_route = (!reader.negated()).then_some(reader.line);
    }),
    noted("distance", not_computed),
    noted("distribute-list", not_computed),
    noted("is-type", |process, reader| setting(process, LinkSettingKind::IsisLevels, reader)),
    noted("max-metric", not_computed),
    noted("metric", |process, reader| {
        let metric = reader.maybe_number().filter(|_| !reader.negated());
        process.metric = metric.map(|metric| At::new(reader.line, metric));
    }),
    noted("metric-style", |process, reader| setting(process, LinkSettingKind::IsisMetrics, reader)),
    noted("mpls ldp autoconfig", |process, reader| {
        let area = reader.eat("area").then(|| reader.next().map(str::to_owned)).flatten();
        process.labels = (!reader.negated()).then(|| At::new(reader.line, area));
    }),
    noted("net", identity),
    noted("network", network),
    noted("passive-interface", passive),
    noted("redistribute", |process, reader| {
        not_computed(process, reader);
        let Some(origin) = reader.next().map(str::to_owned) else { return };
        process.redistributed.retain(|other| other.value != origin);
        if !reader.negated() {
            process.redistributed.push(At::new(reader.line, origin));
        }
    }),
    noted("router-id", identity),
    noted("summary-address", not_computed),
];

/// Reads `router PROTOCOL [PROCESS] [vrf NAME]`.
pub(super) fn open(configuration: &mut Configuration, reader: &mut Reader) {
    let protocol = match reader.next() {
        Some("ospf") => RoutingProtocol::Ospf,
        Some("isis") => RoutingProtocol::Isis,
        // An EIGRP process with a name has its networks in address families, which perhop does not read.
        Some("eigrp") if reader.peek().is_some_and(|name| name.parse::<u64>().is_ok()) => {
            RoutingProtocol::Eigrp
        }
        _ => RoutingProtocol::Other,
    };
    open_process(configuration, reader, protocol);
}

/// Reads `ipv6 router …`. perhop does not compute routes of IPv6 protocols.
pub(super) fn open_ipv6(configuration: &mut Configuration, reader: &mut Reader) {
    reader.next();
    open_process(configuration, reader, RoutingProtocol::Other);
}

fn open_process(configuration: &mut Configuration, reader: &mut Reader, protocol: RoutingProtocol) {
    if reader.form == Form::Negated {
        return;
    }
    let name = reader.next().unwrap_or_default().to_owned();
    let vrf = reader.eat("vrf").then(|| reader.next().unwrap_or_default().to_owned());
    configuration.processes.push(RouterProcess {
        line: reader.line,
        protocol,
        name,
        vrf,
        networks: Vec::new(),
        passive_by_default: None,
        passive: std::collections::BTreeMap::new(),
        reference_megabits: REFERENCE,
        metric: None,
        identity: None,
        redistributed: Vec::new(),
        settings: std::collections::BTreeMap::new(),
        default_route: None,
        labels: None,
        not_computed: Vec::new(),
    });
    reader.opens = Some(Mode::RouterProcess(configuration.processes.len() - 1));
}

fn not_computed(process: &mut RouterProcess, reader: &mut Reader) {
    if !reader.negated() {
        process.not_computed.push(reader.line);
    }
}

/// Reads `router-id ADDRESS`, `net TITLE`.
fn identity(process: &mut RouterProcess, reader: &mut Reader) {
    let value = reader.next().filter(|_| !reader.negated()).map(str::to_owned);
    process.identity = value.map(|value| At::new(reader.line, value));
}

fn setting(process: &mut RouterProcess, kind: LinkSettingKind, reader: &mut Reader) {
    let value = reader.next().filter(|_| !reader.negated()).map(str::to_owned);
    match value {
        Some(value) => process.settings.insert(kind, At::new(reader.line, value)),
        None => process.settings.remove(&kind),
    };
}

/// Reads `network ADDRESS WILDCARD area AREA` of OSPF, `network ADDRESS [WILDCARD]` of EIGRP; other protocols
/// have another form.
fn network(process: &mut RouterProcess, reader: &mut Reader) {
    let Ok(own) = address(reader, "an address") else { return };
    let wildcard = address(reader, "a wildcard").ok();
    let area = if reader.eat("area") { reader.next() } else { None };
    let (wildcard, area) = match (process.protocol, wildcard, area) {
        (RoutingProtocol::Eigrp, wildcard, None) => (wildcard.unwrap_or(classful_wildcard(own)), ""),
        (_, Some(wildcard), Some(area)) => (wildcard, area),
        _ => return,
    };
    if reader.negated() {
        process.networks.retain(|other| (other.address, other.wildcard) != (own, wildcard));
    } else {
        process.networks.push(Network { line: reader.line, address: own, wildcard, area: area.to_owned() });
    }
}

/// Returns the wildcard of a network without a configured wildcard, which is the wildcard of its class (RFC
/// 791 §3.2).
fn classful_wildcard(address: Ipv4Addr) -> Ipv4Addr {
    let bits = match address.octets()[0] {
        0..=127 => 24,
        128..=191 => 16,
        _ => 8,
    };
    Ipv4Addr::from_bits((1 << bits) - 1)
}

/// Reads `passive-interface default|NAME`.
fn passive(process: &mut RouterProcess, reader: &mut Reader) {
    let Some(mut name) = reader.next().map(str::to_owned) else { return };
    let is_passive = !reader.negated();
    if name == "default" {
        process.passive_by_default = is_passive.then_some(reader.line);
        return;
    }
    // A space may separate the number: `Serial 0/0`.
    if !name.ends_with(|last: char| last.is_ascii_digit()) {
        name.push_str(reader.next().unwrap_or_default());
    }
    process.passive.insert(full_name(&name).full, At::new(reader.line, is_passive));
}
