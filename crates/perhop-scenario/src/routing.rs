//! Routes, which are computed before the run. A route that the scenario sets takes precedence over the path
//! of least total cost. Of several paths with equal cost, the path with the link that is first in the
//! scenario is used, so that routes are reproducible. Hosts do not forward packets, so the search visits only
//! routers. One search per router with hosts finds the paths from all nodes, so set-up time is linear in the
//! number of hosts.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap};

/// A node of the network, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// One direction of a link, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

impl LinkId {
    /// Returns the index of the direction.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A direction of a link, and its far end.
type Hop = (LinkId, NodeId);

/// The directions of links from each node, with their costs.
#[derive(Debug)]
pub struct Routes {
    /// The links that leave each node, with their far ends.
    leaving: Vec<Vec<Hop>>,
    /// The first link to each node from each of its neighbors, with the neighbor and the cost of the link.
    arriving: Vec<Vec<(LinkId, NodeId, u32)>>,
    /// The first link from one node to another.
    direct: BTreeMap<(NodeId, NodeId), LinkId>,
    forwards: Vec<bool>,
    /// The hops that the scenario sets, by node and destination.
    set: BTreeMap<(NodeId, NodeId), Hop>,
    /// The first link from every node towards a destination, for the destinations of the queries so far.
    trees: BTreeMap<NodeId, Vec<Option<Hop>>>,
    /// Number of links that searches have visited, a measure of their work.
    looks: u64,
}

impl Routes {
    /// Creates routes without links. `forwards` contains for each node whether it forwards packets.
    pub fn new(forwards: Vec<bool>) -> Routes {
        let (leaving, arriving) = (vec![Vec::new(); forwards.len()], vec![Vec::new(); forwards.len()]);
        let (direct, set, trees) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Routes { leaving, arriving, direct, forwards, set, trees, looks: 0 }
    }
    /// Sets the neighbor to which a node sends packets for a host, instead of the path of least cost. Returns
    /// whether a link leads to the neighbor.
    pub fn set(&mut self, at: NodeId, to: NodeId, neighbor: NodeId) -> bool {
        let link = self.direct.get(&(at, neighbor)).copied();
        self.set.extend(link.map(|link| ((at, to), (link, neighbor))));
        link.is_some()
    }
    /// Adds a direction of a link.
    pub fn add(&mut self, link: LinkId, from: NodeId, to: NodeId, cost: u32) {
        self.leaving[from.0 as usize].push((link, to));
        if let Entry::Vacant(entry) = self.direct.entry((from, to)) {
            entry.insert(link);
            self.arriving[to.0 as usize].push((link, from, cost));
        }
    }
    /// Returns the number of links visited by searches so far.
    pub fn looks(&self) -> u64 {
        self.looks
    }
    /// Returns the links on the path from `from` to `to`; `None` if there is no path, or the routes of the
    /// scenario form a loop.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        // All packets of a host with one link pass its only neighbor, so the search starts at this neighbor.
        let (mut path, mut at) = (Vec::new(), from);
        if let [(link, neighbor)] = self.leaving[from.0 as usize][..] {
            path.push(link);
            at = neighbor;
        }
        let gateway = match self.leaving[to.0 as usize][..] {
            [(_, neighbor)] if self.forwards[neighbor.0 as usize] => neighbor,
            _ => to,
        };
        while at != to {
            if at != from && !self.forwards[at.0 as usize] {
                return None;
            }
            if path.len() > self.leaving.len() {
                return None;
            }
            let target = if at == gateway { to } else { gateway };
            let set = self.set.get(&(at, to)).copied();
            let (link, neighbor) = set.or_else(|| self.next_hop(at, target))?;
            path.push(link);
            at = neighbor;
        }
        Some(path)
    }

    fn next_hop(&mut self, at: NodeId, target: NodeId) -> Option<Hop> {
        if !self.forwards[target.0 as usize]
            && let Some(link) = self.direct.get(&(at, target))
        {
            return Some((*link, target));
        }
        if !self.trees.contains_key(&target) {
            let tree = self.tree_towards(target);
            self.trees.insert(target, tree);
        }
        self.trees[&target][at.0 as usize]
    }

    /// Runs Dijkstra's algorithm from the target. Both directions of a link have the same cost, so a path to
    /// the target has the same cost as the reverse path.
    fn tree_towards(&mut self, target: NodeId) -> Vec<Option<Hop>> {
        let mut first_hop: Vec<Option<Hop>> = vec![None; self.leaving.len()];
        let mut cost = vec![u64::MAX; self.leaving.len()];
        let mut frontier = BinaryHeap::from([Reverse((0u64, target))]);
        cost[target.0 as usize] = 0;
        while let Some(Reverse((so_far, node))) = frontier.pop() {
            let passes = node == target || self.forwards[node.0 as usize];
            if so_far > cost[node.0 as usize] || !passes {
                continue;
            }
            self.looks += self.arriving[node.0 as usize].len() as u64;
            for &(back, neighbor, link_cost) in &self.arriving[node.0 as usize] {
                let total = so_far + u64::from(link_cost);
                let known = cost[neighbor.0 as usize];
                // At equal cost, the first link of the scenario is used.
                if total < known
                    || (total == known && first_hop[neighbor.0 as usize].is_some_and(|(link, _)| back < link))
                {
                    cost[neighbor.0 as usize] = total;
                    first_hop[neighbor.0 as usize] = Some((back, node));
                    if total < known && self.forwards[neighbor.0 as usize] {
                        frontier.push(Reverse((total, neighbor)));
                    }
                }
            }
        }
        first_hop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates routes between nodes, from links with their costs. `forwards` contains for each node whether
    /// it forwards packets.
    fn routes(forwards: &[bool], links: &[(u32, u32, u32)]) -> Routes {
        let mut routes = Routes::new(forwards.to_vec());
        for (index, &(a, b, cost)) in (0..).zip(links) {
            routes.add(LinkId(2 * index), NodeId(a), NodeId(b), cost);
            routes.add(LinkId(2 * index + 1), NodeId(b), NodeId(a), cost);
        }
        routes
    }

    /// Nodes 0 and 1 are hosts, and 2 to 5 are routers. There are two paths of equal cost from 2 to 5,
    /// through 3 and through 4.
    #[test]
    fn equal_paths_follow_the_order_of_links() {
        let links = [(0, 2, 1), (2, 3, 1), (2, 4, 1), (3, 5, 1), (4, 5, 1), (5, 1, 1)];
        let path = routes(&[false, false, true, true, true, true], &links).path(NodeId(0), NodeId(1));
        assert_eq!(path.unwrap(), [LinkId(0), LinkId(2), LinkId(6), LinkId(10)]);
    }

    #[test]
    fn hosts_forward_nothing() {
        let mut routes = routes(&[false; 3], &[(0, 1, 1), (1, 2, 1)]);
        assert_eq!(routes.path(NodeId(0), NodeId(2)), None);
        assert_eq!(routes.path(NodeId(0), NodeId(1)), Some(vec![LinkId(0)]));
    }

    /// There are two paths of equal cost from 2 to 5. The configured route leads through 4, and the reverse
    /// route through 3. With a loop between 2 and 4, there is no path.
    #[test]
    fn configured_routes_precede_computed_ones() {
        let links = [(0, 2, 1), (2, 3, 1), (2, 4, 1), (3, 5, 1), (4, 5, 1), (5, 1, 1)];
        let mut routes = routes(&[false, false, true, true, true, true], &links);
        assert!(routes.set(NodeId(2), NodeId(1), NodeId(4)));
        assert!(!routes.set(NodeId(2), NodeId(1), NodeId(5)));
        let there = routes.path(NodeId(0), NodeId(1)).unwrap();
        assert_eq!(there, [LinkId(0), LinkId(4), LinkId(8), LinkId(10)]);
        assert_eq!(routes.path(NodeId(1), NodeId(0)).unwrap(), [LinkId(11), LinkId(7), LinkId(3), LinkId(1)]);
        assert!(routes.set(NodeId(4), NodeId(1), NodeId(2)));
        assert_eq!(routes.path(NodeId(0), NodeId(1)), None);
    }

    #[test]
    fn a_cheaper_path_is_preferred() {
        let mut routes = routes(&[true; 3], &[(0, 2, 10), (0, 1, 3), (1, 2, 3)]);
        assert_eq!(routes.path(NodeId(0), NodeId(2)), Some(vec![LinkId(2), LinkId(4)]));
    }
}
