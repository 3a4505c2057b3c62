//! Conversion of policy-maps to Intent.

use perhop_device::intent::{
    Awareness, Children, Class, ClassId, Condition, InsideColors, Mark, Meter, Police, Policy, QueueLimit,
    Then, ValueLimits, Written,
};

use super::condition::{combined_label, of_class};
use super::marks::{actions, mark};
use super::match_lines::printed_matches;
use crate::ast::{
    self, At, Basis, CLASS_DEFAULT, Field, HardwareProfile, LabelUse, Marking, PacketPolice, PolicyClass,
    PolicyMap, TrafficRate, ValueLimit,
};
use crate::check::limits_queues;
use crate::convert::context::Context;
use crate::convert::wire::Tags;
use crate::grammar::Grammar;
use crate::mls;
use crate::nexus;

/// The context of a policy: the tags of its packets, and the number of enclosing policies.
#[derive(Clone, Copy)]
struct Place {
    tags: Tags,
    depth: usize,
}

impl Context<'_> {
    /// Converts `policy` for a port whose packets have `tags`. Omits classes with an undefined class-map and
    /// puts class-default last, like the router.
    pub(in crate::convert) fn intent_of(&self, policy: &PolicyMap, tags: Tags) -> Policy {
        self.policy(policy, Place { tags, depth: 0 }, &mut 0)
    }

    /// Whether `policy` or a nested policy has queues.
    pub(in crate::convert) fn queues(&self, policy: &PolicyMap, depth: usize) -> bool {
        let inside = |class: &PolicyClass| {
            let name = class.service_policy.as_ref().filter(|_| self.may_nest(depth))?;
            self.configuration.policy_maps.get(&name.value)
        };
        let own = |class: &PolicyClass| {
            if self.memory.is_some() { class.has_switch_queue() } else { class.queues() }
        };
        let mut classes = policy.classes.iter();
        classes.any(|class| own(class) || inside(class).is_some_and(|policy| self.queues(policy, depth + 1)))
    }

    fn policy(&self, policy: &PolicyMap, place: Place, next: &mut usize) -> Policy {
        let queues = self.queues(policy, place.depth);
        let implied = PolicyClass { name: CLASS_DEFAULT.to_owned(), ..PolicyClass::default() };
        let mut known: Vec<(&PolicyClass, Condition)> = policy
            .classes
            .iter()
            .filter_map(|class| Some((class, of_class(self.configuration, &class.name, place.tags)?)))
            .collect();
        known.sort_by_key(|(class, _)| self.takes_rest(class));
        if queues && known.last().is_none_or(|(class, _)| !self.takes_rest(class)) {
            known.push((&implied, Condition::Always));
        }
        let classes = known.into_iter().map(|(class, condition)| self.class(class, condition, place, next));
        Policy { name: policy.name.clone(), line: policy.line, queues, classes: classes.collect() }
    }

    fn class(&self, class: &PolicyClass, condition: Condition, place: Place, next: &mut usize) -> Class {
        let id = ClassId(*next);
        *next += 1;
        let map = self.configuration.class_maps.get(&class.name);
        let marks = class.marks.iter().map(|at| At::new(at.line, self.mark(class, &at.value)));
        Class {
            id,
            name: class.name.clone(),
            line: class.line,
            takes_rest: self.takes_rest(class),
            condition: if self.takes_rest(class) { Condition::Always } else { condition },
            seen: None,
            matches: printed_matches(self.configuration, map),
            guarantee: class.bandwidth,
            excess: class.remaining,
            priority: class.priority,
            police: match (&class.police, &class.police_packets) {
                (Some(at), _) => Some(At::new(at.line, self.police(class, &at.value, place.tags))),
                (None, Some(at)) => Some(At::new(at.line, self.packet_police(&at.value))),
                (None, None) => self.lone_aggregate(class),
            },
            shape: class.shape,
            queue_limit: class.queue_limit.or_else(|| self.percent_limit(class)),
            value_limits: value_limits(&class.value_limits),
            drop_profile: class.random_detect.clone(),
            fair_queue: class.fair_queue,
            marks: marks.collect(),
            then: if class.drop.is_some() { Then::Drop } else { Then::Transmit },
            children: self.children(class, place, next),
        }
    }

    /// Returns the limit of `queue-limit percent` in bytes: a percentage of the memory that the queues of the
    /// platform share.
    fn percent_limit(&self, class: &PolicyClass) -> Option<At<QueueLimit>> {
        let shared = self.platform.percent_limit_bytes()?;
        class.percent_limit.map(|at| At::new(at.line, QueueLimit::Bytes((shared * at.value / 100).max(1))))
    }

    /// Whether a class receives all packets that match no other class: class-default, and on NX-OS also the
    /// queue of packets without a group.
    fn takes_rest(&self, class: &PolicyClass) -> bool {
        let is_of_nexus = self.configuration.grammar == Grammar::NxOs;
        class.name == CLASS_DEFAULT || is_of_nexus && nexus::is_default_queue(&class.name)
    }

    /// Converts a mark of `class`. If the label contains group and traffic class, each mark writes both.
    fn mark(&self, class: &PolicyClass, marking: &Marking) -> Mark {
        let mark = mark(self.configuration, marking);
        let is_label = matches!(marking.field(), Some(Field::QosGroup | Field::TrafficClass));
        if !is_label || self.configuration.marks.label != LabelUse::Both {
            return mark;
        }
        let (mut group, mut traffic_class) = (0, 0);
        for at in &class.marks {
            match &at.value {
                Marking::QosGroup(value) => group = *value,
                Marking::Number(Field::TrafficClass, value) => traffic_class = *value,
                _ => {}
            }
        }
        let label = combined_label(group, traffic_class);
        Mark { written: Written::ForwardingClass(label.into()), ..mark }
    }

    fn children(&self, class: &PolicyClass, place: Place, next: &mut usize) -> Children {
        let named = class.service_policy.as_ref().filter(|_| self.may_nest(place.depth));
        let Some(at) = named else { return Children::None };
        let inner = Place { depth: place.depth + 1, ..place };
        self.configuration
            .policy_maps
            .get(&at.value)
            .map_or(Children::Undefined, |policy| Children::Policy(self.policy(policy, inner, next)))
    }

    /// Converts a policer of `class`.
    fn police(&self, class: &PolicyClass, police: &ast::Police, tags: Tags) -> Police {
        Police {
            meter: Meter::Bytes {
                rate: police.rate,
                burst: police.burst,
                peak: police.peak,
                excess_burst: police.excess_burst,
            },
            conform: actions(self.configuration, &police.conform),
            exceed: actions(self.configuration, &police.exceed),
            violate: actions(self.configuration, &police.violate),
            aware: self.awareness(&class.name, police, tags),
            inside: self.inside_colors(class, police),
        }
    }

    /// Whether an outer policer reads the colors of inner policers. perhop does not model such a policer with
    /// a peak rate.
    fn inside_colors(&self, class: &PolicyClass, police: &ast::Police) -> InsideColors {
        let is_aware = self.configuration.hardware_profile(HardwareProfile::ConformAwarePolicer).is_some();
        let has_one_rate = police.peak.is_none_or(|peak| peak == police.rate);
        if is_aware && has_one_rate && class.service_policy.is_some() {
            InsideColors::Kept
        } else {
            InsideColors::Ignored
        }
    }

    /// Returns the aggregate policer of `class` on a switch, if no other class of the policy uses this
    /// policer.
    fn lone_aggregate(&self, class: &PolicyClass) -> Option<At<Police>> {
        let (named, policer) = mls::lone_aggregate(self.configuration, class)?;
        let marks_down = Marking::NotModelled(mls::MARK_DOWN.to_owned());
        let exceed = if policer.marks_down {
            ast::Action { marking: Some(marks_down), then: Then::Transmit }
        } else {
            ast::Action { marking: None, then: Then::Drop }
        };
        let police = ast::Police {
            rate: TrafficRate::BitsPerSecond(policer.rate),
            burst: Some(policer.burst),
            peak: None,
            excess_burst: None,
            conform: Vec::new(),
            exceed: vec![exceed],
            violate: Vec::new(),
            conform_class: None,
            exceed_class: None,
        };
        Some(At::new(named, self.police(class, &police, Tags::default())))
    }

    fn packet_police(&self, police: &PacketPolice) -> Police {
        Police {
            meter: Meter::Packets { rate: police.rate, burst: police.burst },
            conform: actions(self.configuration, &police.conform),
            exceed: actions(self.configuration, &police.exceed),
            violate: Vec::new(),
            aware: None,
            inside: InsideColors::Ignored,
        }
    }

    /// Returns the colors of arriving packets, if the policer of `class` is color-aware.
    fn awareness(&self, class: &str, police: &ast::Police, tags: Tags) -> Option<Awareness> {
        let conform = police.conform_class.as_ref()?;
        if self.configuration.color_blind(class, police).is_some() {
            return None;
        }
        let condition = |name: &str| of_class(self.configuration, name, tags);
        let exceed = police.exceed_class.as_ref().and_then(|exceed| condition(&exceed.value));
        Some(Awareness { conform: condition(&conform.value)?, exceed })
    }
}

/// Returns the queue limits by field value. Only the field of the first line counts.
fn value_limits(written: &[At<ValueLimit>]) -> Option<At<ValueLimits>> {
    let first = written.iter().find(|line| limits_queues(line.value.field))?;
    let field = first.value.field;
    let basis = match field {
        Field::Precedence => Basis::Precedence,
        Field::Cos => Basis::Cos,
        Field::DiscardClass => Basis::DiscardClass,
        _ => Basis::Dscp,
    };
    let lines = written.iter().map(|line| &line.value).filter(|line| line.field == field);
    let limits = lines.map(|line| (line.values.clone(), line.limit)).collect();
    Some(At::new(first.line, ValueLimits { basis, limits }))
}
