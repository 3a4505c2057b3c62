//! The table of limits, as `perhop buffers` shows it.

use std::collections::BTreeMap;

use perhop_device::profile::{DefaultLimit, LimitPrecision};
use perhop_device::{DropThreshold, LineLeftOut, MemoryOptions, PortMemory, QueueMemory, SwitchMemory};
use perhop_qos::ConfigError;

use super::{has_silicon_one, product_in};
use crate::ast::{CLASS_DEFAULT, Configuration, Interface, PolicyClass};
use crate::platform::Profile;
use crate::uadp::is_switch_port;

/// The rules of the profile that determine the table.
const RULES: &[&str] = &[
    "class-queue-limit",
    "priority-queue-limit",
    "interface-queue-limit",
    "limit-precision",
    "priority-levels",
    "output-classes",
    "memory-division",
];

/// Returns the limits of the queues of the switch that `configuration` configures.
///
/// # Errors
/// The user gives units of memory, which these switches do not have.
pub(crate) fn memory(
    configuration: &Configuration,
    options: &MemoryOptions,
) -> Result<SwitchMemory, ConfigError> {
    let chosen = options.model.as_deref().filter(|name| has_silicon_one(name)).map(str::to_ascii_lowercase);
    let model = chosen
        .or_else(|| product_in(configuration))
        .unwrap_or_else(|| Profile::CatalystSiliconOne.name().to_owned());
    if options.port_units.or(options.shared_units).or(options.pool_ports).is_some() {
        let message =
            format!("the memory of {model} is not divided into units: the limits of its queues are in bytes");
        return Err(ConfigError::new("port-units", message).help("remove the units"));
    }
    let mut found = SwitchMemory {
        model,
        chip: "Silicon One".to_owned(),
        unit_bytes: 1,
        shared_units: None,
        ports: Vec::new(),
        unknown: Vec::new(),
        rules: Profile::CatalystSiliconOne.rules().rows(),
        not_modeled: Vec::new(),
        egress_memory: Vec::new(),
        input_queues: Vec::new(),
        queue_sets: Vec::new(),
        maps: BTreeMap::new(),
    };
    found.rules.retain(|rule| RULES.contains(&rule.rule.as_str()));
    for interface in configuration.interfaces.iter().filter(|interface| is_switch_port(interface)) {
        found.ports.push(port(configuration, interface, &mut found.not_modeled));
    }
    found.not_modeled.sort();
    found.not_modeled.dedup();
    Ok(found)
}

fn port(
    configuration: &Configuration,
    interface: &Interface,
    not_modeled: &mut Vec<LineLeftOut>,
) -> PortMemory {
    let megabits = interface.speed.as_ref().map(|speed| speed.value);
    let rate_bps = megabits.unwrap_or(interface.nominal_kilobits.unwrap_or(0) / 1000) * 1_000_000;
    let output = interface.service_policies.output.as_ref();
    let policy = output.and_then(|name| configuration.policy_maps.get(&name.value));
    let mut classes: Vec<&PolicyClass> = policy.map_or_else(Vec::new, |policy| {
        let has_queue = |class: &&PolicyClass| class.queues() || class.name == CLASS_DEFAULT;
        policy.classes.iter().filter(has_queue).collect()
    });
    let level = |class: &PolicyClass| class.priority.as_ref().map(|priority| priority.value.level);
    classes.sort_by_key(|class| (level(class).unwrap_or(u8::MAX), class.name == CLASS_DEFAULT));
    for class in &classes {
        not_modeled.extend(written_limits(class));
    }
    let (limit, blocks) = limit_bytes(rate_bps);
    let queue = |number: usize, name: &str, line: Option<usize>, priority_level: Option<u8>| QueueMemory {
        number: u8::try_from(number).unwrap_or(u8::MAX),
        class: name.to_owned(),
        line,
        default: None,
        priority_level,
        weight: None,
        hard: Some(0),
        soft: Some(limit),
        dynamic_factor: None,
        port_soft_min: None,
        global_soft_min: None,
        thresholds: vec![DropThreshold {
            units: Some(limit),
            percent: None,
            packets: Vec::new(),
            line: None,
        }],
        srr: None,
    };
    let mut queues: Vec<QueueMemory> = classes
        .iter()
        .enumerate()
        .map(|(number, class)| queue(number, &class.name, Some(class.line), level(class)))
        .collect();
    if !classes.iter().any(|class| class.name == CLASS_DEFAULT) {
        queues.push(queue(queues.len(), CLASS_DEFAULT, None, None));
    }
    PortMemory {
        interface: interface.name.clone(),
        rate_bps: Some(rate_bps),
        units: None,
        policy: output.map(|name| name.value.clone()),
        multiplier_percent: None,
        soft_start: 0,
        soft_end: 0,
        queues,
        assumed: vec![
            format!("the limit of each queue is {blocks} blocks, and frames fill these blocks completely"),
            "the external memory has room; the limits are lower while it is nearly full".to_owned(),
        ],
        refused: None,
        without_queues: None,
        srr: None,
    }
}

/// Returns the lines of a class that change the limit of its queue. Their effect is not published.
fn written_limits(class: &PolicyClass) -> Vec<LineLeftOut> {
    let left_out = |line, command: &str| LineLeftOut {
        line,
        text: format!("class {}: {command}: the table has the default limit", class.name),
    };
    let limit = class.queue_limit.as_ref().map(|limit| left_out(limit.line, "queue-limit"));
    let by_value = class.value_limits.iter().map(|limit| left_out(limit.line, "queue-limit"));
    let random = class.random_detect.as_ref().map(|detect| left_out(detect.line, "random-detect"));
    limit.into_iter().chain(by_value).chain(random).collect()
}

/// Returns the limit, in bytes and in blocks, of a queue of a port with rate `rate_bps` according to the
/// rules of the profile.
fn limit_bytes(rate_bps: u64) -> (u64, u64) {
    let rules = Profile::CatalystSiliconOne.rules();
    let (DefaultLimit::InterfaceTime { microseconds }, LimitPrecision::Blocks { bytes }) =
        (*rules.class_queue_limit, *rules.limit_precision)
    else {
        unreachable!("the profile has these kinds of rules")
    };
    let blocks = (rate_bps / 8 * microseconds / 1_000_000 / bytes).max(1);
    (blocks * bytes, blocks)
}
