//! Checks for class-maps that match no packet, or fewer packets than on the router.

use std::collections::BTreeSet;

use perhop_lint::{Diagnostic, Line, LineState};

use crate::ast::{AclAction, ClassMap, Combination, Configuration, Criterion, LabelUse, Polarity, Statement};
use crate::rules;
use crate::syntax::application::ip_protocol;

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let used = used(configuration);
    for map in configuration.class_maps.iter() {
        // Empty class-maps with this prefix are not reported: switches generate them for packets to their own
        // processor.
        if map.statements.is_empty() && !map.name.starts_with("system-cpp-") {
            found.push(empty(configuration, map));
        }
        if used.contains(map.name.as_str()) {
            found.extend(unseen(configuration, map));
        }
        if map.combination == Combination::MatchAll {
            found.extend(contradiction(configuration, map));
        }
    }
}

/// Reports a class-map without criteria. Its criterion can be in a line that perhop does not recognize.
fn empty(configuration: &Configuration, map: &ClassMap) -> Diagnostic {
    let (message, effect) = match unrecognized(configuration, map) {
        Some(line) => (
            format!(
                "class-map {} has no criterion that perhop recognizes (line {}: `{}`)",
                map.name,
                line.number,
                line.text.trim()
            ),
            "no packet matches the class-map in perhop",
        ),
        None => (
            format!("class-map {} has no criterion", map.name),
            "the router accepts the empty class-map, but no packet matches it",
        ),
    };
    Diagnostic::new(&rules::CLASS_MAP_EMPTY, map.line, message, effect)
}

/// Returns the first `match` line of the block that perhop does not recognize.
fn unrecognized<'a>(configuration: &'a Configuration, map: &ClassMap) -> Option<&'a Line> {
    let is_match = |line: &&Line| line.text.split_whitespace().next() == Some("match");
    let below = configuration.lines.get(map.line..)?.iter();
    let block = below.take_while(|line| {
        line.is_blank('!') || line.text.starts_with(char::is_whitespace) || is_match(line)
    });
    block.filter(is_match).find(|line| line.state == LineState::NotRecognized)
}

/// Returns the class-maps that policies name, directly or through other class-maps.
pub(super) fn used(configuration: &Configuration) -> BTreeSet<&str> {
    let mut used = BTreeSet::new();
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    let mut next: Vec<&str> = classes.map(|class| class.name.as_str()).collect();
    while let Some(name) = next.pop() {
        if let Some(map) = configuration.class_maps.get(name)
            && used.insert(name)
        {
            next.extend(map.statements.iter().filter_map(|statement| match &statement.criterion {
                Criterion::ClassMap(name) => Some(name.as_str()),
                _ => None,
            }));
        }
    }
    used
}

/// Returns the text of a line.
fn text(configuration: &Configuration, line: usize) -> &str {
    configuration.lines.get(line.wrapping_sub(1)).map_or("", |line| line.text.trim())
}

/// Reports a class that matches no packet, or fewer packets than on the router, because a criterion is
/// outside the model. The help shows how to run the class with an assumption.
fn unseen(configuration: &Configuration, map: &ClassMap) -> Option<Diagnostic> {
    let never = |statement: &&Statement| {
        statement.polarity == Polarity::Is && is_unseen(configuration, statement).is_some()
    };
    let mut unseen = map.statements.iter().filter(never);
    let first = unseen.next()?;
    let what = is_unseen(configuration, first)?;
    let partly =
        map.combination == Combination::MatchAny && !map.statements.iter().all(|statement| never(&statement));
    let effect = if partly {
        "matches fewer packets in perhop than in the router"
    } else {
        "matches no packet in perhop"
    };
    let others = match unseen.count() {
        0 => String::new(),
        1 => " and another line".to_owned(),
        count => format!(" and {count} other lines"),
    };
    let (name, text) = (&map.name, text(configuration, first.line));
    Some(Diagnostic::new(
        &rules::CRITERION_NOT_MODELLED,
        map.line,
        format!("class-map {name} {effect}: perhop does not model {what} (`{text}`{others})"),
        format!(
            "the router evaluates this criterion; with --assume '{name} = dscp {}', perhop matches another \
             criterion instead",
            likely_codepoint(name)
        ),
    ))
}

/// Returns the property that a criterion matches and that packets in perhop do not have.
fn is_unseen<'a>(configuration: &'a Configuration, statement: &'a Statement) -> Option<&'a str> {
    if let Criterion::AccessGroup(name) = &statement.criterion {
        let entries = configuration.access_lists.get(name)?.entries.iter();
        let mut permits = entries.filter(|entry| entry.action == AclAction::Permit).peekable();
        permits.peek()?;
        return permits.all(|entry| entry.unseen.is_some()).then_some("the fields that this list checks");
    }
    if matches!(statement.criterion, Criterion::TrafficClass(_))
        && configuration.marks.label == LabelUse::GroupOfBoth
    {
        return Some("traffic classes together with qos-groups");
    }
    statement.criterion.unseen()
}

/// The codepoints of RFC 4594 by words that occur in class names.
pub(super) const LIKELY: &[(&str, &str)] = &[
    ("voice", "ef"),
    ("voip", "ef"),
    ("rtp", "ef"),
    ("priority", "ef"),
    ("realtime", "cs4"),
    ("real-time", "cs4"),
    ("interactive", "cs4"),
    ("broadcast", "cs5"),
    ("stream", "af31"),
    ("video", "af41"),
    ("conf", "af41"),
    ("signal", "cs3"),
    ("call", "cs3"),
    ("scav", "cs1"),
    ("bulk", "af11"),
    ("control", "cs6"),
    ("rout", "cs6"),
    ("manage", "cs2"),
    ("mgmt", "cs2"),
    ("default", "default"),
];

/// Returns the likely codepoint of a class with this name.
fn likely_codepoint(name: &str) -> &'static str {
    let name = name.to_ascii_lowercase();
    LIKELY.iter().find(|(part, _)| name.contains(part)).map_or("af21", |(_, dscp)| dscp)
}

/// Reports two lines of a match-all class that no packet can match together.
fn contradiction(configuration: &Configuration, map: &ClassMap) -> Option<Diagnostic> {
    let (first, second) = by_codepoint(map).or_else(|| by_value(map))?;
    let (name, text_of_first, text_of_second) =
        (&map.name, text(configuration, first), text(configuration, second));
    Some(Diagnostic::new(
        &rules::CLASS_CONTRADICTORY,
        map.line,
        format!(
            "class-map {name}: no packet matches both `{text_of_first}` (line {first}) and \
             `{text_of_second}` (line {second})"
        ),
        "the router accepts the class-map; write alternatives on one line, or use match-any",
    ))
}

/// Returns the first line after which no codepoint matches all lines, and the codepoint line before it.
fn by_codepoint(map: &ClassMap) -> Option<(usize, usize)> {
    let mut left = u64::MAX;
    let mut before = None;
    for statement in &map.statements {
        let set: u64 = match &statement.criterion {
            Criterion::Dscp(values) => values.iter().fold(0, |set, dscp| set | 1 << dscp.value()),
            Criterion::Precedence(values) => {
                values.iter().fold(0, |set, precedence| set | 0xff << (8 * precedence.value()))
            }
            _ => continue,
        };
        left &= if statement.polarity == Polarity::Is { set } else { !set };
        if left == 0 {
            return Some((before.unwrap_or(statement.line), statement.line));
        }
        before = Some(statement.line);
    }
    None
}

/// Returns two lines that match disjoint sets of values of a field other than the codepoint.
fn by_value(map: &ClassMap) -> Option<(usize, usize)> {
    let sets: Vec<(usize, &'static str, Vec<u32>)> = map.statements.iter().filter_map(values).collect();
    sets.iter().enumerate().find_map(|(index, (line, field, values))| {
        let excluded = |(_, other, before): &&(usize, &'static str, Vec<u32>)| {
            other == field && !before.iter().any(|value| values.contains(value))
        };
        let (before, ..) = sets[..index].iter().find(excluded)?;
        Some((*before, *line))
    })
}

/// Returns the field and the values that a line matches.
fn values(statement: &Statement) -> Option<(usize, &'static str, Vec<u32>)> {
    let numbers = |values: &[u8]| values.iter().map(|value| u32::from(*value)).collect();
    let (field, values) = match &statement.criterion {
        Criterion::Cos(values) => ("cos", numbers(values)),
        Criterion::CosInner(values) => ("cos inner", numbers(values)),
        Criterion::MplsTopmost(values) => ("mpls experimental", numbers(values)),
        Criterion::DiscardClass(values) => ("discard-class", numbers(values)),
        Criterion::TrafficClass(values) => ("traffic-class", numbers(values)),
        Criterion::QosGroup(group) => ("qos-group", vec![*group]),
        Criterion::Protocol(name) => ("protocol", vec![u32::from(ip_protocol(name)?.0)]),
        _ => return None,
    };
    (statement.polarity == Polarity::Is).then_some((statement.line, field, values))
}
