//! Checks marks that perhop models only partly: groups in combination with traffic classes, and color-aware
//! policers.

use perhop_lint::LineState;

use crate::ast::{
    Basis, Configuration, Criterion, Field, HardwareProfile, LabelUse, Marking, Polarity, Police, PolicyClass,
};
use crate::grammar::Grammar;

/// The highest group whose eight labels are below the labels of perhop's classes.
const MOST_COMBINED_GROUP: u32 = 11;

const TWO_RATES_AROUND: &str =
    "in perhop an outer policer with two rates ignores the colors that inner policers assigned";

/// Changes lines to the state "not modeled" if other lines of the configuration require it.
pub(super) fn check(configuration: &mut Configuration) {
    let has = |field| configuration.mentions(field);
    let has_both = has(Field::QosGroup) && has(Field::TrafficClass);
    configuration.marks.label = match (has_both, has_both && configuration.fits_one_label()) {
        (false, _) => LabelUse::OneField,
        (true, true) => LabelUse::Both,
        (true, false) => LabelUse::GroupOfBoth,
    };
    configuration.marks.discard_class = configuration.is_read(Field::DiscardClass);
    configuration.marks.labels = configuration.sets_any_label();
    let mut lines = Vec::new();
    if configuration.marks.label == LabelUse::GroupOfBoth {
        let note = "a packet in perhop has one label for both qos-group and traffic class; in this \
                    configuration it contains the qos-group";
        lines.extend(traffic_classes(configuration).map(|line| (line, note)));
    }
    for class in configuration.policy_maps.iter().flat_map(|policy| &policy.classes) {
        if let Some(at) = class.police.as_ref()
            && class.service_policy.is_some()
            && at.value.peak.is_some_and(|peak| peak != at.value.rate)
            && configuration.hardware_profile(HardwareProfile::ConformAwarePolicer).is_some()
        {
            lines.push((at.line, TWO_RATES_AROUND));
        }
        let police = class.police.as_ref().map(|police| &police.value);
        let conform = police.and_then(|police| police.conform_class.as_ref());
        if let (Some(police), Some(named)) = (police, conform)
            && let Some(why) = configuration.color_blind(&class.name, police)
        {
            lines.push((named.line, why));
        }
    }
    for (line, note) in lines {
        let line = configuration.lines.get_mut(line.wrapping_sub(1));
        if let Some(line) = line.filter(|line| line.state == LineState::Modelled) {
            (line.state, line.note) = (LineState::NotModelled, Some(note.to_owned()));
        }
    }
}

/// Returns the lines about traffic classes.
fn traffic_classes(configuration: &Configuration) -> impl Iterator<Item = usize> {
    let statements = configuration.class_maps.iter().flat_map(|map| &map.statements);
    let matched = statements.filter(|statement| matches!(statement.criterion, Criterion::TrafficClass(_)));
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    let set = classes.flat_map(|class| &class.marks).filter(|mark| names(&mark.value, Field::TrafficClass));
    matched.map(|statement| statement.line).chain(set.map(|mark| mark.line))
}

/// Whether `marking` sets or reads `field`.
fn names(marking: &Marking, field: Field) -> bool {
    marking.field() == Some(field) || copies_from(marking, field)
}

fn copies_from(marking: &Marking, field: Field) -> bool {
    matches!(marking, Marking::Copy { from, .. } if *from == field)
}

/// Returns the marks that a class sets, directly or through its policers.
pub(super) fn markings(class: &PolicyClass) -> impl Iterator<Item = &Marking> {
    let police = class.police.iter().map(|police| &police.value);
    let actions = police.flat_map(|police| [&police.conform, &police.exceed, &police.violate]);
    let packets = class.police_packets.iter().map(|police| &police.value);
    let of_packets = packets.flat_map(|police| [&police.conform, &police.exceed, &police.violate]);
    let actions = actions.chain(of_packets).flatten().filter_map(|action| action.marking.as_ref());
    class.marks.iter().map(|mark| &mark.value).chain(actions)
}

/// Whether a criterion matches `field`, which is a field that links do not transmit.
fn looks_at(criterion: &Criterion, field: Field) -> bool {
    match criterion {
        Criterion::QosGroup(_) => field == Field::QosGroup,
        Criterion::TrafficClass(_) => field == Field::TrafficClass,
        Criterion::DiscardClass(_) => field == Field::DiscardClass,
        _ => false,
    }
}

impl Configuration {
    /// Whether one label can contain the group and the traffic class of each packet. The conditions are: a
    /// class sets both at once, as on IOS XR; groups are at most [`MOST_COMBINED_GROUP`]; no outer policy
    /// sets a group.
    fn fits_one_label(&self) -> bool {
        let is_label = |field| matches!(field, Some(Field::QosGroup | Field::TrafficClass));
        let groups = self.class_maps.iter().flat_map(|map| &map.statements);
        let matched = groups.filter_map(|statement| match statement.criterion {
            Criterion::QosGroup(group) => Some(group),
            _ => None,
        });
        let classes = || self.policy_maps.iter().flat_map(|policy| &policy.classes);
        let set = classes().flat_map(markings).filter_map(|marking| match marking {
            Marking::QosGroup(group) => Some(*group),
            _ => None,
        });
        let fits = matched.chain(set).all(|group| group <= MOST_COMBINED_GROUP);
        let is_simple = |class: &PolicyClass| {
            let copies = markings(class)
                .any(|marking| matches!(marking, Marking::Copy { .. }) && is_label(marking.field()));
            let by_color = markings(class).count() > class.marks.len()
                && markings(class).skip(class.marks.len()).any(|marking| is_label(marking.field()));
            let around =
                class.service_policy.is_some() && markings(class).any(|marking| is_label(marking.field()));
            !copies && !by_color && !around
        };
        self.grammar == Grammar::IosXr && fits && classes().all(is_simple)
    }

    /// Whether any class-map or policy uses `field`.
    fn mentions(&self, field: Field) -> bool {
        let mut classes = self.policy_maps.iter().flat_map(|policy| &policy.classes);
        self.is_matched(field) || classes.any(|class| markings(class).any(|marking| names(marking, field)))
    }

    fn is_matched(&self, field: Field) -> bool {
        let mut statements = self.class_maps.iter().flat_map(|map| &map.statements);
        statements.any(|statement| looks_at(&statement.criterion, field))
    }

    /// Whether any line sets a group or a traffic class.
    fn sets_any_label(&self) -> bool {
        let is_label = |field| matches!(field, Some(Field::QosGroup | Field::TrafficClass));
        let limits = self.interfaces.iter().flat_map(|interface| &interface.rate_limits);
        let actions = limits.flat_map(|limit| [&limit.conform, &limit.exceed]);
        let mut of_limits = actions.filter_map(|action| action.marking.as_ref());
        let mut classes = self.policy_maps.iter().flat_map(|policy| &policy.classes);
        classes.any(|class| markings(class).any(|marking| is_label(marking.field())))
            || of_limits.any(|marking| is_label(marking.field()))
    }

    /// Whether any line reads `field`. WRED by discard class counts as reading the discard class.
    fn is_read(&self, field: Field) -> bool {
        let asks = |class: &PolicyClass| {
            let detect = class.random_detect.as_ref();
            detect.is_some_and(|detect| {
                field == Field::DiscardClass && detect.value.basis == Basis::DiscardClass
            }) || markings(class).any(|marking| copies_from(marking, field))
        };
        self.is_matched(field) || self.policy_maps.iter().flat_map(|policy| &policy.classes).any(asks)
    }

    /// Returns the reason why the color-aware `police` of `class` ignores colors; `None` if it reads them.
    pub(crate) fn color_blind(&self, class: &str, police: &Police) -> Option<&'static str> {
        const COLORS: &str = "in perhop the color of a packet is its discard class: match 0 for conforming \
                              and 1 for exceeding packets, and no other value";
        if police.peak.is_none() && police.violate.is_empty() {
            return Some("only a policer with a second bucket (violate-action or pir) uses packet colors");
        }
        if self.matches_discard_classes(class) {
            return Some(COLORS);
        }
        let named = [(&police.conform_class, 0), (&police.exceed_class, 1)];
        for (name, color) in named.into_iter().filter_map(|(at, color)| Some((&at.as_ref()?.value, color))) {
            if self.class_maps.get(name).is_none() {
                return Some("the class-map of conform-color or exceed-color is not defined");
            }
            if self.matches_discard_classes(name) && !self.is_discard_class(name, color) {
                return Some(COLORS);
            }
        }
        None
    }

    /// Whether the class `name` matches discard classes.
    fn matches_discard_classes(&self, name: &str) -> bool {
        let mut statements = self.class_maps.get(name).into_iter().flat_map(|map| &map.statements);
        statements.any(|statement| match &statement.criterion {
            Criterion::ClassMap(inner) => self.matches_discard_classes(inner),
            criterion => looks_at(criterion, Field::DiscardClass),
        })
    }

    /// Whether the class `name` matches exactly the packets of one discard class.
    fn is_discard_class(&self, name: &str, value: u8) -> bool {
        let statements = self.class_maps.get(name).map(|map| map.statements.as_slice());
        matches!(statements, Some([only]) if only.polarity == Polarity::Is
            && only.criterion == Criterion::DiscardClass(vec![value]))
    }
}
