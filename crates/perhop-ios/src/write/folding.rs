//! [`folded`]: converts queues that select packets by labels to queues that select packets by their headers.
//! Stages of the same policy set the labels, and a policy-map of IOS cannot match a group that it sets.

use perhop_analysis::{PacketSpace, Set, TooComplex};
use perhop_qos::action::{Action, Outcome};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};

use super::order::labels;

/// A policy without conditioner stages, and the names of the queues that no packet reaches.
pub(super) struct Folded {
    pub(super) queueing: QueueingConfig,
    pub(super) unreached: Vec<String>,
}

/// Returns the queues of a policy whose stages only set labels. Queues for which `comes_first` is true
/// precede the other queues. `None` if a stage has another action, or if no order of the queues selects the
/// same packets.
pub(super) fn folded(policy: &PolicyConfig, comes_first: fn(&ClassConfig) -> bool) -> Option<Folded> {
    let mut unreached = Vec::new();
    let queueing = with_queues(policy.queueing.as_ref()?, &mut |queues| {
        let stages: Vec<Step> = policy.conditioners.iter().map(step).collect::<Option<_>>()?;
        let by_color = |class: &ClassConfig| !matches!(class.buffer, None | Some(BufferConfig::TailDrop(_)));
        let sets_labels = stages.iter().any(|stage| stage.label.is_some());
        if !sets_labels || queues.iter().any(by_color) {
            return None;
        }
        let (classes, names) = Folding::new(policy, queues, stages).classes(comes_first)?;
        unreached = names;
        Some(classes)
    })?;
    Some(Folded { queueing, unreached })
}

/// Returns a policy whose queues are replaced, inside the nodes through which all packets pass.
pub(super) fn with_queues(
    queueing: &QueueingConfig,
    change: &mut impl FnMut(&[ClassConfig]) -> Option<Vec<ClassConfig>>,
) -> Option<QueueingConfig> {
    let classes = match queueing.classes.as_slice() {
        [ClassConfig { matches: None, queueing: Some(inner), .. }] => {
            let inner = with_queues(inner, change)?;
            vec![ClassConfig { queueing: Some(inner), ..queueing.classes[0].clone() }]
        }
        queues => change(queues)?,
    };
    Some(QueueingConfig { classes, ..queueing.clone() })
}

/// A stage that sets at most one label and whose packets do not continue to later stages.
struct Step {
    matches: Option<MatchConfig>,
    label: Option<u8>,
}

fn step(stage: &ConditionerConfig) -> Option<Step> {
    let has_colors = [&stage.green, &stage.yellow, &stage.red].iter().any(|actions| !actions.is_empty());
    if stage.meter.is_some() || has_colors {
        return None;
    }
    let (last, others) = stage.actions.split_last()?;
    if last.ends_with() != Some(Outcome::Transmit) {
        return None;
    }
    let mut label = None;
    for action in others {
        match action {
            Action::Label(number) => label = Some(*number),
            // A color has no effect, because no queue of the policy drops by color.
            Action::Color(_) => {}
            _ => return None,
        }
    }
    Some(Step { matches: stage.matches.clone(), label })
}

/// The queues and the stages in front of them.
struct Folding<'f> {
    space: PacketSpace,
    queues: &'f [ClassConfig],
    stages: Vec<Step>,
}

/// The packets of a queue, and the conditions of the stages that assign packets to the queue.
#[derive(Clone, Default)]
struct Led {
    packets: Option<Set>,
    conditions: Vec<MatchConfig>,
    /// The first stage that assigns packets to the queue.
    first: Option<usize>,
}

impl<'f> Folding<'f> {
    fn new(policy: &PolicyConfig, queues: &'f [ClassConfig], stages: Vec<Step>) -> Folding<'f> {
        let of_stages = policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref());
        let of_queues = queues.iter().filter_map(|queue| queue.matches.as_ref());
        Folding { space: PacketSpace::naming(of_stages.chain(of_queues)), queues, stages }
    }

    fn classes(mut self, comes_first: fn(&ClassConfig) -> bool) -> Option<(Vec<ClassConfig>, Vec<String>)> {
        let led = self.led().ok()??;
        let (last, others) = self.queues.split_last()?;
        let mut order: Vec<usize> = (0..others.len()).collect();
        order.sort_by_key(|place| (!comes_first(&others[*place]), led[*place].first.unwrap_or(usize::MAX)));
        let is_reached = |place: &usize| led[*place].packets.is_some_and(|packets| packets != Set::NONE);
        let unreached = (0..others.len())
            .filter(|place| !is_reached(place))
            .map(|place| others[place].name.clone())
            .collect();
        order.retain(is_reached);
        for form in [without_families as fn(&[MatchConfig]) -> Vec<MatchConfig>, <[MatchConfig]>::to_vec] {
            let conditions: Vec<MatchConfig> =
                order.iter().map(|place| either(form(&led[*place].conditions))).collect();
            if self.select(&order, &conditions, &led).ok()? {
                let classes = order.iter().zip(conditions).map(|(place, condition)| ClassConfig {
                    matches: Some(condition),
                    ..others[*place].clone()
                });
                return Some((classes.chain([last.clone()]).collect(), unreached));
            }
        }
        None
    }

    /// Returns the packets of each queue by the headers and labels with which they arrive; `None` if a queue
    /// selects packets by other fields than labels.
    #[allow(clippy::option_option)] // `Err`: the sets are too complex; `None`: another kind of policy
    fn led(&mut self) -> Result<Option<Vec<Led>>, TooComplex> {
        let Some((last, others)) = self.queues.split_last() else { return Ok(None) };
        if last.matches.is_some() || others.iter().any(|queue| labels(queue.matches.as_ref()).is_empty()) {
            return Ok(None);
        }
        let mut led = vec![Led::default(); self.queues.len()];
        let mut left = Set::ALL;
        let owner = |label: u8| {
            let own = others.iter().position(|queue| labels(queue.matches.as_ref()).contains(&label));
            own.unwrap_or(others.len())
        };
        let stages = std::mem::take(&mut self.stages);
        for (index, Step { matches, label }) in stages.iter().enumerate() {
            let matched = matches.as_ref().map_or(Ok(Set::ALL), |own| self.space.taken_by(own))?;
            let hit = self.space.and(left, matched)?;
            left = self.space.minus(left, matched)?;
            let condition = matches.clone().unwrap_or_default();
            match label {
                Some(label) => self.add(&mut led[owner(*label)], (hit, condition), index)?,
                None => self.by_label(&mut led, (hit, &condition), index)?,
            }
        }
        self.by_label(&mut led, (left, &MatchConfig::default()), stages.len())?;
        Ok(Some(led))
    }

    /// Adds packets to the queues of the labels with which they arrive.
    fn by_label(
        &mut self,
        led: &mut [Led],
        (packets, condition): (Set, &MatchConfig),
        index: usize,
    ) -> Result<(), TooComplex> {
        let mut left = packets;
        for (place, queue) in self.queues.iter().enumerate() {
            let own = queue.matches.clone().unwrap_or_default();
            let matched = self.space.taken_by(&own)?;
            let hit = self.space.and(left, matched)?;
            left = self.space.minus(left, matched)?;
            let both =
                MatchConfig { all: Some(vec![condition.clone(), own.clone()]), ..MatchConfig::default() };
            let is_all = *condition == MatchConfig::default();
            self.add(&mut led[place], (hit, if is_all { own } else { both }), index)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        led: &mut Led,
        (packets, condition): (Set, MatchConfig),
        index: usize,
    ) -> Result<(), TooComplex> {
        if packets == Set::NONE {
            return Ok(());
        }
        led.packets = Some(self.space.or(led.packets.unwrap_or(Set::NONE), packets)?);
        led.first = led.first.or(Some(index));
        if !led.conditions.contains(&condition) {
            led.conditions.push(condition);
        }
        Ok(())
    }

    /// Whether the order of conditions is correct: each queue receives its own packets if the first matching
    /// condition selects the queue.
    fn select(
        &mut self,
        order: &[usize],
        conditions: &[MatchConfig],
        led: &[Led],
    ) -> Result<bool, TooComplex> {
        let mut left = Set::ALL;
        for (place, condition) in order.iter().zip(conditions) {
            let matched = self.space.taken_by(condition)?;
            let taken = self.space.and(left, matched)?;
            if Some(taken) != led[*place].packets {
                return Ok(false);
            }
            left = self.space.minus(left, matched)?;
        }
        Ok(led.last().and_then(|last| last.packets).unwrap_or(Set::NONE) == left)
    }
}

/// Returns conditions without the conditions that match all packets of IPv4 or IPv6.
fn without_families(conditions: &[MatchConfig]) -> Vec<MatchConfig> {
    let mut found: Vec<MatchConfig> = Vec::new();
    for condition in conditions {
        let plain = without_family(condition);
        if !found.contains(&plain) {
            found.push(plain);
        }
    }
    found
}

fn without_family(condition: &MatchConfig) -> MatchConfig {
    let Some(parts) = &condition.all else { return condition.clone() };
    let is_family = |part: &MatchConfig| {
        let prefixes = part.source.as_ref().map_or(&[][..], |prefixes| prefixes.0.as_slice());
        let is_whole =
            !prefixes.is_empty() && prefixes.iter().all(|prefix| prefix.to_string().ends_with("/0"));
        is_whole && MatchConfig { source: None, ..part.clone() } == MatchConfig::default()
    };
    let mut kept: Vec<MatchConfig> = parts.iter().filter(|part| !is_family(part)).cloned().collect();
    match (kept.len(), kept.pop()) {
        (1, Some(only)) => only,
        (_, None) => MatchConfig::default(),
        (_, Some(last)) => {
            kept.push(last);
            MatchConfig { all: Some(kept), ..condition.clone() }
        }
    }
}

/// Returns the disjunction of conditions.
fn either(mut conditions: Vec<MatchConfig>) -> MatchConfig {
    match (conditions.len(), conditions.pop()) {
        (1, Some(only)) => only,
        (_, None) => MatchConfig::default(),
        (_, Some(last)) => {
            conditions.push(last);
            MatchConfig { any: Some(conditions), ..MatchConfig::default() }
        }
    }
}
