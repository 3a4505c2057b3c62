//! The global commands of IOS XR that perhop models.

use super::interface::LAYER_2;
use super::{access_list, routes};
use crate::ast::{At, Configuration, HardwareProfile};
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, modelled, not_modelled, noted, recorded};
use crate::syntax::{global, labels, object_group, router};
use crate::words::{Finding, Form, Reader, Reading};

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    modelled("class-map", global::class_map),
    modelled("policy-map", global::policy_map),
    modelled("interface", interface),
    modelled("ipv4 access-list", access_list::ipv4),
    modelled("ipv6 access-list", access_list::ipv6),
    modelled("object-group", object_group::open),
    modelled("hostname", global::hostname),
    modelled("router static", routes::open),
    noted("router", router::open),
    recorded("mpls ldp", labels::LABELS, |_, reader| {
        reader.opens = (reader.form == Form::Plain).then_some(Mode::Labels);
        Ok(())
    }),
    modelled("hw-module profile qos", hardware),
    modelled("controller", |_, reader| {
        reader.opens = Some(Mode::OpticalController);
        Ok(Finding::IRRELEVANT)
    }),
    not_modelled("rsvp", "the router reserves bandwidth for flows that request it (RSVP)"),
];

/// Commands of the block `controller`.
pub(super) const CONTROLLER: &[Command<Configuration>] = &[
    // Cisco, xrdocs.io, "NCS5500 hw-module profiles".
    not_modelled(
        "mode etm",
        "in this mode all queues of a user are in one chip, with other classes, levels and limits",
    ),
    irrelevant("mode"),
    irrelevant("admin-state"),
    not_modelled(
        "breakout",
        "the line decides which ports exist, and their rates; perhop assumes the ports of the file",
    ),
    irrelevant("bits-per-symbol"),
    irrelevant("cd-min"),
    irrelevant("cd-max"),
    irrelevant("description"),
    irrelevant("dwdm-carrier"),
    irrelevant("fec"),
    irrelevant("laser"),
    not_modelled("loopback", "in loopback the port returns its packets to the router"),
    irrelevant("perf-mon"),
    irrelevant("pm"),
    irrelevant("rx-los-threshold"),
    irrelevant("sec-admin-state"),
    not_modelled("shutdown", "the port of this controller is down"),
    irrelevant("transmit-power"),
    irrelevant("tx-power"),
];

/// Reads `interface [preconfigure] NAME [l2transport]`.
fn interface(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    reader.keyword(&["preconfigure"]);
    let is_bridged = reader.rest().last() == Some(&"l2transport");
    let finding = global::open_interface(configuration, reader)?;
    Ok(if is_bridged { Finding::not_modelled(LAYER_2) } else { finding })
}

/// Reads `hw-module profile qos …`. Source: Cisco, xrdocs.io, "NCS5500 hw-module profiles".
fn hardware(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let keywords = [
        "hqos-enable",
        "physical-hqos-enable",
        "ingress-model",
        "max-classmap-size",
        "conform-aware-policer",
        "shared-policer-per-class-stats",
        "qosg-dscp-mark-enable",
        "ipv6",
        "ecn-marking-stats",
        "wred-stats-enable",
        "stats",
        "bw-threshold",
        "bundle-scale",
        "hqos-pps",
    ];
    let (profile, finding) = match reader.one_of(&keywords)? {
        "hqos-enable" => {
            (HardwareProfile::Hierarchy, Finding::modelled("policies on sub-interfaces can queue"))
        }
        "conform-aware-policer" => (
            HardwareProfile::ConformAwarePolicer,
            Finding::modelled("an outer policer first drops packets that exceed the inner policers"),
        ),
        "qosg-dscp-mark-enable" => (HardwareProfile::GroupWithDscp, Finding::MODELLED),
        "physical-hqos-enable" => (HardwareProfile::Hierarchy, Finding::MODELLED),
        "shared-policer-per-class-stats" => {
            return Ok(Finding::not_modelled("several classes share one policer"));
        }
        "ingress-model" => {
            return Ok(Finding::not_modelled("the mode changes how policies of arriving packets apply"));
        }
        _ => return Ok(Finding::irrelevant("the line divides resources and counters of the hardware")),
    };
    configuration.hardware_profiles.retain(|other| other.value != profile);
    if !reader.negated() {
        configuration.hardware_profiles.push(At::new(reader.line, profile));
    }
    Ok(finding)
}
