//! [`ShownNetwork`]: the outputs of the devices of a scenario at the end of a run.

mod configured;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use perhop_device::show::{CountedDevice, CountedPort, ShowCommand, ShowOptions, Shows};
use perhop_device::{FrontEnds, Port};
use perhop_qos::{ConfigError, Dscp};
use perhop_scenario::{Scenario, suggest};
use serde::Serialize;
use serde_json::Value;

pub use configured::{ConfiguredOutput, print_configured};
pub use tables::Tables;

use crate::devices::{Device, Devices, with_added};
use crate::options::options;

/// The devices of a scenario that have a configuration.
pub struct ShownNetwork<'a> {
    front_ends: FrontEnds<'a>,
    nodes: Vec<Node<'a>>,
    /// The codepoints that packets can have, from their sources or by marking.
    codepoints: BTreeSet<Dscp>,
    measured_s: f64,
}

struct Node<'a> {
    name: String,
    device: Device<'a>,
    /// The node at the other end of each link, by port.
    neighbors: BTreeMap<String, String>,
}

/// The output of a command for one device.
#[derive(Clone, Debug, Serialize)]
pub struct ShownDevice {
    /// The node of the device.
    pub node: String,
    /// The configured host name of the device, otherwise its node.
    pub hostname: String,
    /// The platform of the device.
    pub profile: String,
    /// The command line that prints the output.
    pub heading: String,
    /// The text for each port.
    pub texts: Vec<String>,
    /// For each port, a document with the numbers of the text, unrounded.
    pub documents: Vec<Value>,
    /// The ports without a link, whose counters are zero.
    pub without_link: Vec<String>,
}

impl<'a> ShownNetwork<'a> {
    /// Reads the configurations of `scenario`. Their paths are relative to `base`.
    ///
    /// # Errors
    /// A configuration cannot be read.
    pub fn read(front_ends: FrontEnds<'a>, scenario: &Scenario, base: &Path) -> Result<Self, ConfigError> {
        let devices = Devices::new(front_ends);
        let mut nodes = Vec::new();
        for (name, router) in &scenario.routers {
            let Some(configuration) = &router.configuration else { continue };
            let text = configuration.read(base).map_err(|(_, message)| ConfigError::new("", message))?;
            let text = with_added(&text, &configuration.add);
            let device = devices.read(&text, &options(configuration)?)?;
            let neighbors = neighbors(scenario, name, &device);
            nodes.push(Node { name: name.clone(), device, neighbors });
        }
        let mut codepoints: BTreeSet<Dscp> = scenario.traffic.iter().map(|entry| entry.dscp).collect();
        let ports = nodes.iter().flat_map(|node| &node.device.model.router.ports);
        let policies = scenario.policies.values().chain(ports.flat_map(|port| [&port.input, &port.output]));
        for policy in policies {
            add_marks(&serde_json::to_value(policy).unwrap_or_default(), &mut codepoints);
        }
        let measured_s = scenario.duration.as_seconds() - scenario.measure.warmup.as_seconds();
        Ok(ShownNetwork { front_ends, nodes, codepoints, measured_s })
    }

    /// Returns the links whose queues a run must sample for the output of the commands `names`. Each link is
    /// a device and a neighbor.
    ///
    /// # Errors
    /// There is no such command, or no device has its output.
    pub fn sampled_links(&self, names: &[&str]) -> Result<Vec<(String, String)>, ConfigError> {
        let mut found = Vec::new();
        for name in names {
            let command = self.command(name)?;
            for (node, port) in self.shown(command, None)? {
                let link = node.neighbors.get(&port.name).map(|to| (node.name.clone(), to.clone()));
                let is_queued = command.needs_samples && port.output.queueing.is_some();
                found.extend(link.filter(|link| is_queued && !found.contains(link)));
            }
        }
        Ok(found)
    }

    /// Returns the output of the command `name` for each device, with the counters of `tables`. With
    /// `interface`, the output has only the ports of this interface. The name may be abbreviated.
    ///
    /// # Errors
    /// There is no such command or option, or no device has such output.
    pub fn print(
        &self,
        name: &str,
        interface: Option<&str>,
        tables: &Tables,
        options: &ShowOptions,
    ) -> Result<Vec<ShownDevice>, ConfigError> {
        let command = self.command(name)?;
        let shown = self.shown(command, interface)?;
        let mut found = Vec::new();
        for node in &self.nodes {
            let own: Vec<&Port> =
                shown.iter().filter(|(one, _)| std::ptr::eq(*one, node)).map(|(_, port)| *port).collect();
            if let Some(shows) = node.shows(command).filter(|_| !own.is_empty()) {
                found.push(self.print_device(node, &own, (shows, command), tables, options)?);
            }
        }
        Ok(found)
    }

    fn print_device(
        &self,
        node: &Node,
        ports: &[&Port],
        (shows, command): (&dyn Shows, &ShowCommand),
        tables: &Tables,
        options: &ShowOptions,
    ) -> Result<ShownDevice, ConfigError> {
        let counted = |port: &&'_ Port| {
            let link_to = node.neighbors.get(&port.name).map(String::as_str);
            let counters = tables.of_port(&node.name, link_to, self.measured_s);
            (link_to, counters)
        };
        let counters: Vec<_> = ports.iter().map(counted).collect();
        let ports = ports.iter().zip(counters);
        let ports: Vec<CountedPort> =
            ports.map(|(port, (link_to, counters))| CountedPort { port, link_to, counters }).collect();
        let without_link = ports.iter().filter(|port| port.link_to.is_none());
        let without_link = without_link.map(|port| port.port.name.clone()).collect();
        let model = &node.device.model;
        let device = CountedDevice { model, ports, codepoints: &self.codepoints };
        let shown = shows.print_show(command, &device, options)?;
        let hostname = model.router.hostname.clone().unwrap_or_else(|| node.name.clone());
        let (texts, documents) = shown.into_iter().map(|port| (port.text, port.document)).unzip();
        Ok(ShownDevice {
            node: node.name.clone(),
            heading: format!("{hostname}#{}", command.whole),
            hostname,
            profile: model.platform.name.clone(),
            texts,
            documents,
            without_link,
        })
    }

    fn command(&self, name: &str) -> Result<&'static ShowCommand, ConfigError> {
        let all = self.front_ends.show_commands();
        all.iter().find(|command| command.name == name).copied().ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|command| command.name).collect();
            ConfigError::new("", format!("there is no output `{name}`"))
                .help(format!("outputs: {}", names.join(", ")))
        })
    }

    /// Returns the ports for which `command` has output, with their devices.
    fn shown(
        &self,
        command: &ShowCommand,
        interface: Option<&str>,
    ) -> Result<Vec<(&Node<'a>, &Port)>, ConfigError> {
        let able: Vec<(&Node, &dyn Shows)> =
            self.nodes.iter().filter_map(|node| Some((node, node.shows(command)?))).collect();
        if let (Some(node), true) = (self.nodes.first(), able.is_empty()) {
            return Err(not_of(node, command));
        }
        let mut all: Vec<(&Node, &Port)> = Vec::new();
        for (node, shows) in able {
            let ports = node.device.model.router.ports.iter();
            all.extend(ports.filter(|port| shows.is_shown(command, port)).map(|port| (node, port)));
        }
        if all.is_empty() {
            let message = format!("no router of the scenario has {}", command.about);
            let help = "give a scenario with router configurations, or a router configuration itself";
            return Err(ConfigError::new("", message).help(help));
        }
        let Some(name) = interface else { return Ok(all) };
        let found = node_ports(&all, name);
        if found.is_empty() {
            let message = format!("no router has {} `{name}`", command.about);
            let names = all.iter().map(|(_, port)| port.name.as_str());
            return Err(ConfigError::new("", message).help(suggest("interfaces with it", name, names)));
        }
        Ok(found)
    }
}

impl<'a> Node<'a> {
    fn shows(&self, command: &ShowCommand) -> Option<&'a dyn Shows> {
        let shows = self.device.front_end.shows()?;
        shows.commands().iter().any(|own| own.name == command.name).then_some(shows)
    }
}

/// Returns the error for a command that the devices of a system do not have.
fn not_of(node: &Node, command: &ShowCommand) -> ConfigError {
    let system = &node.device.model.platform.system;
    let own = node.device.front_end.shows().map_or(&[][..], Shows::commands);
    let own: Vec<String> = own.iter().map(|command| format!("`perhop show {}`", command.name)).collect();
    let help = if own.is_empty() {
        "`perhop run` shows the results of their classes".to_owned()
    } else {
        format!("their outputs: {}", own.join(", "))
    };
    let about = command.about.strip_prefix("a ").unwrap_or(command.about);
    ConfigError::new("", format!("devices of {system} have no {about}")).help(help)
}

/// Returns the port called `name`. If no port has this name, returns the ports whose name or interface `name`
/// abbreviates.
fn node_ports<'s, 'a>(all: &[(&'s Node<'a>, &'s Port)], name: &str) -> Vec<(&'s Node<'a>, &'s Port)> {
    let folded = |text: &str| text.to_lowercase().replace(' ', "");
    let wanted = folded(name);
    let exact: Vec<_> = all.iter().filter(|(_, port)| folded(&port.name) == wanted).copied().collect();
    if !exact.is_empty() {
        return exact;
    }
    let is_meant = |(node, port): &&(&Node, &Port)| {
        let full = folded(&node.device.front_end.interface_name(&wanted));
        folded(&port.name) == full || folded(&port.interface) == full
    };
    all.iter().filter(is_meant).copied().collect()
}

/// Returns the neighbors of a node, by the ports that the links of the node name.
fn neighbors(scenario: &Scenario, node: &str, device: &Device) -> BTreeMap<String, String> {
    let ports = &device.model.router.ports;
    let mut found = BTreeMap::new();
    for link in &scenario.links {
        let [first, second] = &link.between;
        let neighbor = if first == node { second } else { first };
        let written = link.interfaces.get(node).and_then(|interface| interface.name.as_deref());
        let (true, Some(written)) = (first == node || second == node, written) else { continue };
        let full = device.front_end.interface_name(written);
        let named = ports.iter().find(|port| port.name == written || port.name == full);
        if let Some(port) = named.or_else(|| device.model.router.port(&full)) {
            found.entry(port.name.clone()).or_insert_with(|| neighbor.clone());
        }
    }
    found
}

/// Adds the codepoints that the marking actions of a policy write.
fn add_marks(value: &Value, found: &mut BTreeSet<Dscp>) {
    match value {
        Value::Object(fields) => {
            let mark =
                fields.get("mark").map(|mark| mark.as_str().map_or_else(|| mark.to_string(), str::to_owned));
            found.extend(mark.and_then(|mark| mark.parse::<Dscp>().ok()));
            fields.values().for_each(|inner| add_marks(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| add_marks(inner, found)),
        _ => {}
    }
}
