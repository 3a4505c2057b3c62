//! Packet memory of Catalyst switches with UADP hardware: 3650, 3850 and 9000.
//!
//! A switch divides the memory of a port among its queues by fixed rules. [`memory`] applies the rules to a
//! configuration. [`printed`] prints the result in the format of the switch, and reads such outputs.

mod model;
mod policy;
pub(crate) mod printed;
mod queues;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::{LineLeftOut, MemoryOptions, PortMemory, SwitchMemory, UnknownPort};
use perhop_lint::LineState;
use perhop_qos::ConfigError;

use crate::ast::{Configuration, Interface};
use crate::mls::EXPANDED;
use model::{Model, UNIT_BYTES};

pub(crate) use model::is_product;
use queues::Split;

/// The factor of the soft parts without `qos queue-softmax-multiplier`, percent.
const DEFAULT_MULTIPLIER: u64 = 100;

/// Returns the memory of the ports of the switch that `configuration` configures.
///
/// # Errors
/// The product is not known, or perhop does not model its memory.
pub(crate) fn memory(
    configuration: &Configuration,
    options: &MemoryOptions,
) -> Result<SwitchMemory, ConfigError> {
    let model = Model::find(configuration, options.model.as_deref())?;
    let mut found = SwitchMemory {
        model: model.name.clone(),
        chip: model.chip.name().to_owned(),
        unit_bytes: UNIT_BYTES,
        shared_units: Some(options.shared_units.unwrap_or(model.chip.shared_units().0)),
        ports: Vec::new(),
        unknown: Vec::new(),
        rules: rules::rows(&model, options),
        not_modeled: Vec::new(),
        egress_memory: Vec::new(),
        input_queues: Vec::new(),
        queue_sets: Vec::new(),
        maps: BTreeMap::new(),
    };
    for interface in configuration.interfaces.iter().filter(|interface| is_switch_port(interface)) {
        match port(configuration, interface, &model, options.port_units) {
            Ok((port, not_modeled)) => {
                found.ports.push(port);
                found.not_modeled.extend(not_modeled);
            }
            Err(reason) => found.unknown.push(UnknownPort { interface: interface.name.clone(), reason }),
        }
    }
    found.not_modeled.sort();
    found.not_modeled.dedup();
    Ok(found)
}

/// Changes `trust device` to the state "modeled", and `auto qos` to "irrelevant" if the port has the policies
/// of the template.
pub(crate) fn mark_lines(configuration: &mut Configuration) {
    let ports = || configuration.interfaces.iter().filter(|interface| is_switch_port(interface));
    let trusted: BTreeSet<usize> =
        ports().filter_map(|port| port.mls.device.as_ref()).map(|at| at.line).collect();
    let policies =
        |port: &&Interface| port.service_policies.input.is_some() || port.service_policies.output.is_some();
    let expanded: BTreeSet<usize> = ports().filter(policies).map(|port| port.line).collect();
    for line in configuration.lines.iter_mut().filter(|line| line.state == LineState::NotModelled) {
        let is_template = line.text.trim().starts_with("auto qos");
        if trusted.contains(&line.number) {
            (line.state, line.note) = (LineState::Modelled, None);
        } else if is_template && line.block.is_some_and(|block| expanded.contains(&block)) {
            (line.state, line.note) = (LineState::Irrelevant, Some(EXPANDED.to_owned()));
        }
    }
}

/// Checks that the product of the switch is known.
///
/// # Errors
/// No line names the product, or perhop does not model its memory.
pub(crate) fn model_of(configuration: &Configuration, chosen: Option<&str>) -> Result<(), ConfigError> {
    Model::find(configuration, chosen).map(drop)
}

/// Whether the packets of an interface use the memory of the chip. Packets of the management port, of the
/// port to hosted applications, and of virtual interfaces do not use this memory.
pub(crate) fn is_switch_port(interface: &Interface) -> bool {
    let name = interface.name.as_str();
    interface.parent.is_none()
        && interface.nominal_kilobits.is_some()
        && name.contains("Gig")
        && !name.starts_with("AppGig")
        && name.contains('/')
        && name != "GigabitEthernet0/0"
}

fn port(
    configuration: &Configuration,
    interface: &Interface,
    model: &Model,
    port_units: Option<u64>,
) -> Result<(PortMemory, Vec<LineLeftOut>), String> {
    let megabits = match &interface.speed {
        Some(speed) => speed.value,
        None => interface.nominal_kilobits.unwrap_or(0) / 1000,
    };
    let units = match port_units {
        Some(units) => units,
        None => model.port_units(&interface.name, megabits)?,
    };
    let output = interface.service_policies.output.as_ref();
    let mut not_modeled = Vec::new();
    let mut assumed = Vec::new();
    if interface.speed.is_none() {
        assumed.push(format!("the link has negotiated {megabits} Mb/s"));
    }
    if let Some(device) = &interface.mls.device {
        assumed.push(format!("the device that the port trusts ({}) is connected", device.value));
    }
    let multiplier_percent =
        configuration.softmax_multiplier.as_ref().map_or(DEFAULT_MULTIPLIER, |multiplier| multiplier.value);
    let split = Split { units, multiplier_percent, chip: model.chip };
    let classes = output
        .and_then(|name| configuration.policy_maps.get(&name.value))
        .map(|policy| policy::queueing_classes(configuration, policy, &mut not_modeled));
    let random = classes.iter().flatten().filter(|class| class.random_detect.is_some());
    assumed.extend(random.map(|class| {
        format!(
            "class {} has random-detect: its percentages refer to the ceiling of its queue while the other \
             queues are empty",
            class.name
        )
    }));
    let queues = match &classes {
        Some(classes) if !classes.is_empty() => split.for_classes(classes, &mut assumed),
        _ => {
            if let Some(name) = output
                && configuration.policy_maps.get(&name.value).is_none()
            {
                assumed.push(format!("policy {} is not in the file: the default queues apply", name.value));
            }
            split.default_queues(&mut assumed)
        }
    };
    let soft: u64 = queues.iter().filter_map(|queue| queue.soft).sum();
    let port = PortMemory {
        interface: interface.name.clone(),
        rate_bps: Some(megabits * 1_000_000),
        units: Some(units),
        policy: output.map(|name| name.value.clone()),
        multiplier_percent: Some(multiplier_percent),
        soft_start: queues::soft_start(soft),
        soft_end: queues::soft_end(soft),
        refused: classes.and_then(|classes| queues::refused(&classes)),
        without_queues: None,
        queues,
        assumed,
        srr: None,
    };
    Ok((port, not_modeled))
}
