//! The conditioners of one side of a port: limiters, the stages of its policy, their order and names.

use perhop_qos::action::{Action, CopyField};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{MeterConfig, TokenBucketConfig, TokenBucketWithDebtConfig};
use perhop_qos::packet::LinkMark;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::{ByteSize, Color, Rate};

use super::labels::{self, Groups, Labels};
use super::marking::{Markings, Treatment};
use super::remark::Remark;
use super::resolved::{ResolvedClass, ResolvedPolicy};
use super::stages::{Stage, replace_transmit};
use crate::intent::{Direction, Fields, Limiter, fields_of_match};

/// The names of stages that a device adds without configuration. The stages set class of service 0 in new
/// tags, and drop precedence 0 in arriving packets.
pub const STAGES_OF_DEVICE: [&str; 2] = ["new tag", "discard class 0"];

/// Returns the stage that sets class of service 0 in a new tag, for policies that do not set it.
pub(super) fn new_tag() -> Stage {
    stage(STAGES_OF_DEVICE[0], Action::MarkCos(LinkMark::default()))
}

/// Returns the stage that resets the drop precedence of arriving packets of all codepoints.
pub(super) fn drop_precedence_0() -> Stage {
    stage(STAGES_OF_DEVICE[1], Action::Color(Color::GREEN))
}

fn stage(name: &str, action: Action) -> Stage {
    Stage::without_class(ConditionerConfig {
        name: Some(name.to_owned()),
        actions: vec![action, Action::Continue],
        ..ConditionerConfig::default()
    })
}

/// Assigns labels to the classes of `policy` that mark or police after their nested policy. Returns a remark
/// for each such class that gets no label: perhop selects the packets of this class by their new marks.
/// `before` has the stages in front of the policy.
pub(super) fn label_around(
    policy: &mut ResolvedPolicy,
    direction: Direction,
    labels: Labels,
    before: &[Stage],
) -> Vec<Remark> {
    let groups = if direction == Direction::Input { Groups::Kept } else { Groups::Forgotten };
    let has_group = groups == Groups::Kept && before.iter().any(|stage| sets_label(&stage.config));
    let refused = labels::assign_around(policy, (!has_group).then_some(labels), groups);
    refused.into_iter().map(|(line, class)| Remark::TakenByNewMark { line, class }).collect()
}

/// Returns a remark if a class of `policy` writes a field that the queues of `queueing` match. The device
/// selects the queue by the original mark, but perhop selects it by the new mark.
pub(super) fn queued_by_new_mark(policy: &ResolvedPolicy, queueing: &QueueingConfig) -> Option<Remark> {
    let class = writer(policy, fields_of_queues(queueing))?;
    Some(Remark::QueuedByNewMark { line: class.line, class: class.name.clone() })
}

/// Concatenates two chains of stages. Packets that `first` transmits continue with `second`.
pub(super) fn concatenate_chains(mut first: Vec<Stage>, second: Vec<Stage>) -> Vec<Stage> {
    if first.is_empty() || second.is_empty() {
        first.extend(second);
        return first;
    }
    for stage in &mut first {
        replace_transmit(&mut stage.config, &[Action::Continue]);
    }
    first.extend(second);
    first
}

/// Returns the fields that the queues of `queueing` match.
fn fields_of_queues(queueing: &QueueingConfig) -> Fields {
    let of_class = |class: &ClassConfig| {
        let inside = class.queueing.as_ref().map(fields_of_queues);
        class.matches.as_ref().map(fields_of_match).into_iter().chain(inside).collect::<Fields>()
    };
    queueing.classes.iter().map(of_class).collect()
}

/// Returns the first class of `policy`, or of nested policies, that writes one of the fields `looked_at`.
fn writer(policy: &ResolvedPolicy, looked_at: Fields) -> Option<&ResolvedClass> {
    policy.classes.iter().find_map(|class| {
        let writes = looked_at.intersects(class.written().without(Fields::LABEL));
        let inside = || class.policy.as_ref().and_then(|inner| writer(inner, looked_at));
        if writes { Some(class) } else { inside() }
    })
}

fn sets_label(stage: &ConditionerConfig) -> bool {
    let all = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
    all.into_iter().flatten().any(|action| match action {
        Action::Label(_) => true,
        Action::Copy(copy) => copy.to == CopyField::Label,
        _ => false,
    })
}

/// Returns the stages of `limiters`, without those that match no packet.
pub(super) fn stages_of_limiters(limiters: &[Limiter], markings: Markings) -> Vec<Stage> {
    let stage = |limiter: &Limiter| {
        let config = limiter_stage(limiter, markings)?;
        Some(Stage { limiter: Some(limiter.line), ..Stage::without_class(config) })
    };
    limiters.iter().filter_map(stage).collect()
}

fn limiter_stage(limiter: &Limiter, markings: Markings) -> Option<ConditionerConfig> {
    let metered = Treatment { metered: true, ..Treatment::default() };
    let actions = |own| markings.actions(metered, std::slice::from_ref(own));
    let rate = Rate::from_bits_per_second(limiter.rate);
    let burst = ByteSize::from_bytes(limiter.burst);
    let meter = if limiter.extended_burst > limiter.burst {
        MeterConfig::TokenBucketWithDebt(TokenBucketWithDebtConfig {
            rate,
            burst,
            debt_limit: ByteSize::from_bytes(limiter.extended_burst),
            excess: Color::RED,
        })
    } else {
        // A packet can borrow only if the extended burst exceeds the normal burst.
        MeterConfig::TokenBucket(TokenBucketConfig { rate, burst, excess: Color::RED })
    };
    Some(ConditionerConfig {
        name: Some(limiter.name.clone()),
        matches: limiter.condition.clone().into_match()?,
        meter: Some(meter),
        green: actions(&limiter.conform),
        red: actions(&limiter.exceed),
        ..ConditionerConfig::default()
    })
}

/// Returns `stages` with unique names, up to the last stage that any packet reaches.
pub(super) fn unique(mut stages: Vec<Stage>) -> Vec<Stage> {
    let names: Vec<Option<String>> = stages.iter().map(|stage| stage.config.name.clone()).collect();
    for (index, stage) in stages.iter_mut().enumerate() {
        let same = names[..index].iter().filter(|name| **name == stage.config.name).count();
        if same > 0 {
            stage.config.name = stage.config.name.take().map(|name| format!("{name} ({})", same + 1));
        }
    }
    let ends = |stage: &Stage| {
        let stage = &stage.config;
        let all = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
        let going_on = all.iter().any(|actions| actions.last() == Some(&Action::Continue));
        stage.matches.is_none() && !going_on
    };
    if let Some(end) = stages.iter().position(ends) {
        stages.truncate(end + 1);
    }
    stages
}
