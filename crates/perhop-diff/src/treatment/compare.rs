//! [`compare`]: the packets that two sides treat differently.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::{PacketSpace, Set, TooComplex};

use super::forward::Treatments;
use super::queues::{Guarantees, Sameness};
use super::tree::{Place, Tree, TreeId};
use super::values::same_value;
use super::words::Counterexample;

/// The comparison of the treatments of one set of packets by two sides.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// A packet that the two sides treat differently; `None` if there is no such packet.
    pub(crate) packet: Option<Counterexample>,
    /// The sets of arriving packets whose own treatment differs.
    pub(crate) packets: Vec<Set>,
    /// The kinds of schedulers of corresponding queues that have equal guarantees, but different schedulers.
    pub(crate) schedulers: BTreeSet<(String, String)>,
    /// The number of sets of packets that have one treatment on each side.
    pub(crate) kinds: usize,
}

/// Elements of two sides with common packets, and these packets.
type Common = BTreeMap<(usize, usize), Set>;

/// The corresponding meters, queues and common limits of two sides.
#[derive(Default)]
struct Correspondence {
    meters: Common,
    queues: Common,
    limiters: Common,
}

/// Compares the treatments of the same packets by two sides.
///
/// # Errors
/// The sets are too complex.
pub(crate) fn compare(space: &mut PacketSpace, sides: [&Treatments; 2]) -> Result<Difference, TooComplex> {
    let mut found = Difference::default();
    let mut different: Vec<(Set, [TreeId; 2])> = Vec::new();
    let mut common = Correspondence::default();
    for (first, tree) in &sides[0].parts {
        for (other, second) in &sides[1].parts {
            let both = space.and(*first, *other)?;
            if both == Set::NONE {
                continue;
            }
            found.kinds += 1;
            let trees = [*tree, *second];
            if same_trees(sides, trees, Guarantees::Compared, &mut found.schedulers) {
                correspond(space, sides, trees, both, &mut common)?;
            } else {
                different.push((both, trees));
            }
        }
    }
    // A packet that is marked or queued differently is a better example than a packet that only gets another
    // share of the rate.
    let (own, rest): (Vec<_>, Vec<_>) = different
        .iter()
        .partition(|(_, trees)| !same_trees(sides, *trees, Guarantees::Ignored, &mut BTreeSet::new()));
    let mut witness = None;
    for sets in [own, rest] {
        let all = space.any(sets.iter().map(|(set, _)| *set).collect())?;
        witness = witness.or(space.witness(all)?);
    }
    if let Some(witness) = witness {
        let own = different.iter().find(|(set, _)| space.contains(*set, &witness.packet));
        let trees = own.or(different.first()).map(|(_, trees)| *trees);
        found.packet = trees.map(|trees| Counterexample::from_trees(&witness, sides, trees));
        found.packets = different.into_iter().map(|(set, _)| set).collect();
        return Ok(found);
    }
    found.packet = find_sharing_difference(space, sides, &common)?;
    Ok(found)
}

/// Whether two trees are the same treatment, without regard to other packets in the meters and queues.
fn same_trees(
    sides: [&Treatments; 2],
    trees: [TreeId; 2],
    guarantees: Guarantees,
    schedulers: &mut BTreeSet<(String, String)>,
) -> bool {
    match (sides[0].tree(trees[0]), sides[1].tree(trees[1])) {
        (Tree::Dropped, Tree::Dropped) => true,
        (Tree::Leaves { marks, place }, Tree::Leaves { marks: other, place: second }) => {
            marks == other && same_places(sides, [*place, *second], guarantees, schedulers)
        }
        (Tree::Metered { meter, colors }, Tree::Metered { meter: other, colors: second }) => {
            let configs = [&sides[0].meter(*meter).config, &sides[1].meter(*other).config];
            same_value(configs[0], configs[1])
                && colors.len() == second.len()
                && colors.iter().zip(second).all(|((color, first_tree), (other, second_tree))| {
                    color == other && same_trees(sides, [*first_tree, *second_tree], guarantees, schedulers)
                })
        }
        _ => false,
    }
}

fn same_places(
    sides: [&Treatments; 2],
    places: [Place; 2],
    guarantees: Guarantees,
    schedulers: &mut BTreeSet<(String, String)>,
) -> bool {
    let [Place::Queue { queue, row }, Place::Queue { queue: other, row: second }] = places else {
        return places[0] == places[1];
    };
    let queues = [sides[0].queue(queue), sides[1].queue(other)];
    let sameness = queues[0].compare(queues[1], guarantees);
    if sameness == Sameness::OtherScheduler {
        schedulers.insert((queues[0].kinds(), queues[1].kinds()));
    }
    sameness != Sameness::Different && same_value(&queues[0].rows[row], &queues[1].rows[second])
}

/// Records the meters and queues that correspond in two equal trees of `packets`.
fn correspond(
    space: &mut PacketSpace,
    sides: [&Treatments; 2],
    trees: [TreeId; 2],
    packets: Set,
    common: &mut Correspondence,
) -> Result<(), TooComplex> {
    match (sides[0].tree(trees[0]), sides[1].tree(trees[1])) {
        (
            Tree::Leaves { place: Place::Queue { queue, .. }, .. },
            Tree::Leaves { place: Place::Queue { queue: other, .. }, .. },
        ) => {
            add(space, &mut common.queues, (*queue, *other), packets)?;
            let limiters = [&sides[0].queue(*queue).limited_by, &sides[1].queue(*other).limited_by];
            for pair in limiters[0].iter().zip(limiters[1]) {
                add(space, &mut common.limiters, (*pair.0, *pair.1), packets)?;
            }
        }
        (Tree::Metered { meter, colors }, Tree::Metered { meter: other, colors: second }) => {
            add(space, &mut common.meters, (*meter, *other), packets)?;
            for ((_, first_tree), (_, second_tree)) in colors.iter().zip(second) {
                correspond(space, sides, [*first_tree, *second_tree], packets, common)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn add(
    space: &mut PacketSpace,
    common: &mut Common,
    pair: (usize, usize),
    packets: Set,
) -> Result<(), TooComplex> {
    let known = common.get(&pair).copied().unwrap_or(Set::NONE);
    common.insert(pair, space.or(known, packets)?);
    Ok(())
}

/// Returns a packet that shares a meter, a queue or a limit with other packets on one side only.
fn find_sharing_difference(
    space: &mut PacketSpace,
    sides: [&Treatments; 2],
    common: &Correspondence,
) -> Result<Option<Counterexample>, TooComplex> {
    for (what, pairs) in
        [("policer", &common.meters), ("queue", &common.queues), ("shaper or limit", &common.limiters)]
    {
        for side in [0, 1] {
            let mut by_own: BTreeMap<usize, Vec<Set>> = BTreeMap::new();
            for ((first, second), packets) in pairs {
                by_own.entry(if side == 0 { *first } else { *second }).or_default().push(*packets);
            }
            for (own, sets) in by_own.into_iter().filter(|(_, sets)| sets.len() > 1) {
                let witnesses =
                    sets.into_iter().map(|set| space.witness(set)).collect::<Result<Vec<_>, _>>()?;
                let witnesses: Vec<_> = witnesses.into_iter().flatten().collect();
                let [first, second, ..] = witnesses.as_slice() else { continue };
                let is_per_flow = what == "policer" && sides[side].meter(own).is_per_flow;
                return Ok(Some(Counterexample::from_sharing(what, side, [first, second], is_per_flow)));
            }
        }
    }
    Ok(None)
}
