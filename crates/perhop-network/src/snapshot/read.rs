//! [`Snapshot::read`]: reads devices from configurations, then finds links and routes.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use perhop_device::{DeviceModel, DeviceTables, FrontEnds, ParseOptions};
use perhop_lint::Diagnostic;
use perhop_qos::ConfigError;
use rayon::prelude::*;

use super::tables::Output;
use super::{
    ConfigurationFile, LeftOut, Snapshot, SnapshotDevice, Written, links, shortest_paths, tables, vpn,
};
use crate::NetworkDevice;

impl<'a> Snapshot<'a> {
    /// Reads configurations, and infers links and routes that the configurations do not contain.
    ///
    /// # Errors
    /// A written link or route names a device or an interface that does not exist.
    pub fn read(
        front_ends: FrontEnds<'a>,
        files: &[ConfigurationFile],
        written: Written,
    ) -> Result<Snapshot<'a>, ConfigError> {
        let read: Vec<_> = files.par_iter().map(|file| read_file(front_ends, file)).collect();
        let (mut devices, mut left_out, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        let mut passed_over = 0;
        for (file, read) in files.iter().zip(read) {
            match read.device {
                Some(Ok(device)) => devices.push(device),
                Some(Err(error)) => {
                    left_out.push(LeftOut { file: file.file.clone(), because: error.message });
                }
                None => passed_over += usize::from(read.tables.is_none()),
            }
            outputs.extend(read.tables.map(|tables| Output {
                file: file.file.clone(),
                name: file.name.clone(),
                tables,
            }));
        }
        if devices.is_empty() && left_out.is_empty() {
            let message = "no file below it is a configuration of a device".to_owned();
            let help =
                "a network is a folder of configurations; links, routes and hosts may be in network.yaml";
            return Err(ConfigError::new("", message).help(help.to_owned()));
        }
        devices.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
        let mut remarks = unique_names(&mut devices);
        let refused = devices.iter().filter_map(|device| Some((device, device.device.refusal()?)));
        let without_queues = |(device, refusal): (&SnapshotDevice, &Diagnostic)| {
            format!(
                "the queues of {} are not simulated, only its addresses, routes, lists and classes are read: {}",
                device.name, refusal.message
            )
        };
        remarks.extend(refused.map(without_queues).collect::<Vec<_>>());
        let shown = tables::assign(&mut devices, &outputs);
        left_out.extend(shown.left_out);
        let cables: Vec<_> = written.cables.iter().cloned().chain(shown.cables).collect();
        let found = links::find(&devices, &written, &cables)?;
        remarks.extend(found.remarks);
        let link_of = links::by_port(&devices, &found.links);
        let links::Found { links, duplicates, .. } = found;
        let mut snapshot = Snapshot {
            devices,
            links,
            cables,
            left_out,
            passed_over,
            remarks,
            written,
            duplicates,
            link_of,
            vpn_routes: BTreeMap::new(),
            owners: OnceLock::new(),
        };
        snapshot.add_tunnel_maps();
        snapshot.add_routes()?;
        Ok(snapshot)
    }

    /// Adds the user's routes and the shortest paths of routing protocols to each device.
    fn add_routes(&mut self) -> Result<(), ConfigError> {
        let computed = shortest_paths::routes(self);
        for (device, routes) in self.devices.iter_mut().zip(computed) {
            device.device.given_mut().add_computed(routes);
        }
        let (of_vpns, origins) = vpn::routes(self);
        for (device, route) in of_vpns {
            self.devices[device].device.given_mut().add_computed(vec![route]);
        }
        self.vpn_routes = origins;
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
}

/// The content of a file: a device, outputs of a device, or both if the file is a recorded terminal session.
struct ReadFile<'a> {
    device: Option<Result<SnapshotDevice<'a>, ConfigError>>,
    tables: Option<DeviceTables>,
}

fn read_file<'a>(front_ends: FrontEnds<'a>, file: &ConfigurationFile) -> ReadFile<'a> {
    let tables = front_ends.read_tables(&file.text);
    let device = read_device(front_ends, file);
    let is_configuration = match &device {
        Ok(device) => file.is_configuration || device.device.model().is_some_and(DeviceModel::is_plausible),
        Err(_) => tables.is_none() && (file.is_configuration || front_ends.recognize(&file.text)),
    };
    ReadFile { device: is_configuration.then_some(device), tables }
}

fn read_device<'a>(
    front_ends: FrontEnds<'a>,
    file: &ConfigurationFile,
) -> Result<SnapshotDevice<'a>, ConfigError> {
    let options = ParseOptions {
        platform: file.platform.clone(),
        assume: file.assume.clone(),
        ..ParseOptions::default()
    };
    let device = NetworkDevice::read_member(front_ends, &file.text, &options)?;
    if device.router().ports.is_empty() {
        let refused = device.refusal().map(|refusal| refusal.message.clone());
        let because = refused.unwrap_or_else(|| "the configuration has no interface".to_owned());
        return Err(ConfigError::new("", because));
    }
    let own = device.router().hostname.clone();
    let name = file.name.clone().or(own).unwrap_or_else(|| stem(&file.file).to_owned());
    Ok(SnapshotDevice { name, file: file.file.clone(), device })
}

/// Returns the name of a file without the folder and the last extension.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Names devices after their files if several devices have the same name. Returns remarks about these
/// devices.
fn unique_names(devices: &mut [SnapshotDevice]) -> Vec<String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for device in devices.iter() {
        *uses.entry(device.name.clone()).or_default() += 1;
    }
    let mut remarks = Vec::new();
    for device in devices.iter_mut().filter(|device| uses[&device.name] > 1) {
        remarks.push(format!(
            "several devices are called {}: the device in {} is named after its file",
            device.name, device.file
        ));
        device.name = device.file.clone();
    }
    remarks
}
