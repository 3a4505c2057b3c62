//! [`Groups`]: disjoint groups of nodes that are united step by step.

/// Disjoint groups of nodes. Initially, each node is its own group (Tarjan 1975, "Efficiency of a good but
/// not linear set union algorithm").
#[derive(Clone, Debug)]
pub(super) struct Groups {
    parents: Vec<usize>,
    sizes: Vec<usize>,
}

impl Groups {
    /// Creates `nodes` groups of one node each.
    pub(super) fn new(nodes: usize) -> Groups {
        Groups { parents: (0..nodes).collect(), sizes: vec![1; nodes] }
    }
    /// The node that represents the group of `node`.
    pub(super) fn find(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }
    /// Unites the groups of two nodes.
    pub(super) fn unite(&mut self, first: usize, second: usize) {
        let (first, second) = (self.find(first), self.find(second));
        if first == second {
            return;
        }
        let (large, small) =
            if self.sizes[first] >= self.sizes[second] { (first, second) } else { (second, first) };
        self.parents[small] = large;
        self.sizes[large] += self.sizes[small];
    }
    /// Returns the number of the group of each node, and the number of groups. Groups are numbered in the
    /// order of their first nodes.
    pub(super) fn numbered(mut self) -> (Vec<u32>, usize) {
        let mut numbers = vec![None; self.parents.len()];
        let mut count = 0;
        let mut of_node = Vec::with_capacity(numbers.len());
        for node in 0..numbers.len() {
            let group = self.find(node);
            of_node.push(*numbers[group].get_or_insert_with(|| {
                count += 1;
                count as u32 - 1
            }));
        }
        (of_node, count)
    }
}
