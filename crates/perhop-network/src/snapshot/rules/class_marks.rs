//! Different marks of classes with the same name, and marks that no class matches.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::{Class, Policy, Written};
use perhop_qos::Dscp;

use super::demands::mark_words;
use super::peers::Peers;
use super::treatment::Treatments;
use super::{NetworkFinding, Precision, Snapshot, Topic};
use crate::rules;

/// The minimum number of codepoints that devices write and a class matches. With fewer, the rule reports no
/// codepoint without a class.
const LEAST_MATCHED: usize = 3;

/// The minimum number of classes with the same name that write a mark. With fewer, the rule reports no class
/// without this mark.
const LEAST_MARKED: usize = 3;

/// A class of an attached policy.
#[derive(Clone, Copy)]
struct Member<'s> {
    device: usize,
    is_input: bool,
    policy: &'s Policy,
    class: &'s Class,
}

/// Reports a class whose mark differs from all other classes with its name. Also reports a mark that only one
/// device writes and that no class of any port matches.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    let members = members(snapshot);
    check_names(snapshot, &members, found);
    check_matched(snapshot, &members, &treatments.best.keys().copied().collect(), found);
}

/// A class, and the value that it writes into a field.
type Marked<'s> = (Member<'s>, String);

/// Returns the classes of attached policies, each once.
fn members<'s>(snapshot: &'s Snapshot) -> Vec<Member<'s>> {
    let mut found = Vec::new();
    for device in 0..snapshot.devices.len() {
        let mut seen = BTreeSet::new();
        for port in &snapshot.router(device).ports {
            let sides = [(true, &port.intent.input), (false, &port.intent.output)];
            let mut open: Vec<(bool, &Policy)> = sides
                .into_iter()
                .flat_map(|(is_input, policies)| policies.iter().map(move |policy| (is_input, policy)))
                .collect();
            while let Some((is_input, policy)) = open.pop() {
                if policy.line == 0 || !seen.insert((is_input, policy.line)) {
                    continue;
                }
                let classes = policy.classes.iter().filter(|class| class.line > 0);
                found.extend(classes.map(|class| Member { device, is_input, policy, class }));
                open.extend(policy.classes.iter().filter_map(Class::children).map(|inner| (is_input, inner)));
            }
        }
    }
    found
}

/// Returns the line that writes the mark of a class: a `set` command or a policer.
fn mark_line(class: &Class) -> usize {
    let own = class.marks.first().map(|at| at.line);
    own.or(class.police.as_ref().map(|at| at.line)).unwrap_or(class.line)
}

/// Reports classes whose mark differs from the mark of most classes of the same name, in policies of any
/// name.
fn check_names(snapshot: &Snapshot, members: &[Member], found: &mut Vec<NetworkFinding>) {
    let mut by_name: BTreeMap<(&str, bool, &str), Vec<Marked>> = BTreeMap::new();
    let mut all: BTreeMap<(&str, bool), Vec<&Member>> = BTreeMap::new();
    for member in members.iter().filter(|member| !member.class.takes_rest) {
        all.entry((&member.class.name, member.is_input)).or_default().push(member);
    }
    for member in members.iter().filter(|member| !member.class.takes_rest) {
        let mut marks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (kind, value) in member.class.all_marks().filter_map(mark_words) {
            marks.entry(kind).or_default().push(value);
        }
        for (kind, values) in marks {
            let key = (member.class.name.as_str(), member.is_input, kind);
            by_name.entry(key).or_default().push((*member, values.join(" and ")));
        }
    }
    for ((name, is_input, kind), classes) in &by_name {
        check_unmarked(snapshot, (name, kind), classes, &all[&(*name, *is_input)], found);
    }
    for ((name, _, kind), classes) in by_name {
        // `namesakes` compares classes in policies with the same name.
        let policies: BTreeSet<&str> =
            classes.iter().map(|(member, _)| member.policy.name.as_str()).collect();
        let peers: Peers<&str> = classes.iter().map(|(_, value)| value.as_str()).collect();
        let Some(usual) = peers.usual().filter(|_| policies.len() > 1) else { continue };
        for (member, value) in classes.iter().filter(|(_, value)| peers.is_exception(&value.as_str())) {
            let message = format!(
                "class {name} of {} has {kind} {value}, but most of {} classes of this name have {usual}",
                member.policy.name,
                classes.len()
            );
            let effect =
                "the next devices treat its packets differently from packets of the other classes".to_owned();
            let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
            let finding = snapshot.finding(member.device, rule, mark_line(member.class), (message, effect));
            found.push(finding.about(Topic::Mark, Precision::Comparison));
        }
    }
}

/// Reports the only class of a name that does not write a kind of mark, if policies with different names have
/// this class.
fn check_unmarked(
    snapshot: &Snapshot,
    (name, kind): (&str, &str),
    marked: &[Marked],
    all: &[&Member],
    found: &mut Vec<NetworkFinding>,
) {
    let has = |member: &Member| {
        marked.iter().any(|(other, _)| other.device == member.device && other.class.line == member.class.line)
    };
    let mut without = all.iter().filter(|member| !has(member));
    let (Some(member), None) = (without.next(), without.next()) else { return };
    let policies: BTreeSet<&str> = all.iter().map(|member| member.policy.name.as_str()).collect();
    if marked.len() < LEAST_MARKED || policies.len() < 2 {
        return;
    }
    let message = format!(
        "class {name} of {} has no {kind}, and {} other classes of this name have a {kind}",
        member.policy.name,
        marked.len()
    );
    let effect =
        "the next devices treat its packets differently from packets of the other classes".to_owned();
    let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
    found.push(snapshot.finding(member.device, rule, member.class.line, (message, effect)));
}

/// Reports a codepoint that only one device writes and no class of a queue matches, if a class of a queue
/// matches each of the other written codepoints.
fn check_matched(
    snapshot: &Snapshot,
    members: &[Member],
    matched: &BTreeSet<Dscp>,
    found: &mut Vec<NetworkFinding>,
) {
    let mut written: BTreeMap<Dscp, Vec<(Member, usize)>> = BTreeMap::new();
    for member in members.iter().filter(|member| member.is_input) {
        for mark in &member.class.marks {
            if let Written::Dscp(dscp) = mark.value.written {
                written.entry(dscp).or_default().push((*member, mark.line));
            }
        }
    }
    written.remove(&Dscp::default());
    let unmatched: Vec<Dscp> = written.keys().copied().filter(|dscp| !matched.contains(dscp)).collect();
    let [dscp] = unmatched.as_slice() else { return };
    let devices: BTreeSet<usize> = written[dscp].iter().map(|(member, _)| member.device).collect();
    if devices.len() > 1 || written.len() <= LEAST_MATCHED {
        return;
    }
    for (member, line) in &written[dscp] {
        let message = format!(
            "class {} of {} marks packets with {dscp}, for which no port of the network has a class; the {} other \
             codepoints that devices write have one",
            member.class.name,
            member.policy.name,
            written.len() - 1
        );
        let effect = "its packets wait in the default class on the whole path".to_owned();
        let rule = &rules::NETWORK_MARK_UNMATCHED;
        let finding = snapshot.finding(member.device, rule, *line, (message, effect));
        found.push(finding.about(Topic::Mark, Precision::Exact));
    }
}
