//! `router ospf` and `router isis` of IOS XR, whose blocks list the ports.
//!
//! Sources: Cisco, "Routing Command Reference for Cisco ASR 9000 Series Routers", OSPF commands and IS-IS
//! commands; "Routing Configuration Guide", implementing OSPF: hierarchical inheritance.

use perhop_device::{LinkSettingKind, RoutingProtocol};

use crate::ast::{At, Configuration, ListSettings, ListedArea, ListedPort, RouterProcess};
use crate::mode::Mode;
use crate::syntax::command::{Command, noted};
use crate::syntax::interface_name::full_name;
use crate::syntax::lookup::{Spelling, run};
use crate::syntax::router;
use crate::words::{Finding, Form, Reader, Reading};

pub(super) const COMMANDS: &[Command<RouterProcess>] = &[
    noted("address-family", family),
    noted("advertise passive-only", |process, reader| process.announces_passive_only = !reader.negated()),
    noted("advertise prefix", router::not_computed),
    noted("area", area),
    noted("auto-cost disable", router::not_computed),
    noted("auto-cost reference-bandwidth", router::reference),
    noted("circuit-type", |process, reader| setting(process, LinkSettingKind::IsisLevels, reader)),
    noted("cost", |process, reader| {
        let cost = reader.maybe_number().filter(|_| !reader.negated());
        settings(process, reader).cost = cost.map(|cost| At::new(reader.line, cost));
    }),
    noted("database-filter", router::not_computed),
    noted("dead-interval", |process, reader| setting(process, LinkSettingKind::OspfDead, reader)),
    noted("default-information originate", router::default_route),
    noted("distance", router::not_computed),
    noted("distribute-list", router::not_computed),
    noted("hello-interval", |process, reader| setting(process, LinkSettingKind::OspfHello, reader)),
    noted("interface", interface),
    noted("is-type", router::levels_of_process),
    noted("max-metric", router::overload),
    noted("metric", |process, reader| {
        // `metric maximum`: the other routers use the port only as a last resort.
        match reader.peek() {
            Some("maximum") => router::not_computed(process, reader),
            _ => router::metric(&mut settings(process, reader).metrics, reader),
        }
    }),
    noted("metric-style", router::metric_style),
    noted("multi-area-interface", router::not_computed),
    noted("net", router::identity),
    noted("network", |process, reader| setting(process, LinkSettingKind::OspfNetwork, reader)),
    noted("nssa", router::not_computed),
    noted("passive", |process, reader| {
        let is_passive = !reader.negated() && reader.peek() != Some("disable");
        settings(process, reader).passive = Some(At::new(reader.line, is_passive));
    }),
    noted("propagate", router::not_computed),
    noted("protocol shutdown", |process, reader| process.is_off = !reader.negated()),
    noted("range", router::not_computed),
    noted("redistribute", router::redistribute),
    noted("route-policy", router::not_computed),
    noted("router-id", router::router_id),
    noted("set-overload-bit", router::overload),
    noted("sham-link", router::not_computed),
    noted("shutdown", |process, reader| settings(process, reader).is_off = !reader.negated()),
    noted("stub", router::not_computed),
    noted("summary-prefix", router::not_computed),
    noted("suppressed", |process, reader| settings(process, reader).is_suppressed = !reader.negated()),
    noted("virtual-link", router::not_computed),
];

/// Reads a line in the block of a process, or in a block inside it.
pub(super) fn read(
    configuration: &mut Configuration,
    mode: Mode,
    spelling: Spelling,
    reader: &mut Reader,
) -> Option<Reading> {
    let (Mode::RouterProcess(place) | Mode::RouterArea(place, _) | Mode::RouterPort(place, _)) = mode else {
        return None;
    };
    if !router::is_read(configuration, place) {
        return None;
    }
    let is_outside = matches!(mode, Mode::RouterProcess(_));
    if is_outside && router::open_vrf(configuration, place, reader).is_some() {
        return Some(Ok(Finding::IRRELEVANT));
    }
    run(&[COMMANDS], configuration.processes.get_mut(place)?, spelling, reader)
}

/// Returns the settings that the lines of a block set: of the process, of an area or of a port.
fn settings<'p>(process: &'p mut RouterProcess, reader: &Reader) -> &'p mut ListSettings {
    let list = &mut process.list;
    let inner = match reader.mode {
        Mode::RouterArea(_, area) => list.areas.at_mut(area).map(|area| &mut area.settings),
        Mode::RouterPort(_, port) => list.ports.at_mut(port).map(|port| &mut port.settings),
        _ => None,
    };
    inner.unwrap_or(&mut list.settings)
}

/// Records a setting that must match the other end of a link. Intervals of IS-IS can differ.
fn setting(process: &mut RouterProcess, kind: LinkSettingKind, reader: &mut Reader) {
    if process.protocol == RoutingProtocol::Isis && kind != LinkSettingKind::IsisLevels {
        return;
    }
    let value = At::new(reader.line, reader.rest().join(" "));
    let known = &mut settings(process, reader).settings;
    if reader.negated() {
        known.remove(&kind);
    } else {
        known.insert(kind, value);
    }
}

/// Reads `address-family ipv4 unicast`. Its lines are commands of the process or of the port.
fn family(process: &mut RouterProcess, reader: &mut Reader) {
    let is_ipv4 = reader.peek() == Some("ipv4") && reader.rest().get(1) != Some(&"multicast");
    if is_ipv4 {
        settings(process, reader).has_family = !reader.negated();
    }
    let mode = if is_ipv4 { reader.mode } else { Mode::Irrelevant };
    reader.opens = (reader.form == Form::Plain).then_some(mode);
}

/// Reads `area AREA`.
fn area(process: &mut RouterProcess, reader: &mut Reader) {
    let (Mode::RouterProcess(place), Some(name)) = (reader.mode, reader.next()) else { return };
    let new = || ListedArea { name: name.to_owned(), settings: ListSettings::default() };
    let area = process.list.areas.place(name, new);
    reader.opens = (reader.form == Form::Plain).then_some(Mode::RouterArea(place, area));
}

/// Reads `interface NAME` in an area of OSPF or in a process of IS-IS.
fn interface(process: &mut RouterProcess, reader: &mut Reader) {
    let (place, area) = match reader.mode {
        Mode::RouterProcess(place) => (place, None),
        Mode::RouterArea(place, area) => (place, Some(area)),
        _ => return,
    };
    let name = full_name(&reader.rest().concat()).full;
    let ports = &mut process.list.ports;
    if reader.negated() {
        ports.remove(&name);
        return;
    }
    let line = reader.line;
    let port = ports.place(&name, || ListedPort { line, area, settings: ListSettings::default() });
    reader.opens = Some(Mode::RouterPort(place, port));
}
