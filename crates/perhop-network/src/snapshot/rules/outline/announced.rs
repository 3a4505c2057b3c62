//! Host subnets that the routing process of one device does not name, although the processes of all other
//! devices name all host subnets.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::block::Block;
use super::block::Blocks;
use super::form::{Deviation, DeviationKind, OTHER_INTERFACES};
use super::words::Entry;

/// The addresses that a process names, with their wildcards if they have one.
type Named = BTreeSet<(Ipv4Addr, Option<Ipv4Addr>)>;

/// Reports a process that does not name a host subnet of its device, if all other processes of the kind name
/// the host subnets of their devices.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let is_process = |path: &str| path.starts_with("router ") && !path.contains('/');
    for (_, group) in blocks.by_path.iter().filter(|(path, _)| is_process(path)) {
        // A process that names no address announces its subnets by other lines, so it is not compared.
        let named: Vec<(&Block, Named)> =
            group.iter().map(|block| (block, named(block))).filter(|(_, named)| !named.is_empty()).collect();
        let lacks: Vec<(&Block, Ipv4Addr)> = named
            .iter()
            .filter_map(|(block, named)| {
                let mut subnets = blocks.devices[block.device].host_subnets();
                Some((*block, subnets.find(|(network, mask)| !covers(named, *network, *mask))?.0))
            })
            .take(2)
            .collect();
        let [(block, subnet)] = lacks.as_slice() else { continue };
        if named.len() > OTHER_INTERFACES {
            let message = format!(
                "`{}` does not name the subnet {subnet} of the device, but {} other such processes \
                 name all subnets of their devices",
                block.title(),
                named.len() - 1
            );
            let (device, line) = (block.device, block.header.line);
            found.push(Deviation { device, line, kind: DeviationKind::Missing, message });
        }
    }
}

/// Returns the addresses that a process names.
fn named(block: &Block) -> Named {
    let lines = block.entries.iter().filter(|entry| entry.command() == "network");
    let address = |entry: &Entry, place: usize| entry.values.get(place)?.parse().ok();
    lines.filter_map(|entry| Some((address(entry, 0)?, address(entry, 1)))).collect()
}

/// Whether a named address is in the subnet, or a named network contains the subnet.
fn covers(named: &Named, network: Ipv4Addr, mask: u32) -> bool {
    let is_around = |(named_address, wildcard): &(Ipv4Addr, Option<Ipv4Addr>)| {
        let length = 32 - named_address.to_bits().trailing_zeros().min(24);
        let by_address = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        // If the first bit of the field is 1, the field is a mask and not a wildcard.
        let written = wildcard.map(Ipv4Addr::to_bits).filter(|written| written.leading_zeros() > 0);
        let wide = written.map_or(by_address, |written| !written);
        named_address.to_bits() & wide == network.to_bits() & wide && wide <= mask
    };
    named.iter().any(|named_address| {
        named_address.0.to_bits() & mask == network.to_bits() || is_around(named_address)
    })
}
