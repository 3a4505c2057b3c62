//! Outputs of commands of IOS, IOS-XE, IOS XR and NX-OS that show counters.

mod document;
mod early_drops;
mod fed;
mod fed_reading;
mod ios_xr;
mod limiters;
mod load_interval;
mod nx_os;
mod offered;
mod pattern;
mod printing;
mod reading;
mod shared_queue;
mod state;
mod style;

use perhop_device::show::{
    ConfiguredCommand, CountedDevice, OfferedClass, PolicyReading, ShowCommand, ShowOptions, ShownObject,
    ShownPort, Shows,
};
use perhop_device::{DeviceModel, Port, PortMemory, PortRole, SwitchMemory};
use perhop_qos::ConfigError;
use serde_json::json;

use crate::uadp;
use fed::STATS;
use style::Style;

/// The commands whose outputs perhop prints or reads.
const COMMANDS: [ShowCommand; 4] = [
    ShowCommand {
        name: POLICIES,
        whole: "show policy-map interface",
        about: "a policy-map at an interface",
        is_read: true,
        needs_samples: true,
    },
    ShowCommand {
        name: CONTROL_PLANE,
        whole: "show policy-map control-plane",
        about: "a policy-map of the control plane",
        is_read: false,
        needs_samples: false,
    },
    ShowCommand {
        name: LIMITERS,
        whole: "show interfaces rate-limit",
        about: "a `rate-limit` at an interface",
        is_read: false,
        needs_samples: false,
    },
    ShowCommand {
        name: STATS,
        whole: "show platform hardware fed switch active qos queue stats interface",
        about: "a port of a switch with queues of its chip",
        is_read: true,
        needs_samples: true,
    },
];
/// The command about the memory of a port.
const CONFIGURED: [ConfiguredCommand; 1] = [ConfiguredCommand {
    name: "platform hardware fed switch active qos queue config interface",
    whole: "show platform hardware fed switch active qos queue config interface",
    object: "interface",
}];
const POLICIES: &str = "policy-map interface";
const CONTROL_PLANE: &str = "policy-map control-plane";
const LIMITERS: &str = "interfaces rate-limit";

/// The outputs of IOS and IOS-XE.
pub(crate) struct IosShows;

impl Shows for IosShows {
    fn commands(&self) -> &'static [ShowCommand] {
        &COMMANDS
    }

    fn is_shown(&self, command: &ShowCommand, port: &Port) -> bool {
        if command.name == LIMITERS {
            !port.links.has_no_limiter()
        } else if command.name == STATS {
            port.output.queueing.as_ref().is_some_and(|queueing| queueing.memory.is_some())
        } else {
            let is_meant = command.name != CONTROL_PLANE || port.forwarding.role == PortRole::ControlPlane;
            is_meant && (port.input_policy().is_some() || port.output_policy().is_some())
        }
    }

    fn print_show(
        &self,
        command: &ShowCommand,
        device: &CountedDevice,
        options: &ShowOptions,
    ) -> Result<Vec<ShownPort>, ConfigError> {
        let style = Style::chosen(options.style.as_deref(), &device.model.platform.name)?;
        let own = Style::chosen(None, &device.model.platform.name)?;
        let memory = device.model.memory.as_ref();
        if command.name == STATS {
            let memory = memory.filter(|memory| is_printed(memory)).ok_or_else(|| of_other_switch(device))?;
            let shown = device.ports.iter().map(|port| {
                let place = state::Place { port, interval_s: 1, after_s: None, seen: device.codepoints };
                fed::shown(memory, port, &place.policies())
            });
            return Ok(shown.collect());
        }
        if memory.is_some() && own != Style::NxOs {
            let message = format!(
                "perhop does not print the output of this command for {}",
                device.model.platform.system
            );
            let help = "`perhop show platform hardware fed switch active qos queue stats interface` prints \
                        the counters of queues of a Catalyst (UADP); `perhop run` also shows them";
            return Err(ConfigError::new("", message).help(help));
        }
        if command.name == LIMITERS {
            return Ok(device.ports.iter().map(|port| limiters::shown(device.model, port)).collect());
        }
        let intervals = load_interval::LoadIntervals::read(&device.model.lines);
        let shown = device.ports.iter().map(|port| {
            let interval_s = intervals.of_port(&port.port.name);
            let place = state::Place { port, interval_s, after_s: options.after_s, seen: device.codepoints };
            let policies = place.policies();
            ShownPort {
                text: match style {
                    Style::IosXr => ios_xr::interface_text(port.port, &policies),
                    Style::NxOs => nx_os::interface_text(port.port, &policies),
                    _ => printing::interface_text(printed_name(port.port), &policies, style, interval_s),
                },
                document: document::interface(port, &policies, interval_s),
            }
        });
        Ok(shown.collect())
    }

    fn read_show(&self, output: &str) -> Result<Vec<PolicyReading>, ConfigError> {
        if fed_reading::is_output(output) { fed_reading::read(output) } else { reading::read(output) }
    }

    fn commands_in(&self, output: &str) -> Vec<&'static str> {
        vec![if fed_reading::is_output(output) { STATS } else { POLICIES }]
    }

    fn configured_commands(&self) -> &'static [ConfiguredCommand] {
        &CONFIGURED
    }

    fn print_configured(
        &self,
        _command: &ConfiguredCommand,
        model: &DeviceModel,
        name: Option<&str>,
    ) -> Vec<ShownObject> {
        let Some(memory) = model.memory.as_ref().filter(|memory| is_printed(memory)) else {
            return Vec::new();
        };
        let wanted = name.map(crate::interface_name);
        let is_meant = |port: &&PortMemory| wanted.as_ref().is_none_or(|wanted| *wanted == port.interface);
        let shown = memory.ports.iter().filter(is_meant).map(|port| ShownObject {
            name: port.interface.clone(),
            text: uadp::printed::print(port),
            document: json!(port),
        });
        shown.collect()
    }

    fn offered(&self, policy: &PolicyReading, port: &Port) -> Vec<OfferedClass> {
        offered::offered(policy, port.counted_bytes.unwrap_or_default())
    }
}

/// Whether a switch has the commands of a UADP chip that show its queues.
fn is_printed(memory: &SwitchMemory) -> bool {
    memory.ports.iter().any(|port| port.soft_end > 0)
}

fn of_other_switch(device: &CountedDevice) -> ConfigError {
    let system = &device.model.platform.system;
    ConfigError::new("", format!("devices of {system} have no such command")).help(
        "only Catalyst switches with a UADP chip have the command; for other devices, `perhop run` shows the \
         drops",
    )
}

/// Returns the name that the router prints for a port.
fn printed_name(port: &Port) -> &str {
    match port.forwarding.role {
        PortRole::Interface => &port.name,
        PortRole::ControlPlane => "Control Plane",
    }
}
