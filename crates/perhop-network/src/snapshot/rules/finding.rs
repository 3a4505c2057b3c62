//! [`NetworkFinding`], and iterators over the ports and links that rules check.

use std::collections::BTreeSet;
use std::path::Path;

use perhop_device::{LineKind, Port};
use perhop_lint::{Diagnostic, Rule};
use serde::Serialize;

use super::topics::{Cause, Precision, Topic};

use crate::forwarding::addresses;
use crate::snapshot::{Link, PortId, Snapshot};

/// The minimum prefix length of IPv4 subnets that only connect devices.
const OF_HOSTS: u8 = 29;

/// A finding about a network: a diagnostic at a line of one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NetworkFinding {
    /// The path of the configuration.
    pub file: String,
    /// The name of the device.
    pub device: String,
    /// The line, the rule and the texts of the finding.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// The topic of the finding in its line, if other findings can have the same cause.
    #[serde(skip)]
    pub(super) cause: Option<Cause>,
}

impl NetworkFinding {
    /// Adds the topic of the finding. Other findings about this topic of the line have the same cause.
    pub(super) fn about(self, topic: Topic, precision: Precision) -> NetworkFinding {
        NetworkFinding { cause: Some(Cause { topic, precision }), ..self }
    }
}

/// Returns the findings that a check adds.
pub(super) fn collected(check: impl FnOnce(&mut Vec<NetworkFinding>)) -> Vec<NetworkFinding> {
    let mut found = Vec::new();
    check(&mut found);
    found
}

impl Snapshot<'_> {
    /// Returns a finding at a line of a device.
    pub(super) fn finding(
        &self,
        device: usize,
        rule: &'static Rule,
        line: usize,
        (message, effect): (String, String),
    ) -> NetworkFinding {
        let member = &self.devices[device];
        NetworkFinding {
            file: member.file.clone(),
            device: member.name.clone(),
            diagnostic: Diagnostic::new(rule, line.max(1), message, effect),
            cause: None,
        }
    }

    /// Returns the name of a port in messages, `DEVICE:INTERFACE`.
    pub(super) fn port_name(&self, id: PortId) -> String {
        format!("{}:{}", self.devices[id.device].name, self.port(id).name)
    }

    /// Returns the name of a line in messages: the name of the device's file, and the line number.
    pub(super) fn place(&self, device: usize, line: usize) -> String {
        let file = Path::new(&self.devices[device].file);
        let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        format!("{name}, line {line}")
    }

    /// Generates the links with two ends, except tunnels, once in each direction.
    pub(super) fn wires(&self) -> impl Iterator<Item = [PortId; 2]> {
        let two = self.links.iter().filter(|link| link.ends.len() == 2 && !link.is_tunnel);
        two.flat_map(|link| {
            let [first, second] = [link.ends[0].id, link.ends[1].id];
            [[first, second], [second, first]]
        })
    }

    /// Returns the ports whose subnets are sites.
    pub(super) fn host_ports(&self) -> BTreeSet<PortId> {
        let mut found = BTreeSet::new();
        for site in self.sites() {
            let Some(device) = self.place_of(&site.device) else { continue };
            let mut all = self.router(device).ports.iter();
            if let Some(port) = all.position(|port| port.name == site.interface) {
                found.insert(PortId { device, port });
            }
        }
        found
    }

    /// Whether a port of a link is the gateway of a subnet of hosts: one end of the link is an interface of a
    /// VLAN or shares a virtual address (HSRP, VRRP), and the subnet has room for more hosts than devices.
    pub(super) fn is_gateway(&self, id: PortId) -> bool {
        let serves_hosts = |id: PortId| {
            let port = self.port(id);
            let is_vlan = port.kind == Some(LineKind::Virtual) && port.forwarding.tunnel.is_none();
            is_vlan || !port.forwarding.shared_addresses.is_empty()
        };
        let is_large = |length: u8| length < OF_HOSTS;
        self.link_of(id).is_some_and(|link| link.ends.iter().any(|end| serves_hosts(end.id)))
            && addresses(self.port(id)).any(|own| own.address.is_ipv4() && is_large(own.prefix_length))
    }

    /// Generates the ports of links, each with its link.
    pub(super) fn inside_ports(&self) -> impl Iterator<Item = (PortId, &Link)> {
        self.links.iter().flat_map(|link| link.ends.iter().map(move |end| (end.id, link)))
    }
}

/// Returns the line that attaches the output policy of a port, otherwise the first line of the port.
pub(super) fn line_of_output(port: &Port) -> usize {
    port.forwarding.output_line.unwrap_or(port.line)
}
