//! Conditioners: `rate-limit` lines, and `set` and `police` of policies.

use perhop_lint::{Diagnostic, rules};
use perhop_qos::action;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{
    ColorMode, MeterConfig, PacketRateConfig, SingleRateTcmConfig, TokenBucketConfig,
    TokenBucketWithDebtConfig, TwoRateTcmConfig,
};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::units::{PacketRate, QueueSize};
use perhop_qos::{ByteSize, Color, Rate};

use super::Context;
use super::condition::{Condition, looks_at, of_rate_limit};
use super::fields::Fields;
use super::link_marks::{Tag, discard_class_0, new_tag};
use super::marking::{Markings, Treatment};
use super::resolved::{Awareness, PoliceKind, ResolvedClass, ResolvedPolice, ResolvedPolicy};
use crate::ast::{Action, Basis, Direction, Interface, RateLimit, Then};

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
            let of_policy = of_policy(policy, markings);
            stages = self.one_after_the_other(stages, of_policy, interface);
        }
        let first = (tag == Tag::OneOfSeveral).then(new_tag);
        unique(first.into_iter().chain(stages).collect())
    }

    pub(super) fn markings(&self, direction: Direction) -> Markings<'a> {
        Markings::at(self.configuration, direction, self.is_router)
    }

    /// Says where a queue would see a marking that the router's own classifier does not see.
    fn classifies_after_marking(&mut self, policy: &ResolvedPolicy, queueing: &QueueingConfig) {
        let matches = queueing.classes.iter().filter_map(|class| class.matches.as_ref());
        let looked_at: Fields = matches.map(looks_at).collect();
        let writes = |class: &&ResolvedClass| looked_at.contain(class.written().without(Fields::LABEL));
        if let Some(class) = policy.classes.iter().find(writes) {
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
        first.iter_mut().for_each(goes_on);
        first.extend(second);
        first
    }
}

/// The stages of `policy`: one for each class that marks, polices or drops, and for each before it whose
/// packets it must not see.
pub(super) fn of_policy(policy: &mut ResolvedPolicy, markings: Markings) -> Vec<ConditionerConfig> {
    let mut stages = stages_of(policy, &Outer::default(), markings);
    // Stages at the end that do nothing say nothing.
    let last = stages.iter().rposition(|stage| !is_idle(stage)).map_or(0, |last| last + 1);
    stages.truncate(last);
    stages
}

/// The stages of `policy` for the packets that meet `outer`; with `outer` doing something itself, they go
/// on to it.
fn stages_of(policy: &mut ResolvedPolicy, outer: &Outer, markings: Markings) -> Vec<ConditionerConfig> {
    let (mut stages, mut before) = (Vec::new(), Vec::new());
    for class in &mut policy.classes {
        let condition = Condition::all(vec![outer.condition.clone(), class.condition.clone()]);
        // A packet that goes on must not fall to the next class of this policy.
        let condition = match outer.then {
            Then::Continue => condition.but_not(&before),
            _ => condition,
        };
        before.push(condition.clone());
        let name = format!("{}{}", outer.prefix, class.name);
        let acts = class.police.is_some() || !class.marks.is_empty() || class.drop;
        if let Some(inside) = &mut class.policy {
            // The class inside acts first, then the one around it.
            let then = if acts { Then::Continue } else { outer.then };
            let inner = Outer { condition: condition.clone(), prefix: format!("{name}."), then };
            stages.extend(stages_of(inside, &inner, markings));
        }
        let aware = class.police.as_ref().and_then(|police| police.aware.as_ref());
        stages.extend(aware.into_iter().flat_map(|aware| colors(aware, &name, &condition)));
        let mut own = stage(class, name, &condition, markings);
        if outer.then == Then::Continue {
            own.iter_mut().for_each(goes_on);
        }
        class.conditioner = own.as_ref().filter(|_| acts).and_then(|stage| stage.name.clone());
        stages.extend(own);
    }
    stages
}

/// What stands around the classes of a policy.
struct Outer {
    /// The packets that come here.
    condition: Condition,
    /// What the names of stages begin with.
    prefix: String,
    /// Whether what is transmitted goes through a class around it.
    then: Then,
}

impl Default for Outer {
    fn default() -> Outer {
        Outer { condition: Condition::Always, prefix: String::new(), then: Then::Transmit }
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

/// The stage of one class; `None` where no packet matches it.
fn stage(
    class: &ResolvedClass,
    name: String,
    condition: &Condition,
    markings: Markings,
) -> Option<ConditionerConfig> {
    let treatment = Treatment {
        label: class.label,
        marks: &class.marks,
        metered: class.police.is_some(),
        by_cos: class.random_detect.as_ref().is_some_and(|detect| detect.basis == Basis::Cos),
    };
    let actions = |own: &[Action]| markings.actions(treatment, own);
    let mut stage = ConditionerConfig {
        name: Some(name),
        matches: matches(condition.clone())?,
        ..ConditionerConfig::default()
    };
    match &class.police {
        _ if class.drop => stage.actions = vec![action::Action::Drop],
        None => stage.actions = actions(&[Action::TRANSMIT]),
        Some(police) => {
            stage.meter = Some(meter(police));
            stage.green = actions(&police.conform);
            if police.colors == 2 {
                stage.red = actions(&police.exceed);
            } else {
                stage.yellow = actions(&police.exceed);
                stage.red = actions(&police.violate);
            }
        }
    }
    Some(stage)
}

fn meter(police: &ResolvedPolice) -> MeterConfig {
    if police.kind == PoliceKind::Pps {
        let rate = PacketRate::from_packets_per_second(police.cir_bps);
        let burst = QueueSize::Packets(police.bc_bytes);
        return MeterConfig::PacketRate(PacketRateConfig { rate, burst, excess: Color::RED });
    }
    let cir = Rate::from_bits_per_second(police.cir_bps);
    let cbs = ByteSize::from_bytes(police.bc_bytes);
    let excess = ByteSize::from_bytes(police.be_bytes.unwrap_or(police.bc_bytes));
    let mode = if police.aware.is_some() { ColorMode::ColorAware } else { ColorMode::ColorBlind };
    match (police.pir_bps, police.colors) {
        (Some(peak), _) => {
            let pir = Rate::from_bits_per_second(peak);
            MeterConfig::TwoRateTcm(TwoRateTcmConfig { cir, cbs, pir, pbs: excess, mode })
        }
        (None, 2) => {
            MeterConfig::TokenBucket(TokenBucketConfig { rate: cir, burst: cbs, excess: Color::RED })
        }
        (None, _) => MeterConfig::SingleRateTcm(SingleRateTcmConfig { cir, cbs, ebs: excess, mode }),
    }
}

/// The stages that give packets the colors with which a policer behind them takes them. Cisco,
/// "Color-Aware Policer" (IOS-XE 3S).
fn colors(aware: &Awareness, name: &str, of_class: &Condition) -> Vec<ConditionerConfig> {
    let conform = aware.conform.clone();
    let exceed = aware.exceed.clone().map(|exceed| exceed.but_not(std::slice::from_ref(&conform)));
    let rest = if exceed.is_some() { Color::RED } else { Color::YELLOW };
    let named: Vec<Condition> = std::iter::once(conform.clone()).chain(exceed.clone()).collect();
    let stages = [
        ("conform-color", Some(conform), Color::GREEN),
        ("exceed-color", exceed, Color::YELLOW),
        ("other colors", Some(Condition::Always.but_not(&named)), rest),
    ];
    let stage = |(which, condition, color): (&str, Option<Condition>, Color)| {
        Some(ConditionerConfig {
            name: Some(format!("{name} {which}")),
            matches: matches(Condition::all(vec![of_class.clone(), condition?]))?,
            actions: vec![action::Action::Color(color), action::Action::Continue],
            ..ConditionerConfig::default()
        })
    };
    stages.into_iter().filter_map(stage).collect()
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
