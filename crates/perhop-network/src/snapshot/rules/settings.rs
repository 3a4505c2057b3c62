//! Settings of the two ends of a link that do not match.

use std::collections::BTreeMap;

use perhop_device::{LinkSetting, LinkSettingKind, Port};

use super::peers::Peers;
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;

/// The settings of ports in the list of a routing process (IOS XR).
const LISTED: [LinkSettingKind; 4] = [
    LinkSettingKind::OspfHello,
    LinkSettingKind::OspfDead,
    LinkSettingKind::IsisLevels,
    LinkSettingKind::IsisMetrics,
];

/// The value of a setting at a port, and its line.
struct Value<'s> {
    text: &'s str,
    line: usize,
    is_set: bool,
}

/// Reports links whose ends differ in a setting that must match. The finding is at the end that differs from
/// most ports of the network. If no value prevails in the network, both ends are reported.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let most = usual_values(snapshot);
    for link in snapshot.links.iter().filter(|link| link.ends.len() == 2) {
        let ends = [link.ends[0].id, link.ends[1].id];
        let kinds = |id: PortId| snapshot.port(id).forwarding.settings.iter().map(|setting| setting.kind);
        for kind in kinds(ends[0]).chain(kinds(ends[1])) {
            let (Some(first), Some(second)) =
                (value(snapshot, ends[0], kind), value(snapshot, ends[1], kind))
            else {
                continue;
            };
            if kind.fits(first.text, second.text) || !(first.is_set || second.is_set) {
                continue;
            }
            let is_usual = |value: &Value| most.get(&kind).is_some_and(|usual| *usual == value.text);
            let pairs = [(ends[0], &first, &second), (ends[1], &second, &first)];
            for (place, (id, own, other)) in pairs.into_iter().enumerate() {
                if is_usual(own) {
                    continue;
                }
                let message = format!(
                    "{}: {} is {}, but {} at the other end of the link, {}",
                    snapshot.port_name(id),
                    kind.words(),
                    own.text,
                    other.text,
                    snapshot.port_name(ends[1 - place])
                );
                let rule = &rules::NETWORK_SETTING_DIFFERS;
                let finding = snapshot.finding(id.device, rule, own.line, (message, effect(kind).to_owned()));
                found.push(finding.about(Topic::Setting(kind.words()), Precision::Comparison));
            }
        }
    }
}

/// Returns, for each setting, the value that most ports of links have.
fn usual_values<'s>(snapshot: &'s Snapshot) -> BTreeMap<LinkSettingKind, &'s str> {
    let mut all: BTreeMap<LinkSettingKind, Vec<&'s str>> = BTreeMap::new();
    for (id, _) in snapshot.inside_ports() {
        for LinkSetting { kind, value, .. } in &snapshot.port(id).forwarding.settings {
            all.entry(*kind).or_default().push(value);
        }
    }
    let usual = |values: Vec<&'s str>| values.into_iter().collect::<Peers<&'s str>>().usual().copied();
    all.into_iter().filter_map(|(kind, values)| Some((kind, usual(values)?))).collect()
}

fn value<'s>(snapshot: &'s Snapshot, id: PortId, kind: LinkSettingKind) -> Option<Value<'s>> {
    let port = snapshot.port(id);
    let own = port.forwarding.settings.iter().find(|setting| setting.kind == kind);
    match own {
        Some(own) => Some(Value { text: &own.value, line: own.line, is_set: own.is_set }),
        // If no port of a device has such settings, its front end does not read them, so the value is
        // unknown.
        None if snapshot.router(id.device).ports.iter().all(has_listed_settings_only) => None,
        None => Some(Value { text: kind.absent()?, line: port.line, is_set: false }),
    }
}

/// Whether a port has at most the settings that IOS XR writes in the list of a routing process. Its ports
/// with labels are in a list that another rule compares.
fn has_listed_settings_only(port: &Port) -> bool {
    port.forwarding.settings.iter().all(|setting| LISTED.contains(&setting.kind))
}

fn effect(kind: LinkSettingKind) -> &'static str {
    match kind {
        LinkSettingKind::OspfHello | LinkSettingKind::OspfDead | LinkSettingKind::IsisLevels => {
            "the two routers do not become neighbors: packets take another path, or have no path"
        }
        LinkSettingKind::OspfNetwork | LinkSettingKind::IsisNetwork | LinkSettingKind::IsisMetrics => {
            "the two routers do not use each other's routes: packets take another path, or have no path"
        }
        LinkSettingKind::Labels => {
            "labeled packets do not pass, and classes that match labels get no packets"
        }
        LinkSettingKind::FragmentDelay | LinkSettingKind::Interleaving => {
            "voice waits behind long packets in one direction"
        }
        LinkSettingKind::BundleLinks => "the bundle has less rate than its classes were planned for",
    }
}
