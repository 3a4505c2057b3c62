//! [`Relations`]: the interfaces that others name, found once and not by a search for each interface.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Interfaces by the names and addresses that others give them. Numbers are places in the list of interfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Relations {
    /// By address; the first in the file.
    pub(crate) owners: BTreeMap<Ipv4Addr, usize>,
    /// Number of sub-interfaces of an interface, by its name.
    pub(crate) parts: BTreeMap<String, usize>,
    /// Members of a multilink group, and its bundle.
    pub(crate) links: BTreeMap<Option<u64>, Vec<usize>>,
    /// Tunnels by the interface that their packets leave by.
    pub(crate) above: BTreeMap<String, Vec<usize>>,
}
