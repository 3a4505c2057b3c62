//! Conditioners: `rate-limit` lines, and `set` and `police` of policies.

use perhop_qos::action;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{
    MeterConfig, SingleRateTcmConfig, TokenBucketConfig, TokenBucketWithDebtConfig, TwoRateTcmConfig,
};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};
use perhop_qos::{ByteSize, Color, Rate};

use super::Context;
use super::bandwidth::{bursts_of_police, rate_of};
use super::circuit::Circuit;
use super::condition::{Condition, looks_at_codepoint, of_class, of_rate_limit};
use crate::ast::{
    Action, CLASS_DEFAULT, Direction, Interface, Marking, Police, PolicyClass, PolicyMap, RateLimit, Then,
};
use crate::diagnostic::Diagnostic;

/// Policies inside policies go no deeper.
pub(super) const DEEPEST: usize = 3;

impl<'a> Context<'a> {
    /// What happens to packets that arrive.
    pub(super) fn input(
        &mut self,
        interface: &'a Interface,
        circuit: &Circuit<'a>,
    ) -> Vec<ConditionerConfig> {
        let mut stages = self.rate_limits(interface, Direction::Input);
        let attached = self.attached(interface, circuit, |policies| &policies.input);
        if let Some(at) = attached
            && let Some(policy) = self.configuration.policy_maps.get(&at.value)
        {
            if let Some(class) = policy.classes.iter().find(|class| class.queues()) {
                self.found.push(Diagnostic::error(
                    at.line,
                    format!(
                        "policy {} queues (class {}, line {}): an input policy cannot queue",
                        policy.name, class.name, class.line
                    ),
                    "the router refuses the line: no policy applies here",
                ));
            } else {
                let of_policy = self.of_policy(policy, circuit.bandwidth);
                stages = self.one_after_the_other(stages, of_policy, interface);
            }
        }
        unique(stages)
    }

    /// What happens to packets that leave.
    pub(super) fn output(&mut self, interface: &'a Interface, circuit: &Circuit<'a>) -> PolicyConfig {
        let mut stages = self.rate_limits(interface, Direction::Output);
        let queueing = self.queueing(interface, circuit);
        if let Some(policy) = &queueing.policy {
            self.classifies_after_marking(policy, &queueing.config);
            let of_policy = self.of_policy(policy, circuit.bandwidth);
            stages = self.one_after_the_other(stages, of_policy, interface);
        }
        PolicyConfig { conditioners: unique(stages), queueing: Some(queueing.config) }
    }

    /// Says where a queue would see a marking that the router's own classifier does not see.
    fn classifies_after_marking(&mut self, policy: &PolicyMap, queueing: &QueueingConfig) {
        let marks = |class: &&PolicyClass| {
            let actions = class.police.iter().flat_map(|police| {
                [&police.value.conform, &police.value.exceed, &police.value.violate].into_iter().flatten()
            });
            let codepoint = |marking: &Marking| matches!(marking, Marking::Precedence(_) | Marking::Dscp(_));
            class.marks.iter().any(|mark| codepoint(&mark.value))
                || actions.filter_map(|action| action.marking.as_ref()).any(codepoint)
        };
        let Some(class) = policy.classes.iter().find(marks) else { return };
        let mut matches = queueing.classes.iter().filter_map(|class| class.matches.as_ref());
        if matches.any(looks_at_codepoint) {
            self.found.push(Diagnostic::warning(
                class.line,
                format!("class {} marks packets in a policy that classifies by marking", class.name),
                "the router queues by the packet's original marking, perhop by the new one",
            ));
        }
    }

    fn rate_limits(&mut self, interface: &Interface, direction: Direction) -> Vec<ConditionerConfig> {
        let limits = interface.rate_limits.iter().filter(|limit| limit.direction == direction);
        limits
            .filter_map(|limit| rate_limit(limit, of_rate_limit(self.configuration, &limit.matches)))
            .collect()
    }

    /// The stages of `policy`: one for each class that marks, polices or drops, and for each before it whose
    /// packets it must not see.
    fn of_policy(&mut self, policy: &PolicyMap, bandwidth: Rate) -> Vec<ConditionerConfig> {
        let mut stages = self.stages(policy, bandwidth, &Outer::default());
        // Stages at the end that do nothing say nothing.
        let last = stages.iter().rposition(|stage| !is_idle(stage)).map_or(0, |last| last + 1);
        stages.truncate(last);
        stages
    }

    /// The stages of `policy` for the packets that meet `outer`; with `outer` doing something itself, they go
    /// on to it.
    fn stages(&mut self, policy: &PolicyMap, bandwidth: Rate, outer: &Outer) -> Vec<ConditionerConfig> {
        let (mut stages, mut before) = (Vec::new(), Vec::new());
        // Wherever it stands, class-default takes what the others leave.
        let (default, others): (Vec<_>, Vec<_>) =
            policy.classes.iter().partition(|class| class.name == CLASS_DEFAULT);
        for class in others.into_iter().chain(default) {
            let Some(own) = of_class(self.configuration, &class.name) else { continue };
            let condition = Condition::all(vec![outer.condition.clone(), own]);
            // A packet that goes on must not fall to the next class of this policy.
            let condition = match outer.then {
                Then::Continue => condition.but_not(&before),
                _ => condition,
            };
            before.push(condition.clone());
            let name = format!("{}{}", outer.prefix, class.name);
            let inside = class.service_policy.as_ref().filter(|_| outer.depth < DEEPEST);
            if let Some(inside) = inside.and_then(|at| self.configuration.policy_maps.get(&at.value)) {
                // The class inside acts first, then the one around it.
                let acts = class.police.is_some() || !class.marks.is_empty() || class.drop.is_some();
                let then = if acts { Then::Continue } else { outer.then };
                let (condition, prefix) = (condition.clone(), format!("{name}."));
                let inner = Outer { condition, prefix, then, depth: outer.depth + 1 };
                stages.extend(self.stages(inside, bandwidth, &inner));
            }
            let mut own = stage(class, name, &condition, bandwidth);
            if outer.then == Then::Continue {
                own.iter_mut().for_each(goes_on);
            }
            stages.extend(own);
        }
        stages
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
            self.found.push(Diagnostic::warning(
                limit.line,
                "several rate-limit lines beside a policy that marks or polices in the same direction",
                "the router runs both; in perhop a packet that one rate-limit line transmits also passes the others",
            ));
        }
        first.iter_mut().for_each(goes_on);
        first.extend(second);
        first
    }
}

/// What stands around the classes of a policy.
struct Outer {
    /// The packets that come here.
    condition: Condition,
    /// What the names of stages begin with.
    prefix: String,
    /// Whether what is transmitted goes through a class around it.
    then: Then,
    depth: usize,
}

impl Default for Outer {
    fn default() -> Outer {
        Outer { condition: Condition::Always, prefix: String::new(), then: Then::Transmit, depth: 0 }
    }
}

/// What the stage transmits goes on to the stages behind it.
fn goes_on(stage: &mut ConditionerConfig) {
    let ConditionerConfig { green, yellow, red, actions, .. } = stage;
    for action in [green, yellow, red, actions].into_iter().flatten() {
        if *action == action::Action::Transmit {
            *action = action::Action::Continue;
        }
    }
}

/// One `rate-limit` line; `None` where no packet matches it.
fn rate_limit(limit: &RateLimit, condition: Condition) -> Option<ConditionerConfig> {
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
        green: actions(&[], std::slice::from_ref(&limit.conform)),
        red: actions(&[], std::slice::from_ref(&limit.exceed)),
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

/// The stage of one class; `None` where no packet matches it.
fn stage(
    class: &PolicyClass,
    name: String,
    condition: &Condition,
    bandwidth: Rate,
) -> Option<ConditionerConfig> {
    let marks: Vec<&Marking> = class.marks.iter().map(|mark| &mark.value).collect();
    let mut stage = ConditionerConfig {
        name: Some(name),
        matches: matches(condition.clone())?,
        ..ConditionerConfig::default()
    };
    match &class.police {
        _ if class.drop.is_some() => stage.actions = vec![action::Action::Drop],
        None => stage.actions = actions(&marks, &[Action::TRANSMIT]),
        Some(police) => {
            let police = &police.value;
            let or = |own: &[Action], other: Action| if own.is_empty() { vec![other] } else { own.to_vec() };
            let conform = or(&police.conform, Action::TRANSMIT);
            let exceed = or(&police.exceed, Action::DROP);
            stage.meter = Some(meter(police, bandwidth));
            stage.green = actions(&marks, &conform);
            if is_two_color(police) {
                stage.red = actions(&marks, &exceed);
            } else {
                stage.yellow = actions(&marks, &exceed);
                // Without an action of its own what violates is treated as what exceeds.
                let violate = if police.violate.is_empty() { exceed } else { police.violate.clone() };
                stage.red = actions(&marks, &violate);
            }
        }
    }
    Some(stage)
}

/// One rate and no action for what violates: one bucket, two colors.
fn is_two_color(police: &Police) -> bool {
    police.peak.is_none() && police.violate.is_empty()
}

fn meter(police: &Police, bandwidth: Rate) -> MeterConfig {
    let cir = rate_of(police.rate, bandwidth);
    let (cbs, ebs) = bursts_of_police(police, cir, bandwidth);
    match police.peak {
        Some(peak) => MeterConfig::TwoRateTcm(TwoRateTcmConfig {
            cir,
            cbs,
            pir: rate_of(peak, bandwidth),
            pbs: ebs,
            mode: perhop_qos::meter::ColorMode::ColorBlind,
        }),
        None if is_two_color(police) => {
            MeterConfig::TokenBucket(TokenBucketConfig { rate: cir, burst: cbs, excess: Color::RED })
        }
        None => MeterConfig::SingleRateTcm(SingleRateTcmConfig {
            cir,
            cbs,
            ebs,
            mode: perhop_qos::meter::ColorMode::ColorBlind,
        }),
    }
}

/// `set` first, then the policer's own marking, then where the packet goes.
fn actions(marks: &[&Marking], own: &[Action]) -> Vec<action::Action> {
    let markings = marks.iter().copied().chain(own.iter().filter_map(|action| action.marking.as_ref()));
    let mut list: Vec<action::Action> = markings
        .filter_map(|marking| match marking {
            Marking::Precedence(precedence) => Some(action::Action::MarkPrecedence(*precedence)),
            Marking::Dscp(dscp) => Some(action::Action::Mark(*dscp)),
            Marking::QosGroup(group) => u8::try_from(*group).ok().map(action::Action::Label),
            Marking::NotModelled(_) => None,
        })
        .collect();
    list.push(match own.last().map(|action| action.then) {
        Some(Then::Drop) => action::Action::Drop,
        Some(Then::Continue) => action::Action::Continue,
        Some(Then::Transmit) | None => action::Action::Transmit,
    });
    list
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

fn is_idle(stage: &ConditionerConfig) -> bool {
    stage.meter.is_none() && stage.actions == [action::Action::Transmit]
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
