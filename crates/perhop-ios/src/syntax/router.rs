//! `router`: the commands of a routing protocol that determine its routes.

use std::net::Ipv4Addr;

use perhop_device::intent::At;
use perhop_device::{LinkSettingKind, RoutingProtocol};

use super::command::{Command, noted};
use super::interface_name::full_name;
use super::numbers::address;
use crate::ast::{BOTH_LEVELS, Configuration, LevelMetrics, Levels, Network, PortList, RouterProcess};
use crate::mode::Mode;
use crate::words::{Form, Reader};

/// Limit on the processes that a line is compared with. A device has at most a few hundred processes.
const MOST_COMPARED: usize = 512;

pub(super) const COMMANDS: &[Command<RouterProcess>] = &[
    noted("advertise passive-only", |process, reader| process.announces_passive_only = !reader.negated()),
    noted("area", |process, reader| {
        // perhop computes the routes of an area only without filters, summaries and virtual links.
        let rest = reader.rest();
        let changes = ["filter-list", "nssa", "range", "stub", "virtual-link"];
        if rest.iter().any(|word| changes.contains(word)) {
            not_computed(process, reader);
        }
    }),
    noted("auto-cost reference-bandwidth", reference),
    noted("default-information originate", default_route),
    noted("distance", not_computed),
    noted("distribute-list", not_computed),
    noted("is-type", levels_of_process),
    noted("max-metric", overload),
    noted("metric", |process, reader| metric(&mut process.metrics, reader)),
    noted("metric-style", metric_style),
    noted("mpls ldp autoconfig", |process, reader| {
        let area = reader.eat("area").then(|| reader.next().map(str::to_owned)).flatten();
        process.labels = (!reader.negated()).then(|| At::new(reader.line, area));
    }),
    noted("net", identity),
    noted("network", network),
    noted("passive-interface", passive),
    noted("redistribute", redistribute),
    noted("router-id", router_id),
    noted("set-overload-bit", overload),
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
    reader.opens = Some(Mode::RouterProcess(place(configuration, reader.line, protocol, name, vrf)));
}

/// Returns the index of a process. OSPF and IS-IS can have several blocks with the same name and routing
/// table.
fn place(
    configuration: &mut Configuration,
    line: usize,
    protocol: RoutingProtocol,
    name: String,
    vrf: Option<String>,
) -> usize {
    let processes = &mut configuration.processes;
    let is_known = |other: &RouterProcess| {
        matches!(protocol, RoutingProtocol::Ospf | RoutingProtocol::Isis)
            && (other.protocol, &other.name, &other.vrf) == (protocol, &name, &vrf)
    };
    if let Some(place) = processes.iter().take(MOST_COMPARED).position(is_known) {
        return place;
    }
    processes.push(RouterProcess {
        line,
        protocol,
        name,
        vrf,
        networks: Vec::new(),
        passive_by_default: None,
        passive: std::collections::BTreeMap::new(),
        reference_megabits: None,
        metrics: LevelMetrics::default(),
        identity: None,
        redistributed: Vec::new(),
        settings: std::collections::BTreeMap::new(),
        default_route: None,
        labels: None,
        announces_passive_only: false,
        is_off: false,
        list: PortList::default(),
        not_computed: Vec::new(),
    });
    processes.len() - 1
}

/// Reads `vrf NAME` in the block of the process `outer` (NX-OS, IOS XR). `None` for other lines.
pub(super) fn open_vrf(configuration: &mut Configuration, outer: usize, reader: &mut Reader) -> Option<()> {
    let ["vrf", name] = *reader.rest() else { return None };
    let process = configuration.processes.get(outer).filter(|process| process.vrf.is_none())?;
    let (protocol, outer_name) = (process.protocol, process.name.clone());
    if !reader.negated() {
        let vrf = (name != "default").then(|| name.to_owned());
        let place = place(configuration, reader.line, protocol, outer_name, vrf);
        reader.opens = Some(Mode::RouterProcess(place));
    }
    Some(())
}

/// Whether perhop reads the block of a process on NX-OS and IOS XR.
pub(super) fn is_read(configuration: &Configuration, place: usize) -> bool {
    let process = configuration.processes.get(place);
    process.is_some_and(|own| matches!(own.protocol, RoutingProtocol::Ospf | RoutingProtocol::Isis))
}

pub(super) fn not_computed(process: &mut RouterProcess, reader: &mut Reader) {
    if !reader.negated() {
        process.not_computed.push(reader.line);
    }
}

/// Reads `max-metric router-lsa`, `set-overload-bit`: the other routers avoid this router. With `on-startup`,
/// the lines apply only after the start of the device.
pub(super) fn overload(process: &mut RouterProcess, reader: &mut Reader) {
    if !reader.rest().contains(&"on-startup") {
        not_computed(process, reader);
    }
}

pub(super) fn default_route(process: &mut RouterProcess, reader: &mut Reader) {
    process.default_route = (!reader.negated()).then_some(reader.line);
}

/// Reads `redistribute PROTOCOL …`.
pub(super) fn redistribute(process: &mut RouterProcess, reader: &mut Reader) {
    not_computed(process, reader);
    let Some(origin) = reader.next() else { return };
    // NX-OS: `direct`.
    let origin = if origin == "direct" { "connected" } else { origin }.to_owned();
    process.redistributed.retain(|other| other.value != origin);
    if !reader.negated() {
        process.redistributed.push(At::new(reader.line, origin));
    }
}

/// Reads `auto-cost reference-bandwidth MEGABITS`; in NX-OS with `Mbps` or `Gbps` (Cisco Nexus 9000,
/// "Unicast Routing Configuration Guide").
pub(super) fn reference(process: &mut RouterProcess, reader: &mut Reader) {
    let number = reader.maybe_number().filter(|_| !reader.negated());
    let factor = if reader.peek().is_some_and(|unit| unit.eq_ignore_ascii_case("gbps")) { 1000 } else { 1 };
    process.reference_megabits = number.map(|number| number.saturating_mul(factor));
}

pub(super) fn levels_of_process(process: &mut RouterProcess, reader: &mut Reader) {
    setting(process, LinkSettingKind::IsisLevels, reader);
}

pub(super) fn metric_style(process: &mut RouterProcess, reader: &mut Reader) {
    setting(process, LinkSettingKind::IsisMetrics, reader);
}

/// Reads `metric NUMBER [LEVEL]` of IS-IS.
pub(super) fn metric(metrics: &mut LevelMetrics, reader: &mut Reader) {
    let value = reader.maybe_number().filter(|_| !reader.negated());
    for (place, _) in levels(reader).into_iter().enumerate().filter(|(_, is_meant)| *is_meant) {
        metrics[place] = value.map(|value| At::new(reader.line, value));
    }
}

/// Reads the level of IS-IS: `level-1`, or `level 1` of IOS XR; both levels without such words.
pub(super) fn levels(reader: &mut Reader) -> Levels {
    let is_xr = reader.peek() == Some("level");
    let written = if is_xr { reader.rest().get(1).copied() } else { reader.peek() };
    written.map_or(BOTH_LEVELS, levels_in)
}

/// Returns the levels that a word names: `level-1`, `level-1-2`, `level-2-only`, `2`.
pub(crate) fn levels_in(written: &str) -> Levels {
    let levels = ['1', '2'].map(|level| written.contains(level));
    if levels == [false; 2] { BOTH_LEVELS } else { levels }
}

/// Reads `router-id ADDRESS` of OSPF. The identifier of IS-IS is its title.
pub(super) fn router_id(process: &mut RouterProcess, reader: &mut Reader) {
    if process.protocol != RoutingProtocol::Isis {
        identity(process, reader);
    }
}

/// Reads `router-id ADDRESS`, `net TITLE`.
pub(super) fn identity(process: &mut RouterProcess, reader: &mut Reader) {
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

/// Reads `passive-interface default|NAME`; in IS-IS of NX-OS also `passive-interface default LEVEL`.
fn passive(process: &mut RouterProcess, reader: &mut Reader) {
    let Some(mut name) = reader.next().map(str::to_owned) else { return };
    let is_passive = !reader.negated();
    if name == "default" {
        let levels = levels(reader);
        process.passive_by_default = is_passive.then(|| At::new(reader.line, levels));
        return;
    }
    // A space may separate the number: `Serial 0/0`.
    if !name.ends_with(|last: char| last.is_ascii_digit()) {
        name.push_str(reader.next().unwrap_or_default());
    }
    process.passive.insert(full_name(&name).full, At::new(reader.line, is_passive));
}
