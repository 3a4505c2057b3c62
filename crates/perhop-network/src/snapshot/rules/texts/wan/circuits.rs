//! [`Circuits`]: the circuits of frame relay and ATM, their settings and their other ends.

use std::net::IpAddr;

use super::super::super::tree::Node;
use super::super::super::{PortId, Snapshot};
use crate::forwarding::addresses;

/// A circuit of frame relay or ATM at a port.
pub(super) struct Circuit<'n, 't> {
    pub(super) port: PortId,
    /// The number of the circuit, such as `101` or `0/103`.
    pub(super) number: &'t str,
    /// The line that names the circuit.
    pub(super) line: usize,
    /// The block of the port, and the block of the interface of which the port is a part.
    pub(super) node: &'n Node<'t>,
    pub(super) main: &'n Node<'t>,
    /// The name of the class of the circuit.
    pub(super) class: Option<&'t str>,
    /// The blocks with the settings of the circuit. A setting of an earlier block has precedence.
    pub(super) blocks: Vec<&'n Node<'t>>,
    /// The address at the other end, if a line states it.
    far: Option<IpAddr>,
}

impl<'t> Circuit<'_, 't> {
    /// Returns the line and the words of a setting.
    pub(super) fn setting(&self, command: &str) -> Option<(usize, Vec<&'t str>)> {
        self.blocks.iter().find_map(|block| setting(block, command))
    }

    /// Whether the circuit names a class that its device does not define.
    pub(super) fn lacks_class(&self) -> bool {
        self.class.is_some() && self.blocks.is_empty()
    }

    /// Returns the written bandwidth of the port, b/s.
    pub(super) fn bandwidth(&self) -> Option<u64> {
        bandwidth(self.node)
    }
}

/// Returns the line and the words of a line of a block.
pub(super) fn setting<'t>(block: &Node<'t>, command: &str) -> Option<(usize, Vec<&'t str>)> {
    let count = command.split(' ').count();
    block.inner.iter().filter(|inner| inner.begins_with(command)).find_map(|inner| {
        let words = inner.words();
        words.iter().copied().take(count).eq(command.split(' ')).then_some((inner.line.0, words))
    })
}

/// Returns the written bandwidth of an interface, b/s.
pub(super) fn bandwidth(node: &Node) -> Option<u64> {
    let (_, words) = setting(node, "bandwidth")?;
    words.get(1)?.parse::<u64>().ok()?.checked_mul(1_000)
}

/// The circuits of one kind of all devices.
pub(super) struct Circuits<'n, 't>(pub(super) Vec<Circuit<'n, 't>>);

impl<'n, 't> Circuits<'n, 't> {
    /// Reads the circuits of frame relay.
    pub(super) fn frame_relay(snapshot: &Snapshot, trees: &'n [Vec<Node<'t>>]) -> Circuits<'n, 't> {
        let is_own = |main: &Node| setting(main, "encapsulation frame-relay").is_some();
        Circuits::read(snapshot, trees, is_own, add_frame_relay)
    }

    /// Reads the circuits of ATM.
    pub(super) fn atm(snapshot: &Snapshot, trees: &'n [Vec<Node<'t>>]) -> Circuits<'n, 't> {
        Circuits::read(snapshot, trees, |main| main.begins_with("interface ATM"), add_atm)
    }

    fn read(
        snapshot: &Snapshot,
        trees: &'n [Vec<Node<'t>>],
        is_own: impl Fn(&Node) -> bool,
        add: impl Fn(&Place<'n, 't>, &mut Vec<Circuit<'n, 't>>),
    ) -> Circuits<'n, 't> {
        let mut found = Vec::new();
        for (device, nodes) in trees.iter().enumerate() {
            for (port, own) in snapshot.router(device).ports.iter().enumerate() {
                let id = PortId { device, port };
                let Some(node) = block(nodes, own.line) else { continue };
                let base = own.name.split('.').next().unwrap_or_default();
                let main = nodes.iter().find(|node| {
                    node.begins_with("interface ") && node.words().get(1).is_some_and(|name| *name == base)
                });
                let main = main.unwrap_or(node);
                if is_own(main) && !node.is_shut() && !main.is_shut() {
                    add(&Place { id, line: own.line, nodes, node, main }, &mut found);
                }
            }
        }
        Circuits(found)
    }

    /// Generates the circuits with the circuit at their other end, in both directions.
    pub(super) fn pairs<'c>(
        &'c self,
        snapshot: &'c Snapshot,
    ) -> impl Iterator<Item = (&'c Circuit<'n, 't>, &'c Circuit<'n, 't>)> {
        self.0.iter().filter_map(|own| Some((own, self.far(snapshot, own)?)))
    }

    /// Returns the circuit at the other end.
    fn far(&self, snapshot: &Snapshot, own: &Circuit) -> Option<&Circuit<'n, 't>> {
        let link = snapshot.link_of(own.port)?;
        let others = || self.0.iter().filter(|far| far.port != own.port);
        let on_link = || others().filter(|far| link.ends.iter().any(|end| end.id == far.port));
        let has = |port: PortId, address: IpAddr| {
            addresses(snapshot.port(port)).any(|part| part.address == address)
        };
        let leads_back = |far: &&Circuit| far.far.is_none_or(|address| has(own.port, address));
        let is_meant = |far: &&Circuit| own.far.is_none_or(|address| has(far.port, address));
        let is_named = |far: &&Circuit| own.far.is_some() || far.far.is_some() || link.ends.len() == 2;
        let mut found = on_link().filter(is_meant).filter(leads_back).filter(is_named);
        let far = found.next().filter(|_| found.next().is_none())?;
        // A port with several circuits without addresses does not show which circuit leads to the other end.
        let is_single = |one_end: &Circuit| {
            one_end.far.is_some() || self.0.iter().filter(|part| part.port == one_end.port).count() == 1
        };
        (is_single(own) && is_single(far)).then_some(far)
    }
}

/// A port and its line, its block, the block of its interface, and the blocks of its device.
struct Place<'n, 't> {
    id: PortId,
    line: usize,
    nodes: &'n [Node<'t>],
    node: &'n Node<'t>,
    main: &'n Node<'t>,
}

/// Returns the block of the interface with a line. The line of a port can be that of a circuit in the block.
pub(super) fn block<'n, 't>(nodes: &'n [Node<'t>], line: usize) -> Option<&'n Node<'t>> {
    let place = nodes.partition_point(|node| node.line.0 <= line).checked_sub(1)?;
    Some(&nodes[place]).filter(|node| node.begins_with("interface "))
}

/// Returns the block of a class of circuits.
fn class_block<'n, 't>(nodes: &'n [Node<'t>], kind: &str, name: &str) -> Option<&'n Node<'t>> {
    nodes
        .iter()
        .find(|node| node.begins_with(kind) && node.words().last() == Some(&name) && node.words().len() == 3)
}

/// Adds the circuits of a port of frame relay.
fn add_frame_relay<'n, 't>(place: &Place<'n, 't>, found: &mut Vec<Circuit<'n, 't>>) {
    let Place { id, nodes, node, main, .. } = *place;
    let first = found.len();
    for inner in &node.inner {
        let (number, far) = match *inner.words().as_slice() {
            ["frame-relay", "interface-dlci", number, ..] => (number, None),
            ["frame-relay", "map", "ip", far, number, ..] => (number, far.parse().ok()),
            _ => continue,
        };
        let of_circuit = inner.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["class", name] => Some(name),
            _ => None,
        });
        if let Some(known) = found[first..].iter_mut().find(|known| known.number == number) {
            known.far = known.far.or(far);
            known.class = of_circuit.or(known.class);
            continue;
        }
        // Cisco, "Wide-Area Networking Command Reference", `frame-relay class`: the class of the circuit has
        // precedence over the classes of the sub-interface and of the interface.
        let of_port = |node: &Node<'t>| setting(node, "frame-relay class")?.1.get(2).copied();
        let class = of_circuit.or_else(|| of_port(node)).or_else(|| of_port(main));
        let line = inner.line.0;
        found.push(Circuit { port: id, number, line, node, main, class, blocks: Vec::new(), far });
    }
    for own in &mut found[first..] {
        let block = own.class.and_then(|name| class_block(nodes, "map-class frame-relay ", name));
        own.blocks = block.into_iter().collect();
    }
}

/// Adds the circuits of a port of ATM.
fn add_atm<'n, 't>(place: &Place<'n, 't>, found: &mut Vec<Circuit<'n, 't>>) {
    let Place { id, line, nodes, node, main } = *place;
    // Each circuit with an address of its interface is a port.
    let is_own = |pvc: &Node| line == node.line.0 || line == pvc.line.0;
    for pvc in node.inner.iter().filter(|inner| inner.begins_with("pvc ") && is_own(inner)) {
        let Some(number) = pvc.words().into_iter().rfind(|word| word.contains('/')) else { continue };
        let far = setting(pvc, "protocol ip").and_then(|(_, words)| words.get(2)?.parse().ok());
        // Cisco, "Wide-Area Networking Command Reference", `class-int`: the circuit has precedence over its
        // class, and this class over the classes of the sub-interface and of the interface.
        let name = |node: &Node<'t>, command| setting(node, command)?.1.get(1).copied();
        let class = name(pvc, "class-vc");
        let names = [class, name(node, "class-int"), name(main, "class-int")];
        let classes =
            names.into_iter().flatten().filter_map(|name| class_block(nodes, "vc-class atm ", name));
        let blocks = std::iter::once(pvc).chain(classes).collect();
        found.push(Circuit { port: id, number, line: pvc.line.0, node, main, class, blocks, far });
    }
}
