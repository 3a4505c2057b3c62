//! Trust: the codepoint that the switch writes into arriving packets.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::{
    At, Children, Class, ClassId, Condition, Field, Mark, Policy, PrintedMatches, Table, TableDefault, Then,
    Translation, Written,
};
use perhop_qos::Dscp;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::packet::LinkMark;

use super::enabled::enabled_by;
use super::maps;
use crate::ast::{CLASS_DEFAULT, Configuration, Interface, Marking, MlsQos, PolicyClass, PolicyMap, Trust};

/// The prefix of actions that mark by the map `policed-dscp`.
pub(crate) const MARK_DOWN: &str = "policed-dscp";

/// Returns the lines of policers whose actions mark by the map `policed-dscp`.
pub(super) fn lines_that_mark_down(configuration: &Configuration) -> BTreeSet<usize> {
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    let policers = classes.filter_map(|class| class.police.as_ref());
    let marks_down = policers.filter(|at| {
        let actions = at.value.exceed.iter().chain(&at.value.violate);
        actions.filter_map(|action| action.marking.as_ref()).any(is_markdown)
    });
    marks_down.map(|at| at.line).collect()
}

fn is_markdown(marking: &Marking) -> bool {
    matches!(marking, Marking::NotModelled(word) if word.starts_with(MARK_DOWN))
}

/// Returns the mark of `policed-dscp-transmit` on a switch with `mls qos`; `None` for other marks and
/// devices.
pub(crate) fn marked_down(configuration: &Configuration, marking: &Marking) -> Option<Written> {
    let mls = &configuration.mls;
    (is_markdown(marking) && enabled_by(configuration).is_some()).then(|| {
        let entries = mls.policed_dscp.iter().map(|(from, to)| (*from, to.value)).collect();
        copied(Field::Dscp, entries)
    })
}

/// Returns the policy that marks arriving packets according to the trust of the port; `None` if the port
/// keeps the codepoints.
pub(crate) fn policy_of_port(configuration: &Configuration, interface: &Interface) -> Option<Policy> {
    let mls = &configuration.mls;
    enabled_by(configuration)?;
    let port = &interface.mls;
    let line = port.trust.map_or(interface.line, |at| at.line);
    let classes = match port.trust.map(|at| at.value) {
        // Cisco, "Catalyst 3750 Switch Command Reference": `override` also applies to trusted ports.
        _ if port.cos_override.is_some() => {
            vec![class(line, Condition::Always, vec![of_default(mls, interface)])]
        }
        None => vec![class(line, Condition::Always, untrusted())],
        Some(Trust::Cos) => by_cos(mls, interface, line),
        Some(trust) => {
            let marks = marks(mls, interface, trust);
            if marks.is_empty() {
                return None;
            }
            vec![class(line, Condition::Always, marks)]
        }
    };
    Some(Policy { name: "trust".to_owned(), line, queues: false, classes })
}

/// Returns the classes of a port that trusts the class of service: frames with a tag, and frames without a
/// tag.
fn by_cos(mls: &MlsQos, interface: &Interface, line: usize) -> Vec<Class> {
    let tagged = MatchConfig { cos: Some(OneOrMany(all_classes())), ..MatchConfig::default() };
    vec![
        class(line, Condition::when(tagged), marks(mls, interface, Trust::Cos)),
        class(line, Condition::Always, vec![of_default(mls, interface)]),
    ]
}

fn all_classes() -> Vec<LinkMark> {
    (0..8).filter_map(LinkMark::new).collect()
}

/// Returns the marks of packets for a trusted field `trust`.
fn marks(mls: &MlsQos, interface: &Interface, trust: Trust) -> Vec<Mark> {
    let of_eight = |values: [u8; 8]| (0..8).zip(values).collect::<BTreeMap<u8, u8>>();
    match trust {
        Trust::Dscp => {
            let named = interface.mls.mutation.as_ref().and_then(|name| mls.mutations.get(&name.value));
            let entries = named.map(|map| map.iter().map(|(from, to)| (*from, to.value)).collect());
            entries.map(|entries| mark(copied(Field::Dscp, entries))).into_iter().collect()
        }
        Trust::Cos => vec![mark(copied(Field::Cos, of_eight(maps::codepoints_of_cos(mls))))],
        Trust::Precedence => {
            vec![mark(copied(Field::Precedence, of_eight(maps::codepoints_of_precedence(mls))))]
        }
        Trust::CosPassThrough => Vec::new(),
    }
}

/// Returns the mark of frames that have the class of service of the port.
fn of_default(mls: &MlsQos, interface: &Interface) -> Mark {
    let cos = interface.mls.cos.map_or(0, |at| at.value);
    codepoint(maps::codepoints_of_cos(mls)[usize::from(cos & 7)])
}

fn untrusted() -> Vec<Mark> {
    vec![codepoint(0)]
}

fn codepoint(value: u8) -> Mark {
    mark(Written::Dscp(Dscp::new(value).unwrap_or_default()))
}

fn copied(from: Field, entries: BTreeMap<u8, u8>) -> Written {
    let table = Table { entries, default: TableDefault::Copy };
    Written::Copy { to: Field::Dscp, from, by: Translation::Table(table) }
}

fn mark(written: Written) -> Mark {
    Mark { written, printed: "trust".to_owned() }
}

fn class(line: usize, condition: Condition, marks: Vec<Mark>) -> Class {
    Class {
        id: ClassId(0),
        name: "trust".to_owned(),
        line,
        takes_rest: condition == Condition::Always,
        condition,
        seen: None,
        matches: PrintedMatches::default(),
        guarantee: None,
        excess: None,
        priority: None,
        police: None,
        shape: None,
        queue_limit: None,
        value_limits: None,
        drop_profile: None,
        fair_queue: None,
        marks: marks.into_iter().map(|mark| At::new(line, mark)).collect(),
        then: Then::Transmit,
        children: Children::None,
    }
}

/// Adds marks for the trust of the classes of an input policy to `intent`, the converted policy. The trust of
/// the port does not apply to a port with an input policy. Packets of a class without trust and without a
/// mark get codepoint 0.
pub(crate) fn add_to_policy(
    configuration: &Configuration,
    interface: &Interface,
    policy: &PolicyMap,
    intent: &mut Policy,
) {
    let mls = &configuration.mls;
    if enabled_by(configuration).is_none() {
        return;
    }
    for class in &mut intent.classes {
        let Some(written) = policy.classes.iter().find(|written| written.name == class.name) else {
            continue;
        };
        let line = written.trust.map_or(class.line, |at| at.line);
        let trusted = match written.trust.map(|at| at.value) {
            Some(trust) => marks(mls, interface, trust),
            None if sets_codepoint(written) => Vec::new(),
            None => untrusted(),
        };
        class.marks.splice(0..0, trusted.into_iter().map(|mark| At::new(line, mark)));
    }
    if !intent.classes.iter().any(|class| class.takes_rest) {
        let id = ClassId(classes_of(intent));
        let name = CLASS_DEFAULT.to_owned();
        intent.classes.push(Class { id, name, line: 0, ..class(0, Condition::Always, untrusted()) });
    }
}

/// Returns the number of classes of a policy and of the policies inside it.
fn classes_of(policy: &Policy) -> usize {
    policy.classes.iter().map(|class| 1 + class.children().map_or(0, classes_of)).sum()
}

fn sets_codepoint(class: &PolicyClass) -> bool {
    class
        .marks
        .iter()
        .any(|at| matches!(at.value.field(), Some(crate::ast::Field::Dscp | crate::ast::Field::Precedence)))
}
