//! Access lists that protect the management of devices. These lists contain different addresses in each
//! organization.

use std::collections::BTreeSet;

use super::super::tree::Numbered;
use super::block::Blocks;
use super::form::{Deviation, DeviationKind};

/// The beginning of the paths of named access lists.
const LISTS: &str = "ip access-list ";
/// Words of lines that apply a list to sessions with the device itself, not to forwarded packets.
const OF_MANAGEMENT: &[&str] = &["access-class", "http", "ntp", "snmp-server"];

/// Reclassifies deviations in lists for management from decisive to unusual.
pub(super) fn weaken(blocks: &Blocks, devices: &[Vec<Numbered>], found: &mut [Deviation]) {
    let mut lines: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (_, group) in blocks.by_path.iter().filter(|(path, _)| path.starts_with(LISTS)) {
        for block in group {
            let Some(name) = block.header.values.last() else { continue };
            if is_of_management(&devices[block.device], name) {
                let own = block.entries.iter().map(|entry| entry.line).chain([block.header.line]);
                lines.extend(own.map(|line| (block.device, line)));
            }
        }
    }
    for deviation in found.iter_mut().filter(|deviation| deviation.kind == DeviationKind::Decisive) {
        if lines.contains(&(deviation.device, deviation.line)) {
            deviation.kind = DeviationKind::Unusual;
        }
    }
}

/// Whether only lines about management use a list.
fn is_of_management(lines: &[Numbered], name: &str) -> bool {
    let uses = lines.iter().filter(|(_, text)| {
        let text = text.trim_start();
        text.contains(name) && !text.starts_with(LISTS) && text.split(' ').any(|word| word == name)
    });
    let mut uses = uses.map(|(_, text)| text.split(' ').any(|word| OF_MANAGEMENT.contains(&word))).peekable();
    uses.peek().is_some() && uses.all(|is_of_management| is_of_management)
}
