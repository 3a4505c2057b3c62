//! [`outcomes`]: the treatment of every packet by a policy, as a list in which the first matching entry
//! decides.

use std::collections::BTreeSet;

use perhop_analysis::{Class, Effect, Field, PacketSpace, Set, TooComplex, classes_of, effects, given_by};
use perhop_device::Missing;
use perhop_qos::Color;
use perhop_qos::action::{Action, Outcome as End};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::MeterScope;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use super::drops::Drops;

/// The maximum number of outcomes of a policy.
const MOST_OUTCOMES: usize = 512;

/// Packets and their treatment.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// The packets of this entry.
    pub(super) exact: Set,
    /// A simpler superset. Its additional packets belong to earlier entries.
    pub(super) loose: Set,
    pub(super) treatment: Treatment,
}

/// The treatment of some packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Treatment {
    pub(super) is_dropped: bool,
    /// The place of the queue among the queues of the policy.
    pub(super) queue: Option<usize>,
    /// The marks with which packets leave; `None` for a mark that no stage sets.
    pub(super) dscp: Option<u8>,
    pub(super) cos: Option<u8>,
    pub(super) exp: Option<u8>,
    pub(super) label: Option<u8>,
    pub(super) color: Option<u8>,
    /// The loss priority by which the queue drops, if the queue distinguishes several.
    pub(super) loss: Option<u8>,
    pub(super) metered: Option<Box<Metered>>,
}

impl Treatment {
    /// Returns the treatment without the color that a meter gives.
    fn without_color(&self) -> Treatment {
        Treatment { color: None, ..self.clone() }
    }
}

/// The treatment of packets that exceed a meter. The enclosing treatment applies to conforming packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Metered {
    /// The index of the conditioner.
    pub(super) stage: usize,
    pub(super) yellow: Option<Treatment>,
    pub(super) red: Treatment,
}

/// The fields that stages have set so far, with their values.
#[derive(Clone, Debug, Default)]
struct Fields(Vec<(Field, u128)>);

impl Fields {
    fn with(&self, set: &[(Field, u128)]) -> Fields {
        let mut fields = self.clone();
        for (field, value) in set {
            fields.0.retain(|(known, _)| known != field);
            fields.0.push((*field, *value));
        }
        fields
    }

    fn get(&self, field: Field) -> Option<u8> {
        self.0.iter().find(|(known, _)| *known == field).map(|(_, value)| *value as u8)
    }
}

/// Packets on their way through the stages.
#[derive(Clone)]
struct Packets {
    exact: Set,
    loose: Set,
    fields: Fields,
}

/// The labels that packets can have when they arrive at a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arriving {
    /// All labels, because the device classifies packets before the policy.
    Any,
    /// Label 0, and the labels that other policies set.
    Labels(BTreeSet<u8>),
}

/// Returns the outcomes of a policy. `drops` are the drop precedences of its queues.
///
/// # Errors
/// The policy is too complex, or it has a meter that Junos does not have.
pub(super) fn outcomes(
    space: &mut PacketSpace,
    policy: &PolicyConfig,
    drops: &[Drops],
    arriving: &Arriving,
) -> Result<Vec<Outcome>, Missing> {
    let queues = match &policy.queueing {
        Some(queueing) => classes_of(space, queueing, Set::ALL).map_err(too_complex)?,
        None => Vec::new(),
    };
    let is_flat = policy.queueing.as_ref().is_none_or(is_flat);
    let has_queues = policy.queueing.is_some();
    let mut walk = Walk { space, stages: &policy.conditioners, queues, drops, is_flat, has_queues };
    let all = Packets { exact: Set::ALL, loose: Set::ALL, fields: Fields::default() };
    let all = match arriving {
        Arriving::Any => all,
        Arriving::Labels(labels) if labels.is_empty() => {
            Packets { fields: all.fields.with(&[(Field::Label, 0)]), ..all }
        }
        Arriving::Labels(labels) => {
            let labels = labels.iter().copied().chain([0]).map(u128::from);
            let exact = walk.space.is_one_of(Field::Label, labels).map_err(too_complex)?;
            Packets { exact, ..all }
        }
    };
    let mut found = walk.stage(0, all)?;
    if *arriving != Arriving::Any {
        // Label 0 means that a packet has no label.
        for outcome in &mut found {
            outcome.treatment.label = outcome.treatment.label.filter(|label| *label > 0);
        }
    }
    merge(walk.space, &mut found)?;
    if found.len() > MOST_OUTCOMES {
        return Err(too_complex(TooComplex));
    }
    Ok(found)
}

/// Whether a packet always joins the first queue that matches it. This is so if the inner classes of each
/// class match all packets of the class.
fn is_flat(queueing: &QueueingConfig) -> bool {
    let inner = queueing.classes.iter().filter_map(|class| class.queueing.as_ref());
    let mut inner = inner.filter(|inner| !inner.classes.is_empty());
    inner.all(|inner| inner.classes.last().is_some_and(|last| last.matches.is_none()) && is_flat(inner))
}

/// Merges consecutive entries with the same treatment.
fn merge(space: &mut PacketSpace, outcomes: &mut Vec<Outcome>) -> Result<(), Missing> {
    let mut merged: Vec<Outcome> = Vec::new();
    for outcome in outcomes.drain(..) {
        match merged.last_mut().filter(|last| last.treatment == outcome.treatment) {
            Some(last) => {
                last.exact = space.or(last.exact, outcome.exact).map_err(too_complex)?;
                last.loose = space.or(last.loose, outcome.loose).map_err(too_complex)?;
            }
            None => merged.push(outcome),
        }
    }
    *outcomes = merged;
    Ok(())
}

pub(super) fn too_complex(_: TooComplex) -> Missing {
    Missing::new("a policy", "its conditions are too complicated for a list of terms")
        .instead("split its classes")
}

struct Walk<'w> {
    space: &'w mut PacketSpace,
    stages: &'w [ConditionerConfig],
    queues: Vec<Class>,
    drops: &'w [Drops],
    is_flat: bool,
    has_queues: bool,
}

impl Walk<'_> {
    /// Returns the outcomes of packets that reach the stage `index`.
    fn stage(&mut self, index: usize, packets: Packets) -> Result<Vec<Outcome>, Missing> {
        if packets.exact == Set::NONE {
            return Ok(Vec::new());
        }
        let Some(stage) = self.stages.get(index) else { return self.queued(packets) };
        let matched = match &stage.matches {
            Some(condition) => self.space.taken_by(condition).map_err(too_complex)?,
            None => Set::ALL,
        };
        let (hit, missed) = self.split(&packets, matched)?;
        let mut found = if hit.exact == Set::NONE { Vec::new() } else { self.treated(stage, index, hit)? };
        found.extend(self.stage(index + 1, missed)?);
        if found.len() > MOST_OUTCOMES {
            return Err(too_complex(TooComplex));
        }
        Ok(found)
    }

    /// Splits packets by a condition on their current fields.
    fn split(&mut self, packets: &Packets, matched: Set) -> Result<(Packets, Packets), Missing> {
        let now = self.space.given(matched, &packets.fields.0).map_err(too_complex)?;
        let mut both = |set: Set| self.space.and(set, now);
        let exact = both(packets.exact).map_err(too_complex)?;
        let loose = both(packets.loose).map_err(too_complex)?;
        let rest = self.space.minus(packets.exact, now).map_err(too_complex)?;
        let hit = Packets { exact, loose, fields: packets.fields.clone() };
        Ok((hit, Packets { exact: rest, ..packets.clone() }))
    }

    fn treated(
        &mut self,
        stage: &ConditionerConfig,
        index: usize,
        packets: Packets,
    ) -> Result<Vec<Outcome>, Missing> {
        let Some(colors) = given_by(stage.meter.as_ref()) else {
            return self.by_color(stage, index, packets);
        };
        if stage.per == MeterScope::Flow {
            return Err(Missing::new("a meter per flow", "Junos has one policer for all flows of a term"));
        }
        let mut by_color = Vec::new();
        for color in &colors {
            let fields = packets.fields.with(&[(Field::Color, color.index() as u128)]);
            let colored = Packets { fields, ..packets.clone() };
            by_color.push(self.acted(stage.actions_of(*color), index, colored)?);
        }
        let red = by_color.pop().unwrap_or_default();
        let green = if by_color.is_empty() { Vec::new() } else { by_color.remove(0) };
        let yellow = by_color.pop();
        let mut found = Vec::new();
        for conforming in green {
            for red in &red {
                for yellow in yellow.as_ref().map_or(vec![None], |all| all.iter().map(Some).collect()) {
                    let others: Vec<&Outcome> = [Some(red), yellow].into_iter().flatten().collect();
                    let (mut exact, mut loose) = (conforming.exact, conforming.loose);
                    for other in others {
                        exact = self.space.and(exact, other.exact).map_err(too_complex)?;
                        loose = self.space.and(loose, other.loose).map_err(too_complex)?;
                    }
                    if exact == Set::NONE {
                        continue;
                    }
                    let treatment = conforming.treatment.clone();
                    let is_same =
                        |other: &&Outcome| other.treatment.without_color() == treatment.without_color();
                    if [Some(red), yellow].into_iter().flatten().all(|other| is_same(&other)) {
                        found.push(Outcome { exact, loose, treatment: treatment.without_color() });
                        continue;
                    }
                    if treatment.metered.is_some() {
                        let reason = "in Junos, a packet passes only one policer of a filter";
                        return Err(Missing::new("a second meter for the same packets", reason));
                    }
                    let yellow = yellow.map(|own| own.treatment.clone());
                    let metered = Metered { stage: index, yellow, red: red.treatment.clone() };
                    let treatment = Treatment { metered: Some(Box::new(metered)), ..treatment };
                    found.push(Outcome { exact, loose, treatment });
                }
            }
        }
        Ok(found)
    }

    /// Applies the actions of a stage without a meter, which depend on the color of the packets.
    fn by_color(
        &mut self,
        stage: &ConditionerConfig,
        index: usize,
        packets: Packets,
    ) -> Result<Vec<Outcome>, Missing> {
        let all: Vec<&[Action]> =
            (0..Color::COUNT).map(|color| stage.actions_of(Color::new(color))).collect();
        if all.windows(2).all(|pair| pair[0] == pair[1]) {
            return self.acted(all[0], index, packets);
        }
        let (mut found, mut left) = (Vec::new(), packets);
        for (color, actions) in all.into_iter().enumerate() {
            let of_color = self.space.equals(Field::Color, color as u128).map_err(too_complex)?;
            let (hit, rest) = self.split(&left, of_color)?;
            if hit.exact != Set::NONE {
                found.extend(self.acted(actions, index, hit)?);
            }
            left = rest;
        }
        Ok(found)
    }

    /// Applies actions to packets in the stage `index`.
    fn acted(&mut self, actions: &[Action], index: usize, packets: Packets) -> Result<Vec<Outcome>, Missing> {
        let Some((action, rest)) = actions.split_first() else { return self.queued(packets) };
        match action.ends_with() {
            Some(End::Transmit) => return self.queued(packets),
            Some(End::Continue) => return self.stage(index + 1, packets),
            Some(End::Drop) => {
                let treatment = Treatment { is_dropped: true, ..Treatment::default() };
                return Ok(vec![Outcome { exact: packets.exact, loose: packets.loose, treatment }]);
            }
            None => {}
        }
        let (mut found, mut left) = (Vec::new(), packets);
        for Effect { packets: matched, fields } in effects(self.space, action).map_err(too_complex)? {
            let (hit, missed) = self.split(&left, matched)?;
            left = missed;
            if hit.exact != Set::NONE {
                let fields = hit.fields.with(&fields);
                found.extend(self.acted(rest, index, Packets { fields, ..hit })?);
            }
        }
        Ok(found)
    }

    /// Returns the outcomes of packets that leave the stages, with their queues.
    fn queued(&mut self, packets: Packets) -> Result<Vec<Outcome>, Missing> {
        if !self.has_queues {
            return Ok(vec![outcome(&packets, None, None)]);
        }
        let (mut found, mut left) = (Vec::new(), packets);
        for (place, class) in self.queues.clone().into_iter().enumerate() {
            let matched = if self.is_flat { class.matches } else { class.takes };
            let (hit, missed) = self.split(&left, matched)?;
            left = missed;
            if hit.exact != Set::NONE {
                found.extend(self.by_loss(place, hit)?);
            }
        }
        if left.exact != Set::NONE {
            let treatment = Treatment { is_dropped: true, ..Treatment::default() };
            found.push(Outcome { exact: left.exact, loose: left.loose, treatment });
        }
        Ok(found)
    }

    /// Splits the packets of a queue by the loss priority that decides about drops.
    fn by_loss(&mut self, place: usize, packets: Packets) -> Result<Vec<Outcome>, Missing> {
        let Some(drops) = self.drops.get(place).filter(|drops| drops.rows.len() > 1) else {
            return Ok(vec![outcome(&packets, Some(place), None)]);
        };
        if let Some(loss) = drops.known(packets.fields.get(Field::Color), packets.fields.get(Field::Dscp)) {
            return Ok(vec![outcome(&packets, Some(place), Some(loss))]);
        }
        let (mut found, mut left) = (Vec::new(), packets);
        for loss in 0..drops.rows.len() as u8 {
            let points = drops.codepoints(loss);
            let matched = self.space.is_one_of(Field::Dscp, points).map_err(too_complex)?;
            let (hit, missed) = self.split(&left, matched)?;
            left = missed;
            if hit.exact != Set::NONE {
                found.push(outcome(&hit, Some(place), Some(loss)));
            }
        }
        Ok(found)
    }
}

fn outcome(packets: &Packets, queue: Option<usize>, loss: Option<u8>) -> Outcome {
    let Packets { exact, loose, fields } = packets;
    let treatment = Treatment {
        is_dropped: false,
        queue,
        dscp: fields.get(Field::Dscp),
        cos: fields.get(Field::Cos),
        exp: fields.get(Field::Exp),
        label: fields.get(Field::Label),
        color: fields.get(Field::Color),
        loss,
        metered: None,
    };
    Outcome { exact: *exact, loose: *loose, treatment }
}
