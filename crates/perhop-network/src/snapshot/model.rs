//! [`Snapshot`]: the devices, links and facts of a network.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::OnceLock;

use perhop_device::{Port, PortRole, Router};
use perhop_qos::classifier::Prefix;
use serde::{Deserialize, Serialize};

use crate::NetworkDevice;

/// A configuration in a folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// The path of the file, as results name it.
    pub file: String,
    /// The name of the device; `None` means the configured host name, otherwise the file name.
    pub name: Option<String>,
    /// The text of the configuration.
    pub text: String,
    /// The platform; `None` means the platform that perhop recognizes.
    pub platform: Option<String>,
    /// Whether the file name shows that the file is a configuration. Otherwise the content decides.
    #[serde(default)]
    pub is_configuration: bool,
    /// Match criteria by the name of a class. They replace the criteria in the configuration.
    #[serde(default)]
    pub assume: BTreeMap<String, String>,
}

/// Facts about the network that are not in configurations.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// Links, each as the ends `DEVICE:INTERFACE`.
    pub links: Vec<Vec<String>>,
    /// Cables from the description of a lab.
    pub cables: Vec<WrittenCable>,
    /// Routes by device, each as `PREFIX = NEXT HOP` or `PREFIX = INTERFACE`. A route of a VRF begins with
    /// `vrf NAME`. These routes override all other routes of their table.
    pub routes: BTreeMap<String, Vec<String>>,
    /// Addresses of hosts by name.
    pub hosts: BTreeMap<String, IpAddr>,
}

/// A cable that the description of a lab or the output of a device names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenCable {
    /// The ends `DEVICE:INTERFACE`. Devices outside of the snapshot, such as switches, can be ends.
    pub ends: Vec<String>,
    /// The file that names the cable.
    pub source: String,
}

/// A device of a snapshot.
pub struct SnapshotDevice<'a> {
    /// The name, unique in the snapshot.
    pub name: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The device.
    pub device: NetworkDevice<'a>,
}

impl SnapshotDevice<'_> {
    /// Returns the name, the file and the interfaces of the device.
    pub fn summary(&self) -> DeviceSummary {
        let router = self.device.router();
        DeviceSummary {
            name: self.name.clone(),
            file: self.file.clone(),
            interfaces: router.ports.iter().filter(|port| carries_packets(router, port)).count(),
            policies: router.ports.iter().filter(|port| has_policy(port)).count(),
        }
    }
}

/// Whether a port has configured classes, in its intent or only in its lowered policies.
pub(super) fn has_policy(port: &Port) -> bool {
    let mut classes = port.links.input.classes.iter().chain(&port.links.output.classes);
    has_intent(port) || classes.any(|class| class.line > 0)
}

/// Whether the intent of a port contains a policy.
pub(super) fn has_intent(port: &Port) -> bool {
    !port.intent.input.is_empty() || !port.intent.output.is_empty()
}

/// The summary of a device, for lists of devices.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceSummary {
    /// The name.
    pub name: String,
    /// The path of the device's configuration.
    pub file: String,
    /// The number of interfaces that are up.
    pub interfaces: usize,
    /// The number of interfaces with a policy.
    pub policies: usize,
}

/// A file that is not a device of the snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// The path of the file.
    pub file: String,
    /// The reason why the file is not a device.
    pub because: String,
}

/// The origin of a VPN route: a VRF of another router.
#[derive(Clone, Debug)]
pub(super) struct VpnRoute {
    /// The index of the router that announces the route.
    pub(super) device: usize,
    /// The name of the VRF on that router.
    pub(super) vrf: String,
    /// The reason why the receiving VRF has the route.
    pub(super) because: String,
}

/// The origins of VPN routes, by the index of the receiving router, the receiving VRF and the prefix.
pub(super) type VpnRoutes = BTreeMap<(usize, String, Prefix), VpnRoute>;

/// A network of devices.
pub struct Snapshot<'a> {
    /// The devices, by name.
    pub devices: Vec<SnapshotDevice<'a>>,
    /// The links between ports of the devices.
    pub links: Vec<Link>,
    /// The cables, from descriptions of labs and from outputs of devices.
    pub cables: Vec<WrittenCable>,
    /// The files that perhop does not read as devices.
    pub left_out: Vec<LeftOut>,
    /// The number of files that are neither configurations nor outputs of devices.
    pub passed_over: usize,
    /// Remarks about links and routes.
    pub remarks: Vec<String>,
    /// Facts that the user wrote.
    pub written: Written,
    /// Pairs of ports that have the same address.
    pub(super) duplicates: Vec<Duplicate>,
    /// The index of each port's link, by the index of the device and the index of the port.
    pub(super) link_of: Vec<Vec<Option<usize>>>,
    /// The origins of computed routes of VPNs.
    pub(super) vpn_routes: VpnRoutes,
    /// The ports with each address, in the order of devices. Computed on first use.
    pub(super) owners: OnceLock<BTreeMap<IpAddr, Vec<PortId>>>,
}

/// An address that two ports have. The ports may be on different links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate {
    pub(crate) address: IpAddr,
    pub(crate) ports: [PortId; 2],
}

/// The indexes of a device and its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortId {
    pub(crate) device: usize,
    pub(crate) port: usize,
}

/// Ports that reach each other directly: the two ends of a wire, or the ports in one subnet.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// The ends of the link, at least two.
    pub ends: Vec<LinkEnd>,
    /// The reason for the link.
    #[serde(flatten)]
    pub because: LinkReason,
    /// Whether the ends are tunnels, whose packets travel inside other packets.
    pub is_tunnel: bool,
}

/// One end of a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkEnd {
    /// The name of the device.
    pub device: String,
    /// The name of the interface.
    pub interface: String,
    #[serde(skip)]
    pub(crate) id: PortId,
}

/// The reason for a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum LinkReason {
    /// The user wrote the link.
    Written,
    /// A cable connects the ports.
    Cable {
        /// The file that names the cable.
        source: String,
        /// The subnet, if the ports are in a common subnet.
        subnet: Option<String>,
    },
    /// The ports have addresses in the same subnet.
    Subnet {
        /// The prefix of the subnet.
        subnet: String,
    },
}

impl Snapshot<'_> {
    pub(crate) fn router(&self, device: usize) -> &Router {
        self.devices[device].device.router()
    }

    pub(crate) fn port(&self, id: PortId) -> &Port {
        &self.router(id.device).ports[id.port]
    }

    /// Returns the index of the device called `name`.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn known_names(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|device| device.name.as_str()).collect();
        format!("devices: {}", names.join(", "))
    }

    /// Returns the link of a port.
    pub(crate) fn link_of(&self, id: PortId) -> Option<&Link> {
        self.link_of[id.device][id.port].map(|place| &self.links[place])
    }
}

/// Whether packets can pass a port: the port is an interface and is up.
pub(crate) fn carries_packets(router: &Router, port: &Port) -> bool {
    port.forwarding.role == PortRole::Interface && crate::forwarding::is_up(router, port)
}
