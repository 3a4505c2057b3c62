//! The limits of the queues: a factor of the free memory of the chip, or a configured number.
//!
//! A queue with factor α accepts no packet while its length is at least α times the free memory (Choudhury
//! and Hahne 1998). If all other queues are empty, a queue can use at most α / (1 + α) of the shared memory;
//! k long queues use α / (1 + kα) each.

use perhop_device::{
    DropThreshold, LineLeftOut, MemoryOptions, PortMemory, QueueMemory, SwitchMemory, UnknownPort,
};
use perhop_qos::ConfigError;

use super::model::{ASSUMED_KILOBITS, Chip, Model};
use super::refusals::refused;
use super::rules;
use super::system_policies::queue_of;
use crate::ast::{Configuration, Interface, PolicyClass, QueueLimit};

/// The value that represents a factor of 1.
const PARTS: u64 = 1024;

/// Returns the memory of the switch that `configuration` configures, with the queues of the ports.
///
/// # Errors
/// The product is unknown, or its queues follow other rules.
pub(crate) fn memory(
    configuration: &Configuration,
    options: &MemoryOptions,
) -> Result<SwitchMemory, ConfigError> {
    let model = Model::find(configuration, options.model.as_deref())?;
    let sharing = configuration.nx_os.dynamic_sharing;
    let known = model.chip.shared_units(sharing.is_some()).map(|(units, _)| units);
    let shared_units = options.shared_units.or(known);
    let mut found = SwitchMemory {
        model: model.name.clone(),
        chip: model.chip.name().to_owned(),
        unit_bytes: model.chip.unit_bytes().0,
        shared_units,
        ports: Vec::new(),
        unknown: Vec::new(),
        egress_memory: Vec::new(),
        queue_sets: Vec::new(),
        maps: std::collections::BTreeMap::new(),
        input_queues: Vec::new(),
        rules: rules::rows(&model, sharing.is_some(), options),
        not_modeled: Vec::new(),
    };
    if let Some(line) = sharing.map(|at| at.line).filter(|_| model.chip != Chip::CloudScaleFx2) {
        let text = "hardware qos dynamic-buffer-sharing".to_owned();
        found.not_modeled.push(LineLeftOut { line, text });
    }
    let is_chip_port =
        |interface: &&Interface| interface.parent.is_none() && interface.name.starts_with("Ethernet");
    for interface in configuration.interfaces.iter().filter(is_chip_port) {
        match shared_units {
            Some(units) => found.ports.push(port(configuration, interface, &model, units)?),
            None => found.unknown.push(UnknownPort {
                interface: interface.name.clone(),
                reason: format!(
                    "the size of the memory that the queues of {} share is not published: set the size with \
                     shared-units, in units of {} bytes",
                    model.name, found.unit_bytes
                ),
            }),
        }
    }
    Ok(found)
}

fn port(
    configuration: &Configuration,
    interface: &Interface,
    model: &Model,
    shared_units: u64,
) -> Result<PortMemory, ConfigError> {
    let megabits = interface.speed.map_or(ASSUMED_KILOBITS / 1000, |speed| speed.value);
    let mut assumed = Vec::new();
    if interface.speed.is_none() {
        assumed.push(format!("no line sets the speed: {megabits} Mb/s"));
    }
    let output = interface.service_policies.output.as_ref();
    let policy = output.and_then(|name| configuration.policy_maps.get(&name.value));
    let pool = Pool { model, shared_units, rate_bps: megabits * 1_000_000 };
    let mut queues = Vec::new();
    for class in policy.iter().flat_map(|policy| &policy.classes) {
        let Some(queue) = queue_of(&class.name) else { continue };
        queues.push(pool.queue(class, queue.group)?);
        if class.random_detect.is_some() {
            assumed.push(format!(
                "class {} has random-detect: its limit is that of the queue while the other queues are empty",
                class.name
            ));
        }
    }
    queues
        .sort_by_key(|queue: &QueueMemory| (queue.priority_level.unwrap_or(u8::MAX), u8::MAX - queue.number));
    Ok(PortMemory {
        interface: interface.name.clone(),
        rate_bps: Some(pool.rate_bps),
        units: None,
        policy: output.map(|name| name.value.clone()),
        multiplier_percent: None,
        soft_start: 0,
        soft_end: 0,
        assumed,
        srr: None,
        refused: None,
        without_queues: match policy {
            None => Some(match output {
                Some(at) => format!("policy {} is not in the file", at.value),
                None => "the interface has no queuing policy".to_owned(),
            }),
            Some(policy) if queues.is_empty() => {
                Some(format!("policy {} has no queue of the switch", policy.name))
            }
            Some(_) => refused(configuration, interface, model).map(|found| found.message),
        },
        queues,
    })
}

/// The memory that the queues of a port share.
struct Pool<'a> {
    model: &'a Model,
    shared_units: u64,
    rate_bps: u64,
}

impl Pool<'_> {
    fn queue(&self, class: &PolicyClass, number: u8) -> Result<QueueMemory, ConfigError> {
        let (soft, factor) = self.limit(class)?;
        Ok(QueueMemory {
            number,
            class: class.name.clone(),
            line: Some(class.line).filter(|line| *line > 0),
            default: None,
            priority_level: class.priority.map(|priority| priority.value.level),
            weight: None,
            hard: Some(0),
            soft: Some(soft),
            srr: None,
            dynamic_factor: factor,
            port_soft_min: None,
            global_soft_min: None,
            thresholds: vec![DropThreshold {
                units: Some(soft),
                percent: None,
                packets: Vec::new(),
                line: None,
            }],
        })
    }

    /// Returns the limit of the queue of `class` in units while all other queues are empty, and the factor in
    /// units of 1/1024.
    fn limit(&self, class: &PolicyClass) -> Result<(u64, Option<u32>), ConfigError> {
        let unit = self.model.chip.unit_bytes().0;
        let bytes = match class.queue_limit.map(|limit| limit.value) {
            Some(QueueLimit::Bytes(bytes)) => Some(bytes),
            Some(QueueLimit::Microseconds(us)) => {
                let bits = u128::from(self.rate_bps) * u128::from(us) / 1_000_000;
                Some(u64::try_from(bits / 8).unwrap_or(u64::MAX))
            }
            Some(QueueLimit::Packets(_)) | None => None,
        };
        if let Some(bytes) = bytes {
            return Ok(((bytes / unit).clamp(1, self.shared_units), None));
        }
        let default = self.model.chip.default_factor().map(|(number, _)| number);
        let Some(number) = class.dynamic_limit.map(|at| at.value).or(default) else {
            let message =
                format!("the limit of a queue of {} without queue-limit is not published", self.model.name);
            return Err(
                ConfigError::new("model", message).help("write `queue-limit dynamic N` in each class")
            );
        };
        let factor = self.model.chip.factors()[usize::from(number)];
        let parts = u128::from(factor);
        let units = u128::from(self.shared_units) * parts / (u128::from(PARTS) + parts);
        Ok((u64::try_from(units).unwrap_or(u64::MAX).max(1), Some(factor)))
    }
}
