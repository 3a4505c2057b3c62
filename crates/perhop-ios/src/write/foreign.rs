//! Conversion of foreign policies to the forms of IOS. In these forms, a packet passes no stage after the
//! stage of its class, and queues can have priority.

use perhop_analysis::{Effect, PacketSpace, Set, TooComplex, effects};
use perhop_device::{Notes, PolicyToWrite};
use perhop_qos::action::{Action, Outcome};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{MeterConfig, TokenBucketConfig};
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::{ByteSize, Color, Rate};

use super::class::CLASS_DEFAULT;
use super::flattening::flattened;
use super::folding::{Folded, folded, with_queues};
use super::order::labels;

/// The bytes that an Ethernet interface counts in addition to the IP packet.
const ETHERNET: i32 = 14;
/// The least `bandwidth`, bits per second.
const LEAST_BANDWIDTH: u64 = 8000;
/// The name of the class that contains the queues without priority.
const OTHERS: &str = "others";

/// Converts a policy to the forms of IOS. Adds a note for each part that these forms cannot express.
pub(super) fn in_forms_of_ios(policy: PolicyToWrite, notes: &mut Notes) -> PolicyToWrite {
    let place = policy.place();
    let mut policy = policy;
    let own = &mut policy.policy;
    own.conditioners = ended(&own.conditioners).unwrap_or_else(|| own.conditioners.clone());
    own.conditioners = flattened(&own.conditioners).unwrap_or_else(|| own.conditioners.clone());
    let has_meters = own.conditioners.iter().any(|stage| stage.meter.is_some());
    if own.queueing.is_none() && !has_meters {
        // The overhead has no effect on the policy, because no rate of the policy counts bytes.
        own.overhead = ETHERNET;
    }
    let is_other = |own: &QueueingConfig| own.scheduler != SchedulerConfig::GuaranteeExcess;
    if own.queueing.as_ref().is_none_or(is_other) {
        return policy;
    }
    let mut notes = notes.at(&place);
    let reason = "IOS has only priority queues and shares: levels, bursts and the weights of the remaining \
                  rate are lost";
    notes.report("scheduler guarantee-excess", reason);
    if let Some(Folded { queueing, unreached }) = folded(own, has_priority) {
        for name in unreached {
            notes
                .report(format!("queue {name}"), "no packet reaches the queue, so IOS needs no class for it");
        }
        (own.queueing, own.conditioners) = (Some(queueing), Vec::new());
    }
    let Some(queueing) = &own.queueing else { return policy };
    if let Some(layer) = first_queue(queueing).and_then(|class| class.share.link_layer) {
        let counted = own.overhead + i32::from(layer.overhead);
        if counted != ETHERNET {
            let construct = format!("rates that count {counted} bytes in addition to IP");
            notes.report(construct, format!("an Ethernet interface of IOS counts {ETHERNET}"));
        }
        own.overhead = ETHERNET;
    }
    let mut stages = Vec::new();
    let can_police = own.conditioners.is_empty();
    let queues = with_queues(queueing, &mut |queues| {
        let queue = |(place, queue): (usize, &ClassConfig)| {
            let queue = with_rate(queue, &mut |construct, reason| notes.report(construct, reason));
            // A policer can be moved if no earlier queue matches packets of its queue. This is true for the
            // first queue, and for a queue that selects packets by its own labels.
            let is_alone = place == 0 || !labels(queue.matches.as_ref()).is_empty();
            if can_police && is_alone { without_policer(queue, &mut stages) } else { queue }
        };
        Some(queues.iter().enumerate().map(queue).collect())
    });
    own.conditioners.extend(stages);
    let most = policy.rate.unwrap_or(Rate::from_bits_per_second(u64::MAX));
    policy.policy.queueing = queues.map(|queueing| with_priorities(&queueing, most));
    policy
}

/// Adds a guarantee to a queue without a rate, because IOS accepts a limit only in a class with a rate.
fn with_rate(queue: &ClassConfig, note: &mut impl FnMut(String, String)) -> ClassConfig {
    if queue.share.rate.is_some() || queue.matches.is_none() || queue.queueing.is_some() {
        return queue.clone();
    }
    let rate = Rate::from_bits_per_second(LEAST_BANDWIDTH);
    note(format!("queue {} without a guarantee", queue.name), format!("IOS gives it {rate}"));
    ClassConfig { share: ShareConfig { rate: Some(rate), ..queue.share.clone() }, ..queue.clone() }
}

/// Moves the policer of a queue to the stages, where it becomes `police` of the class. There, the policer
/// drops packets regardless of congestion.
fn without_policer(queue: ClassConfig, stages: &mut Vec<ConditionerConfig>) -> ClassConfig {
    let policer = queue.police.filter(|police| police.when == PoliceWhen::Always);
    let Some(PoliceConfig { rate, burst, .. }) = policer else { return queue };
    stages.push(ConditionerConfig {
        name: Some(queue.name.clone()),
        matches: queue.matches.clone(),
        meter: Some(MeterConfig::TokenBucket(TokenBucketConfig { rate, burst, excess: Color::RED })),
        green: vec![Action::Transmit],
        red: vec![Action::Drop],
        ..ConditionerConfig::default()
    });
    ClassConfig { police: None, ..queue }
}

fn first_queue(queueing: &QueueingConfig) -> Option<&ClassConfig> {
    let class = queueing.classes.first()?;
    class.queueing.as_ref().map_or(Some(class), first_queue)
}

/// Returns the stages with `transmit` in place of a final `continue`, if no later stage matches the packets.
/// `None` if the stages are too complex.
///
/// The change has no effect: the packets leave the conditioners with the same marks.
fn ended(stages: &[ConditionerConfig]) -> Option<Vec<ConditionerConfig>> {
    let mut space = PacketSpace::naming(stages.iter().filter_map(|stage| stage.matches.as_ref()));
    let mut set = |condition: Option<&MatchConfig>| condition.map_or(Ok(Set::ALL), |own| space.taken_by(own));
    let sets: Vec<Set> =
        stages.iter().map(|stage| set(stage.matches.as_ref())).collect::<Result<_, TooComplex>>().ok()?;
    let mut found = stages.to_vec();
    for (index, stage) in found.iter_mut().enumerate() {
        let is_plain = stage.meter.is_none() && stage.green.is_empty() && stage.red.is_empty();
        let goes_on = stage.actions.last().and_then(Action::ends_with) == Some(Outcome::Continue);
        if !(is_plain && stage.yellow.is_empty() && goes_on) {
            continue;
        }
        let mut fields = Vec::new();
        for action in &stage.actions {
            if let [Effect { fields: own, .. }] = effects(&mut space, action).ok()?.as_slice() {
                fields.extend(own.iter().copied());
            }
        }
        let copies = stage.actions.iter().any(|action| matches!(action, Action::Copy(_)));
        let mut is_last = !copies;
        for later in sets.iter().skip(index + 1).filter(|_| !copies) {
            let taken = space.given(*later, &fields).ok()?;
            is_last &= space.and(taken, sets[index]).ok()? == Set::NONE;
        }
        if is_last {
            stage.actions.pop();
            stage.actions.push(Action::Transmit);
        }
    }
    Some(found)
}

/// Converts queues with guarantee and excess to priority queues, and puts them before the queues that share
/// the remaining rate.
fn with_priorities(queueing: &QueueingConfig, most: Rate) -> QueueingConfig {
    if queueing.scheduler != SchedulerConfig::GuaranteeExcess {
        return queueing.clone();
    }
    if let [only] = queueing.classes.as_slice()
        && let Some(inner) = only.queueing.as_ref().filter(|_| only.matches.is_none())
    {
        let Some(ceil) = only.share.ceil.filter(|ceil| *ceil < most) else {
            return with_priorities(inner, most);
        };
        let class = ClassConfig {
            name: CLASS_DEFAULT.to_owned(),
            shape: Some(shape(ceil, only.share.ceil_burst)),
            queueing: Some(with_priorities(inner, ceil)),
            ..ClassConfig::default()
        };
        return QueueingConfig {
            scheduler: SchedulerConfig::Scfq,
            classes: vec![class],
            ..QueueingConfig::default()
        };
    }
    let (first, others): (Vec<&ClassConfig>, Vec<&ClassConfig>) =
        queueing.classes.iter().partition(|class| has_priority(class));
    let share = |class: &&ClassConfig| ClassConfig {
        name: if class.matches.is_none() { CLASS_DEFAULT.to_owned() } else { class.name.clone() },
        share: ShareConfig { bandwidth: class.share.rate, ..ShareConfig::default() },
        shape: class.share.ceil.filter(|ceil| *ceil < most).map(|ceil| shape(ceil, class.share.ceil_burst)),
        queueing: class
            .queueing
            .as_ref()
            .map(|inner| with_priorities(inner, class.share.ceil.unwrap_or(most))),
        ..(*class).clone()
    };
    let rest = QueueingConfig {
        scheduler: SchedulerConfig::Scfq,
        classes: others.iter().map(share).collect(),
        ..QueueingConfig::default()
    };
    if first.is_empty() {
        return rest;
    }
    let priority = |class: &&ClassConfig| ClassConfig {
        share: ShareConfig::default(),
        police: class.police.or_else(|| police(class, most)),
        ..(*class).clone()
    };
    let around = ClassConfig { name: OTHERS.to_owned(), queueing: Some(rest), ..ClassConfig::default() };
    QueueingConfig {
        scheduler: SchedulerConfig::Priority,
        classes: first.iter().map(priority).chain([around]).collect(),
        ..QueueingConfig::default()
    }
}

/// Whether a queue precedes all other queues at any rate up to its ceiling.
fn has_priority(class: &ClassConfig) -> bool {
    let share = &class.share;
    let is_within = share.rate.zip(share.ceil).is_some_and(|(rate, ceil)| rate >= ceil);
    is_within && share.level == Some(0) && class.matches.is_some() && class.queueing.is_none()
}

/// Returns the policer for a priority queue whose ceiling is below `most`, the rate of the enclosing queue.
fn police(class: &ClassConfig, most: Rate) -> Option<PoliceConfig> {
    let rate = class.share.ceil.filter(|ceil| *ceil < most)?;
    let burst = class.share.ceil_burst?;
    Some(PoliceConfig { rate, burst, when: PoliceWhen::Congested })
}

fn shape(rate: Rate, burst: Option<ByteSize>) -> ShapeConfig {
    let least = ByteSize::from_bytes(1500);
    ShapeConfig {
        rate,
        burst: burst.unwrap_or(least).max(least),
        excess: ByteSize::from_bytes(0),
        form: ShapeForm::Average,
    }
}
