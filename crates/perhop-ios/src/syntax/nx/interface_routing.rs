//! Commands of the block `interface` of NX-OS that concern OSPF and IS-IS.
//!
//! Source: Cisco, "Nexus 9000 Series NX-OS Unicast Routing Configuration Guide", chapters about OSPF
//! and IS-IS.

use perhop_device::LinkSettingKind;

use crate::ast::{At, Interface};
use crate::syntax::command::{Command, noted};
use crate::syntax::interface_routing::{cost, isis, setting};
use crate::syntax::router::{levels, metric};
use crate::words::Reader;

pub(super) const COMMANDS: &[Command<Interface>] = &[
    noted("ip router ospf", ospf),
    noted("ip ospf advertise-subnet", |interface, reader| {
        interface.routing.announces_loopback_subnet = !reader.negated();
    }),
    noted("ip ospf cost", |interface, reader| cost(&mut interface.routing.ospf_cost, reader)),
    noted("ip ospf dead-interval", |interface, reader| {
        setting(interface, LinkSettingKind::OspfDead, reader);
    }),
    noted("ip ospf hello-interval", |interface, reader| {
        setting(interface, LinkSettingKind::OspfHello, reader);
    }),
    noted("ip ospf network", |interface, reader| setting(interface, LinkSettingKind::OspfNetwork, reader)),
    noted("ip ospf passive-interface", |interface, reader| {
        // The command after `no` is an exception to `passive-interface default` of the process.
        interface.routing.ospf_passive = Some(At::new(reader.line, !reader.negated()));
    }),
    noted("ip ospf shutdown", |interface, reader| {
        interface.routing.ospf_off = (!reader.negated()).then_some(reader.line);
    }),
    noted("ip router isis", isis),
    noted("isis circuit-type", |interface, reader| {
        setting(interface, LinkSettingKind::IsisLevels, reader);
    }),
    noted("isis metric", |interface, reader| metric(&mut interface.routing.isis_metrics, reader)),
    noted("isis network", |interface, reader| setting(interface, LinkSettingKind::IsisNetwork, reader)),
    noted("isis passive", passive),
    noted("isis passive-interface", passive),
    noted("isis shutdown", |interface, reader| {
        interface.routing.isis_off = (!reader.negated()).then_some(reader.line);
    }),
    noted("isis suppressed", |interface, reader| {
        interface.routing.isis_suppressed = (!reader.negated()).then_some(reader.line);
    }),
];

/// Reads `ip router ospf TAG area AREA`.
fn ospf(interface: &mut Interface, reader: &mut Reader) {
    let Some(tag) = reader.next().map(str::to_owned) else { return };
    let area = if reader.eat("area") { reader.next() } else { None };
    let Some(area) = area else { return };
    interface.routing.ospf = (!reader.negated()).then(|| At::new(reader.line, (tag, area.to_owned())));
}

/// Reads `isis passive-interface LEVEL`. After `no`, the port has neighbors in the level in spite of
/// `passive-interface default` of the process.
fn passive(interface: &mut Interface, reader: &mut Reader) {
    let (levels, is_passive) = (levels(reader), !reader.negated());
    let known = interface.routing.isis_passive.map_or([false; 2], |at| at.value);
    let changed = [0, 1].map(|place| if levels[place] { is_passive } else { known[place] });
    interface.routing.isis_passive = Some(At::new(reader.line, changed));
}
