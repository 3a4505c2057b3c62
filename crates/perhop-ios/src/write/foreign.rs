//! Policies of other languages in the forms of IOS: stages that end at the class of a packet, and queues with
//! priority.

use perhop_analysis::{Effect, PacketSpace, Set, TooComplex, effects};
use perhop_device::{Notes, PolicyToWrite};
use perhop_qos::action::{Action, Outcome};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policer::PoliceConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShapeConfig, ShapeForm, ShareConfig};
use perhop_qos::{ByteSize, Rate};

/// Bytes that an Ethernet interface counts beyond the IP packet.
const ETHERNET: i32 = 14;
/// The name of the class around queues without priority.
const OTHERS: &str = "others";

/// Returns a policy in the forms of IOS, and notes what they leave out.
pub(super) fn in_forms_of_ios(policy: PolicyToWrite, notes: &mut Notes) -> PolicyToWrite {
    let place = policy.place();
    let mut policy = policy;
    policy.policy.conditioners = ended(&policy.policy.conditioners).unwrap_or(policy.policy.conditioners);
    let own = policy.policy.queueing.as_ref();
    let Some(queueing) = own.filter(|own| own.scheduler == SchedulerConfig::GuaranteeExcess) else {
        return policy;
    };
    let mut notes = notes.at(&place);
    let reason = "IOS has priority queues and shares: levels, bursts and weights of the rest are lost";
    notes.report("scheduler guarantee-excess", reason);
    if let Some(layer) = first_queue(queueing).and_then(|class| class.share.link_layer)
        && policy.policy.overhead + i32::from(layer.overhead) != ETHERNET
    {
        let counted = policy.policy.overhead + i32::from(layer.overhead);
        let construct = format!("rates that count {counted} bytes beyond IP");
        notes.report(construct, format!("an Ethernet interface of IOS counts {ETHERNET}"));
        policy.policy.overhead = ETHERNET;
    }
    let most = policy.rate.unwrap_or(Rate::from_bits_per_second(u64::MAX));
    policy.policy.queueing = Some(with_priorities(queueing, most));
    policy
}

fn first_queue(queueing: &QueueingConfig) -> Option<&ClassConfig> {
    let class = queueing.classes.first()?;
    class.queueing.as_ref().map_or(Some(class), first_queue)
}

/// Returns the stages, of which those that no later stage follows end: `None` if they are too complex.
///
/// A packet that goes on to stages of which none takes it leaves the conditioners like one that ends.
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

/// Returns queues with guarantee and excess as priority queues before those with a share of the rest.
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
            name: only.name.clone(),
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

/// Whether a queue is before all others at any rate up to its ceiling.
fn has_priority(class: &ClassConfig) -> bool {
    let share = &class.share;
    let is_within = share.rate.zip(share.ceil).is_some_and(|(rate, ceil)| rate >= ceil);
    is_within && share.level == Some(0) && class.matches.is_some() && class.queueing.is_none()
}

/// The policer of a priority queue whose ceiling is below the rate around it.
fn police(class: &ClassConfig, most: Rate) -> Option<PoliceConfig> {
    let rate = class.share.ceil.filter(|ceil| *ceil < most)?;
    let burst = class.share.ceil_burst?;
    Some(PoliceConfig { rate, burst, when: perhop_qos::policer::PoliceWhen::Congested })
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
