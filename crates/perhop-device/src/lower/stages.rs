//! The stages of a policy: its classes mark, police and drop packets. The stage of an inner class precedes
//! the stage of its outer class.

use perhop_qos::action;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{
    ColorMode, MeterConfig, PacketRateConfig, SingleRateTcmConfig, TokenBucketConfig, TwoRateTcmConfig,
};
use perhop_qos::units::{PacketRate, QueueSize};
use perhop_qos::{ByteSize, Color, Rate};

use super::labels;
use super::marking::{Markings, Treatment};
use super::resolved::{ResolvedClass, ResolvedPolice, ResolvedPolicy};
use crate::intent::{Action, Awareness, ClassId, Condition, InsideColors};
use crate::policy::{Basis, PoliceKind};

/// A conditioner, and the class whose packets it marks and polices.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// The conditioner.
    pub(super) config: ConditionerConfig,
    /// The class; `None` for a stage that only classifies, or that belongs to no class.
    pub(super) class: Option<ClassId>,
    /// The line of the limiter that the stage implements; `None` for other stages.
    pub(super) limiter: Option<usize>,
}

impl Stage {
    /// Creates the stage of a conditioner that belongs to no class.
    pub(super) fn without_class(config: ConditionerConfig) -> Stage {
        Stage { config, class: None, limiter: None }
    }
}

/// Returns the stages of `policy`: one for each class that marks, polices or drops, and one for each earlier
/// class whose packets must bypass that stage.
pub(super) fn stages_of_policy(policy: &mut ResolvedPolicy, markings: Markings) -> Vec<Stage> {
    let mut stages = stages_of(policy, &Outer::default(), markings);
    // Idle stages at the end have no effect and are omitted.
    let last = stages.iter().rposition(|stage| !is_idle(&stage.config)).map_or(0, |last| last + 1);
    stages.truncate(last);
    stages
}

/// Returns the stages of a policy that precedes the queueing policy. Packets continue with the queueing
/// policy. The stages belong to none of its classes.
pub(super) fn stages_before(policy: &mut ResolvedPolicy, markings: Markings) -> Vec<Stage> {
    let outer = Outer { transmitted: vec![action::Action::Continue], ..Outer::default() };
    let stages = stages_of(policy, &outer, markings).into_iter();
    stages.filter(|stage| !is_empty(&stage.config)).map(|stage| Stage { class: None, ..stage }).collect()
}

fn is_empty(stage: &ConditionerConfig) -> bool {
    stage.meter.is_none() && stage.actions == [action::Action::Continue]
}

/// Returns the stages of `policy` for the packets that reach `outer`.
fn stages_of(policy: &mut ResolvedPolicy, outer: &Outer, markings: Markings) -> Vec<Stage> {
    let (mut stages, mut before) = (Vec::new(), Vec::new());
    for class in &mut policy.classes {
        let condition = Condition::all(vec![outer.condition.clone(), class.condition.clone()]);
        let condition = condition.but_not(&before);
        if outer.continues() {
            // The mark of one class must not make a packet match a later class of the same policy.
            before.push(condition.clone());
            before.extend(outer.labeled.clone().filter(|labeled| !before.contains(labeled)));
        }
        let name = format!("{}{}", outer.prefix, class.name);
        let labeled = labels::condition_of(class);
        let mut taken = condition.clone();
        let (acts, label) = (class.acts(), class.label.map(action::Action::Label));
        let keeps_colors = class.police.as_ref().is_some_and(|police| police.inside == InsideColors::Kept);
        if keeps_colors {
            stages.extend(conforming(&name, &condition).map(Stage::without_class));
        }
        if let Some(inside) = &mut class.policy {
            // The inner class acts first, then the outer class.
            let behind = if acts { vec![action::Action::Continue] } else { outer.transmitted.clone() };
            let inner = Outer {
                condition: condition.clone(),
                labeled: labeled.clone().or_else(|| outer.labeled.clone()),
                prefix: format!("{name}."),
                transmitted: label.into_iter().chain(behind).collect(),
                keeps_colors,
            };
            stages.extend(stages_of(inside, &inner, markings));
            taken = Condition::any(labeled.into_iter().chain([condition]).collect());
        }
        let aware = class.police.as_ref().and_then(|police| police.aware.as_ref());
        let colored = aware.into_iter().flat_map(|aware| colors(aware, &name, &taken));
        stages.extend(colored.map(Stage::without_class));
        let mut own = stage(class, name, &taken, markings);
        if let Some(stage) = &mut own {
            if outer.keeps_colors {
                keep_colors(stage);
            }
            replace_transmit(stage, &outer.transmitted);
        }
        class.conditioner = own.as_ref().filter(|_| acts).and_then(|stage| stage.name.clone());
        stages.extend(
            own.map(|config| Stage { class: acts.then_some(class.id), ..Stage::without_class(config) }),
        );
    }
    stages
}

/// The class that contains the classes of a policy.
struct Outer {
    /// The packets that reach this class.
    condition: Condition,
    /// The packets that an outer class selects by labels.
    labeled: Option<Condition>,
    /// The prefix of the names of stages.
    prefix: String,
    /// Whether the policer of this class reads the colors that the inner classes set.
    keeps_colors: bool,
    /// The actions that replace `transmit`. With `continue` at the end, packets continue with the outer
    /// class.
    transmitted: Vec<action::Action>,
}

impl Outer {
    fn continues(&self) -> bool {
        self.transmitted.last() == Some(&action::Action::Continue)
    }
}

impl Default for Outer {
    fn default() -> Outer {
        Outer {
            condition: Condition::Always,
            labeled: None,
            prefix: String::new(),
            keeps_colors: false,
            transmitted: vec![action::Action::Transmit],
        }
    }
}

/// Returns the stage that colors all packets of a class as conforming, in front of the inner policers.
fn conforming(name: &str, condition: &Condition) -> Option<ConditionerConfig> {
    Some(ConditionerConfig {
        name: Some(format!("{name} conforming")),
        matches: condition.clone().into_match()?,
        actions: vec![action::Action::Color(Color::GREEN), action::Action::Continue],
        ..ConditionerConfig::default()
    })
}

/// Restores the color of a policer's packets after its marks, because a mark with an AF codepoint changes the
/// color.
fn keep_colors(stage: &mut ConditionerConfig) {
    let ConditionerConfig { green, yellow, red, actions, .. } = stage;
    let of_color =
        [(green, Color::GREEN), (yellow, Color::YELLOW), (red, Color::YELLOW), (actions, Color::GREEN)];
    for (actions, color) in of_color {
        if !matches!(actions.last(), None | Some(action::Action::Drop)) {
            actions.insert(actions.len() - 1, action::Action::Color(color));
        }
    }
}

/// Replaces a final `transmit` by the actions `behind` in each action list of the stage.
pub(super) fn replace_transmit(stage: &mut ConditionerConfig, behind: &[action::Action]) {
    let ConditionerConfig { green, yellow, red, actions, .. } = stage;
    for actions in [green, yellow, red, actions] {
        if actions.last() == Some(&action::Action::Transmit) {
            actions.pop();
            actions.extend_from_slice(behind);
        }
    }
}

/// Returns the stage of one class; `None` if no packet matches the class.
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
        matches: condition.clone().into_match()?,
        ..ConditionerConfig::default()
    };
    match &class.police {
        _ if class.drop => stage.actions = vec![action::Action::Drop],
        None => stage.actions = actions(&[Action::transmit()]),
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
    if police.inside == InsideColors::Kept {
        let mode = ColorMode::ColorAware;
        return MeterConfig::SingleRateTcm(SingleRateTcmConfig { cir, cbs, ebs: excess, mode });
    }
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

/// Returns the stages that color packets for a later color-aware policer. Cisco, "Color-Aware Policer"
/// (IOS-XE 3S).
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
            matches: Condition::all(vec![of_class.clone(), condition?]).into_match()?,
            actions: vec![action::Action::Color(color), action::Action::Continue],
            ..ConditionerConfig::default()
        })
    };
    stages.into_iter().filter_map(stage).collect()
}

fn is_idle(stage: &ConditionerConfig) -> bool {
    stage.meter.is_none() && stage.actions == [action::Action::Transmit]
}
