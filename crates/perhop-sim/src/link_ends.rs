//! [`LinkEnds`]: the names of the nodes at the ends of links.

use perhop_scenario::routing::{LinkId, NodeId};
use perhop_scenario::topology::Topology;

/// The nodes at the ends of each direction of a link. The name of a node is stored once.
#[derive(Debug, Default)]
pub(crate) struct LinkEnds {
    /// The names of the nodes, by node.
    nodes: Box<[Box<str>]>,
    /// By direction: the numbers of the sending and the receiving node.
    ends: Vec<[NodeId; 2]>,
}

impl LinkEnds {
    /// Creates an empty list of directions between nodes of `topology`.
    pub(crate) fn new(topology: &Topology) -> LinkEnds {
        LinkEnds { nodes: topology.names().map(Box::from).collect(), ends: Vec::new() }
    }
    /// Adds a direction between the nodes with these numbers.
    pub(crate) fn push(&mut self, ends: [NodeId; 2]) {
        self.ends.push(ends);
    }
    /// The number of directions.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
    /// The names of the sending and the receiving node of `link`.
    pub(crate) fn names(&self, link: LinkId) -> [&str; 2] {
        self.named(self.ends[link.index()])
    }
    /// The names of the sending and the receiving node of each direction.
    pub(crate) fn iter(&self) -> impl Iterator<Item = [&str; 2]> {
        self.ends.iter().map(|ends| self.named(*ends))
    }
    fn named(&self, ends: [NodeId; 2]) -> [&str; 2] {
        ends.map(|NodeId(node)| &*self.nodes[node as usize])
    }
}

/// Returns the name in results of the port that sends from the first node to the second: `C1->E3`.
pub(crate) fn port_name([from, to]: [&str; 2]) -> String {
    format!("{from}->{to}")
}
