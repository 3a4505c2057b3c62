//! [`Block`]: the blocks of configurations, grouped by the kind of their objects.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use rayon::prelude::*;

use super::super::tree::{Node, Numbered, tree};
use super::contents::{Headers, Inner, Lines};
use super::lists::with_lists;
use super::names::{NameUses, stem};
use super::ports::merged;
use super::words::{Content, Entry, address, without_values};

/// Blocks about the management of a device.
const OF_MANAGEMENT: &[&str] = &["archive", "banner", "line"];
/// The beginning of the paths of routing processes.
pub(super) const PROCESS: &str = "router ";
/// The beginning of the first line of an access list, whose entries may have their ports divided.
const ACCESS_LIST: &str = "ip access-list ";
/// The path of all hardware interfaces, whose names differ between devices with the same task.
pub(super) const INTERFACE: &str = "interface";

/// The minimum fraction of names that two devices of the same kind have in common.
const ONE_KIND: f64 = 0.6;
/// The maximum number of lines in a compared block that no other device has. A longer block is a list that is
/// specific to one site.
const LONG: usize = 200;
/// The placeholder for an address of the device itself.
pub(super) const OWN_ADDRESS: &str = "(own)";
/// Separates the path of a block from the path of a part of it. A part consists of the lines about one
/// object.
pub(super) const PART: &str = " // ";

/// A block of a configuration: its first line, and the lines inside.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) device: usize,
    /// The first line of the block.
    pub(super) header: Entry,
    /// The lines in the block, and the first lines of the blocks in it.
    pub(super) entries: Vec<Entry>,
    /// The letters of the block's description, without digits. Ports with the same task often have the same
    /// letters.
    pub(super) description: String,
    /// The words of the first line, and of the first lines of the blocks around it. Blocks with the same path
    /// on different devices are compared.
    pub(super) path: String,
    /// The indexes of the lines, sorted by the shape of the line.
    by_shape: Vec<usize>,
    /// The indexes of the lines whose shape occurs once in the block.
    single: Vec<usize>,
}

impl Block {
    fn new(device: usize, header: Entry, entries: Vec<Entry>, path: String) -> Block {
        let mut by_shape: Vec<usize> = (0..entries.len()).collect();
        by_shape.sort_by(|a, b| entries[*a].shape.cmp(&entries[*b].shape));
        let runs = by_shape.chunk_by(|a, b| entries[*a].shape == entries[*b].shape);
        let mut single: Vec<usize> = runs.filter(|run| run.len() == 1).map(|run| run[0]).collect();
        single.sort_unstable();
        Block { device, header, entries, description: String::new(), path, by_shape, single }
    }

    /// Generates the shape of each line, sorted.
    pub(super) fn shapes(&self) -> impl Iterator<Item = &str> {
        self.by_shape.iter().map(|place| self.entries[*place].shape.as_str())
    }

    /// Generates the lines with a shape, in the order of the text.
    pub(super) fn entries_of(&self, shape: &str) -> impl Iterator<Item = &Entry> {
        let first = self.by_shape.partition_point(|place| self.entries[*place].shape.as_str() < shape);
        let lines = self.by_shape[first..].iter().map(|place| &self.entries[*place]);
        lines.take_while(move |entry| entry.shape == shape)
    }

    /// Returns the line with a shape, if the shape occurs once in the block.
    pub(super) fn single_entry(&self, shape: &str) -> Option<&Entry> {
        let mut lines = self.entries_of(shape);
        lines.next().filter(|_| lines.next().is_none())
    }

    /// Generates the lines whose shape occurs once in the block.
    pub(super) fn single_entries(&self) -> impl Iterator<Item = &Entry> {
        self.single.iter().map(|place| &self.entries[*place])
    }
}

/// The blocks of all devices, by path, and the names that each device defines.
pub(super) struct Blocks {
    /// The number of the kind of each device. Devices of the same kind have nearly the same policies and
    /// classes.
    pub(super) kinds: Vec<usize>,
    pub(super) by_path: BTreeMap<String, Vec<Block>>,
    pub(super) devices: Vec<Defined>,
}

/// The names that a device defines, and its subnets.
pub(super) struct Defined {
    pub(super) names: BTreeSet<String>,
    /// The number of devices that define each name.
    all_names: Arc<NameUses>,
    /// The names of blocks with braces that are inside other blocks of the device.
    inner_names: BTreeSet<String>,
    /// The number of devices that define each name of a nested block.
    all_inner_names: Arc<NameUses>,
    /// The subnets of the device's ports, each with its mask.
    own_subnets: Vec<(u32, u32)>,
    /// The subnets of the device's ports and the destinations of its static routes, by mask, sorted.
    subnets: BTreeMap<u32, Vec<u32>>,
    pub(super) addresses: BTreeSet<Ipv4Addr>,
    /// The lines of the device outside of blocks.
    pub(super) top: Vec<Entry>,
}

impl Defined {
    fn read(nodes: &[Node]) -> Defined {
        let lines = nodes.iter().flat_map(|node| &node.inner).map(|inner| inner.line.1.trim());
        let subnet = |line: &str| {
            let mut words = line.strip_prefix("ip address ")?.split(' ');
            let address: Ipv4Addr = words.next()?.parse().ok()?;
            let mask: Ipv4Addr = words.next()?.parse().ok()?;
            Some((address, mask.to_bits()))
        };
        let mut own: Vec<(Ipv4Addr, u32)> = lines.filter_map(subnet).collect();
        let mut inner_names = BTreeSet::new();
        for node in nodes.iter().filter(|node| node.line.1.ends_with('{')) {
            add_statements(node, &mut own, &mut inner_names);
        }
        let routed = nodes.iter().filter(|node| node.inner.is_empty()).filter_map(|node| routed(node.line.1));
        let own_subnets: Vec<(u32, u32)> =
            own.iter().map(|(address, mask)| (address.to_bits() & mask, *mask)).collect();
        let mut subnets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (network, mask) in own_subnets.iter().copied().chain(routed) {
            subnets.entry(mask).or_default().push(network);
        }
        for networks in subnets.values_mut() {
            networks.sort_unstable();
        }
        Defined {
            names: names(nodes),
            all_names: Arc::default(),
            inner_names,
            all_inner_names: Arc::default(),
            own_subnets,
            subnets,
            addresses: own.into_iter().map(|(address, _)| address).collect(),
            top: Vec::new(),
        }
    }

    /// Whether a word is an address or prefix inside a subnet of the device.
    pub(super) fn is_near(&self, word: &str) -> bool {
        address(word).is_some_and(|address| self.is_inside(address, length(word)))
    }

    /// Whether an address is inside a subnet of the device.
    pub(super) fn is_near_address(&self, address: Ipv4Addr) -> bool {
        self.is_inside(address, u32::BITS)
    }

    /// Whether a prefix is inside a subnet of the device. A prefix that is larger than the subnet is not
    /// inside, because it also contains subnets of other devices.
    fn is_inside(&self, address: Ipv4Addr, length: u32) -> bool {
        self.subnets
            .iter()
            .filter(|(mask, _)| mask.count_ones() <= length)
            .any(|(mask, networks)| networks.binary_search(&(address.to_bits() & mask)).is_ok())
    }

    /// Generates the host subnets of the device with their masks. A host subnet has room for more than two
    /// hosts.
    pub(super) fn host_subnets(&self) -> impl Iterator<Item = (Ipv4Addr, u32)> {
        let subnets = self.own_subnets.iter().filter(|(_, mask)| (!mask).count_ones() > 2);
        subnets.map(|(network, mask)| (Ipv4Addr::from_bits(*network), *mask))
    }

    /// Returns the text of a line with a placeholder for the device's own addresses, so that lines of
    /// different devices can be equal.
    pub(super) fn text_of_any<'e>(&self, entry: &'e Entry) -> Cow<'e, str> {
        if !self.has_near(entry) {
            return entry.text().into();
        }
        let words = entry.text().split(' ').map(|word| if self.is_near(word) { OWN_ADDRESS } else { word });
        words.collect::<Vec<_>>().join(" ").into()
    }

    /// Whether a word is an address of the device.
    pub(super) fn owns(&self, word: &str) -> bool {
        word.parse::<Ipv4Addr>().is_ok_and(|address| self.addresses.contains(&address))
    }

    /// Whether the device defines `own` for a nested block in place of the name `usual` of other devices.
    pub(super) fn renames(&self, own: &str, usual: &str) -> bool {
        let uses = |name: &str| self.all_inner_names.of_name(name);
        self.inner_names.contains(own)
            && uses(own) == 1
            && !self.inner_names.contains(usual)
            && uses(usual) > 0
    }

    /// Whether one of the line's values is an address in a subnet of the device. Such a line differs on other
    /// devices.
    pub(super) fn has_near(&self, entry: &Entry) -> bool {
        let is_near =
            |(place, address): &(usize, Ipv4Addr)| self.is_inside(*address, length(&entry.values[*place]));
        entry.addresses().iter().any(is_near)
    }

    /// Whether one of the words is a name that only other devices define, or an address in a subnet of this
    /// device ([`Defined::is_near`]).
    pub(super) fn is_foreign<'v>(&self, mut words: impl Iterator<Item = &'v str>) -> bool {
        words.any(|word| {
            // Numbers are not names, because the same number can name a block on one device and be a rate on
            // another.
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            let is_name = !is_number && self.all_names.of_name(word) > 0;
            is_name && !self.names.contains(word) || self.lacks_inner_name(word) || self.is_near(word)
        })
    }

    /// Whether a line attaches a policy that the device does not define. Such a policy, for example
    /// `system-cpp-policy`, belongs to a different platform or design.
    pub(super) fn lacks_policy(&self, text: &str) -> bool {
        let name = text.strip_prefix("service-policy ").and_then(|rest| rest.rsplit(' ').next());
        name.is_some_and(|name| !self.names.contains(name))
    }

    /// Whether a word with capital letters names a nested block that other devices define and this device
    /// lacks.
    fn lacks_inner_name(&self, word: &str) -> bool {
        let is_own_word = word.contains(|letter: char| letter.is_ascii_uppercase());
        is_own_word && !self.inner_names.contains(word) && self.all_inner_names.of_name(word) > 0
    }

    /// Returns the number of devices that define a name.
    pub(super) fn uses(&self, name: &str) -> usize {
        self.all_names.of_name(name)
    }

    /// Returns the letters of the device's names that end with `number`: `tunnel` for `tunnel7`.
    pub(super) fn numbers(&self, number: &str) -> BTreeSet<&str> {
        self.names.iter().filter_map(|name| stem(name, number)).collect()
    }

    /// Whether any device defines a name that consists of one of the stems and `number`.
    pub(super) fn any_has_number(&self, number: &str, stems: &BTreeSet<&str>) -> bool {
        stems.iter().any(|stem| self.all_names.of_name(&format!("{stem}{number}")) > 0)
    }
}

impl Blocks {
    /// Reads the blocks of devices. Indented lines are inside the block of the previous line with less
    /// indentation.
    pub(super) fn read<'t>(devices: &[Vec<Numbered<'t>>]) -> Blocks {
        let trees: Vec<Vec<Node<'t>>> = devices.par_iter().map(|lines| with_lists(tree(lines))).collect();
        let mut defined: Vec<Defined> = trees.par_iter().map(|nodes| Defined::read(nodes)).collect();
        // The same name in a different configuration language does not identify the same object.
        let has_braces: Vec<bool> =
            trees.iter().map(|nodes| nodes.iter().any(|node| node.line.1.ends_with('{'))).collect();
        let uses = [false, true].map(|kind| {
            let own = defined.iter().zip(&has_braces).filter(|(_, braces)| **braces == kind);
            Arc::new(NameUses::count(own.map(|(own, _)| &own.names)))
        });
        let inner = Arc::new(NameUses::count(defined.iter().map(|own| &own.inner_names)));
        let all: BTreeSet<&str> = uses.iter().flat_map(|uses| uses.names()).collect();
        let headers = Headers::new(&all);
        defined.par_iter_mut().zip(&trees).zip(&has_braces).for_each(|((own, nodes), braces)| {
            let lines = nodes.iter().filter(|node| node.inner.is_empty());
            own.top = lines.map(|node| headers.header(node)).collect();
            own.all_names = Arc::clone(&uses[usize::from(*braces)]);
            own.all_inner_names = Arc::clone(&inner);
        });
        let named = shapes_of_named(&trees, &headers);
        let opening = opening_shapes(&trees, &headers);
        let lines = Lines::new(headers, opening);
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for node in trees.iter().flatten().filter(|node| node.inner.len() > LONG) {
            *uses.entry(node.line.1).or_default() += 1;
        }
        let of_device = |(device, nodes): (usize, &Vec<Node<'t>>)| {
            let mut by_path: BTreeMap<String, Vec<Block>> = BTreeMap::new();
            for node in nodes {
                let header = lines.headers.header(node);
                // A block without lines is compared only if its first line opens a block on some device, like
                // a list without entries.
                if node.inner.is_empty() && !lines.opening.contains(&header.shape) {
                    continue;
                }
                let is_alone = uses.get(node.line.1) == Some(&1);
                if is_alone || OF_MANAGEMENT.contains(&header.command()) {
                    continue;
                }
                let path = if header.command() == INTERFACE {
                    interface_path(&header)
                } else if named.contains(&header.shape) {
                    header.text().to_owned()
                } else {
                    header.shape.clone()
                };
                add(&mut by_path, device, node, &path, &lines);
            }
            by_path
        };
        let by_device: Vec<_> = trees.par_iter().enumerate().map(of_device).collect();
        let mut by_path: BTreeMap<String, Vec<Block>> = BTreeMap::new();
        for (path, group) in by_device.into_iter().flatten() {
            by_path.entry(path).or_default().extend(group);
        }
        // If all objects of a path have a single line each, the enclosing block is compared with these lines.
        by_path.retain(|path, group| !path.contains(PART) || group.iter().any(|part| part.entries.len() > 1));
        let kinds = kinds(&defined);
        Blocks { kinds, by_path, devices: defined }
    }
}

/// Returns the length of a prefix, or the length of an address if the word has no prefix length.
fn length(word: &str) -> u32 {
    word.split_once('/').and_then(|(_, length)| length.parse().ok()).unwrap_or(u32::BITS)
}

/// Adds the addresses of ports and the names of blocks that are inside a block with braces.
fn add_statements(node: &Node, addresses: &mut Vec<(Ipv4Addr, u32)>, names: &mut BTreeSet<String>) {
    for inner in &node.inner {
        let words: Vec<&str> = inner.words();
        match words.as_slice() {
            ["address", prefix, ..] => {
                let (address, length) = prefix.trim_end_matches(';').split_once('/').unwrap_or_default();
                if let (Ok(address), Ok(length)) = (address.parse(), length.parse::<u32>()) {
                    addresses.push((address, u32::MAX.checked_shl(32 - length.min(32)).unwrap_or(0)));
                }
            }
            [.., name, "{"] => _ = names.insert((*name).to_owned()),
            _ => {}
        }
        add_statements(inner, addresses, names);
    }
}

/// Returns the address and the mask of a static route's destination; `None` for the default route.
fn routed(line: &str) -> Option<(u32, u32)> {
    let mut words =
        line.strip_prefix("ip route ")?.split(' ').filter_map(|word| word.parse::<Ipv4Addr>().ok());
    let (address, mask) = (words.next()?.to_bits(), words.next()?.to_bits());
    (mask != 0).then_some((address, mask))
}

/// Returns the path of an interface. All hardware interfaces share a path, and each kind of virtual interface
/// has one.
fn interface_path(header: &Entry) -> String {
    let name = header.values.first().map_or("", String::as_str);
    let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if name.contains('/') { INTERFACE.to_owned() } else { format!("{INTERFACE} {kind}") }
}

/// Returns the shapes of lines that open a block on at least one device.
fn opening_shapes<'t>(trees: &[Vec<Node<'t>>], headers: &Headers<'t, '_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Node<'t>> = trees.iter().flatten().collect();
    while let Some(node) = open.pop() {
        if !node.inner.is_empty() {
            found.insert(headers.header(node).shape.clone());
            open.extend(&node.inner);
        }
    }
    found
}

fn add<'t>(
    found: &mut BTreeMap<String, Vec<Block>>,
    device: usize,
    node: &Node<'t>,
    path: &str,
    lines: &Lines<'t, '_>,
) {
    let mut all: Vec<(usize, Arc<Inner>)> = Vec::with_capacity(node.inner.len());
    for inner in &node.inner {
        let own = lines.inner(inner);
        if own.is_left_out {
            continue;
        }
        // A block without lines is compared too, because a faulty block can lack all its lines.
        if own.opens || !inner.inner.is_empty() {
            let header = lines.headers.header(inner);
            let name = if path.starts_with(INTERFACE) { &header.shape } else { header.text() };
            add(found, device, inner, &format!("{path} / {name}"), lines);
        }
        all.push((inner.line.0, own));
    }
    let contents = all
        .iter()
        .flat_map(|(line, inner)| inner.contents.iter().map(|(own, ports)| (*line, own, ports.as_ref())));
    let entries = if node.line.1.starts_with(ACCESS_LIST) {
        merged(&contents.collect::<Vec<_>>(), |words| lines.content(words))
    } else {
        contents.map(|(line, own, _)| Entry { line, content: Arc::clone(own) }).collect()
    };
    add_parts(found, device, node, path, &entries);
    let mut block = Block::new(device, lines.headers.header(node), entries, path.to_owned());
    block.description = description(node);
    found.entry(path.to_owned()).or_default().push(block);
}

/// Returns the letters of the description of a block.
fn description(node: &Node) -> String {
    let mut lines = node.inner.iter().map(|inner| inner.line.1.trim_start());
    let text = lines.find_map(|line| line.strip_prefix("description ")).unwrap_or_default();
    text.chars().filter(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

/// Adds the lines of a block about one object, such as a neighbor, as a block of its own. These are the lines
/// that begin with one word and the same value.
fn add_parts(
    found: &mut BTreeMap<String, Vec<Block>>,
    device: usize,
    node: &Node,
    path: &str,
    entries: &[Entry],
) {
    let mut parts: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let mut words = entry.shape.split(' ');
        if let (Some(command), Some("#"), Some(_)) = (words.next(), words.next(), words.next())
            && let Some(value) = entry.values.first()
        {
            parts.entry((command, value)).or_default().push(entry);
        }
    }
    for ((command, _), lines) in parts {
        let content = Content::of_parts(format!("{command} #"), vec![lines[0].values[0].clone()]);
        let header = Entry { line: node.line.0, content: Arc::new(content) };
        let path = format!("{}{PART}{command} #", without_values(path));
        let entries = lines.into_iter().map(Entry::behind_first_value).collect();
        let block = Block::new(device, header, entries, path.clone());
        found.entry(path).or_default().push(block);
    }
}

/// Returns the kind of each device: the index of the first device that defines nearly the same names.
fn kinds(devices: &[Defined]) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    // Digits in the names of interfaces, processes and rates differ between sites.
    let without_digits =
        |name: &String| name.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>();
    let names: Vec<BTreeSet<String>> =
        devices.iter().map(|own| own.names.iter().map(without_digits).collect()).collect();
    for (device, own) in names.iter().enumerate() {
        let is_like = |first: &usize| {
            let other = &names[*first];
            let shared = own.intersection(other).count();
            shared as f64 >= ONE_KIND * own.union(other).count() as f64
        };
        let first = firsts.iter().copied().find(is_like).unwrap_or(device);
        if first == device {
            firsts.push(device);
        }
        found.push(first);
    }
    found
}

/// Returns the names that blocks define. A name is the last word of the first line.
fn names(nodes: &[Node]) -> BTreeSet<String> {
    let blocks = nodes.iter().filter(|node| !node.inner.is_empty());
    let name = |node: &Node| {
        let words: Vec<&str> = node.line.1.split_whitespace().collect();
        words.last().filter(|_| words.len() > 1).map(|word| (*word).to_owned())
    };
    blocks.filter_map(name).collect()
}

/// Returns the shapes of first lines that contain the name of their block. This is so if a device has several
/// blocks with the shape, or if the block has the same name on all devices.
fn shapes_of_named<'t>(trees: &[Vec<Node<'t>>], headers: &Headers<'t, '_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut values: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    for nodes in trees {
        let mut seen = BTreeSet::new();
        for node in nodes.iter().filter(|node| !node.inner.is_empty()) {
            let header = headers.header(node);
            if !seen.insert(header.shape.clone()) {
                found.insert(header.shape.clone());
            }
            values.entry(header.shape.clone()).or_default().insert(header.values.clone());
        }
    }
    found.extend(values.into_iter().filter(|(_, values)| values.len() == 1).map(|(shape, _)| shape));
    found
}
