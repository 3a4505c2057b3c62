//! [`Given`]: the facts about a device's forwarding that are not in its configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_device::{
    InterfaceAddress, Route, RouteOrigin, RouteTarget, RoutingProtocol, ShownTable, TunnelMap,
};
use perhop_qos::classifier::Prefix;

/// Routes that the device learns or that the user wrote, and the outer destinations of tunnels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    tables: Vec<(Option<String>, GivenTable)>,
    tunnel_maps: BTreeMap<String, Vec<TunnelMap>>,
}

/// The additional routes of one routing table.
#[derive(Clone, Debug, Default)]
struct GivenTable {
    /// The routes, sorted by prefix. A large network has a million of them, and a map would need twice the
    /// memory.
    routes: Vec<Route>,
    /// The prefix lengths that occur in the routes.
    lengths: BTreeSet<u8>,
    /// Whether the user or an output of the device provides the routes. Such routes replace computed routes.
    is_given: bool,
    /// The protocols whose routes perhop computed.
    computed: Vec<RoutingProtocol>,
    /// The subnets of ports that are up; `None` unless the device printed the whole table.
    connected: Option<BTreeSet<Prefix>>,
}

/// The empty set of facts, for a device with only a configuration.
static NOTHING: Given = Given { tables: Vec::new(), tunnel_maps: BTreeMap::new() };

impl Given {
    /// Returns the facts as text for comparison: the routing tables that perhop did not compute, and the
    /// tunnels.
    pub(crate) fn facts(&self) -> String {
        let given: Vec<_> = self.tables.iter().filter(|(_, table)| table.is_given).collect();
        format!("{given:?} {:?}", self.tunnel_maps)
    }
}

impl GivenTable {
    /// Adds routes. Among routes with the same prefix, the new routes are last.
    fn add(&mut self, routes: impl IntoIterator<Item = Route>) {
        let known = self.routes.len();
        self.routes.extend(routes);
        for route in &self.routes[known..] {
            self.lengths.insert(route.prefix.length());
            if let RouteOrigin::Computed(protocol) = route.origin
                && !self.computed.contains(&protocol)
            {
                self.computed.push(protocol);
            }
        }
        self.routes.sort_by_key(|route| route.prefix);
        self.routes.shrink_to_fit();
    }

    /// Returns the routes of a prefix.
    fn routes_of(&self, prefix: Prefix) -> &[Route] {
        let first = self.routes.partition_point(|route| route.prefix < prefix);
        let rest = &self.routes[first..];
        &rest[..rest.iter().take_while(|route| route.prefix == prefix).count()]
    }
}

impl Given {
    /// Returns the empty set of facts.
    pub(crate) fn nothing() -> &'static Given {
        &NOTHING
    }

    fn table(&self, vrf: Option<&str>) -> Option<&GivenTable> {
        self.tables.iter().find(|(name, _)| name.as_deref() == vrf).map(|(_, table)| table)
    }

    fn table_mut(&mut self, vrf: Option<&str>) -> &mut GivenTable {
        let place = self.tables.iter().position(|(name, _)| name.as_deref() == vrf);
        let place = place.unwrap_or_else(|| {
            self.tables.push((vrf.map(str::to_owned), GivenTable::default()));
            self.tables.len() - 1
        });
        &mut self.tables[place].1
    }

    /// Adds the routes that perhop computed for a routing protocol, except in tables whose routes are given.
    pub(crate) fn add_computed(&mut self, routes: Vec<Route>) {
        let mut by_table: BTreeMap<Option<String>, Vec<Route>> = BTreeMap::new();
        for route in routes {
            match by_table.get_mut(&route.vrf) {
                Some(known) => known.push(route),
                None => _ = by_table.insert(route.vrf.clone(), vec![route]),
            }
        }
        for (vrf, routes) in by_table {
            let table = self.table_mut(vrf.as_deref());
            if !table.is_given {
                table.add(routes);
            }
        }
    }

    /// Adds a route from the user. The computed routes of its table are removed.
    pub(crate) fn add(&mut self, route: Route) {
        let vrf = route.vrf.clone();
        self.replaced(vrf.as_deref()).add([route]);
    }

    /// Adds a routing table that the device printed.
    pub(crate) fn add_shown(&mut self, vrf: Option<&str>, shown: &ShownTable) {
        let table = self.replaced(vrf);
        table.add(shown.routes.iter().cloned());
        if !shown.connected.is_empty() {
            table.connected = Some(shown.connected.iter().copied().collect());
        }
    }

    fn replaced(&mut self, vrf: Option<&str>) -> &mut GivenTable {
        let table = self.table_mut(vrf);
        if !table.is_given {
            *table = GivenTable { is_given: true, ..GivenTable::default() };
        }
        table
    }

    /// Generates the additional routes to a destination.
    pub(crate) fn routes(&self, vrf: Option<&str>, to: IpAddr) -> impl Iterator<Item = &Route> {
        let table = self.table(vrf);
        table.into_iter().flat_map(move |table| {
            let of_length = move |length: &u8| {
                let around = InterfaceAddress { line: 0, address: to, prefix_length: *length }.subnet()?;
                Some(table.routes_of(around))
            };
            table.lengths.iter().filter_map(of_length).flatten()
        })
    }

    /// Whether an additional route has exactly this prefix.
    pub(crate) fn has_exactly(&self, vrf: Option<&str>, subnet: Prefix) -> bool {
        self.table(vrf).is_some_and(|table| !table.routes_of(subnet).is_empty())
    }

    /// Whether the routes of a table were given by the user or by an output of the device.
    pub(crate) fn is_given(&self, vrf: Option<&str>) -> bool {
        self.table(vrf).is_some_and(|table| table.is_given)
    }

    /// Whether the device printed the table. The table then contains no other routes.
    pub(crate) fn is_shown(&self, vrf: Option<&str>) -> bool {
        self.table(vrf).is_some_and(|table| table.connected.is_some())
    }

    /// Whether the subnet of a port can be connected. This is false if the device printed the whole table and
    /// this subnet is not in it.
    pub(crate) fn may_be_connected(&self, vrf: Option<&str>, subnet: Option<Prefix>) -> bool {
        let connected = self.table(vrf).and_then(|table| table.connected.as_ref());
        connected.is_none_or(|connected| subnet.is_none_or(|subnet| connected.contains(&subnet)))
    }

    /// Whether perhop computed the routes of a protocol.
    pub(crate) fn computes(&self, protocol: RoutingProtocol) -> bool {
        self.tables.iter().any(|(_, table)| table.computed.contains(&protocol))
    }

    /// Sets the outer destinations that the device learns for a tunnel at run time.
    pub(crate) fn set_tunnel_maps(&mut self, port: &str, maps: Vec<TunnelMap>) {
        self.tunnel_maps.insert(port.to_owned(), maps);
    }

    /// Returns the outer destination that the device learned for packets to a next hop in a tunnel.
    pub(crate) fn tunnel_map(&self, port: &str, next_hop: IpAddr) -> Option<TunnelMap> {
        self.tunnel_maps.get(port)?.iter().find(|map| map.inside == next_hop).copied()
    }

    /// Returns the most specific additional route to a destination, if it has a next hop. If the table has no
    /// route to the next hop, the next hop is a router of a VPN, which the device reaches by labels.
    pub(crate) fn far_route(&self, vrf: Option<&str>, to: IpAddr) -> Option<(&Route, IpAddr)> {
        let route = self.routes(vrf, to).max_by_key(|route| route.prefix.length())?;
        match route.via {
            RouteTarget::NextHop(next_hop) => Some((route, next_hop)),
            _ => None,
        }
    }
}
