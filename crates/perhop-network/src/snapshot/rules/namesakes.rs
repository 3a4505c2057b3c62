//! Policies and classes that differ from those with the same name on other devices.
//!
//! The rule assumes that one name has one meaning. If at least two thirds of the devices agree, it reports
//! the command of the device that disagrees.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::{Class, Policy};
use perhop_qos::Dscp;

use super::demands::{CODEPOINT, Demand, GUARANTEE, LABELS, Packets, Value, demands, gets_rest, shares};
use super::packets::PacketsOfClasses;
use super::peers::Peers;
use super::treatment::{Matcher, packet};
use super::{NetworkFinding, Precision, Snapshot, Topic};
use crate::rules;

/// The minimum number of classes that lack a kind of demand for the policy to count as another design.
const LEAST_ABSENT: usize = 3;

/// A policy of a device.
#[derive(Clone, Copy)]
struct Member<'s> {
    device: usize,
    policy: &'s Policy,
    packets: Packets,
}

/// The classes of one name with their policies, by device.
type ByDevice<'s> = BTreeMap<usize, (&'s Policy, &'s Class)>;

/// Reports policies and classes that differ from those with the same name: a missing class, an additional
/// class that matches packets of other classes, and a class with other demands, packets or order.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let policies = by_name(snapshot);
    let mut packets = PacketsOfClasses::default();
    for (name, members) in &policies {
        check_classes(snapshot, name, members, &mut packets, found);
        check_order(snapshot, name, members, &mut packets, found);
        check_demands(snapshot, name, members, found);
    }
    check_packets(snapshot, &policies, &mut packets, found);
}

/// Returns the attached policies by name, one for each device.
fn by_name<'s>(snapshot: &'s Snapshot) -> BTreeMap<&'s str, Vec<Member<'s>>> {
    let mut found: BTreeMap<&str, BTreeMap<usize, Member>> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        let mut open: Vec<(&Policy, Packets)> = Vec::new();
        for port in &snapshot.router(device).ports {
            let is_forwarded = port.forwarding.is_of_interface();
            let packets = if is_forwarded { Packets::Forwarded } else { Packets::ToDevice };
            let own = port.intent.input.iter().chain(&port.intent.output);
            open.extend(own.map(|policy| (policy, packets)));
        }
        let mut seen = BTreeSet::new();
        while let Some((policy, packets)) = open.pop() {
            if policy.line == 0 || !seen.insert(policy.line) {
                continue;
            }
            found.entry(&policy.name).or_default().entry(device).or_insert(Member {
                device,
                policy,
                packets,
            });
            open.extend(policy.classes.iter().filter_map(Class::children).map(|inner| (inner, packets)));
        }
    }
    found.into_iter().map(|(name, members)| (name, members.into_values().collect())).collect()
}

fn class<'s>(policy: &'s Policy, name: &str) -> Option<&'s Class> {
    policy.classes.iter().find(|class| class.name == name && class.line > 0)
}

/// Returns the names of all classes of the policies.
fn class_names<'s>(members: &[Member<'s>]) -> BTreeSet<&'s str> {
    let classes = members.iter().flat_map(|member| &member.policy.classes);
    classes.filter(|class| class.line > 0).map(|class| class.name.as_str()).collect()
}

/// Reports a class that one policy lacks or that only one policy has.
fn check_classes<'s>(
    snapshot: &Snapshot,
    policy: &str,
    members: &[Member<'s>],
    packets: &mut PacketsOfClasses<'s>,
    found: &mut Vec<NetworkFinding>,
) {
    for name in class_names(members) {
        let has = |member: &Member| class(member.policy, name).is_some();
        let peers: Peers<bool> = members.iter().map(has).collect();
        let Some(usual) = peers.usual().copied() else { continue };
        let example = members.iter().find(|member| has(member) == usual);
        let of_example = example.and_then(|member| class(member.policy, name));
        for member in members.iter().filter(|member| peers.is_exception(&has(member))) {
            let own = &member.policy.classes;
            let (line, what) = if usual {
                // A class with another name can match the same packets.
                let takes_same =
                    |class: &'s Class| of_example.is_some_and(|other| packets.are_same(class, other));
                if own.iter().any(takes_same) || redistributes(member, members, name) {
                    continue;
                }
                (member.policy.line, "has no class")
            } else {
                let Some(extra) = class(member.policy, name) else { continue };
                let mut behind = own.iter().skip_while(|class| class.id != extra.id).skip(1);
                let takes =
                    |class: &'s Class| class.line > 0 && (extra.takes_rest || packets.share(extra, class));
                if !behind.any(takes) {
                    continue;
                }
                (extra.line, "has one more class")
            };
            let message = format!(
                "{policy} of {} {what}, {name}: {}",
                snapshot.devices[member.device].name,
                agreement(members, |member| has(member) == usual)
            );
            let effect = if usual {
                "packets of the class wait in the queue of another class at this device"
            } else {
                "the class gets packets that match a later class of the policy on the other devices"
            };
            let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
            found.push(snapshot.finding(member.device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Reports a class that precedes another class and matches packets of the other class, if most policies of
/// this name have the two classes in the other order.
fn check_order<'s>(
    snapshot: &Snapshot,
    policy: &str,
    members: &[Member<'s>],
    packets: &mut PacketsOfClasses<'s>,
    found: &mut Vec<NetworkFinding>,
) {
    if members.len() < 3 {
        return;
    }
    let matching: Vec<Vec<Vec<usize>>> =
        members.iter().map(|member| packets.matching(&member.policy.classes)).collect();
    let mut crossed: BTreeSet<(usize, &str, &str)> = BTreeSet::new();
    let count = matching.first().map_or(0, Vec::len);
    let at_devices =
        |packet: usize| -> Vec<&[usize]> { matching.iter().map(|own| own[packet].as_slice()).collect() };
    for classes in (0..count).map(at_devices) {
        let of = |place: usize| classes[place].iter().map(move |class| (place, *class));
        let name = |(place, class): (usize, usize)| members[place].policy.classes[class].name.as_str();
        let firsts: Vec<Option<&str>> = (0..members.len()).map(|place| of(place).next().map(name)).collect();
        let peers: Peers<Option<&str>> = firsts.iter().copied().collect();
        let Some(Some(usual)) = peers.usual().copied() else { continue };
        for (place, own) in firsts.iter().enumerate().filter(|(_, own)| peers.is_exception(own)) {
            let has_usual = of(place).skip(1).map(name).any(|other| other == usual);
            if let Some(own) = own.filter(|_| has_usual) {
                crossed.insert((place, own, usual));
            }
        }
    }
    for (place, own, usual) in crossed {
        let member = &members[place];
        // `check_classes` reports a class that only this policy has.
        let has = |other: &&Member| other.policy.classes.iter().any(|class| class.name == own);
        let is_known = members.iter().filter(has).count() > 1;
        let Some(class) = class(member.policy, own).filter(|_| is_known) else { continue };
        let message = format!(
            "class {own} of {policy} precedes {usual} at {}, but most of {} devices have {usual} first",
            snapshot.devices[member.device].name,
            members.len()
        );
        let effect = "these packets get the treatment of the other class".to_owned();
        let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
        found.push(snapshot.finding(member.device, rule, class.line, (message, effect)));
    }
}

/// The policies of all devices by name.
pub(super) struct Namesakes<'s>(BTreeMap<&'s str, Vec<Member<'s>>>);

impl<'s> Namesakes<'s> {
    pub(super) fn new(snapshot: &'s Snapshot) -> Namesakes<'s> {
        Namesakes(by_name(snapshot))
    }

    /// Returns the devices and first lines of policies that lack a class on purpose ([`redistributes`]).
    pub(super) fn redesigned_lines(&self) -> BTreeSet<(usize, usize)> {
        let groups = self.0.values().filter(|members| members.len() > 1);
        let of_group = |members: &Vec<Member<'s>>| {
            let devices = redesigned(members);
            let own = members.iter().filter(|member| devices.contains(&member.device));
            own.map(|member| (member.device, member.policy.line)).collect::<Vec<_>>()
        };
        groups.flat_map(of_group).collect()
    }

    /// Whether an attached policy, or a policy inside it, lacks a class on purpose ([`redistributes`]).
    pub(super) fn omit_on_purpose(&self, device: usize, policy: &Policy, name: &str) -> bool {
        let omits = |policy: &Policy| {
            let members = self.0.get(policy.name.as_str()).map_or(&[][..], Vec::as_slice);
            let own = members.iter().find(|member| member.device == device);
            own.is_some_and(|own| class(own.policy, name).is_none() && redistributes(own, members, name))
        };
        omits(policy) || policy.classes.iter().filter_map(Class::children).any(omits)
    }
}

/// Whether a policy lacks a class on purpose. This is so if the shares of its classes have the same sum as in
/// a policy with the class, because the share of the missing class was then distributed to other classes.
fn redistributes(member: &Member, members: &[Member], name: &str) -> bool {
    let holder = members.iter().find_map(|other| Some((other.policy, class(other.policy, name)?)));
    let Some((policy, missing)) = holder else { return false };
    let unit = shares(missing).next().map(|(unit, _)| unit);
    unit.is_some_and(|unit| {
        let sum = |policy: &Policy| -> u64 {
            let all = policy.classes.iter().flat_map(shares);
            all.filter(|(own, _)| *own == unit).map(|(_, share)| share).sum()
        };
        sum(member.policy) == sum(policy)
    })
}

/// Whether the remaining rate that a class without a guarantee gets is at least the share of this class on
/// another device.
fn has_rest(members: &[Member], device: usize, own: &Class) -> bool {
    let all = || members.iter().filter_map(|member| class(member.policy, &own.name));
    let mut of_device = members.iter().filter(|member| member.device == device);
    of_device.any(|member| gets_rest(member.policy, own, all()))
}

fn agreement(members: &[Member], agrees: impl Fn(&Member) -> bool) -> String {
    let count = members.iter().filter(|member| agrees(member)).count();
    format!("{count} of {} devices with a policy of this name agree", members.len())
}

/// Returns the kinds of demands that no class of a device's policy has, although several classes of most
/// other policies have them. The policy of this device then has a different design.
fn absent_kinds(members: &[Member]) -> BTreeSet<(usize, &'static str)> {
    let mut usual: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut lacking: BTreeMap<(usize, &'static str), usize> = BTreeMap::new();
    for name in class_names(members) {
        let classes: Vec<(usize, BTreeMap<&'static str, Demand>)> = members
            .iter()
            .filter_map(|member| Some((member.device, demands(class(member.policy, name)?))))
            .collect();
        let kinds: BTreeSet<&'static str> =
            classes.iter().flat_map(|(_, demands)| demands.keys().copied()).collect();
        for kind in kinds {
            let has: Peers<bool> = classes.iter().map(|(_, demands)| demands.contains_key(kind)).collect();
            *usual.entry(kind).or_default() += usize::from(has.usual() == Some(&true));
            for (device, _) in classes.iter().filter(|(_, demands)| !demands.contains_key(kind)) {
                *lacking.entry((*device, kind)).or_default() += usize::from(has.is_exception(&false));
            }
        }
    }
    let is_design =
        |((_, kind), count): &((usize, &str), usize)| *count >= LEAST_ABSENT && *count == usual[kind];
    lacking.into_iter().filter(is_design).map(|(key, _)| key).collect()
}

/// Returns the devices whose policy lacks a class on purpose.
fn redesigned(members: &[Member]) -> BTreeSet<usize> {
    let names = class_names(members);
    let is_redesigned = |member: &&Member| {
        let mut missing = names.iter().filter(|name| class(member.policy, name).is_none());
        missing.any(|name| redistributes(member, members, name))
    };
    members.iter().filter(is_redesigned).map(|member| member.device).collect()
}

/// Reports demands of a class that differ from the demands of this class in most policies with the same name.
fn check_demands(snapshot: &Snapshot, policy: &str, members: &[Member], found: &mut Vec<NetworkFinding>) {
    let Some(packets) = members.first().map(|member| member.packets) else { return };
    let absent = absent_kinds(members);
    let redesigned = redesigned(members);
    for name in class_names(members) {
        let classes: Vec<(usize, BTreeMap<&'static str, Demand>, &Class)> = members
            .iter()
            .filter_map(|member| Some((member.device, class(member.policy, name)?)))
            .map(|(device, class)| (device, demands(class), class))
            .collect();
        let kinds: BTreeSet<&'static str> =
            classes.iter().flat_map(|(_, demands, _)| demands.keys().copied()).collect();
        for kind in kinds {
            let has: Peers<bool> = classes.iter().map(|(_, demands, _)| demands.contains_key(kind)).collect();
            let of_kind = classes.iter().filter_map(|(_, demands, _)| demands.get(kind));
            let values: Peers<&Value> = of_kind.map(|demand| &demand.value).collect();
            for (device, demands, own) in &classes {
                if kind == GUARANTEE && (redesigned.contains(device) || has_rest(members, *device, own)) {
                    continue;
                }
                let (line, words) = match demands.get(kind) {
                    None if has.is_exception(&false) && !absent.contains(&(*device, kind)) => {
                        (own.line, format!("no {kind}"))
                    }
                    Some(demand)
                        if has.is_exception(&true) && (demand.drops || marks_others(kind, demand, own)) =>
                    {
                        (demand.line, format!("{kind} {}", demand.value))
                    }
                    // If only two devices have the class, the device that drops more packets is reported.
                    Some(demand) if classes.len() == 2 && demand.drops => {
                        let other = classes.iter().find(|(other, ..)| other != device);
                        let Some((_, theirs, _)) = other else { continue };
                        let Some(theirs) = theirs.get(kind) else { continue };
                        if !demand.contradicts(&theirs.value, packets) {
                            continue;
                        }
                        (
                            demand.line,
                            format!("{kind} {}, but the other device has {}", demand.value, theirs.value),
                        )
                    }
                    Some(demand) if values.is_exception(&&demand.value) => {
                        let usual = values.usual().filter(|usual| demand.contradicts(usual, packets));
                        let Some(usual) = usual else { continue };
                        (demand.line, format!("{kind} {}, but most devices have {usual}", demand.value))
                    }
                    _ => continue,
                };
                let message = format!(
                    "class {name} of {policy} has {words}, unlike most of {} devices with this policy: {}",
                    classes.len(),
                    snapshot.devices[*device].name
                );
                let effect = "this device treats its packets differently from the other devices";
                let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
                let finding = snapshot.finding(*device, rule, line, (message, effect.to_owned()));
                // A finding at the first line of the class is about a missing demand, so it has no topic.
                found.push(if line == own.line { finding } else { about_demand(finding, kind) });
            }
        }
    }
}

/// Adds the topic of a kind of demands to a finding.
fn about_demand(finding: NetworkFinding, kind: &str) -> NetworkFinding {
    let topic = if [CODEPOINT, LABELS].contains(&kind) { Topic::Mark } else { Topic::Rate };
    finding.about(topic, Precision::Comparison)
}

/// Whether a demand writes an EXP, or a codepoint that differs from the codepoint of some packets of the
/// class.
fn marks_others(kind: &str, demand: &Demand, class: &Class) -> bool {
    if kind != CODEPOINT {
        return kind == LABELS;
    }
    let matcher = Matcher::new(&class.condition, &[]);
    let differs =
        |dscp: Dscp| matcher.matches(&packet(dscp)) && Value::Words(dscp.to_string()) != demand.value;
    (0..64).filter_map(Dscp::new).any(differs)
}

/// Reports classes that match other packets than the class of the same name in policies of the same name.
fn check_packets<'s>(
    snapshot: &Snapshot,
    policies: &BTreeMap<&str, Vec<Member<'s>>>,
    packets: &mut PacketsOfClasses<'s>,
    found: &mut Vec<NetworkFinding>,
) {
    let mut by_class: BTreeMap<(&str, &str), ByDevice> = BTreeMap::new();
    for member in policies.values().flatten() {
        for class in member.policy.classes.iter().filter(|class| class.line > 0 && !class.takes_rest) {
            let devices = by_class.entry((&member.policy.name, &class.name)).or_default();
            devices.entry(member.device).or_insert((member.policy, class));
        }
    }
    for ((_, name), devices) in by_class {
        let peers: Peers<usize> = devices.values().map(|(_, class)| packets.number_of(class)).collect();
        let Some(most) = peers.usual().copied() else { continue };
        for (device, (policy, class)) in &devices {
            let own = packets.number_of(class);
            if !peers.is_exception(&own) {
                continue;
            }
            let difference = packets.difference(own, most);
            let line = difference
                .more
                .iter()
                .find_map(|packet| snapshot.criterion_of_class(*device, &policy.name, name, packet));
            let message = format!(
                "class {name} of {} {}, unlike most of {} devices with a class of this name",
                snapshot.devices[*device].name,
                difference.words(),
                devices.len()
            );
            let effect = "this device treats its packets differently from the other devices";
            let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
            let line = line.unwrap_or(class.line);
            found.push(snapshot.finding(*device, rule, line, (message, effect.to_owned())));
        }
    }
}
