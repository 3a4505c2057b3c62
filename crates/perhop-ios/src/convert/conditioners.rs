//! Conditioners: `rate-limit` lines, and `set` and `police` of policies.

use perhop_lint::Diagnostic;
use perhop_qos::action;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{MeterConfig, TokenBucketConfig, TokenBucketWithDebtConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::{ByteSize, Color, Rate};

use super::Context;
use super::condition::{Condition, looks_at, of_rate_limit};
use super::fields::Fields;
use super::labels::{self, Groups};
use super::link_marks::{Tag, discard_class_0, new_tag};
use super::marking::{Markings, Treatment};
use super::resolved::{ResolvedClass, ResolvedPolicy};
use super::stages::{goes_on, of_policy};
use crate::ast::{Direction, Interface, RateLimit};
use crate::rules;

impl<'a> Context<'a> {
    /// What happens to packets that arrive; `policy` learns the names of its conditioners.
    pub(super) fn input(
        &mut self,
        interface: &Interface,
        tag: Tag,
        policy: Option<&mut ResolvedPolicy>,
    ) -> Vec<ConditionerConfig> {
        let markings = self.markings(Direction::Input);
        let mut stages = self.rate_limits(interface, Direction::Input, markings);
        if let Some(policy) = policy {
            self.misplaced(policy, Direction::Input, tag);
            self.label_around(policy, Direction::Input, &stages);
            let of_policy = of_policy(policy, markings);
            stages = self.one_after_the_other(stages, of_policy, interface);
        }
        let first = self.configuration.marks.discard_class.then(discard_class_0);
        unique(first.into_iter().chain(stages).collect())
    }

    /// What happens to packets that leave, before they are queued by `queueing`.
    pub(super) fn output(
        &mut self,
        interface: &Interface,
        tag: Tag,
        policy: Option<&mut ResolvedPolicy>,
        queueing: &QueueingConfig,
    ) -> Vec<ConditionerConfig> {
        let markings = self.markings(Direction::Output);
        let mut stages = self.rate_limits(interface, Direction::Output, markings);
        if let Some(policy) = policy {
            self.classifies_after_marking(policy, queueing);
            self.misplaced(policy, Direction::Output, tag);
            self.label_around(policy, Direction::Output, &stages);
            let of_policy = of_policy(policy, markings);
            stages = self.one_after_the_other(stages, of_policy, interface);
        }
        let first = (tag == Tag::OneOfSeveral).then(new_tag);
        unique(first.into_iter().chain(stages).collect())
    }

    pub(super) fn markings(&self, direction: Direction) -> Markings<'a> {
        Markings::at(self.configuration, direction, self.is_router)
    }

    /// Labels the packets that classes of `policy` take behind policies inside them, and reports the classes
    /// that would take them by their new marks. `before` are the stages in front of the policy.
    pub(super) fn label_around(
        &mut self,
        policy: &mut ResolvedPolicy,
        direction: Direction,
        before: &[ConditionerConfig],
    ) {
        let groups = if direction == Direction::Input { Groups::Kept } else { Groups::Forgotten };
        let has_group = groups == Groups::Kept && before.iter().any(sets_label);
        let first = (!has_group).then(|| self.first_label());
        for (line, name) in labels::assign_around(policy, first, groups) {
            self.found.push(Diagnostic::new(
                &rules::MARKED_THEN_CLASSIFIED,
                line,
                format!("class {name} marks or polices packets that the policy inside it has marked"),
                "the router takes them by the mark with which they came, perhop by the new one: set the group \
                 in the class around",
            ));
        }
    }

    /// Says where a queue would see a marking that the router's own classifier does not see.
    fn classifies_after_marking(&mut self, policy: &ResolvedPolicy, queueing: &QueueingConfig) {
        let looked_at = matched_fields(queueing);
        if let Some(class) = writer(policy, looked_at) {
            self.found.push(Diagnostic::new(
                &rules::MARKED_THEN_CLASSIFIED,
                class.line,
                format!("class {} marks packets in a policy that classifies by marking", class.name),
                "the router queues by the packet's original marking, perhop by the new one",
            ));
        }
    }

    fn rate_limits(
        &mut self,
        interface: &Interface,
        direction: Direction,
        markings: Markings,
    ) -> Vec<ConditionerConfig> {
        let limits = interface.rate_limits.iter().filter(|limit| limit.direction == direction);
        limits
            .filter_map(|limit| {
                rate_limit(limit, of_rate_limit(self.configuration, &limit.matches), markings)
            })
            .collect()
    }

    /// Both chains, `second` after `first`: a packet that `first` transmits goes through `second` as well.
    fn one_after_the_other(
        &mut self,
        mut first: Vec<ConditionerConfig>,
        second: Vec<ConditionerConfig>,
        interface: &Interface,
    ) -> Vec<ConditionerConfig> {
        if first.is_empty() || second.is_empty() {
            first.extend(second);
            return first;
        }
        if first.len() > 1
            && let Some(limit) = interface.rate_limits.first()
        {
            self.found.push(Diagnostic::new(
                &rules::RATE_LIMIT_BESIDE_POLICY,
                limit.line,
                "several rate-limit lines beside a policy that marks or polices in the same direction",
                "the router runs both; in perhop a packet that one rate-limit line transmits also passes the others",
            ));
        }
        for stage in &mut first {
            goes_on(stage, &[action::Action::Continue]);
        }
        first.extend(second);
        first
    }
}

/// The fields that the queues of `queueing` match.
fn matched_fields(queueing: &QueueingConfig) -> Fields {
    let of_class = |class: &ClassConfig| {
        let inside = class.queueing.as_ref().map(matched_fields);
        class.matches.as_ref().map(looks_at).into_iter().chain(inside).collect::<Fields>()
    };
    queueing.classes.iter().map(of_class).collect()
}

/// The first class of `policy`, or of those inside it, that writes one of the fields `looked_at`.
fn writer(policy: &ResolvedPolicy, looked_at: Fields) -> Option<&ResolvedClass> {
    policy.classes.iter().find_map(|class| {
        let writes = looked_at.contain(class.written().without(Fields::LABEL));
        let inside = || class.policy.as_ref().and_then(|inner| writer(inner, looked_at));
        if writes { Some(class) } else { inside() }
    })
}

fn sets_label(stage: &ConditionerConfig) -> bool {
    let all = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
    all.into_iter().flatten().any(|action| match action {
        action::Action::Label(_) => true,
        action::Action::Copy(copy) => copy.to == action::CopyField::Label,
        _ => false,
    })
}

/// One `rate-limit` line; `None` where no packet matches it.
fn rate_limit(limit: &RateLimit, condition: Condition, markings: Markings) -> Option<ConditionerConfig> {
    let metered = Treatment { metered: true, ..Treatment::default() };
    let actions = |own| markings.actions(metered, std::slice::from_ref(own));
    let rate = Rate::from_bits_per_second(limit.rate);
    let (burst, debt_limit) = (ByteSize::from_bytes(limit.burst), ByteSize::from_bytes(limit.extended_burst));
    let meter = if limit.extended_burst > limit.burst {
        MeterConfig::TokenBucketWithDebt(TokenBucketWithDebtConfig {
            rate,
            burst,
            debt_limit,
            excess: Color::RED,
        })
    } else {
        // With both bursts the same there is no borrowing.
        MeterConfig::TokenBucket(TokenBucketConfig { rate, burst, excess: Color::RED })
    };
    Some(ConditionerConfig {
        name: Some(format!("rate-limit {}", target(limit))),
        matches: matches(condition)?,
        meter: Some(meter),
        green: actions(&limit.conform),
        red: actions(&limit.exceed),
        ..ConditionerConfig::default()
    })
}

fn target(limit: &RateLimit) -> String {
    use crate::ast::RateLimitMatch;
    match &limit.matches {
        RateLimitMatch::All => "all".to_owned(),
        RateLimitMatch::AccessGroup(name) => format!("access-group {name}"),
        RateLimitMatch::RateLimitList(name) => format!("access-group rate-limit {name}"),
        RateLimitMatch::Dscp(dscp) => format!("dscp {dscp}"),
        RateLimitMatch::QosGroup(group) => format!("qos-group {group}"),
    }
}

/// As a conditioner has it: `None` for all packets; `None` outside where there are none at all.
#[allow(clippy::option_option)] // "no condition" and "no packet" are two things
pub(super) fn matches(condition: Condition) -> Option<Option<MatchConfig>> {
    match condition {
        Condition::Always => Some(None),
        Condition::Never => None,
        Condition::When(config) => Some(Some(*config)),
    }
}

/// `stages` under unique names, up to the one that leaves no packet for those behind it.
fn unique(mut stages: Vec<ConditionerConfig>) -> Vec<ConditionerConfig> {
    let names: Vec<Option<String>> = stages.iter().map(|stage| stage.name.clone()).collect();
    for (index, stage) in stages.iter_mut().enumerate() {
        let same = names[..index].iter().filter(|name| **name == stage.name).count();
        if same > 0 {
            stage.name = stage.name.take().map(|name| format!("{name} ({})", same + 1));
        }
    }
    let ends = |stage: &ConditionerConfig| {
        let all = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
        let going_on = all.iter().any(|actions| actions.last() == Some(&action::Action::Continue));
        stage.matches.is_none() && !going_on
    };
    if let Some(end) = stages.iter().position(ends) {
        stages.truncate(end + 1);
    }
    stages
}
