//! [`DeviceTables`]: the routes and neighbors that a device prints.

use std::collections::BTreeMap;

use perhop_qos::classifier::Prefix;

use crate::forwarding::Route;

/// The tables in an output of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceTables {
    /// The name of the device, if the output shows it.
    pub device: Option<String>,
    /// The routes, by routing table (VRF); `None` is the global one.
    pub routes: BTreeMap<Option<String>, ShownTable>,
    /// The devices at the other ends of the cables.
    pub neighbors: Vec<ShownNeighbor>,
}

impl DeviceTables {
    /// Whether the output has no table.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty() && self.neighbors.is_empty()
    }
}

/// A routing table as a device prints it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownTable {
    /// The routes that lead to other devices, or discard packets.
    pub routes: Vec<Route>,
    /// The subnets of the interfaces that are up; empty if the output shows only a part of the table.
    pub connected: Vec<Prefix>,
}

/// A device at the other end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownNeighbor {
    /// The local interface, on the device that prints the neighbor.
    pub interface: String,
    /// The name of the neighbor. The device may add a domain or truncate the name.
    pub device: String,
    /// The interface of the neighbor.
    pub far_interface: String,
    /// The protocol by which the device discovered the neighbor.
    pub protocol: &'static str,
}
