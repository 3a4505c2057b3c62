//! The queues of an output policy, with the rate of each while all queues are busy.

use std::collections::BTreeMap;

use perhop_analysis::rates::{Given, Level, PriorityLoad, rates, shares_under};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig};
use perhop_qos::{QueueSize, Rate};

use crate::sources::{PACKET, Room};

/// The fraction of the rate that is assumed for priority classes without a limit: Cisco's advice for
/// low-latency queueing (Enterprise QoS Solution Reference Network Design Guide 3.3, chapter 1, "33 percent
/// LLQ rule").
const UNLIMITED_PRIORITY: f64 = 1.0 / 3.0;

/// A queue of an output policy: a class without child classes.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<'a> {
    /// The names of the enclosing classes and of the class, the outermost first, as in results.
    pub(crate) path: String,
    pub(crate) name: String,
    /// The match conditions of the class and its parents. Packets must meet all of them.
    pub(crate) matches: Vec<&'a MatchConfig>,
    pub(crate) class: &'a ClassConfig,
    /// Whether the class has strict priority.
    pub(crate) has_priority: bool,
    /// The rate while all classes are busy, bits per second.
    pub(crate) share: f64,
    /// The configured guarantee, bits per second.
    pub(crate) guaranteed: Option<f64>,
    /// The limit of the class's policer, shaper or ceiling, bits per second.
    pub(crate) limit: Option<f64>,
    /// The rate that a tin of CAKE gets without delay at any load of the other tins, bits per second; `None`
    /// for other queues.
    pub(crate) part: Option<f64>,
}

impl Leaf<'_> {
    /// Returns the limit of the queue in packets; `None` if the queue does not drop by length.
    pub(crate) fn room(&self) -> Option<Room> {
        let packets = |size: QueueSize| match size {
            QueueSize::Packets(packets) => packets as f64,
            QueueSize::Bytes(bytes) => bytes as f64 / PACKET,
        };
        match (&self.class.fair_queueing, &self.class.buffer) {
            (Some(fair), None) => Some(Room { all: packets(fair.limit), of_flow: packets(fair.flow_limit) }),
            (None, Some(BufferConfig::TailDrop(drop))) => {
                Some(Room { all: packets(drop.limit), of_flow: f64::INFINITY })
            }
            _ => None,
        }
    }
}

/// Returns the queues of a policy on a wire of `rate` bits per second, in the order of results.
pub(crate) fn leaves(policy: &PolicyConfig, rate: f64) -> Vec<Leaf<'_>> {
    let none = BTreeMap::new();
    let line = Rate::from_bits_per_second(rate as u64);
    let Some(level) = rates(policy, Given { line: Some(line), limits: &none }) else { return Vec::new() };
    let load = PriorityLoad { of_limit: 1.0, without_limit: Some(UNLIMITED_PRIORITY) };
    let mut shares = shares_under(policy, rate, load).into_iter();
    let mut found = Vec::new();
    add(&level, &[], &mut shares, &mut found);
    found
}

/// Adds the queues of `level`, whose packets satisfy the conditions `around`; `shares` contains the rate of
/// each.
fn add<'a>(
    level: &Level<'a>,
    around: &[&'a MatchConfig],
    shares: &mut impl Iterator<Item = f64>,
    found: &mut Vec<Leaf<'a>>,
) {
    for rates in &level.classes {
        let class = rates.class;
        let matches: Vec<&MatchConfig> = around.iter().copied().chain(&class.matches).collect();
        if let Some(inner) = &rates.inner {
            add(inner, &matches, shares, found);
            continue;
        }
        let leaf = Leaf {
            path: rates.path.clone(),
            name: class.name.clone(),
            matches,
            has_priority: rates.has_priority,
            share: shares.next().unwrap_or(0.0),
            guaranteed: rates.written.and(rates.promised),
            limit: rates.limit,
            part: None,
            class,
        };
        tins(leaf, found);
    }
}

/// Adds the queues of a class: its own queue, or the tins of CAKE.
///
/// If CAKE has a bandwidth, each tin except the first has priority over the others up to its share of the
/// bandwidth. Otherwise the shares are weights. In both cases, a tin gets its weighted rate without delay,
/// because the shares add up to more than the whole.
fn tins<'a>(leaf: Leaf<'a>, found: &mut Vec<Leaf<'a>>) {
    let tins = match &leaf.class.buffer {
        Some(BufferConfig::Cake(cake)) if cake.tins.names().len() > 1 => cake.tins,
        _ => return found.push(leaf),
    };
    let (names, parts) = (tins.names(), tins.parts());
    let whole: f64 = parts[0] + parts[1..].iter().sum::<f64>();
    let sure: Vec<f64> = parts[1..].iter().map(|part| leaf.share * part / whole).collect();
    let first = leaf.share - sure.iter().sum::<f64>();
    let of_tins = std::iter::once((first, None)).chain(sure.iter().map(|part| (*part, Some(*part))));
    for (name, (share, part)) in names.into_iter().zip(of_tins) {
        let path = format!("{}/{name}", leaf.path);
        found.push(Leaf { path, name: name.to_owned(), share, part, ..leaf.clone() });
    }
}
