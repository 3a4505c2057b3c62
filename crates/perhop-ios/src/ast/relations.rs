//! [`Relations`]: an index of the interfaces that other interfaces refer to.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Interfaces by the name or address by which other interfaces refer to them. The numbers are indices in the
/// list of interfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Relations {
    /// The first interface in the file that has each address.
    pub(crate) owners: BTreeMap<Ipv4Addr, usize>,
    /// The number of sub-interfaces of each interface, by name of the interface.
    pub(crate) parts: BTreeMap<String, usize>,
    /// The bundle and the members of each multilink group.
    pub(crate) links: BTreeMap<Option<u64>, Vec<usize>>,
    /// The tunnels that send through each interface, by name of the interface.
    pub(crate) above: BTreeMap<String, Vec<usize>>,
}
