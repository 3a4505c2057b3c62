//! [`divide`]: the long-run division of a rate by a whole tree of guarantee-excess. In
//! `scheduler/guarantee_excess.rs` of `perhop-qos`, each class serves the first priority first, and a class
//! above its guarantee has the first priority of the excess. Each class therefore has a demand for each
//! priority, which the enclosing classes serve. Rates are computed from the outermost class inward.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;

use super::filling::fill;
use super::limits::bits;
use super::weights::{Got, Want};

/// The number of priority levels of guarantees.
const LEVELS: usize = 8;
/// The number of priority levels of guarantees and of the excess.
const PRIORITIES: usize = 2 * LEVELS;

/// The fraction of a rate below which a difference is due to rounding.
const LEAST: f64 = 1e-9;

/// The demands of a class by priority, bits per second.
type Demands = [f64; PRIORITIES];

/// Returns the rate of each class of the outermost `queueing` for `rate` bits per second.
pub(super) fn divide(queueing: &QueueingConfig, rate: f64, wants: &[Want]) -> Vec<Got> {
    let mut nodes = nodes(&queueing.classes, wants);
    give(&mut nodes, rate);
    nodes.into_iter().map(Got::from).collect()
}

#[derive(Debug)]
struct Node {
    weight: f64,
    /// The demands of the class at its enclosing class.
    demands: Demands,
    got: f64,
    inner: Vec<Node>,
}

impl From<Node> for Got {
    fn from(node: Node) -> Got {
        Got { inner: node.inner.into_iter().map(Got::from).collect(), ..Got::exact(node.got) }
    }
}

fn nodes(classes: &[ClassConfig], wants: &[Want]) -> Vec<Node> {
    classes.iter().zip(wants).map(|(class, want)| node(class, want)).collect()
}

fn node(class: &ClassConfig, want: &Want) -> Node {
    let share = &class.share;
    let most = share.ceil.map_or(want.rate, |ceil| bits(ceil).min(want.rate));
    let guarantee = match (share.rate, share.ceil) {
        (Some(rate), Some(ceil)) if rate >= ceil => Some(f64::INFINITY),
        (rate, _) => rate.map(bits),
    };
    let weight = share.weight.unwrap_or(1.0);
    let Some(inside) = class.link_shared(SchedulerConfig::GuaranteeExcess) else {
        let within = guarantee.unwrap_or(0.0).min(most);
        let mut demands = [0.0; PRIORITIES];
        demands[usize::from(share.level.unwrap_or(0)).min(LEVELS - 1)] = within;
        let beyond = if most > within { most - within } else { 0.0 };
        demands[LEVELS + usize::from(share.excess_level.unwrap_or(0)).min(LEVELS - 1)] = beyond;
        return Node { weight, demands, got: 0.0, inner: Vec::new() };
    };
    let inner = nodes(&inside.classes, &want.inner);
    let demands = demoted(limited(&inner, most), guarantee);
    Node { weight, demands, got: 0.0, inner }
}

/// Returns the demands of the classes inside a class that sends at most `most`.
fn limited(inner: &[Node], most: f64) -> Demands {
    let mut left = most;
    let mut demands = [0.0; PRIORITIES];
    for (priority, demand) in demands.iter_mut().enumerate() {
        *demand = inner.iter().map(|node| node.demands[priority]).sum::<f64>().min(left);
        left -= *demand;
        if left.is_nan() {
            left = 0.0;
        }
    }
    demands
}

/// Moves the demand above the guarantee of a class to the first priority of the excess. The demand of level 0
/// is not moved.
fn demoted(demands: Demands, guarantee: Option<f64>) -> Demands {
    let mut left = guarantee.unwrap_or(f64::INFINITY);
    let mut demands = demands;
    for priority in 0..LEVELS {
        let within = if priority == 0 { demands[0] } else { demands[priority].min(left) };
        let beyond = if demands[priority] > within { demands[priority] - within } else { 0.0 };
        demands[priority] = within;
        demands[LEVELS] += beyond;
        left = (left - within).max(0.0);
    }
    demands
}

/// Divides `rate` among classes that share it.
fn give(nodes: &mut [Node], rate: f64) {
    let total: f64 = nodes.iter().map(|node| node.weight).sum();
    let equal = total / nodes.len().max(1) as f64;
    let mut left = rate;
    for priority in 0..PRIORITIES {
        let wants: Vec<f64> = nodes.iter().map(|node| node.demands[priority]).collect();
        let is_equal = |node: &Node| priority < LEVELS && node.inner.is_empty();
        let weights: Vec<f64> =
            nodes.iter().map(|node| if is_equal(node) { equal } else { node.weight }).collect();
        for (node, got) in nodes.iter_mut().zip(fill(left, &weights, &wants)) {
            node.got += got;
            left -= got;
        }
        if left <= LEAST * rate {
            break;
        }
    }
    for node in nodes {
        give(&mut node.inner, node.got);
    }
}
