//! [`Relations`]: an index of the interfaces that others refer to.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Interfaces by the names and addresses that others refer to. Numbers are indices in the list of interfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Relations {
    /// The first interface in the file that has each address.
    pub(crate) owners: BTreeMap<Ipv4Addr, usize>,
    /// Number of sub-interfaces of an interface, by its name.
    pub(crate) parts: BTreeMap<String, usize>,
    /// The members of each multilink group, and its bundle.
    pub(crate) links: BTreeMap<Option<u64>, Vec<usize>>,
    /// Tunnels by their output interface.
    pub(crate) above: BTreeMap<String, Vec<usize>>,
}
