//! [`Snapshot::ways`]: the paths of a packet between two hosts, as lists of ports and queues.

use std::collections::BTreeSet;

use perhop_analysis::PacketText;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::{ConfigError, Dscp, Packet};
use serde::Serialize;

use super::{Hop, PortId, Snapshot, WalkEnd, WalkPath};
use crate::trace::{Cause, Stage};

/// A device on a path.
#[derive(Clone, Debug)]
pub struct Stop {
    /// The port on which the packet arrives.
    pub arrives: PortId,
    /// The port through which the packet leaves.
    pub leaves: PortId,
    /// The queue that the packet joins at that port; `None` for a single queue without a name.
    pub queue: Option<String>,
    /// The tunnels that the packet enters in this device, if the tunnel packets leave through another port.
    pub(super) tunnels: Vec<PortId>,
}

/// The devices that a packet passes from host to host.
pub type Way = Vec<Stop>;

/// The paths of a packet.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The paths. There are several if meters can give the packet different colors.
    pub ways: Result<Vec<Way>, NotRun>,
    /// The assumptions of the paths.
    pub assumed: Vec<String>,
    /// The ignored parts of the configurations that can change the paths.
    pub not_looked_at: Vec<String>,
}

/// The reason why packets cannot run from host to host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum NotRun {
    /// The walk of the packets does not end at the host.
    Ends(WalkEnd),
    /// A scenario cannot express the path of the packets.
    Because {
        /// The reason why a scenario cannot express the path.
        because: String,
    },
}

impl NotRun {
    pub(super) fn because(because: impl Into<String>) -> NotRun {
        NotRun::Because { because: because.into() }
    }
}

fn dscp_of(packet: &str) -> Option<Dscp> {
    packet.parse::<PacketText>().ok().map(|read| read.packet.dscp)
}

impl Snapshot<'_> {
    /// Returns the paths of a packet from the host that has its source address to the host that has its
    /// destination address.
    ///
    /// # Errors
    /// The errors of [`Snapshot::walk`].
    pub fn ways(&self, packet: &Packet) -> Result<Ways, ConfigError> {
        let walk = self.walk(packet)?;
        let (mut ways, mut dropped) = (Vec::new(), None);
        let mut failed = None;
        for path in &walk.paths {
            match self.way(path) {
                Ok(way) => ways.push(way),
                // The conditioners of the simulated port drop packets of the same colors, so the path is
                // omitted.
                Err(why @ NotRun::Ends(WalkEnd::Dropped { cause: Cause::Conditioner, .. })) => {
                    dropped = Some(why);
                }
                Err(why) => failed = Some(why),
            }
        }
        let ways = match failed.or(dropped.filter(|_| ways.is_empty())) {
            Some(why) => Err(why),
            None => Ok(ways),
        };
        let mut not_looked_at = walk.not_looked_at;
        let hops = walk.paths.iter().flat_map(|path| &path.hops);
        let labeled: BTreeSet<&str> =
            hops.filter(|hop| !hop.labels.is_empty()).map(|hop| hop.device.as_str()).collect();
        not_looked_at.extend(labeled.into_iter().map(|device| {
            format!(
                "{device}: packets leave with MPLS labels, but packets of a run have none, so that ports \
                 classify them by the IP header"
            )
        }));
        Ok(Ways { ways, assumed: walk.assumed, not_looked_at })
    }

    fn way(&self, path: &WalkPath) -> Result<Way, NotRun> {
        match &path.end {
            WalkEnd::Delivered { interface: Some(_), .. } => {}
            WalkEnd::Delivered { device, interface: None } => {
                return Err(NotRun::because(format!("the destination is an address of {device} itself")));
            }
            end => return Err(NotRun::Ends(end.clone())),
        }
        let (mut way, mut arrives) = (Vec::new(), None);
        let mut outer: Vec<(&str, Option<Dscp>)> = Vec::new();
        for hop in &path.hops {
            arrives = arrives.or_else(|| self.arrival(hop));
            outer.extend(hop.stages.iter().filter_map(|stage| match stage {
                Stage::Encapsulation { interface, packet, .. } => Some((interface.as_str(), dscp_of(packet))),
                _ => None,
            }));
            let Some(leaves) = hop.port else {
                // A device that removes an outer header appears twice in the path, because it forwards the
                // inner packet in a second hop.
                if let Some((tunnel, _)) = outer.pop().filter(|(_, sent)| *sent != dscp_of(&hop.packet)) {
                    return Err(NotRun::because(format!(
                        "a router marks the outer header of {tunnel} on its path; packets of a run have one header"
                    )));
                }
                continue;
            };
            let Some(arrives) = arrives.take() else {
                return Err(NotRun::because(format!("{} itself sends the packets", hop.device)));
            };
            let tunnels = hop.stages.iter().filter_map(|stage| match stage {
                Stage::Encapsulation { interface, .. } => self.port_named(leaves.device, interface),
                _ => None,
            });
            let tunnels = tunnels.filter(|tunnel| *tunnel != leaves).collect();
            way.push(Stop { arrives, leaves, queue: hop.queue.clone(), tunnels });
        }
        if way.is_empty() { Err(NotRun::because("no device forwards the packets")) } else { Ok(way) }
    }

    fn arrival(&self, hop: &Hop) -> Option<PortId> {
        let device = hop.port.map(|port| port.device).or_else(|| self.place_of(&hop.device))?;
        self.port_named(device, hop.arrives.as_ref()?)
    }

    fn port_named(&self, device: usize, name: &str) -> Option<PortId> {
        let port = self.router(device).ports.iter().position(|port| port.name == name)?;
        Some(PortId { device, port })
    }

    /// Returns the names of the device and the interface of a port.
    pub fn names_of(&self, id: PortId) -> (&str, &str) {
        (&self.devices[id.device].name, &self.port(id).name)
    }

    /// Returns the conditions of the input policy of a port, in order.
    pub fn input_conditions(&self, id: PortId) -> Vec<&MatchConfig> {
        let stages = &self.port(id).input.conditioners;
        stages.iter().filter_map(|stage| stage.matches.as_ref()).collect()
    }

    /// Returns the device of a port.
    pub fn device_of(&self, id: PortId) -> &super::SnapshotDevice<'_> {
        &self.devices[id.device]
    }
}
