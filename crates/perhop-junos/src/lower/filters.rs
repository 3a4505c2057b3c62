//! Filters and policers of a unit as conditioners.

use std::collections::BTreeMap;

use perhop_device::intent::At;
use perhop_lint::rules as common_rules;
use perhop_qos::action::{Action, CopyConfig, CopyDefault, CopyField, Value};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::ColorMode;
use perhop_qos::{Color, Dscp};

use super::device::{Findings, Stage};
use super::meters::{self, Accepted, Place};
use super::stages::{ACCEPTED, all_of, family_condition};
use crate::cos::LossPriority;
use crate::firewall::{Condition, End, ExceedAction, FilterFamily, Metered, Term, Then};
use crate::unit_filters::Side;

/// A term of a filter, and the line that attaches the filter.
#[derive(Clone, Copy)]
struct Reached<'t> {
    filter: &'t str,
    at: usize,
    term: &'t Term,
}

impl Reached<'_> {
    /// Whether no packet reaches the following terms and filters.
    fn takes_all(self) -> bool {
        self.term.from == Condition::All && self.term.then.end != End::NextTerm
    }
}

/// Returns the stages of the filters of a direction.
pub(super) fn filters(place: Place, side: &Side, findings: &mut Findings) -> Vec<Stage> {
    let mut stages = Vec::new();
    let families: Vec<FilterFamily> = side.filters.iter().map(|(family, _)| *family).collect();
    let has_others = families.iter().any(|family| *family != FilterFamily::Any);
    for family in FilterFamily::ALL {
        let mut terms = Vec::new();
        let mut last = None;
        for (_, at) in side.filters.iter().filter(|(own, _)| *own == family) {
            if family == FilterFamily::Any && has_others {
                findings.not_modeled(at.line, "a filter of family any in addition to a filter of IP");
                continue;
            }
            if let Some(filter) = place.device.firewall.filters.get(family, &at.value) {
                terms.extend(filter.terms.iter().map(|term| Reached {
                    filter: &at.value,
                    at: at.line,
                    term,
                }));
                last = Some((at.value.clone(), filter.line, at.line));
            }
        }
        let Some((name, filter_line, line)) = last else { continue };
        let end = terms.iter().position(|reached| reached.takes_all());
        let unreached = end.map_or_else(Vec::new, |end| terms.split_off(end + 1));
        for reached in &terms {
            self::term(place, (family, reached.filter, reached.at), reached.term, findings, &mut stages);
        }
        if let Some(last) = terms.last().filter(|_| end.is_some()) {
            note_unreached(*last, &unreached, findings);
            continue;
        }
        let is_certain = terms.iter().all(|reached| reached.term.from != Condition::Unknown);
        if !is_certain {
            // A term that perhop skips can accept packets that would reach the implicit discard.
            findings
                .not_modeled(line, "perhop skips a term, so the filter passes packets that no term matches");
            continue;
        }
        // Junos Routing Policies and Firewall Filters User Guide: a filter ends with an implicit discard.
        let config = ConditionerConfig {
            name: Some(format!("{name} implicit discard")),
            matches: all_of(conditions(place, family)),
            actions: vec![Action::Drop],
            ..ConditionerConfig::default()
        };
        stages.push(Stage { config, lines: vec![filter_line, line] });
    }
    stages
}

/// Reports the terms after a term that matches all packets: the terms of the same filter, and the following
/// filters of its list. The findings are at the attachment, because packets of other interfaces can reach
/// these filters.
fn note_unreached(last: Reached, unreached: &[Reached], findings: &mut Findings) {
    let cause = format!("term {} of filter {} matches all packets", last.term.name, last.filter);
    for next in unreached {
        let (line, message) = if next.at == last.at && next.filter == last.filter {
            (next.term.line, format!("no packet reaches term {} of filter {}", next.term.name, next.filter))
        } else {
            (next.at, format!("no packet reaches filter {} of this list", next.filter))
        };
        findings.found(&common_rules::CLASS_SHADOWED, line, message, &cause);
    }
}

/// Returns the conditions of every term of a family.
fn conditions(place: Place, family: FilterFamily) -> Vec<MatchConfig> {
    let mut found: Vec<MatchConfig> = family_condition(place.unit, family).into_iter().collect();
    if place.accepted == Accepted::Label {
        let open = (0..place.device.cos.classes.iter().count() as u8).collect();
        found.push(MatchConfig { label: Some(OneOrMany(open)), ..MatchConfig::default() });
    }
    found
}

fn term(
    place: Place,
    (family, filter, attached): (FilterFamily, &str, usize),
    term: &Term,
    findings: &mut Findings,
    stages: &mut Vec<Stage>,
) {
    let mut conditions = conditions(place, family);
    match &term.from {
        Condition::All => {}
        Condition::When(own) => conditions.extend(own.iter().cloned()),
        Condition::Unknown => return findings.not_modeled(term.line, "perhop skips this term"),
    }
    let mut config = ConditionerConfig {
        name: Some(format!("{filter} {}", term.name)),
        matches: all_of(conditions),
        ..ConditionerConfig::default()
    };
    let lines = vec![term.line, attached];
    let then = &term.then;
    match &then.policer {
        None if changes_loss(then, None) => {
            return stages
                .extend(by_loss(place, then, &config).map(|config| Stage { config, lines: lines.clone() }));
        }
        None => config.actions = marked(place, then, None),
        Some(policer) => {
            let term = Some(TermOf { filter, term });
            let used = Used { policer, line: attached, term };
            return metered(place, used, then, (config, lines), findings, stages);
        }
    }
    stages.push(Stage { config, lines });
}

/// The use of a policer.
#[derive(Clone, Copy)]
struct Used<'u> {
    policer: &'u Metered,
    /// The line that attaches it, or its filter.
    line: usize,
    /// The term; `None` for a policer of the interface.
    term: Option<TermOf<'u>>,
}

/// A term of a filter.
#[derive(Clone, Copy)]
struct TermOf<'t> {
    filter: &'t str,
    term: &'t Term,
}

/// Adds the stage of a policer with the actions of a term, and the stages that must precede it.
fn metered(
    place: Place,
    used: Used,
    then: &Then,
    (config, lines): (ConditionerConfig, Vec<usize>),
    findings: &mut Findings,
    stages: &mut Vec<Stage>,
) {
    let (mut config, mut lines) = (config, lines);
    config.shared = meters::shared(place, used.policer, used.term.map(|reached| reached.filter));
    meters::note_units(place, used.policer, used.line, findings);
    let policers = &place.device.firewall.policers;
    match used.policer {
        Metered::Plain(name) => {
            let Some(policer) = policers.plain.get(name) else { return };
            lines.push(policer.line);
            meters::note_percent(place, policer, used.line, findings);
            if !policer.exceed.is_discarded && changes_loss(then, policer.exceed.loss) {
                let line = used.term.map_or(used.line, |reached| reached.term.line);
                let note = "in perhop, packets above the rate get the loss priority of their codepoint";
                findings.not_modeled(line, note);
            }
            // Packets within the rate get the loss priority low (the topic
            // `burst-size-limit-edit-firewall-policer`), unless the term sets another loss priority.
            config.meter = meters::plain(place, policer);
            config.green = marked(place, then, Some(then.loss.unwrap_or_default()));
            config.red = exceeding(place, policer.exceed, then);
        }
        Metered::ThreeColor(name) => {
            let Some(policer) = policers.three_color.get(name) else { return };
            lines.push(policer.line);
            let mut mode = ColorMode::ColorBlind;
            let reads_loss = used.term.is_some_and(|reached| reached.term.from.reads_loss_priority());
            if policer.is_color_aware && (reads_loss || config.shared.is_some()) {
                let line = used.term.map_or(used.line, |reached| reached.term.line);
                let note = "color-aware metering in a term that matches loss priorities, or with a bucket that \
                            several terms or interfaces share: perhop meters color-blind";
                findings.not_modeled(line, note);
            } else if policer.is_color_aware {
                mode = ColorMode::ColorAware;
                stages.extend(colored(&config).map(|config| Stage { config, lines: lines.clone() }));
            }
            // Green is loss priority low, yellow medium-high, red high (Junos Routing Policies and Firewall
            // Filters User Guide, "Three-Color Policer Configuration").
            config.meter = Some(meters::three_color(policer, mode));
            config.green = marked(place, then, Some(LossPriority::Low));
            config.yellow = marked(place, then, Some(LossPriority::MediumHigh));
            let red = || marked(place, then, Some(LossPriority::High));
            config.red = if policer.discards_red { vec![Action::Drop] } else { red() };
        }
        Metered::Hierarchical(name) => {
            let Some(policer) = policers.hierarchical.get(name) else { return };
            lines.push(policer.line);
            // Other packets above the aggregate rate are yellow. Premium packets above the premium rate are
            // dropped. Packets within the rate get the loss priority low, as with plain policers (inferred).
            config.meter = Some(meters::hierarchical(place, policer));
            config.green = marked(place, then, Some(then.loss.unwrap_or_default()));
            config.yellow = exceeding(place, policer.exceed, then);
            config.red = vec![Action::Drop];
        }
    }
    stages.push(Stage { config, lines });
}

/// Whether the codepoint of a term would change a loss priority that the term keeps. In perhop, an AF
/// codepoint sets the color, which represents the loss priority.
fn changes_loss(then: &Then, loss: Option<LossPriority>) -> bool {
    let is_marked = then.dscp.is_some_and(Dscp::is_assured_forwarding) && then.end != End::Discard;
    is_marked && loss.or(then.loss).is_none()
}

/// Returns a conditioner for each loss priority. Each conditioner restores the loss priority after it writes
/// the codepoint.
fn by_loss<'c>(
    place: Place<'c>,
    then: &'c Then,
    config: &'c ConditionerConfig,
) -> impl Iterator<Item = ConditionerConfig> + 'c {
    LossPriority::ALL.into_iter().map(move |loss| {
        let own = MatchConfig { color: Some(OneOrMany(vec![loss.color()])), ..MatchConfig::default() };
        ConditionerConfig {
            name: config.name.as_ref().map(|name| format!("{name} {}", loss.name())),
            matches: all_of(config.matches.iter().cloned().chain([own]).collect()),
            actions: marked(place, then, Some(loss)),
            ..ConditionerConfig::default()
        }
    })
}

/// Returns the actions of a term for packets with `loss`; `None` keeps the loss priority.
fn marked(place: Place, then: &Then, loss: Option<LossPriority>) -> Vec<Action> {
    let mut actions = Vec::new();
    if then.end == End::Discard {
        return vec![Action::Drop];
    }
    if let Some(dscp) = then.dscp {
        actions.push(Action::Mark(dscp));
    }
    if let Some(loss) = loss.or(then.loss) {
        actions.push(Action::Color(loss.color()));
    }
    actions.extend(ended(place, then));
    actions
}

fn ended(place: Place, then: &Then) -> Vec<Action> {
    match (then.end, place.accepted) {
        (End::Discard, _) => vec![Action::Drop],
        (End::NextTerm, _) => then.label.map(Action::Label).into_iter().chain([Action::Continue]).collect(),
        (End::Accept, Accepted::Transmit) => {
            then.label.map(Action::Label).into_iter().chain([Action::Transmit]).collect()
        }
        (End::Accept, Accepted::Label) => {
            let step = match then.label {
                Some(label) => Action::Label(label + ACCEPTED),
                None => accept_any(place),
            };
            vec![step, Action::Continue]
        }
    }
}

/// Returns the action that marks packets of any class as accepted.
fn accept_any(place: Place) -> Action {
    let labels = 0..place.device.cos.classes.iter().count() as u8;
    let map: BTreeMap<Value, Value> =
        labels.map(|label| (Value::from(label), Value::from(label + ACCEPTED))).collect();
    Action::Copy(CopyConfig {
        from: CopyField::Label,
        to: CopyField::Label,
        map,
        default: CopyDefault::Ignore,
    })
}

/// Returns the actions of a policer for packets above its rate.
fn exceeding(place: Place, exceed: ExceedAction, then: &Then) -> Vec<Action> {
    if exceed.is_discarded {
        return vec![Action::Drop];
    }
    let then = Then { label: exceed.label.or(then.label), ..then.clone() };
    marked(place, &then, exceed.loss)
}

/// Returns the conditioners in front of a color-aware policer: a packet with the loss priority medium-high
/// arrives as yellow, and a packet with high as red (Junos Routing Policies and Firewall Filters User Guide,
/// "Color-Aware Policers").
fn colored(config: &ConditionerConfig) -> impl Iterator<Item = ConditionerConfig> + '_ {
    let colors = [(LossPriority::MediumHigh, Color::YELLOW), (LossPriority::High, Color::RED)];
    colors.into_iter().map(move |(loss, color)| {
        let own = MatchConfig { color: Some(OneOrMany(vec![loss.color()])), ..MatchConfig::default() };
        ConditionerConfig {
            name: config.name.as_ref().map(|name| format!("{name} from {}", loss.name())),
            matches: all_of(config.matches.iter().cloned().chain([own]).collect()),
            actions: vec![Action::Color(color), Action::Continue],
            ..ConditionerConfig::default()
        }
    })
}

/// Returns the stages of the policers of a direction. Conforming packets continue.
pub(super) fn policers(place: Place, side: &Side, findings: &mut Findings) -> Vec<Stage> {
    let mut stages = Vec::new();
    let then = Then { end: End::NextTerm, ..Then::default() };
    // Policers of frames measure a packet before policers of its family.
    let is_of_frames = |(family, _): &&(FilterFamily, At<Metered>)| *family == FilterFamily::Any;
    let (frames, others): (Vec<_>, Vec<_>) = side.policers.iter().partition(is_of_frames);
    for (family, at) in frames.into_iter().chain(others) {
        let config = ConditionerConfig {
            name: Some(format!("policer {}", at.value.name())),
            matches: family_condition(place.unit, *family),
            ..ConditionerConfig::default()
        };
        let used = Used { policer: &at.value, line: at.line, term: None };
        metered(place, used, &then, (config, vec![at.line]), findings, &mut stages);
    }
    stages
}
