//! Lines that all peers of a block have, and that the block lacks.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind, Form, OTHER_INTERFACES};
use super::ports::Ports;
use super::words::{Entry, address};

/// Commands that stop or drop packets. The rule reports a block with such a command if no peer has it. Other
/// rules check marks and policers.
const DISABLING: &[&str] = &["shutdown"];
/// The minimum number of lines that interfaces with the same task have in common.
const LEAST_COMMON: usize = 3;
/// The minimum number of equal peers that permit one common line less.
const MANY: usize = 5;
/// The number of peers that are sufficient for an interface, and the number of lines that only these peers
/// and the interface must then have.
const LEAST_ALIKE: usize = 2;
/// The first word of lines about the tags of a sub-interface.
const TAG: &str = "encapsulation";
/// The commands for the packets that wait in the queue of a class.
const QUEUE_CHOICES: [&str; 3] = ["fair-queue", "queue-limit", "random-detect"];
/// The command that generates the queueing and marking lines of a port.
const MACRO: &str = "auto qos ";
/// The beginnings of lines about the neighbors of a port.
const OF_NEIGHBORS: [&str; 5] =
    ["bfd ", "ip ospf bfd", "ip ospf network ", "ip router isis ", "isis network "];
/// The first word of a term of a filter.
const TERM: &str = "term ";
/// The minimum number of common lines of two blocks if each of them has one line that the other lacks.
const LARGE: usize = 8;

/// Reports a line that a block lacks, and lines that stop or drop packets and that only this block has. Only
/// blocks without an equal block are checked.
pub(super) fn check(forms: &[Form], devices: &[Defined], found: &mut Vec<Deviation>) {
    for own in forms {
        let [block] = own.blocks.as_slice() else { continue };
        let near: Vec<&Form> = forms.iter().filter(|other| is_near(own, other, block)).collect();
        // For each line, the peers whose only additional line is this line.
        let mut lacking: BTreeMap<&str, Vec<&Block>> = BTreeMap::new();
        for form in &near {
            let shape = form.shapes.iter().find(|shape| !own.has(shape));
            if let Some(shape) = shape {
                lacking.entry(shape).or_default().extend(&form.blocks);
            }
        }
        let most = lacking.into_iter().max_by_key(|(_, peers)| peers.len());
        let is_enough = |peers: &[&Block]| are_enough(block, peers) || are_alike(own, block, peers, forms);
        if let Some((shape, peers)) = most.filter(|(_, peers)| is_enough(peers)) {
            report(block, shape, &peers, devices, found);
        }
        report_disabling(block, own, &near, found);
    }
}

/// Reports lines that stop or drop packets, if no peer has them.
fn report_disabling(block: &Block, own: &Form, near: &[&Form], found: &mut Vec<Deviation>) {
    let peers: Vec<&Block> = near.iter().flat_map(|form| form.blocks.iter().copied()).collect();
    let is_extra = |shape: &str| !near.iter().any(|form| form.has(shape));
    let disables = |shape: &&&str| DISABLING.contains(&first_word(shape)) && is_extra(shape);
    for shape in own.shapes.iter().filter(disables) {
        let entry = block.entries.iter().find(|entry| entry.shape == **shape);
        let Some(entry) = entry.filter(|_| are_enough(block, &peers)) else { continue };
        let message = format!(
            "`{}` in `{}`: none of {} similar blocks has it",
            entry.text(),
            block.title(),
            peers.len()
        );
        found.push(Deviation {
            device: block.device,
            line: entry.line,
            kind: DeviationKind::Unusual,
            message,
        });
    }
}

/// Whether the blocks of a form have the same task as `block`. `own` is the form of `block`.
fn is_near(own: &Form, other: &Form, block: &Block) -> bool {
    let (lacks, has_more) = (other.more_than(own), own.more_than(other));
    let common = own.shapes.len() - has_more;
    if lacks + has_more == 0 || lacks > 1 || has_more > 1 {
        return false;
    }
    let is_replaced = lacks == 1
        && has_more == 1
        && other.shapes.iter().filter(|shape| !own.has(shape)).any(|lacking| {
            own.shapes.iter().any(|more| !other.has(more) && first_word(more) == first_word(lacking))
        });
    let is_like = lacks + has_more == 1 || is_replaced || common >= LARGE;
    let is_same = || other.blocks.iter().all(|other| other.header.values == block.header.values);
    is_like
        && (!block.is_of_interface()
            || block.is_inside_interface()
            || common >= least_common(block)
            || common + 1 >= least_common(block) && other.blocks.len() >= MANY
            || is_same())
}

/// Returns the minimum number of lines that an interface and its peers have in common. This number is lower
/// for sub-interfaces, because they have few lines.
fn least_common(block: &Block) -> usize {
    let is_part = block.header.values.first().is_some_and(|name| name.contains('.'));
    if is_part { LEAST_COMMON - 1 } else { LEAST_COMMON }
}

/// Reports lines that one of several blocks with the same name lacks, on devices of the same kind. The blocks
/// may also differ in other lines.
pub(super) fn check_lacking(group: &[&Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    if group[0].is_of_interface() || group[0].is_part() || group.len() <= OTHER_INTERFACES {
        return;
    }
    let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, block) in group.iter().enumerate() {
        for entry in &block.entries {
            let own = holders.entry(&entry.shape).or_default();
            if own.last() != Some(&place) {
                own.push(place);
            }
        }
    }
    for (shape, holders) in holders.iter().filter(|(_, holders)| holders.len() + 1 == group.len()) {
        let Some(lacks) = (0..group.len()).find(|place| holders.binary_search(place).is_err()) else {
            continue;
        };
        let peers: Vec<&Block> = holders.iter().map(|place| group[*place]).collect();
        if are_enough(group[lacks], &peers) {
            report(group[lacks], shape, &peers, devices, found);
        }
    }
}

pub(super) fn first_word(shape: &str) -> &str {
    // Many different lines begin with these words, so the command consists of two words.
    let count = if ["ip ", "set "].iter().any(|start| shape.starts_with(start)) { 2 } else { 1 };
    let end = shape.match_indices(' ').nth(count - 1).map_or(shape.len(), |(end, _)| end);
    &shape[..end]
}

/// Whether two or more peers are sufficient because they share lines with the block that no other interface
/// has. The peers and the block then certainly have the same task.
fn are_alike(own: &Form, block: &Block, peers: &[&Block], forms: &[Form]) -> bool {
    if !block.is_of_interface() || peers.len() < LEAST_ALIKE {
        return false;
    }
    let is_shared = |shape: &&&str| {
        let holders: usize = forms.iter().filter(|form| form.has(shape)).map(|form| form.blocks.len()).sum();
        let of_peers =
            peers.iter().filter(|peer| peer.entries.iter().any(|entry| entry.shape == ***shape)).count();
        of_peers == peers.len() && holders == peers.len() + 1
    };
    own.shapes.iter().filter(is_shared).count() >= LEAST_ALIKE
}

/// Whether enough peers exist. Peers that are not interfaces must be on other devices.
pub(super) fn are_enough(block: &Block, peers: &[&Block]) -> bool {
    let others: BTreeSet<usize> =
        peers.iter().map(|peer| peer.device).filter(|device| *device != block.device).collect();
    let count = if block.is_of_interface() || block.is_part() { peers.len() } else { others.len() };
    count >= block.least_others()
}

fn report(block: &Block, shape: &str, peers: &[&Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    let example = peers.iter().flat_map(|peer| &peer.entries).find(|entry| entry.shape == shape);
    let Some(example) = example else { return };
    // The peers use a name that this device does not define. The device may use its own name in this place.
    let own = &devices[block.device];
    let examples: Vec<&Entry> =
        peers.iter().flat_map(|peer| &peer.entries).filter(|entry| entry.shape == shape).collect();
    let is_foreign = |entry: &&Entry| own.is_foreign(entry.values.iter().map(String::as_str));
    // The peers have this line for a subnet of this device, so this device needs no such line.
    let is_here = peers.iter().any(|peer| {
        let of_peer = peer.entries.iter().filter(|entry| entry.shape == shape);
        of_peer.into_iter().any(|entry| own.has_near(entry) && !devices[peer.device].has_near(entry))
    });
    // A tag belongs to a sub-interface and not to the port itself (Cisco, "encapsulation dot1q").
    let is_part = block.header.values.first().is_some_and(|name| name.contains('.'));
    let is_of_part = block.is_of_interface() && !is_part && first_word(shape) == TAG;
    if examples.iter().all(is_foreign) || is_here || is_of_part || own.lacks_policy(example.text()) {
        return;
    }
    let is_new = |entry: &&Entry| {
        !peers.iter().any(|peer| peer.entries.iter().any(|other| other.shape == entry.shape))
    };
    let has_other_queue = block.entries.iter().filter(is_new).any(|entry| are_queue_choices(entry, example));
    let has_more_ports = block.entries.iter().any(|entry| permits_more_ports(entry.text(), example.text()));
    if has_more_ports
        || has_other_queue
        || is_generated(block, example)
        || is_between_devices(block, peers, example)
    {
        return;
    }
    let instead = block.entries.iter().find(|entry| {
        (first_word(&entry.shape) == first_word(shape) || is_opposite(&entry.shape, shape))
            && !peers.iter().any(|peer| peer.entries.iter().any(|other| other.shape == entry.shape))
    });
    let (line, kind, message) = match instead {
        Some(entry) if is_extension(entry, example) => return,
        Some(entry) if are_terms(entry.text(), example.text()) => return,
        Some(entry) => (
            entry.line,
            DeviationKind::Unusual.in_block(block, example.text()),
            format!(
                "`{}` in `{}`: {} similar blocks have `{}`",
                entry.text(),
                block.title(),
                peers.len(),
                example.text()
            ),
        ),
        None => (
            line_beside(block, peers, example.text()).unwrap_or(block.header.line),
            DeviationKind::Missing.of_missing(block, example.text()),
            format!(
                "`{}` lacks `{}`; {} similar blocks have this line",
                block.title(),
                example.text(),
                peers.len()
            ),
        ),
    };
    found.push(Deviation { device: block.device, line, kind, message });
}

/// Whether a missing line is a macro whose generated lines the block has. The macro has no other effect
/// (Cisco, "Auto QoS": the generated commands are equal to commands that an operator enters).
fn is_generated(block: &Block, example: &Entry) -> bool {
    let is_result = |entry: &Entry| {
        entry.command() == "service-policy" || entry.text().split(' ').any(|word| word == "trust")
    };
    example.text().starts_with(MACRO) && block.entries.iter().any(is_result)
}

/// Whether a missing line is about a neighbor, and the block is a port of hosts: its subnet has room for many
/// hosts, and the subnets of all peers have room for two devices.
fn is_between_devices(block: &Block, peers: &[&Block], example: &Entry) -> bool {
    let is_large = |block: &Block| {
        let mask = block.entries.iter().find_map(|entry| {
            entry.text().strip_prefix("ip address ")?.split(' ').nth(1)?.parse::<std::net::Ipv4Addr>().ok()
        });
        mask.map(|mask| (!mask.to_bits()).count_ones() > 2)
    };
    OF_NEIGHBORS.iter().any(|start| example.text().starts_with(start))
        && is_large(block) == Some(true)
        && peers.iter().all(|peer| is_large(peer) == Some(false))
}

/// Returns the line of a block that corresponds to the peers' line `text`, but lacks a part of this line.
pub(super) fn line_beside(block: &Block, peers: &[&Block], text: &str) -> Option<usize> {
    let (peer, line) = peers.iter().find_map(|peer| {
        let example = peer.entries.iter().find(|entry| entry.text() == text)?;
        Some((*peer, example.line))
    })?;
    let beside = peer.entries.iter().filter(|entry| entry.line == line).map(|entry| entry.text());
    let beside: BTreeSet<&str> = beside.collect();
    block.entries.iter().find(|entry| beside.contains(entry.text())).map(|entry| entry.line)
}

/// Whether both lines begin terms of a filter. The names of terms are free.
pub(super) fn are_terms(own: &str, other: &str) -> bool {
    [own, other].iter().all(|text| text.starts_with(TERM))
}

/// Whether an entry of a list denies the packets that another entry permits.
fn is_opposite(entry: &str, other: &str) -> bool {
    let denied = entry.strip_prefix("deny ");
    denied.is_some() && denied == other.strip_prefix("permit ")
}

/// Whether a line begins with another line and has additional words, or an entry of a list permits more
/// ports.
pub(super) fn is_extension(entry: &Entry, other: &Entry) -> bool {
    let has_more_words = entry.text().strip_prefix(other.text()).is_some_and(|rest| rest.starts_with(' '));
    has_more_words || permits_more_ports(entry.text(), other.text())
}

/// Whether two entries of a list differ only in addresses and destination ports, and the ports of the first
/// include those of the second.
fn permits_more_ports(own: &str, other: &str) -> bool {
    let read = |text: &str| Ports::read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let (Some(own), Some(other)) = (read(own), read(other)) else { return false };
    let pairs = own.rest.iter().zip(&other.rest);
    let are_alike = own.rest.len() == other.rest.len()
        && pairs
            .into_iter()
            .all(|(own, other)| own == other || address(own).is_some() && address(other).is_some());
    are_alike && own.range != other.range && own.range.0 <= other.range.0 && own.range.1 >= other.range.1
}

/// Whether two lines choose how a class queues its packets in excess: flow queues, a limit, or WRED.
pub(super) fn are_queue_choices(own: &Entry, other: &Entry) -> bool {
    let is_choice = |entry: &Entry| QUEUE_CHOICES.contains(&entry.command());
    own.command() != other.command() && is_choice(own) && is_choice(other)
}
