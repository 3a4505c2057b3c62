//! Relations of interfaces: sub-interfaces, bundles, tunnels and the interfaces below tunnels.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::ast::{Configuration, Interface, Relations};

impl Configuration {
    /// Finds the relations of all interfaces.
    pub(crate) fn relate(&mut self) {
        let mut relations = Relations::default();
        for interface in self.interfaces.iter() {
            let Some(place) = self.interfaces.index(&interface.name) else { continue };
            for own in &interface.addresses {
                relations.owners.entry(own.address).or_insert(place);
            }
            if let Some(parent) = &interface.parent {
                *relations.parts.entry(parent.clone()).or_default() += 1;
            }
            let group = interface.multilink_group.map(|group| group.value);
            relations.links.entry(group).or_default().push(place);
        }
        self.relations = relations;
        let mut above: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for tunnel in self.interfaces.iter() {
            let place = self.interfaces.index(&tunnel.name);
            if let (Some(below), Some(place)) = (self.underlay(tunnel), place) {
                above.entry(below.name.clone()).or_default().push(place);
            }
        }
        self.relations.above = above;
    }
    /// Returns the interface through which packets of a tunnel leave, if the configuration determines it;
    /// `None` if that interface is itself a tunnel or a sub-interface of a tunnel.
    pub(crate) fn underlay(&self, interface: &Interface) -> Option<&Interface> {
        let source = interface.tunnel.as_ref()?.source.as_ref()?;
        let by_name = self.interfaces.get(&crate::interface_name(&source.value));
        let below = by_name.or_else(|| {
            let address: std::net::Ipv4Addr = source.value.parse().ok()?;
            self.owner_of(address)
        })?;
        let mut line = Some(below);
        while let Some(part) = line {
            if part.tunnel.is_some() {
                return None;
            }
            line = part.parent.as_ref().and_then(|name| self.interfaces.get(name));
        }
        Some(below)
    }

    /// Returns the interface with `address`.
    pub(crate) fn owner_of(&self, address: Ipv4Addr) -> Option<&Interface> {
        self.interfaces.at(*self.relations.owners.get(&address)?)
    }
    /// Returns the number of sub-interfaces of the interface `name`.
    pub(crate) fn parts_of(&self, name: &str) -> usize {
        self.relations.parts.get(name).copied().unwrap_or(0)
    }
    /// Iterates over the interfaces of a multilink group. Without a number, iterates over the members that
    /// name no group.
    pub(crate) fn links_of(&self, group: Option<u64>) -> impl Iterator<Item = &Interface> {
        self.at_all(self.relations.links.get(&group))
    }
    /// Iterates over the tunnels that send through the interface `name`.
    pub(crate) fn tunnels_above(&self, name: &str) -> impl Iterator<Item = &Interface> {
        self.at_all(self.relations.above.get(name))
    }
    fn at_all<'a>(&'a self, places: Option<&'a Vec<usize>>) -> impl Iterator<Item = &'a Interface> {
        places.into_iter().flatten().filter_map(|place| self.interfaces.at(*place))
    }
}
