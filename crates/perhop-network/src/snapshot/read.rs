//! [`Snapshot::read`]: devices out of configurations, then links, then routes.

use std::collections::BTreeMap;

use perhop_device::{FrontEnds, ParseOptions};
use perhop_qos::ConfigError;
use rayon::prelude::*;

use super::{ConfigurationFile, LeftOut, Snapshot, SnapshotDevice, Written, links, shortest_paths};
use crate::NetworkDevice;

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
