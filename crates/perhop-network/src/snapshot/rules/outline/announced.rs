//! Subnets of devices that their routing process names, on all devices but one.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::block::Block;
use super::block::Blocks;
use super::form::{Deviation, DeviationKind, OTHER_INTERFACES};

/// Reports the only process of its kind that does not name a subnet of hosts of its device.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let is_process = |path: &str| path.starts_with("router ") && !path.contains('/');
    for (_, group) in blocks.by_path.iter().filter(|(path, _)| is_process(path)) {
        // A process that names no subnet takes them from elsewhere.
        let named: Vec<(&Block, BTreeSet<Ipv4Addr>)> =
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
                "`{}` does not name the subnet {subnet} of the device, and {} such processes name all of theirs",
                block.title(),
                named.len() - 1
            );
            let (device, line) = (block.device, block.header.line);
            found.push(Deviation { device, line, kind: DeviationKind::Missing, message });
        }
    }
}

fn named(block: &Block) -> BTreeSet<Ipv4Addr> {
    let lines = block.entries.iter().filter(|entry| entry.command() == "network");
    lines.filter_map(|entry| entry.values.first()?.parse().ok()).collect()
}

/// Whether a named address is in the subnet, or the first of a larger one around it.
fn covers(named: &BTreeSet<Ipv4Addr>, network: Ipv4Addr, mask: u32) -> bool {
    let is_around = |one: &Ipv4Addr| {
        let length = 32 - one.to_bits().trailing_zeros().min(24);
        let wide = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        one.to_bits() == network.to_bits() & wide && wide <= mask
    };
    named.iter().any(|one| one.to_bits() & mask == network.to_bits() || is_around(one))
}
