//! Conditioners for behavior aggregates of arriving packets and for rewrite rules of departing packets.

use std::collections::BTreeMap;

use perhop_device::intent::At;
use perhop_qos::Dscp;
use perhop_qos::action::Action;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::packet::{IpPrecedence, LinkMark};

use super::device::{Device, Stage};
use crate::cos::{Attached, CodePoints, Treatment};
use crate::firewall::FilterFamily;
use crate::interfaces::Unit;

/// If conditioners follow a filter, the filter adds this number to the labels of accepted packets.
pub(crate) const ACCEPTED: u8 = 64;

/// Returns the condition for packets of a family on a unit; `None` if the unit has only packets of this
/// family.
pub(super) fn family_condition(unit: &Unit, family: FilterFamily) -> Option<MatchConfig> {
    if family == FilterFamily::Mpls {
        let marks = (0..8).filter_map(LinkMark::new).collect();
        return Some(MatchConfig { mpls_exp: Some(OneOrMany(marks)), ..MatchConfig::default() });
    }
    let has = |family| unit.families.contains(&family);
    if !(has(FilterFamily::Inet) && has(FilterFamily::Inet6)) {
        return None;
    }
    let all = match family {
        FilterFamily::Inet => "0.0.0.0/0",
        FilterFamily::Inet6 => "::/0",
        _ => return None,
    };
    let prefix: Prefix = all.parse().ok()?;
    Some(MatchConfig { source: Some(OneOrMany(vec![prefix])), ..MatchConfig::default() })
}

/// Returns the conjunction of `conditions`; `None` if the list is empty.
pub(super) fn all_of(conditions: Vec<MatchConfig>) -> Option<MatchConfig> {
    let mut conditions = conditions;
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(MatchConfig { all: Some(conditions), ..MatchConfig::default() }),
    }
}

/// Returns the stages that classify arriving packets by codepoint.
pub(super) fn behavior_aggregates(device: Device, unit: &Unit, attached: &Attached) -> Vec<Stage> {
    let classes = &device.cos.classes;
    if let Some(name) = &attached.forwarding_class
        && let Some(label) = classes.label(&name.value)
    {
        let treatment = Treatment { label, ..Treatment::default() };
        return vec![classified(device, "fixed", treatment, None, vec![name.line])];
    }
    let classifier_line =
        |kind| attached.classifiers.iter().find(|(known, _)| *known == kind).map(|(_, at)| at);
    let (inet, kind) = match (classifier_line(CodePoints::Dscp), classifier_line(CodePoints::InetPrecedence))
    {
        (Some(at), _) => (Some(at), CodePoints::Dscp),
        (None, at) => (at, CodePoints::InetPrecedence),
    };
    let table4 = codepoint_table(device, kind, inet);
    let table6 = codepoint_table(device, CodePoints::DscpIpv6, classifier_line(CodePoints::DscpIpv6));
    let mut stages = Vec::new();
    if table4 == table6 || family_condition(unit, FilterFamily::Inet).is_none() {
        let is_only_6 = unit.families == [FilterFamily::Inet6];
        let (table, kind, at) = if is_only_6 {
            (&table6, CodePoints::DscpIpv6, classifier_line(CodePoints::DscpIpv6))
        } else {
            (&table4, kind, inet)
        };
        by_codepoint(device, table, (kind, at), None, &mut stages);
    } else {
        let condition = |family| family_condition(unit, family);
        by_codepoint(device, &table4, (kind, inet), condition(FilterFamily::Inet).as_ref(), &mut stages);
        let at = classifier_line(CodePoints::DscpIpv6);
        by_codepoint(
            device,
            &table6,
            (CodePoints::DscpIpv6, at),
            condition(FilterFamily::Inet6).as_ref(),
            &mut stages,
        );
    }
    // The 802.1p classifier applies to IP packets only if no IP classifier is attached.
    for kind in [CodePoints::Ieee8021, CodePoints::Ieee8021ad] {
        if let Some(at) = classifier_line(kind).filter(|_| inet.is_none()) {
            by_mark(device, kind, at, &mut stages);
        }
    }
    let default = system_exp(device, unit).or_else(|| default_exp(device, unit));
    if let Some(at) = classifier_line(CodePoints::Exp).or(default.as_ref()) {
        by_mark(device, CodePoints::Exp, at, &mut stages);
    }
    stages
}

/// Returns the name of the default EXP classifier and rewrite rule of units with MPLS (Junos CoS User Guide,
/// "Default MPLS EXP Classifier"). perhop has none for families with Junos Evolved: their tables differ, and
/// no complete table of PTX is published.
fn default_exp(device: Device, unit: &Unit) -> Option<At<String>> {
    let has_default = device.cos.classes.family().has_default_exp();
    unit.mpls.filter(|_| has_default).map(|line| At::new(line, "default".to_owned()))
}

/// Returns the classifier of all units with MPLS (the topic `cos-mpls-exp-classifier-qfx-series-cli`).
fn system_exp(device: Device, unit: &Unit) -> Option<At<String>> {
    unit.mpls.and(device.cos.system_exp.clone())
}

/// Returns the treatment of the 64 codepoints.
fn codepoint_table(device: Device, kind: CodePoints, at: Option<&At<String>>) -> Vec<Treatment> {
    // The built-in tables of switches have the same classes for all fields.
    let name = at.map_or("ipprec-compatibility", |at| at.value.as_str());
    let table = device.cos.classifiers.table(kind, name, &device.cos.classes);
    let index = |point: usize| if table.len() == 8 { point >> 3 } else { point };
    (0..64).map(|point| table.get(index(point)).copied().unwrap_or_default()).collect()
}

fn by_codepoint(
    device: Device,
    table: &[Treatment],
    (kind, at): (CodePoints, Option<&At<String>>),
    family: Option<&MatchConfig>,
    stages: &mut Vec<Stage>,
) {
    let mut groups: BTreeMap<Treatment, Vec<Dscp>> = BTreeMap::new();
    for (point, treatment) in table.iter().enumerate() {
        if let Some(dscp) = Dscp::new(point as u8) {
            groups.entry(*treatment).or_default().push(dscp);
        }
    }
    let is_alone = groups.len() == 1;
    for (treatment, points) in groups {
        let of_points = MatchConfig { dscp: Some(OneOrMany(points)), ..MatchConfig::default() };
        let conditions = family.into_iter().cloned().chain((!is_alone).then_some(of_points)).collect();
        let lines = lines_of(device, kind, at, treatment);
        stages.push(classified(device, kind.word(), treatment, all_of(conditions), lines));
    }
}

fn by_mark(device: Device, kind: CodePoints, at: &At<String>, stages: &mut Vec<Stage>) {
    let table = device.cos.classifiers.table(kind, &at.value, &device.cos.classes);
    let mut groups: BTreeMap<Treatment, Vec<LinkMark>> = BTreeMap::new();
    // The fourth bit of IEEE 802.1ad is the drop eligible bit, which no packet has.
    let points = table.iter().step_by(if kind == CodePoints::Ieee8021ad { 2 } else { 1 });
    for (point, treatment) in points.enumerate() {
        if let Some(mark) = LinkMark::new(point as u8) {
            groups.entry(*treatment).or_default().push(mark);
        }
    }
    for (treatment, marks) in groups {
        let marks = Some(OneOrMany(marks));
        let condition = if kind == CodePoints::Exp {
            MatchConfig { mpls_exp: marks, ..MatchConfig::default() }
        } else {
            MatchConfig { cos: marks, ..MatchConfig::default() }
        };
        let lines = lines_of(device, kind, Some(at), treatment);
        stages.push(classified(device, kind.word(), treatment, Some(condition), lines));
    }
}

fn lines_of(device: Device, kind: CodePoints, at: Option<&At<String>>, treatment: Treatment) -> Vec<usize> {
    let Some(at) = at else { return Vec::new() };
    let classifier = device.cos.classifiers.get(kind, &at.value);
    let entries = classifier.into_iter().flat_map(|classifier| classifier.entries.values());
    let own = entries.filter(|entry| entry.treatment == treatment).map(|entry| entry.line);
    own.chain([at.line]).collect()
}

fn classified(
    device: Device,
    by: &str,
    treatment: Treatment,
    matches: Option<MatchConfig>,
    lines: Vec<usize>,
) -> Stage {
    let class = device.cos.classes.at(treatment.label).map_or("", |class| class.name.as_str());
    let actions =
        vec![Action::Label(treatment.label), Action::Color(treatment.loss.color()), Action::Continue];
    let name = Some(format!("{by} {class} {}", treatment.loss.name()));
    Stage { config: ConditionerConfig { name, matches, actions, ..ConditionerConfig::default() }, lines }
}

/// Returns the labels that packets of a class can have before and after a filter accepts them.
pub(super) fn labels(label: u8, has_accepted: bool) -> Vec<u8> {
    if has_accepted { vec![label, label + ACCEPTED] } else { vec![label] }
}

/// Returns the stages that rewrite codepoints of departing packets by class and loss priority.
pub(super) fn rewrites(device: Device, unit: &Unit, attached: &Attached, has_accepted: bool) -> Vec<Stage> {
    let mut stages = Vec::new();
    let has_own = attached.rewrites.iter().any(|(kind, _)| *kind == CodePoints::Exp);
    let default = default_exp(device, unit).filter(|_| !has_own).map(|at| (CodePoints::Exp, at));
    for (kind, at) in attached.rewrites.iter().chain(&default) {
        let Some(table) = device.cos.rewrites.table(*kind, &at.value, &device.cos.classes) else { continue };
        let family = match kind {
            CodePoints::Dscp | CodePoints::InetPrecedence => family_condition(unit, FilterFamily::Inet),
            CodePoints::DscpIpv6 => family_condition(unit, FilterFamily::Inet6),
            CodePoints::Ieee8021 | CodePoints::Ieee8021ad | CodePoints::Exp => None,
        };
        for (treatment, (value, line)) in table {
            let Some(mark) = mark(*kind, value) else { continue };
            let own = MatchConfig {
                label: Some(OneOrMany(labels(treatment.label, has_accepted))),
                color: Some(OneOrMany(vec![treatment.loss.color()])),
                ..MatchConfig::default()
            };
            let class = device.cos.classes.at(treatment.label).map_or("", |class| class.name.as_str());
            // An AF codepoint changes the color, so the color is restored: the queue reads it as the loss
            // priority.
            let actions = vec![mark, Action::Color(treatment.loss.color()), Action::Continue];
            let config = ConditionerConfig {
                name: Some(format!("rewrite {} {class} {}", kind.word(), treatment.loss.name())),
                matches: all_of(family.iter().cloned().chain([own]).collect()),
                actions,
                ..ConditionerConfig::default()
            };
            stages.push(Stage { config, lines: vec![line, at.line] });
        }
    }
    stages
}

fn mark(kind: CodePoints, value: u8) -> Option<Action> {
    match kind {
        CodePoints::Dscp | CodePoints::DscpIpv6 => Dscp::new(value).map(Action::Mark),
        CodePoints::InetPrecedence => IpPrecedence::new(value).map(Action::MarkPrecedence),
        CodePoints::Ieee8021 => LinkMark::new(value).map(Action::MarkCos),
        CodePoints::Exp => LinkMark::new(value).map(Action::MarkExp),
        CodePoints::Ieee8021ad => LinkMark::new(value >> 1).map(Action::MarkCos),
    }
}
