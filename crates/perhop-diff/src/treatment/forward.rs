//! [`Treatments`]: the treatments of all packets of a set, computed from the first step to the last.

use std::collections::BTreeMap;

use perhop_analysis::{Field, PacketSpace, Set, TooComplex, effects, given_by};
use perhop_qos::Color;
use perhop_qos::action::{Action, Outcome};

use super::policy_path::{PolicyPath, Stage, Step};
use super::queues::{ClassContent, Level, Queue};
use super::tree::{Meter, Place, Tree, TreeId};

/// Limit on the sets of packets with one treatment each.
const MOST_PARTS: usize = 4_000;

/// Sets of packets with their treatments: a partition.
type Parts = Vec<(Set, TreeId)>;
type Made = Result<Parts, TooComplex>;

/// The fields of each mark. They are written together.
const MARKS: [&[Field]; 3] = [&[Field::Dscp], &[Field::HasCos, Field::Cos], &[Field::HasExp, Field::Exp]];
/// The fields that exist only inside a device.
const INSIDE: [&[Field]; 2] = [&[Field::Color], &[Field::Label]];

/// Packets inside the device: the set of arriving packets, and the fields written since arrival.
#[derive(Clone, Debug)]
struct State {
    packets: Set,
    fields: BTreeMap<Field, u128>,
}

impl State {
    /// Returns the arriving packets that are in `set` after the fields of this state are written.
    fn now(&self, space: &mut PacketSpace, set: Set) -> Result<Set, TooComplex> {
        let set = if self.fields.is_empty() {
            set
        } else {
            let fields: Vec<(Field, u128)> =
                self.fields.iter().map(|(field, value)| (*field, *value)).collect();
            space.given(set, &fields)?
        };
        space.and(self.packets, set)
    }

    fn with(&self, packets: Set) -> State {
        State { packets, fields: self.fields.clone() }
    }
}

/// The treatments of the packets of a set.
pub(crate) struct Treatments<'a> {
    path: PolicyPath<'a>,
    trees: Vec<Tree>,
    known: BTreeMap<Tree, TreeId>,
    pub(super) parts: Parts,
}

impl<'a> Treatments<'a> {
    /// Computes the treatments of `packets`.
    pub(crate) fn follow(
        space: &mut PacketSpace,
        path: PolicyPath<'a>,
        packets: Set,
    ) -> Result<Treatments<'a>, TooComplex> {
        let mut found = Treatments { path, trees: Vec::new(), known: BTreeMap::new(), parts: Vec::new() };
        let state = State { packets, fields: BTreeMap::new() };
        let parts = found.run(space, (0, 0), state)?;
        let parts = found.without_idle_meters(parts);
        found.parts = joined(space, parts)?;
        Ok(found)
    }

    pub(super) fn tree(&self, id: TreeId) -> &Tree {
        &self.trees[id]
    }

    pub(super) fn meter(&self, meter: usize) -> &Meter {
        &self.path.meters[meter]
    }

    pub(super) fn queue(&self, queue: usize) -> &Queue {
        &self.path.queues[queue]
    }

    fn intern(&mut self, tree: Tree) -> TreeId {
        let next = self.trees.len();
        let id = *self.known.entry(tree.clone()).or_insert(next);
        if id == next {
            self.trees.push(tree);
        }
        id
    }

    /// Follows packets from stage `stage` of step `step` to the end of the path.
    fn run(&mut self, space: &mut PacketSpace, (step, stage): (usize, usize), state: State) -> Made {
        if state.packets == Set::NONE {
            return Ok(Vec::new());
        }
        match self.path.steps.get(step) {
            None => self.leaf(space, state, Place::Onward),
            Some(Step::Filter(permitted)) => {
                let passed = state.now(space, *permitted)?;
                let denied = space.minus(state.packets, passed)?;
                let mut parts = self.run(space, (step + 1, 0), state.with(passed))?;
                parts.extend(self.dropped(denied));
                Ok(parts)
            }
            Some(Step::Departure(effects)) => {
                let mut states = vec![state];
                for list in effects.clone() {
                    let apply = |space: &mut PacketSpace, state: &State| split(space, state, &list);
                    states = each(space, &states, apply)?;
                }
                self.run_all(space, (step + 1, 0), states)
            }
            Some(Step::Conditioners(stages)) => match stages.get(stage) {
                None => self.run(space, (step + 1, 0), state),
                Some(own) => {
                    let Stage { config, takes, meter } = *own;
                    let taken = state.now(space, takes)?;
                    let rest = space.minus(state.packets, taken)?;
                    let mut parts = self.run(space, (step, stage + 1), state.with(rest))?;
                    let taken = state.with(taken);
                    let place = (step, stage);
                    parts.extend(match meter {
                        Some(meter) => self.metered(space, place, (config, meter), &taken)?,
                        None => self.unmetered(space, place, config, &taken)?,
                    });
                    if parts.len() > MOST_PARTS { Err(TooComplex) } else { Ok(parts) }
                }
            },
            Some(Step::Queues(level)) => {
                let level = level.clone();
                self.classify(space, &level, state)
            }
        }
    }

    fn run_all(&mut self, space: &mut PacketSpace, place: (usize, usize), states: Vec<State>) -> Made {
        let mut parts = Vec::new();
        for state in states {
            parts.extend(self.run(space, place, state)?);
        }
        Ok(parts)
    }

    fn dropped(&mut self, packets: Set) -> Option<(Set, TreeId)> {
        (packets != Set::NONE).then(|| (packets, self.intern(Tree::Dropped)))
    }

    /// Follows packets through a conditioner without a meter. The packets keep their color.
    fn unmetered(
        &mut self,
        space: &mut PacketSpace,
        place: (usize, usize),
        config: &perhop_qos::conditioner::ConditionerConfig,
        taken: &State,
    ) -> Made {
        let mut by_actions: Vec<(&[Action], Vec<u128>)> = Vec::new();
        for color in (0..Color::COUNT).map(Color::new) {
            let actions = config.actions_of(color);
            match by_actions.iter_mut().find(|(known, _)| *known == actions) {
                Some((_, colors)) => colors.push(color.index() as u128),
                None => by_actions.push((actions, vec![color.index() as u128])),
            }
        }
        let is_one = by_actions.len() == 1;
        let mut parts = Vec::new();
        for (actions, colors) in by_actions {
            let packets = if is_one {
                taken.packets
            } else {
                let colors = space.is_one_of(Field::Color, colors)?;
                taken.now(space, colors)?
            };
            parts.extend(self.act(space, place, actions, taken.with(packets))?);
        }
        Ok(parts)
    }

    /// Follows packets through a conditioner with a meter, for each color that the meter can assign.
    fn metered(
        &mut self,
        space: &mut PacketSpace,
        place: (usize, usize),
        (config, meter): (&perhop_qos::conditioner::ConditionerConfig, usize),
        taken: &State,
    ) -> Made {
        let mut together: Vec<(Set, Vec<(usize, TreeId)>)> = vec![(taken.packets, Vec::new())];
        for color in given_by(config.meter.as_ref()).unwrap_or_default() {
            let mut state = taken.clone();
            state.fields.insert(Field::Color, color.index() as u128);
            let parts = self.act(space, place, config.actions_of(color), state)?;
            let parts = joined(space, parts)?;
            let mut next = Vec::new();
            for (set, colors) in &together {
                for (other, tree) in &parts {
                    let both = space.and(*set, *other)?;
                    if both != Set::NONE {
                        let mut colors = colors.clone();
                        colors.push((color.index(), *tree));
                        next.push((both, colors));
                    }
                }
            }
            together = next;
            if together.len() > MOST_PARTS {
                return Err(TooComplex);
            }
        }
        let trees = together.into_iter().filter(|(set, _)| *set != Set::NONE);
        Ok(trees.map(|(set, colors)| (set, self.intern(Tree::Metered { meter, colors }))).collect())
    }

    /// Applies the actions of a conditioner, and follows the packets from there.
    fn act(
        &mut self,
        space: &mut PacketSpace,
        (step, stage): (usize, usize),
        actions: &[Action],
        state: State,
    ) -> Made {
        let mut states = vec![state];
        for action in actions {
            let list = effects(space, action)?;
            let apply = |space: &mut PacketSpace, state: &State| split(space, state, &list);
            states = each(space, &states, apply)?;
        }
        match actions.iter().find_map(Action::ends_with).unwrap_or(Outcome::Transmit) {
            Outcome::Transmit => self.run_all(space, (step + 1, 0), states),
            Outcome::Continue => self.run_all(space, (step, stage + 1), states),
            Outcome::Drop => {
                let sets = states.into_iter().map(|state| state.packets).collect();
                let packets = space.any(sets)?;
                Ok(self.dropped(packets).into_iter().collect())
            }
        }
    }

    /// Follows packets into the classes of a level. A packet belongs to the first matching class.
    fn classify(&mut self, space: &mut PacketSpace, level: &Level, state: State) -> Made {
        let mut parts = Vec::new();
        let mut rest = state;
        for class in &level.classes {
            if rest.packets == Set::NONE {
                break;
            }
            let taken = rest.now(space, class.takes)?;
            let own = rest.with(taken);
            rest.packets = space.minus(rest.packets, taken)?;
            match &class.content {
                ClassContent::Level(inner) => parts.extend(self.classify(space, inner, own)?),
                ClassContent::Queues(queues) => {
                    for (queue, row, packets) in queues {
                        let packets = own.now(space, *packets)?;
                        let place = Place::Queue { queue: *queue, row: *row };
                        parts.extend(self.leaf(space, own.with(packets), place)?);
                    }
                }
            }
        }
        parts.extend(self.leaf(space, rest, Place::NoClass)?);
        if parts.len() > MOST_PARTS { Err(TooComplex) } else { Ok(parts) }
    }

    /// Returns the treatments of packets at the place where their path ends. A write of the existing value of
    /// a field does not count as a mark.
    fn leaf(&mut self, space: &mut PacketSpace, state: State, place: Place) -> Made {
        let mut states = vec![state];
        let inside: &[&[Field]] = if place == Place::Onward { &INSIDE } else { &[] };
        for group in MARKS.iter().chain(inside) {
            let apply = |space: &mut PacketSpace, state: &State| without_kept(space, state, group);
            states = each(space, &states, apply)?;
        }
        let is_mark = |field: &Field| MARKS.iter().chain(inside).any(|group| group.contains(field));
        let mut parts = Vec::new();
        for state in states.into_iter().filter(|state| state.packets != Set::NONE) {
            let marks = state.fields.iter().filter(|(field, _)| is_mark(field));
            let marks = marks.map(|(field, value)| (*field, *value)).collect();
            parts.push((state.packets, self.intern(Tree::Leaves { marks, place })));
        }
        Ok(parts)
    }

    /// Removes meters whose colors do not change the treatment of any packet.
    fn without_idle_meters(&mut self, parts: Parts) -> Parts {
        let mut busy = vec![false; self.path.meters.len()];
        loop {
            let before = busy.clone();
            let plain = self.plain(&busy);
            for tree in self.trees.iter().take(plain.len()) {
                let Tree::Metered { meter, colors } = tree else { continue };
                let first = colors.first().map(|(_, tree)| plain[*tree]);
                busy[*meter] |= colors.iter().any(|(_, tree)| Some(plain[*tree]) != first);
            }
            if busy == before {
                return parts.into_iter().map(|(set, tree)| (set, plain[tree])).collect();
            }
        }
    }

    /// Returns the trees without the meters that are not `busy`, by the number of the original tree.
    fn plain(&mut self, busy: &[bool]) -> Vec<TreeId> {
        let count = self.trees.len();
        let mut plain: Vec<TreeId> = Vec::with_capacity(count);
        // The branches of a tree have lower numbers, because they are created earlier. They are therefore
        // converted before the tree.
        for id in 0..count {
            let own = match self.trees[id].clone() {
                Tree::Metered { meter, colors } if !busy[meter] => {
                    let branches: Vec<TreeId> = colors.iter().map(|(_, tree)| plain[*tree]).collect();
                    let first = branches.first().copied().unwrap_or(id);
                    if branches.iter().all(|tree| *tree == first) {
                        first
                    } else {
                        let colors = colors.iter().zip(&branches).map(|((color, _), tree)| (*color, *tree));
                        let tree = Tree::Metered { meter, colors: colors.collect() };
                        self.intern(tree)
                    }
                }
                Tree::Metered { meter, colors } => {
                    let colors = colors.iter().map(|(color, tree)| (*color, plain[*tree])).collect();
                    self.intern(Tree::Metered { meter, colors })
                }
                _ => id,
            };
            plain.push(own);
        }
        plain
    }
}

/// Applies a function to each state.
fn each(
    space: &mut PacketSpace,
    states: &[State],
    mut apply: impl FnMut(&mut PacketSpace, &State) -> Result<Vec<State>, TooComplex>,
) -> Result<Vec<State>, TooComplex> {
    let mut found = Vec::new();
    for state in states {
        found.extend(apply(space, state)?);
    }
    Ok(found)
}

/// Applies each of the effects to its packets. Returns one state for each effect.
fn split(
    space: &mut PacketSpace,
    state: &State,
    effects: &[perhop_analysis::Effect],
) -> Result<Vec<State>, TooComplex> {
    let mut found = Vec::new();
    for effect in effects {
        let packets = state.now(space, effect.packets)?;
        if packets != Set::NONE {
            let mut next = state.with(packets);
            next.fields.extend(effect.fields.iter().copied());
            found.push(next);
        }
    }
    Ok(found)
}

/// Separates the packets that already have the written values in the fields of a group from all other
/// packets.
fn without_kept(space: &mut PacketSpace, state: &State, group: &[Field]) -> Result<Vec<State>, TooComplex> {
    let mut state = state.clone();
    if let [has, value] = group
        && state.fields.get(has) == Some(&0)
    {
        // A packet without the header has no value of the field.
        state.fields.remove(value);
    }
    let mut kept = state.packets;
    let mut is_written = false;
    for field in group {
        if let Some(value) = state.fields.get(field) {
            let same = space.equals(*field, *value)?;
            kept = space.and(kept, same)?;
            is_written = true;
        }
    }
    if !is_written {
        return Ok(vec![state]);
    }
    let changed = state.with(space.minus(state.packets, kept)?);
    state.packets = kept;
    for field in group {
        state.fields.remove(field);
    }
    Ok(vec![state, changed])
}

/// Joins the sets with the same treatment.
fn joined(space: &mut PacketSpace, parts: Parts) -> Made {
    let mut by_tree: BTreeMap<TreeId, Vec<Set>> = BTreeMap::new();
    for (set, tree) in parts {
        by_tree.entry(tree).or_default().push(set);
    }
    by_tree.into_iter().map(|(tree, sets)| Ok((space.any(sets)?, tree))).collect()
}
