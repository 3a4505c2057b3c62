//! Actions of filters that select classes: the treatment of the packets, and the packets that continue to the
//! class. Such a filter first acts on its packets and then selects their class (`htb_classify`,
//! `tcf_classify`).

use perhop_analysis::{PacketSpace, Set};
use perhop_qos::action::Action as Step;
use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};

use super::classes::{MOST_RULES, Rule, is_empty};
use super::conditioners::{Treatment, name_by_line, treatment};
use super::inputs::inputs_of;
use super::policers::{all, but_not, goes_on};
use super::tree::Tree;
use crate::model::{Action, Control, Filter, Qdisc};
use crate::units::shown_id;

impl Tree<'_> {
    /// Converts the actions of `filter`, whose packets match `rule` and no rule of `before`. Returns the rule
    /// for the packets that continue to its class; `None` if no packet continues to the class.
    pub(super) fn acted(
        &mut self,
        qdisc: &Qdisc,
        filter: &Filter,
        rule: Rule,
        before: &[Rule],
    ) -> Option<Rule> {
        let line = filter.line();
        if !is_modeled(filter) || before.len() >= MOST_RULES {
            let note = "the filter selects a class and also has marks or chains: move the marks and chains \
                        to a filter of clsact egress";
            self.log.not_modelled(line, note);
            return Some(rule);
        }
        let Some(mut treatment) = treatment(qdisc, filter, self.log) else { return Some(rule) };
        let lists = [&treatment.green, &treatment.yellow, &treatment.red];
        let ends = |step: &Step| lists.iter().any(|steps| steps.last() == Some(step));
        let (goes_on, enters) = (ends(&Step::Continue), ends(&Step::Transmit));
        let is_idle = treatment.meter.is_none() && !ends(&Step::Drop);
        if is_idle {
            return (!goes_on).then_some(rule);
        }
        let condition = self.condition_of_filter(&rule, before);
        if condition.as_ref().is_some_and(is_empty_set) {
            self.log.note(
                line,
                "no packet reaches the actions of this filter: earlier filters match all its packets",
            );
            return Some(rule);
        }
        let mut rule = Some(rule).filter(|_| enters || !goes_on);
        if goes_on && enters {
            let Some(label) = self.free_label() else {
                let note = "perhop does not model `continue` of a policer together with firewall marks";
                self.log.not_modelled(line, note);
                return rule;
            };
            treatment.label_continuing(label);
            rule = rule.map(|rule| rule.without_label(label));
        }
        treatment.never_ends();
        let name = name_of_stage(qdisc, filter);
        self.policers.add(treatment, (name, condition), filter, self.log);
        rule
    }

    /// Returns the condition of the packets that match `rule` and no rule of `before`, within the enclosing
    /// classes.
    fn condition_of_filter(&self, rule: &Rule, before: &[Rule]) -> Option<MatchConfig> {
        let others = before.iter().filter(|other| !other.is_apart(rule)).filter_map(Rule::condition);
        let not = but_not(others.collect());
        all(self.policers.around.iter().cloned().chain(rule.condition()).chain(not).collect())
    }

    /// Returns a label that no filter of the device matches or sets.
    fn free_label(&mut self) -> Option<u8> {
        let filters = || self.device.qdiscs.iter().flat_map(|qdisc| &qdisc.filters);
        let sets = |filter: &Filter| filter.actions.iter().any(|action| matches!(action, Action::Label(_)));
        let asks = |filter: &Filter| filter.condition.matches.label.is_some();
        if filters().any(|filter| sets(filter) || asks(filter)) || self.policers.labels == u8::MAX {
            return None;
        }
        self.policers.labels += 1;
        Some(u8::MAX - self.policers.labels + 1)
    }
}

/// Whether no packet matches `condition`. False if the condition is too complex.
fn is_empty_set(condition: &MatchConfig) -> bool {
    let mut names = Vec::new();
    inputs_of(condition, &mut names);
    PacketSpace::new(&names).taken_by(condition) == Ok(Set::NONE)
}

/// Returns the name of the conditioner of `filter`: the name of the class with the same packets, otherwise a
/// name from its line. The name of a band is not used, because the type of service also selects bands.
fn name_of_stage(qdisc: &Qdisc, filter: &Filter) -> String {
    let is_default = |class: u32| qdisc.options.number("default") == Some(u64::from(class & 0xffff));
    let leads_alone =
        |class: &u32| qdisc.filters.iter().filter(|other| other.class == Some(*class)).count() == 1;
    let has_classes = matches!(qdisc.kind.name, "htb" | "hfsc" | "drr");
    let class = filter.class.filter(|class| has_classes && !is_default(*class)).filter(leads_alone);
    class.map_or_else(|| name_by_line(filter.line()), shown_id)
}

/// Whether perhop models the actions of a filter that selects a class: policers whose control stays within
/// the chain.
fn is_modeled(filter: &Filter) -> bool {
    let stays = |control: Control| !matches!(control, Control::Goto(_));
    filter.actions.iter().all(|action| match action {
        Action::Police(police) => {
            stays(police.exceed)
                && stays(police.conform)
                && police.options.number("overhead").unwrap_or(0) == 0
        }
        Action::End(control) => stays(*control),
        Action::Nothing => true,
        Action::Mark { .. } | Action::Label(_) | Action::Unseen => false,
    })
}

impl Treatment {
    /// Changes the actions so that every packet that is not dropped continues.
    fn never_ends(&mut self) {
        for steps in [&mut self.green, &mut self.yellow, &mut self.red] {
            goes_on(steps);
        }
    }
    /// Labels the packets that continue to the next filter.
    fn label_continuing(&mut self, label: u8) {
        for steps in [&mut self.green, &mut self.yellow, &mut self.red] {
            if steps.last() == Some(&Step::Continue) {
                steps.insert(0, Step::Label(label));
            }
        }
    }
}

impl Rule {
    /// Whether a comparison of single fields, addresses and ports proves that no packet matches both rules.
    fn is_apart(&self, other: &Rule) -> bool {
        fn apart<T>(
            own: Option<&OneOrMany<T>>,
            other: Option<&OneOrMany<T>>,
            meet: fn(&T, &T) -> bool,
        ) -> bool {
            let none = |values: &OneOrMany<T>, other: &OneOrMany<T>| {
                !values.0.iter().any(|value| other.0.iter().any(|another| meet(value, another)))
            };
            own.zip(other).is_some_and(|(own, other)| none(own, other))
        }
        let networks = |prefix: &Prefix, other: &Prefix| {
            prefix.contains(other.address().into()) || other.contains(prefix.address().into())
        };
        let ports = |range: &PortRange, other: &PortRange| {
            range.first() <= other.last() && other.first() <= range.last()
        };
        let (own, other_matches) = (&self.matches, &other.matches);
        self.excludes(other)
            || apart(own.source.as_ref(), other_matches.source.as_ref(), networks)
            || apart(own.destination.as_ref(), other_matches.destination.as_ref(), networks)
            || apart(own.source_port.as_ref(), other_matches.source_port.as_ref(), ports)
            || apart(own.destination_port.as_ref(), other_matches.destination_port.as_ref(), ports)
    }

    /// Returns this rule for packets without `label`.
    fn without_label(self, label: u8) -> Rule {
        let labeled = MatchConfig { label: Some(OneOrMany::from(label)), ..MatchConfig::default() };
        let not = MatchConfig { not: Some(Box::new(labeled)), ..MatchConfig::default() };
        let matches = if is_empty(&self.matches) {
            not
        } else {
            MatchConfig { all: Some(vec![self.matches, not]), ..MatchConfig::default() }
        };
        Rule { matches, ..self }
    }
}
