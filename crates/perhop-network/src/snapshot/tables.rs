//! Outputs of devices in a snapshot: routing tables and neighbors.

use std::collections::BTreeSet;

use perhop_device::{DeviceTables, TunnelEnds, TunnelMap};

use super::{LeftOut, Snapshot, SnapshotDevice, WrittenCable};
use crate::forwarding::addresses;
use crate::trace::outer::source_address;

/// An output of a device, with the path of its file.
pub(super) struct Output {
    pub(super) file: String,
    /// The name of the device that the user wrote.
    pub(super) name: Option<String>,
    pub(super) tables: DeviceTables,
}

/// The cables in outputs, and the outputs whose device is unknown.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) cables: Vec<WrittenCable>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Adds the printed routes to their devices, and returns the cables to neighbors.
pub(super) fn assign(devices: &mut [SnapshotDevice], outputs: &[Output]) -> Shown {
    let mut shown = Shown::default();
    let mut known: BTreeSet<[String; 2]> = BTreeSet::new();
    for output in outputs {
        let Some(place) = device_of(devices, output) else {
            let because =
                "neither the prompt nor the name of the file is the name of a device: begin the name with \
                           that of the device, such as R1-routes.txt"
                    .to_owned();
            shown.left_out.push(LeftOut { file: output.file.clone(), because });
            continue;
        };
        for (vrf, table) in &output.tables.routes {
            devices[place].device.given_mut().add_shown(vrf.as_deref(), table);
        }
        for neighbor in &output.tables.neighbors {
            let near = format!("{}:{}", devices[place].name, neighbor.interface);
            let far = match named(devices, &neighbor.device) {
                Some(other) => format!("{}:{}", devices[other].name, neighbor.far_interface),
                None => format!("{}:{}", neighbor.device, neighbor.far_interface),
            };
            let source = format!("{} ({})", output.file, neighbor.protocol);
            // The outputs of both ends contain the same cable, so its ends are sorted.
            let mut ends = [near, far];
            ends.sort_unstable();
            if known.insert(ends.clone()) {
                shown.cables.push(WrittenCable { ends: ends.into(), source });
            }
        }
    }
    shown
}

/// Returns the device of an output: the device that the user wrote, otherwise the device in the prompt,
/// otherwise the device in the path of the file.
fn device_of(devices: &[SnapshotDevice], output: &Output) -> Option<usize> {
    let written = output.name.as_deref().and_then(|name| named(devices, name));
    let prompt = output.tables.device.as_deref().and_then(|name| named(devices, name));
    let by_path = || {
        let mut parts = output.file.rsplit('/');
        let file = parts.next().unwrap_or_default();
        let begins = |name: &str| {
            let beginning = file.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            beginning && !file[name.len()..].starts_with(|next: char| next.is_ascii_alphanumeric())
        };
        let longest = (0..devices.len()).filter(|place| begins(&devices[*place].name));
        let longest = longest.max_by_key(|place| devices[*place].name.len());
        longest.or_else(|| named(devices, parts.next()?))
    };
    written.or(prompt).or_else(by_path)
}

/// Returns the device with a name as LLDP prints it. The name can include a domain, and can be cut off after
/// 20 characters.
fn named(devices: &[SnapshotDevice], name: &str) -> Option<usize> {
    const LONGEST: usize = 20;
    let is_called = |name: &str| devices.iter().position(|device| device.name.eq_ignore_ascii_case(name));
    let is_cut = |device: &SnapshotDevice| {
        let beginning = device.name.get(..name.len());
        name.len() == LONGEST && beginning.is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let without_domain = name.split('.').next().unwrap_or(name);
    is_called(name).or_else(|| is_called(without_domain)).or_else(|| devices.iter().position(is_cut))
}

impl Snapshot<'_> {
    /// Adds the outer addresses of the other ends to each tunnel with several ends. The ends register their
    /// addresses by NHRP (RFC 2332 §2).
    pub(super) fn add_tunnel_maps(&mut self) {
        let mut found = Vec::new();
        for link in self.links.iter().filter(|link| link.is_tunnel) {
            for end in &link.ends {
                let own = self.port(end.id).forwarding.tunnel.as_ref();
                if own.is_none_or(|tunnel| tunnel.ends == TunnelEnds::One) {
                    continue;
                }
                let others = link.ends.iter().filter(|other| other.id.device != end.id.device);
                let maps: Vec<TunnelMap> = others
                    .filter_map(|other| {
                        let port = self.port(other.id);
                        let tunnel = port.forwarding.tunnel.as_ref()?;
                        let outside = source_address(self.router(other.id.device), tunnel)?;
                        let inside = addresses(port).next()?.address;
                        Some(TunnelMap { line: 0, inside, outside })
                    })
                    .collect();
                found.push((end.id, maps));
            }
        }
        for (id, maps) in found {
            let name = self.port(id).name.clone();
            self.devices[id.device].device.given_mut().set_tunnel_maps(&name, maps);
        }
    }
}
