//! The outputs of `tc` with counters: `tc -s qdisc show` and `tc -s class show`. Some counters are omitted,
//! because perhop does not count them: the number of times that a bucket was empty (`overlimits` of `htb`,
//! `hfsc`, `tbf`, `cake`), lent and borrowed packets, tokens, `refcnt`, and lengths and states of `CoDel` and
//! PIE at one instant.

mod class;
mod counters;
mod offered;
mod qdisc;
mod reading;
mod values;

use perhop_device::Port;
use perhop_device::show::{
    CountedDevice, CountedPort, OfferedClass, PolicyReading, ShowCommand, ShowOptions, ShownPort, Shows,
};
use perhop_qos::ConfigError;
use serde_json::{Value, json};

use crate::model::Device;
use crate::recognition::parse;
use counters::DeviceCounters;

const CLASSES: &str = "class";
const COMMANDS: [ShowCommand; 2] = [
    ShowCommand {
        name: "qdisc",
        whole: "tc -s qdisc show",
        about: "a queueing discipline at an interface",
        is_read: true,
        needs_samples: true,
    },
    ShowCommand {
        name: CLASSES,
        whole: "tc -s class show",
        about: "a queueing discipline at an interface",
        is_read: true,
        needs_samples: true,
    },
];

/// The outputs of `tc`.
pub(crate) struct TcShows;

impl Shows for TcShows {
    fn commands(&self) -> &'static [ShowCommand] {
        &COMMANDS
    }

    fn is_shown(&self, _command: &ShowCommand, port: &Port) -> bool {
        port.output.queueing.is_some()
    }

    fn print_show(
        &self,
        command: &ShowCommand,
        device: &CountedDevice,
        options: &ShowOptions,
    ) -> Result<Vec<ShownPort>, ConfigError> {
        if let Some(style) = &options.style {
            let error = ConfigError::new("style", format!("--style: there is no style `{style}`"));
            return Err(error.help("tc prints in one layout: leave --style out"));
        }
        // The model of a port does not contain the numbers of disciplines and classes, so the lines are
        // parsed again.
        let lines: Vec<&str> = device.model.lines.iter().map(|line| line.text.as_str()).collect();
        let configuration = parse(&lines.join("\n"));
        let shown = |port: &CountedPort| {
            let known = configuration.devices.iter().find(|known| known.name == port.port.name);
            known.map_or_else(|| nothing(port), |known| of_device(known, port, command))
        };
        Ok(device.ports.iter().map(shown).collect())
    }

    fn read_show(&self, output: &str) -> Result<Vec<PolicyReading>, ConfigError> {
        Ok(reading::read(output))
    }

    fn offered(&self, policy: &PolicyReading, port: &Port) -> Vec<OfferedClass> {
        offered::offered(policy, port.output.overhead)
    }
}

fn nothing(port: &CountedPort) -> ShownPort {
    ShownPort { text: String::new(), document: document(port, &[]) }
}

fn document(port: &CountedPort, objects: &[Value]) -> Value {
    json!({"name": port.port.name, "link_to": port.link_to, "objects": objects})
}

/// Returns the output for a device. It begins with the command line, which names the device.
fn of_device(device: &Device, port: &CountedPort, command: &ShowCommand) -> ShownPort {
    let counters = DeviceCounters::new(device, port);
    let mut lines = vec![format!("# {} dev {}", command.whole, device.name)];
    let objects = if command.name == CLASSES {
        class::print(device, &counters, &mut lines)
    } else {
        qdisc::print(device, &counters, &mut lines)
    };
    ShownPort { text: lines.join("\n") + "\n", document: document(port, &objects) }
}
