//! [`Table`]: the routing table of a device, and its forwarding decision.

use std::net::IpAddr;

use perhop_device::{
    InterfaceAddress, Port, PortRole, Route, RouteOrigin, RouteTarget, Router, RoutingProtocol,
};
use perhop_qos::classifier::Prefix;

use crate::given::Given;

/// Limit on the recursive lookups of next hops for one destination.
const MOST_LOOKUPS: usize = 8;
/// The distance of a route that is never used (Cisco, "Route selection in Cisco routers").
const UNUSABLE: u8 = u8::MAX;

/// The routes of a device: connected and static routes, and routes that are not in the configuration.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// The device whose routes these are.
    pub router: &'a Router,
    /// The routes that are not in the configuration, with line 0.
    pub(crate) given: &'a Given,
}

/// The forwarding decision for a destination.
#[derive(Clone, Debug)]
pub enum Decision<'a> {
    /// The packet is for the device itself.
    Own {
        /// The port that has the destination address.
        port: &'a Port,
        /// The destination address, with its prefix length.
        address: InterfaceAddress,
    },
    /// The packet leaves through a port.
    Leaves(Exit<'a>),
    /// A route discards the packet.
    Discarded(&'a Route),
    /// No route is known, or the next hop of the route is unknown.
    Unknown(Option<&'a Route>),
}

/// The port through which a packet leaves, and the reason.
#[derive(Clone, Debug)]
pub struct Exit<'a> {
    /// The output port.
    pub port: &'a Port,
    /// The kind of route.
    pub origin: Origin,
    /// The prefix of the route; `None` for a subnet with an invalid prefix.
    pub prefix: Option<String>,
    /// The next hop; `None` if the destination is in the subnet of the port, or if the route has no next hop.
    pub next_hop: Option<IpAddr>,
    /// The last next hop that is not a neighbor of the device and whose route leads to `next_hop`.
    pub far: Option<IpAddr>,
    /// The lines that determine the decision: the route, and the routes that resolve its next hop.
    pub lines: Vec<usize>,
    /// The number of other routes with the same prefix length and distance.
    pub equals: usize,
    /// Whether the route is in use only if a test succeeds.
    pub is_conditional: bool,
}

/// The kind of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The subnet of a port.
    Connected,
    /// A static route.
    Static,
    /// A route from the user or from an output of the device.
    Given,
    /// The shortest path of a routing protocol.
    Computed(RoutingProtocol),
}

/// A route to a destination, and its rank.
struct Candidate<'a> {
    length: u8,
    distance: u8,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Leaves(Exit<'a>),
    Discarded(&'a Route),
    Learned(&'a Route),
}

impl<'a> Table<'a> {
    /// Returns the routing table of a device whose configuration is the only source of facts.
    pub fn configured(router: &'a Router) -> Table<'a> {
        Table { router, given: Given::nothing() }
    }

    /// Returns the decision for `destination` in a routing table. The VRF `None` is the global table.
    pub fn decide(&self, vrf: Option<&str>, destination: IpAddr) -> Decision<'a> {
        self.look_up(vrf, destination, u8::MAX, MOST_LOOKUPS)
    }

    /// Returns the decision for all packets of `prefix` in the global table. Ignores routes to longer
    /// prefixes.
    pub(crate) fn decide_prefix(&self, prefix: Prefix) -> Decision<'a> {
        self.look_up(None, prefix.network(), prefix.length(), MOST_LOOKUPS)
    }

    /// Generates the ports of a routing table that are up.
    pub fn ports(&self, vrf: Option<&str>) -> impl Iterator<Item = &'a Port> {
        let router = self.router;
        router.ports.iter().filter(move |port| is_in(port, vrf) && is_up(router, port))
    }

    /// Returns the output port of a route; `None` if the device does not use the route.
    pub fn port_of(&self, route: &'a Route) -> Option<&'a Port> {
        match self.follow(route, route.vrf.as_deref(), MOST_LOOKUPS)? {
            Kind::Leaves(exit) => Some(exit.port),
            Kind::Discarded(_) | Kind::Learned(_) => None,
        }
    }

    /// Returns the decision for a destination, among routes whose prefix has at most `longest` bits.
    fn look_up(&self, vrf: Option<&str>, destination: IpAddr, longest: u8, lookups: usize) -> Decision<'a> {
        let mut best: Option<Candidate> = None;
        for port in self.router.ports.iter().filter(|port| is_in(port, vrf)) {
            let is_meant =
                |own: &InterfaceAddress| own.prefix_length <= longest && own.is_neighbor(destination);
            for address in addresses(port).filter(is_meant) {
                if !is_up(self.router, port) {
                    break;
                }
                if address.address == destination || address.is_broadcast(destination) {
                    return Decision::Own { port, address };
                }
                if self.given.may_be_connected(vrf, address.subnet()) {
                    choose(&mut best, connected(port, address));
                }
            }
        }
        let configured = self.router.forwarding.routes.iter().filter(|route| {
            let is_meant = route.vrf.as_deref() == vrf && route.prefix.contains(destination.into());
            is_meant && !self.given.is_shown(vrf)
        });
        let routes = self.given.routes(vrf, destination).chain(configured);
        let is_usable = |route: &&Route| route.distance < UNUSABLE && route.prefix.length() <= longest;
        for route in routes.filter(is_usable) {
            if let Some(kind) = self.follow(route, vrf, lookups) {
                let (length, distance) = (route.prefix.length(), route.distance);
                choose(&mut best, Candidate { length, distance, kind });
            }
        }
        match best.map(|best| best.kind) {
            Some(Kind::Leaves(exit)) => Decision::Leaves(exit),
            Some(Kind::Discarded(route)) => Decision::Discarded(route),
            Some(Kind::Learned(route)) => Decision::Unknown(Some(route)),
            None => Decision::Unknown(None),
        }
    }

    /// Resolves a route; `None` if the device does not use the route, because its port is down or its next
    /// hop is unknown.
    fn follow(&self, route: &'a Route, vrf: Option<&str>, lookups: usize) -> Option<Kind<'a>> {
        let exit = |port, next_hop| Exit {
            port,
            origin: match route.origin {
                RouteOrigin::Configured => Origin::Static,
                RouteOrigin::Given | RouteOrigin::Vpn => Origin::Given,
                RouteOrigin::Computed(protocol) => Origin::Computed(protocol),
            },
            prefix: Some(route.prefix.to_string()),
            next_hop,
            far: None,
            lines: (route.line > 0).then_some(route.line).into_iter().collect(),
            equals: 0,
            is_conditional: route.is_conditional,
        };
        if route.origin == RouteOrigin::Vpn {
            return Some(Kind::Learned(route));
        }
        match &route.via {
            RouteTarget::Discard => Some(Kind::Discarded(route)),
            RouteTarget::Learned => Some(Kind::Learned(route)),
            RouteTarget::Interface { name, next_hop } => {
                let mut ports = self.router.ports.iter();
                let is_meant = |port: &&Port| port.name == **name || port.interface == **name;
                let port = ports.find(|port| is_meant(port) && is_up(self.router, port))?;
                Some(Kind::Leaves(exit(port, *next_hop)))
            }
            RouteTarget::NextHop(next_hop) => {
                let lookups = lookups.checked_sub(1)?;
                let Decision::Leaves(found) = self.look_up(vrf, *next_hop, u8::MAX, lookups) else {
                    return None;
                };
                let mut own = exit(found.port, found.next_hop.or(Some(*next_hop)));
                own.far = found.far.or((found.origin != Origin::Connected).then_some(*next_hop));
                own.lines.extend(found.lines);
                Some(Kind::Leaves(own))
            }
        }
    }
}

fn is_in(port: &Port, vrf: Option<&str>) -> bool {
    let own = port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str());
    port.forwarding.role == PortRole::Interface && own == vrf
}

/// Returns all addresses of a port.
pub fn addresses(port: &Port) -> impl Iterator<Item = InterfaceAddress> {
    port.addresses.iter().chain(&port.forwarding.addresses6).copied()
}

/// Whether a port and its physical interface are up.
pub(crate) fn is_up(router: &Router, port: &Port) -> bool {
    let parent = port.forwarding.parent.as_ref();
    let parent = parent.and_then(|name| router.ports.iter().find(|other| other.interface == *name));
    !port.shutdown && parent.is_none_or(|parent| !parent.shutdown)
}

fn connected(port: &Port, address: InterfaceAddress) -> Candidate<'_> {
    let exit = Exit {
        port,
        origin: Origin::Connected,
        prefix: address.subnet().map(|subnet| subnet.to_string()),
        next_hop: None,
        far: None,
        lines: vec![address.line],
        equals: 0,
        is_conditional: false,
    };
    Candidate { length: address.prefix_length, distance: 0, kind: Kind::Leaves(exit) }
}

/// Replaces `best` by `other` if `other` has a longer prefix, or the same prefix length and a smaller
/// distance.
fn choose<'a>(best: &mut Option<Candidate<'a>>, other: Candidate<'a>) {
    let rank = |candidate: &Candidate| (candidate.length, std::cmp::Reverse(candidate.distance));
    match best {
        Some(best) if rank(best) > rank(&other) => {}
        Some(best) if rank(best) == rank(&other) => {
            if let Kind::Leaves(exit) = &mut best.kind {
                exit.equals += 1;
            }
        }
        _ => *best = Some(other),
    }
}
