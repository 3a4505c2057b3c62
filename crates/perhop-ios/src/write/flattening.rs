//! [`flattened`]: merges the first stages, which only mark packets that then continue, with the stages after
//! them. Each packet passes only one of the merged stages, because a packet belongs to one class of a
//! policy-map.

use perhop_analysis::{Field, PacketSpace, Set, TooComplex};
use perhop_qos::action::{Action, Outcome};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;

/// Returns merged stages, of which each packet passes only one. `None` if the packets of no stage continue,
/// if a meter would be split, or if later stages depend on the marks.
pub(super) fn flattened(stages: &[ConditionerConfig]) -> Option<Vec<ConditionerConfig>> {
    let count = stages.iter().take_while(|stage| marks_and_goes_on(stage)).count();
    let (marking, later) = stages.split_at(count);
    if marking.is_empty() || later.is_empty() || !later.iter().all(ends) {
        return None;
    }
    Flattening::new(marking, later).ok()??.stages().ok()?
}

/// Whether a stage only sets labels and colors, and its packets continue to later stages.
fn marks_and_goes_on(stage: &ConditionerConfig) -> bool {
    let Some((last, others)) = stage.actions.split_last() else { return false };
    let is_mark = |action: &Action| matches!(action, Action::Label(_) | Action::Color(_));
    stage.meter.is_none() && last.ends_with() == Some(Outcome::Continue) && others.iter().all(is_mark)
}

/// Whether no packet of a stage continues to later stages.
fn ends(stage: &ConditionerConfig) -> bool {
    let is_end = |actions: &&Vec<Action>| {
        actions.last().and_then(Action::ends_with).is_some_and(|end| end != Outcome::Continue)
    };
    let mut written = lists(stage).into_iter().filter(|actions| !actions.is_empty()).peekable();
    written.peek().is_some() && written.all(|actions| is_end(&actions))
}

fn lists(stage: &ConditionerConfig) -> [&Vec<Action>; 4] {
    [&stage.actions, &stage.green, &stage.yellow, &stage.red]
}

struct Flattening<'f> {
    space: PacketSpace,
    /// The marking stages and their packets. The sets of packets are disjoint.
    marking: Vec<(&'f ConditionerConfig, Set)>,
    later: Vec<(&'f ConditionerConfig, Set)>,
}

impl<'f> Flattening<'f> {
    #[allow(clippy::option_option)] // `Err`: the sets are too complex; `None`: other stages
    fn new(
        marking: &'f [ConditionerConfig],
        later: &'f [ConditionerConfig],
    ) -> Result<Option<Flattening<'f>>, TooComplex> {
        let conditions = marking.iter().chain(later).filter_map(|stage| stage.matches.as_ref());
        let mut space = PacketSpace::naming(conditions);
        let mut with_packets = |stages: &'f [ConditionerConfig]| -> Result<Vec<_>, TooComplex> {
            let packets = |stage: &'f ConditionerConfig| {
                let set = stage.matches.as_ref().map_or(Ok(Set::ALL), |own| space.taken_by(own))?;
                Ok((stage, set))
            };
            stages.iter().map(packets).collect()
        };
        let (marking, later) = (with_packets(marking)?, with_packets(later)?);
        for (place, (_, packets)) in marking.iter().enumerate() {
            for (_, other) in &marking[place + 1..] {
                if space.and(*packets, *other)? != Set::NONE {
                    return Ok(None);
                }
            }
        }
        let asks = |(_, set): &(_, Set)| space.asks(*set, Field::Label) || space.asks(*set, Field::Color);
        let depends = later.iter().any(asks);
        Ok((!depends).then_some(Flattening { space, marking, later }))
    }

    #[allow(clippy::option_option)] // `Err`: the sets are too complex; `None`: a meter would be split
    fn stages(mut self) -> Result<Option<Vec<ConditionerConfig>>, TooComplex> {
        let (marking, later) = (std::mem::take(&mut self.marking), std::mem::take(&mut self.later));
        let mut found = Vec::new();
        let mut left = Set::ALL;
        for (stage, packets) in later {
            let parts = self.parts((stage, packets), &marking, left)?;
            if stage.meter.is_some() && parts.len() > 1 {
                return Ok(None);
            }
            found.extend(parts);
            left = self.space.minus(left, packets)?;
        }
        for (stage, packets) in marking {
            if self.space.and(left, packets)? != Set::NONE {
                let mut own = stage.clone();
                own.actions.pop();
                own.actions.push(Action::Transmit);
                found.push(own);
            }
        }
        Ok(Some(found))
    }

    /// Splits a stage into one part for each marking stage whose packets it matches, and one part for its
    /// other packets. `left` is the set of the packets that match no earlier stage.
    fn parts(
        &mut self,
        (stage, packets): (&ConditionerConfig, Set),
        marking: &[(&ConditionerConfig, Set)],
        left: Set,
    ) -> Result<Vec<ConditionerConfig>, TooComplex> {
        let hit = self.space.and(left, packets)?;
        let (mut found, mut rest) = (Vec::new(), hit);
        for (marks, own) in marking {
            let both = self.space.and(hit, *own)?;
            if both == Set::NONE {
                continue;
            }
            rest = self.space.minus(rest, *own)?;
            let all_marked = self.space.and(left, *own)?;
            let matches = if both == hit {
                stage.matches.clone()
            } else if both == all_marked {
                marks.matches.clone()
            } else {
                let parts = [&stage.matches, &marks.matches].into_iter().flatten().cloned().collect();
                Some(MatchConfig { all: Some(parts), ..MatchConfig::default() })
            };
            let name = match (&stage.name, &marks.name) {
                (Some(name), Some(mark)) if both != hit => Some(format!("{name} {mark}")),
                (name, _) => name.clone(),
            };
            found.push(ConditionerConfig { name, matches, ..marked(stage, marks) });
        }
        if rest != Set::NONE {
            found.push(stage.clone());
        }
        Ok(found)
    }
}

/// Returns a stage with the marks of an earlier stage added, unless the stage overrides them.
fn marked(stage: &ConditionerConfig, marks: &ConditionerConfig) -> ConditionerConfig {
    let mut found = stage.clone();
    for actions in [&mut found.actions, &mut found.green, &mut found.yellow, &mut found.red] {
        let ends_dropped = actions.last().and_then(Action::ends_with) == Some(Outcome::Drop);
        if actions.is_empty() || ends_dropped {
            continue;
        }
        let sets = |kind: &Action| {
            actions.iter().any(|own| std::mem::discriminant(own) == std::mem::discriminant(kind))
        };
        let is_kept = |action: &&Action| action.ends_with().is_none() && !sets(action);
        let kept: Vec<Action> = marks.actions.iter().filter(is_kept).cloned().collect();
        actions.splice(..0, kept);
    }
    found
}
