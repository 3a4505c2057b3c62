//! [`RoutingProcess`] and [`PortRouting`]: the interior routing protocols of a device, as configured.
//!
//! A configuration shows which ports run a protocol and at which cost. The routes themselves depend on all
//! routers of the network; `perhop-network` computes them for OSPF and IS-IS inside one domain.

use perhop_qos::classifier::Prefix;

use crate::intent::At;

/// A routing protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutingProtocol {
    /// OSPF (RFC 2328).
    Ospf,
    /// IS-IS for IP (RFC 1195).
    Isis,
    /// EIGRP (RFC 7868), whose routes perhop does not compute.
    Eigrp,
    /// A protocol for which perhop reads neither routes nor ports.
    Other,
}

/// A routing protocol that a device runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingProcess {
    /// The line that starts the process.
    pub line: usize,
    /// The protocol.
    pub protocol: RoutingProtocol,
    /// The routing table (VRF) of the routes; `None` for the global one.
    pub vrf: Option<String>,
    /// The administrative distance of the routes. The device uses the route with the smallest distance.
    pub distance: u8,
    /// The identifier of the router in the protocol. It must be unique in the network.
    pub identity: Option<At<String>>,
    /// The origins whose routes the process announces: `static`, `connected` or another protocol.
    pub redistributed: Vec<At<String>>,
    /// The line by which the process announces a default route.
    pub default_route: Option<usize>,
    /// The lines that change the routes in a way that perhop does not compute: redistribution, filters,
    /// summaries.
    pub not_computed: Vec<usize>,
}

/// The settings of a port that runs a routing protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRouting {
    /// The line that enables the protocol on the port.
    pub line: usize,
    /// The index of the process in [`Forwarding::processes`](crate::Forwarding::processes).
    pub process: usize,
    /// The area of OSPF.
    pub area: Option<String>,
    /// The cost of packets that leave via the port. The line is the one that sets the cost, otherwise the
    /// line that starts the process.
    pub cost: At<u32>,
    /// The line that makes the port passive: the port announces its subnet, but has no neighbors. `None` if
    /// the port can have neighbors.
    pub passive: Option<usize>,
    /// The subnets that the port announces.
    pub announced: AnnouncedSubnets,
}

/// The subnets that a port announces in a routing protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnouncedSubnets {
    /// The subnets of its addresses.
    OfAddresses,
    /// One host: the address of a loopback interface in OSPF (RFC 2328 §9.1).
    Host(Prefix),
    /// No subnet: the port only has neighbors.
    Nothing,
}
