//! Outputs of a device: `show interfaces queue`, `show interfaces extensive` and `show firewall` with the
//! counters of a run, and the outputs of `show class-of-service`, which show a configuration.
//!
//! perhop does not know the indexes of interfaces and objects. It prints 0, except for built-in objects with
//! fixed indexes. Junos Evolved also prints 0 for objects (K. Nawaz, MPLS Backbone Class of Service Design
//! Principles, output of `show class-of-service interface`).

mod applied;
mod extensive;
mod filters;
mod firewall;
mod interfaces;
mod layout;
mod offered;
mod printing;
mod reading;
mod scheduler_maps;
mod tables;

use std::collections::BTreeSet;

use perhop_device::show::{
    ConfiguredCommand, CountedDevice, CountedPort, OfferedClass, PolicyReading, ShowCommand, ShowOptions,
    ShownObject, ShownPort, Shows,
};
use perhop_device::{DeviceModel, Port};
use perhop_qos::ConfigError;

use crate::added::ADDED;
use applied::Applied;

const QUEUE: &str = "interfaces queue";
const EXTENSIVE: &str = "interfaces extensive";
const FIREWALL: &str = "firewall";
const COMMANDS: [ShowCommand; 3] = [
    ShowCommand {
        name: QUEUE,
        whole: "show interfaces queue",
        about: "a queue of forwarding classes at an interface",
        is_read: true,
        needs_samples: true,
    },
    ShowCommand {
        name: EXTENSIVE,
        whole: "show interfaces extensive",
        about: "a queue of forwarding classes at an interface",
        is_read: true,
        needs_samples: false,
    },
    ShowCommand {
        name: FIREWALL,
        whole: "show firewall",
        about: "a filter of packets at an interface",
        is_read: true,
        needs_samples: false,
    },
];
/// The lines by which the reader recognizes the outputs of the commands.
const SIGNS: [(&str, &str); 3] =
    [("Queue: ", QUEUE), (reading::QUEUE_COUNTERS, EXTENSIVE), (filters::FILTER, FIREWALL)];

const INTERFACE: &str = "class-of-service interface";
const SCHEDULER_MAP: &str = "class-of-service scheduler-map";
const CLASSIFIER: &str = "class-of-service classifier";
const FORWARDING_CLASS: &str = "class-of-service forwarding-class";
const CONFIGURED: [ConfiguredCommand; 5] = [
    ConfiguredCommand { name: INTERFACE, whole: "show class-of-service interface", object: "interface" },
    ConfiguredCommand {
        name: SCHEDULER_MAP,
        whole: "show class-of-service scheduler-map",
        object: "scheduler map",
    },
    ConfiguredCommand { name: CLASSIFIER, whole: "show class-of-service classifier", object: "classifier" },
    ConfiguredCommand {
        name: "class-of-service drop-profile",
        whole: "show class-of-service drop-profile",
        object: "drop profile",
    },
    ConfiguredCommand {
        name: FORWARDING_CLASS,
        whole: "show class-of-service forwarding-class",
        object: "forwarding class",
    },
];

/// The outputs of Junos.
pub(crate) struct JunosShows;

impl Shows for JunosShows {
    fn commands(&self) -> &'static [ShowCommand] {
        &COMMANDS
    }

    fn is_shown(&self, command: &ShowCommand, port: &Port) -> bool {
        if command.name == FIREWALL {
            return port.conditions_input() || port.conditions_output();
        }
        // perhop adds an interface only if no configured interface is usable.
        let is_added = ADDED.iter().any(|(name, _)| *name == port.interface);
        port.output.queueing.is_some() && !is_added
    }

    fn print_show(
        &self,
        command: &ShowCommand,
        device: &CountedDevice,
        options: &ShowOptions,
    ) -> Result<Vec<ShownPort>, ConfigError> {
        if let Some(style) = &options.style {
            let error = ConfigError::new("style", format!("--style: there is no style `{style}`"));
            return Err(error.help("the platform decides the layout: leave --style out"));
        }
        // The model of a port has neither the numbers of queues nor all classes of a queue.
        let applied = Applied::of_model(device.model);
        if command.name == FIREWALL {
            let found = firewall::filters(&applied, device);
            let is_empty = || ConfigError::new("", "no interface of the configuration has a filter");
            return if found.is_empty() { Err(is_empty()) } else { Ok(found) };
        }
        // If units share a port in a run, the output of the port contains their counters.
        let linked = device.ports.iter().filter(|port| port.link_to.is_some());
        let counted: BTreeSet<String> = linked.flat_map(printing::names).collect();
        let is_shown = |port: &&CountedPort| port.link_to.is_some() || !counted.contains(&port.port.name);
        let ports = device.ports.iter().filter(is_shown);
        if command.name == EXTENSIVE {
            return Ok(extensive::interfaces(&applied, &ports.collect::<Vec<_>>()));
        }
        Ok(ports.map(|port| printing::port(&applied, port)).collect())
    }

    fn read_show(&self, output: &str) -> Result<Vec<PolicyReading>, ConfigError> {
        Ok(reading::read(output))
    }

    fn commands_in(&self, output: &str) -> Vec<&'static str> {
        let has = |sign: &str| output.lines().any(|line| line.trim_start().starts_with(sign));
        SIGNS.iter().filter(|(sign, _)| has(sign)).map(|(_, name)| *name).collect()
    }

    fn offered(&self, policy: &PolicyReading, port: &Port) -> Vec<OfferedClass> {
        offered::offered(policy, port.counted_bytes.map_or(0, |counted| counted.queues))
    }

    fn configured_commands(&self) -> &'static [ConfiguredCommand] {
        &CONFIGURED
    }

    fn print_configured(
        &self,
        command: &ConfiguredCommand,
        model: &DeviceModel,
        name: Option<&str>,
    ) -> Vec<ShownObject> {
        let applied = Applied::of_model(model);
        match command.name {
            INTERFACE => interfaces::interfaces(&applied, name),
            SCHEDULER_MAP => scheduler_maps::scheduler_maps(&applied, name),
            FORWARDING_CLASS => tables::forwarding_classes(&applied, name),
            CLASSIFIER => tables::classifiers(&applied, name),
            _ => tables::drop_profiles(&applied, name),
        }
    }
}
