//! The ends of paths at devices whose next hop perhop does not know.

use std::net::IpAddr;

use perhop_device::{RoutingProcess, RoutingProtocol};

use super::{Snapshot, WalkEnd};
use crate::forwarding::{Decision, Origin};

impl Snapshot<'_> {
    /// Returns the end of a path at a device that has no certain route for the packet; `None` if it has a
    /// certain route.
    pub(super) fn unknown(
        &self,
        device: usize,
        vrf: Option<&str>,
        decision: &Decision,
        destination: IpAddr,
    ) -> Option<WalkEnd> {
        let member = &self.devices[device];
        let stop = |because: String| self.stop(device, vrf, because);
        let of_table = vrf.map_or(String::new(), |vrf| format!(" in the VRF {vrf}"));
        match decision {
            Decision::Unknown(_) => {
                let protocol = self.line_not_computed(device, vrf).map_or(String::new(), |line| {
                    let text = member.device.line_text(line);
                    format!(", and perhop does not compute the routes of line {line}, `{text}`")
                });
                Some(stop(format!("no route to {destination} is known{of_table}{protocol}")))
            }
            Decision::Leaves(exit) if !matches!(exit.origin, Origin::Connected | Origin::Given) => {
                // A protocol whose routes perhop does not compute can add a more specific route than the
                // default route.
                let is_default = exit.prefix.as_deref().is_some_and(|prefix| prefix.ends_with("/0"));
                let line = self.line_not_computed(device, vrf).filter(|_| is_default)?;
                let text = member.device.line_text(line);
                Some(stop(format!(
                    "only the default route leads to {destination}, and line {line}, `{text}`, may add a better route that perhop does not compute"
                )))
            }
            _ => None,
        }
    }

    /// Returns the line of a protocol whose routes perhop does not compute, unless the user wrote the routes.
    pub(super) fn line_not_computed(&self, device: usize, vrf: Option<&str>) -> Option<usize> {
        if self.devices[device].device.table().given.is_given(vrf) {
            return None;
        }
        let router = self.router(device);
        let parts = || router.ports.iter().flat_map(|port| &port.forwarding.routing);
        let all = &router.forwarding.processes;
        let is_other_table = |process: &RoutingProcess| process.vrf.as_deref() != vrf;
        all.iter().find_map(|process| match process.protocol {
            RoutingProtocol::Eigrp | RoutingProtocol::Other => Some(process.line),
            // The front end may not read the lines that name the ports, as on EOS.
            protocol if parts().all(|part| all[part.process].protocol != protocol) => Some(process.line),
            _ if is_other_table(process) => None,
            _ => process.not_computed.first().copied(),
        })
    }

    /// Returns the end of a path at a device that lacks a route or a label.
    pub(super) fn stop(&self, device: usize, vrf: Option<&str>, because: String) -> WalkEnd {
        let name = &self.devices[device].name;
        let of_table = vrf.map_or(String::new(), |vrf| format!(" vrf {vrf}"));
        WalkEnd::PathUnknown {
            device: name.clone(),
            because,
            help: format!("add the routes of {name}: `show ip route{of_table}`, or `routes` in network.yaml"),
        }
    }
}
