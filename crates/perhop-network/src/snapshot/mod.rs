//! [`Snapshot`]: the devices of a network from a folder of configurations, with links and routes.
//!
//! ```text
//! files → Snapshot::read → devices
//!       → links: written by the user, else ports in one subnet
//!       → routes: configured, given by the user, else the shortest paths of OSPF and IS-IS
//!       → walk: trace at each device, hop by hop
//! ```
//!
//! Every inferred link has its reason. A walk that needs an unknown route stops there and reports it.

mod hops;
mod links;
mod matrix;
mod rules;
mod shortest_paths;
mod sites;
mod walk;

use std::collections::BTreeMap;

use perhop_device::{FrontEnds, ParseOptions, Port, PortRole, Router};
use perhop_qos::ConfigError;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use links::{Link, LinkEnd, LinkReason};
pub use matrix::{Fate, MatrixRow};
pub use rules::NetworkFinding;
pub use sites::Site;
pub use walk::{Change, Hop, Walk, WalkEnd, WalkPath};

use crate::NetworkDevice;

/// A configuration in a folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// Its path, as answers name it.
    pub file: String,
    /// The name of the device; `None` for the name that the configuration gives, else that of the file.
    pub name: Option<String>,
    /// The text.
    pub text: String,
    /// The platform; `None` for the recognized one.
    pub platform: Option<String>,
}

/// Facts about the network that no configuration has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Written {
    /// Links, each as the ends `DEVICE:INTERFACE`.
    pub links: Vec<Vec<String>>,
    /// Links of a description of a lab, whose names of interfaces may be those of the lab: as `links`, and
    /// left out where an end does not exist.
    pub lab_links: Vec<Vec<String>>,
    /// Routes, each as `PREFIX = NEXT HOP` or `PREFIX = INTERFACE`, by device. They override all others.
    pub routes: BTreeMap<String, Vec<String>>,
    /// Addresses of hosts by name.
    pub hosts: BTreeMap<String, std::net::IpAddr>,
}

/// A device of a snapshot.
pub struct SnapshotDevice<'a> {
    /// Its name, unique in the snapshot.
    pub name: String,
    /// The path of its configuration.
    pub file: String,
    /// The device.
    pub device: NetworkDevice<'a>,
}

impl SnapshotDevice<'_> {
    /// Returns its name, file and interfaces.
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

fn has_policy(port: &Port) -> bool {
    !port.intent.input.is_empty() || !port.intent.output.is_empty()
}

/// A device in a list of devices.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceSummary {
    /// Its name.
    pub name: String,
    /// The path of its configuration.
    pub file: String,
    /// The number of interfaces that are up.
    pub interfaces: usize,
    /// The number of interfaces with a policy.
    pub policies: usize,
}

/// A file that is not a device of the snapshot.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// The path.
    pub file: String,
    /// The reason.
    pub because: String,
}

/// A network of devices.
pub struct Snapshot<'a> {
    /// The devices, by name.
    pub devices: Vec<SnapshotDevice<'a>>,
    /// The links between their ports.
    pub links: Vec<Link>,
    /// The files that are not read.
    pub left_out: Vec<LeftOut>,
    /// Remarks about links and routes.
    pub remarks: Vec<String>,
    /// Facts that the user wrote.
    pub written: Written,
    /// Pairs of ports that have one address, with the line of the second.
    duplicates: Vec<Duplicate>,
    /// The link of each port, by device and place of the port.
    link_of: Vec<Vec<Option<usize>>>,
}

/// An address that two ports have, which may not share a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duplicate {
    pub(crate) address: std::net::IpAddr,
    pub(crate) ports: [PortId; 2],
}

/// A port of a device, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortId {
    pub(crate) device: usize,
    pub(crate) port: usize,
}

impl<'a> Snapshot<'a> {
    /// Reads configurations, and infers what is not written.
    ///
    /// # Errors
    /// A written link or route names a device or an interface that does not exist.
    pub fn read(
        front_ends: FrontEnds<'a>,
        files: &[ConfigurationFile],
        written: Written,
    ) -> Result<Snapshot<'a>, ConfigError> {
        let read: Vec<_> = files.par_iter().map(|file| read_device(front_ends, file)).collect();
        let (mut devices, mut left_out) = (Vec::new(), Vec::new());
        for (file, read) in files.iter().zip(read) {
            match read {
                Ok(device) => devices.push(device),
                Err(error) => left_out.push(LeftOut { file: file.file.clone(), because: error.message }),
            }
        }
        devices.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
        let mut remarks = unique_names(&mut devices);
        let found = links::find(&devices, &written)?;
        remarks.extend(found.remarks.iter().cloned());
        let link_of = links::by_port(&devices, &found.links);
        let links::Found { links, duplicates, .. } = found;
        let mut snapshot = Snapshot { devices, links, left_out, remarks, written, duplicates, link_of };
        snapshot.add_routes()?;
        Ok(snapshot)
    }

    /// Gives each device the routes that the user wrote, and those of the shortest paths.
    fn add_routes(&mut self) -> Result<(), ConfigError> {
        let computed = shortest_paths::routes(self);
        for (device, routes) in self.devices.iter_mut().zip(computed) {
            device.device.set_computed(routes);
        }
        for (name, routes) in std::mem::take(&mut self.written.routes) {
            let place = self.place_of(&name).ok_or_else(|| {
                ConfigError::new("routes", format!("there is no device `{name}`")).help(self.known_names())
            })?;
            for route in &routes {
                self.devices[place].device.add_route(route)?;
            }
            self.written.routes.insert(name, routes);
        }
        Ok(())
    }

    pub(crate) fn router(&self, device: usize) -> &Router {
        self.devices[device].device.router()
    }

    pub(crate) fn port(&self, id: PortId) -> &Port {
        &self.router(id.device).ports[id.port]
    }

    /// Returns the place of the device called `name`.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.devices.iter().position(|device| device.name.eq_ignore_ascii_case(name))
    }

    fn known_names(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(|device| device.name.as_str()).collect();
        format!("devices: {}", names.join(", "))
    }

    /// Returns the link of a port.
    pub(crate) fn link_of(&self, id: PortId) -> Option<&Link> {
        self.link_of[id.device][id.port].map(|place| &self.links[place])
    }
}

/// Whether packets of a network can pass the port: an interface that is up.
pub(crate) fn carries_packets(router: &Router, port: &Port) -> bool {
    port.forwarding.role == PortRole::Interface && crate::forwarding::is_up(router, port)
}

fn read_device<'a>(
    front_ends: FrontEnds<'a>,
    file: &ConfigurationFile,
) -> Result<SnapshotDevice<'a>, ConfigError> {
    let options = ParseOptions { platform: file.platform.clone(), ..ParseOptions::default() };
    let device = NetworkDevice::read(front_ends, &file.text, &options)?;
    if device.router().ports.is_empty() {
        return Err(ConfigError::new("", "the configuration has no interface".to_owned()));
    }
    let own = device.router().hostname.clone();
    let name = file.name.clone().or(own).unwrap_or_else(|| stem(&file.file).to_owned());
    Ok(SnapshotDevice { name, file: file.file.clone(), device })
}

/// Returns the name of a file without its folder and its last extension.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Gives devices with one name the names of their files, and reports it.
fn unique_names(devices: &mut [SnapshotDevice]) -> Vec<String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for device in devices.iter() {
        *uses.entry(device.name.clone()).or_default() += 1;
    }
    let mut remarks = Vec::new();
    for device in devices.iter_mut().filter(|device| uses[&device.name] > 1) {
        remarks.push(format!(
            "several devices are called {}: that of {} is called by its file",
            device.name, device.file
        ));
        device.name = device.file.clone();
    }
    remarks
}
