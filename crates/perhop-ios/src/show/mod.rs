//! Outputs of IOS, IOS-XE, IOS XR and NX-OS with their counters.

mod document;
mod early_drops;
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
    CountedDevice, OfferedClass, PolicyReading, ShowCommand, ShowOptions, ShownPort, Shows,
};
use perhop_device::{Port, PortRole};
use perhop_qos::ConfigError;

use style::Style;

/// The supported commands.
const COMMANDS: [ShowCommand; 3] = [
    ShowCommand {
        name: "policy-map interface",
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
];
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
        if device.model.memory.is_some() && own != Style::NxOs {
            let message = format!("perhop does not print this command for {}", device.model.platform.system);
            let help =
                "`perhop buffers FILE --printed` prints the output about its queues; perhop run has counters";
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
        reading::read(output)
    }

    fn offered(&self, policy: &PolicyReading, port: &Port) -> Vec<OfferedClass> {
        offered::offered(policy, port.counted_bytes.unwrap_or_default().classes)
    }
}

/// Returns the name of a port in the router's output.
fn printed_name(port: &Port) -> &str {
    match port.forwarding.role {
        PortRole::Interface => &port.name,
        PortRole::ControlPlane => "Control Plane",
    }
}
