//! Policers of fast rates with a burst of fewer than two packets.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use super::parts::Parts;
use crate::rules;

/// Two packets of Ethernet, bytes.
const TWO_PACKETS: u64 = 3000;
/// The duration that Juniper recommends for a burst, µs. A slow policer with a burst of one packet is usual:
/// its burst lasts longer.
const USUAL_US: u64 = 5000;

/// The units of a burst other than bytes.
const UNITS: [&str; 8] = ["ms", "us", "packets", "kbytes", "mbytes", "gbytes", "kbits", "mbits"];

/// Reports policers whose burst is below two packets and below 5 ms at their rate. Policers of packets to the
/// device itself can have short bursts: such packets are small, and their senders repeat them.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, (nodes, parts)) in trees.iter().zip(devices).enumerate() {
        let protective = of_control_plane(nodes, parts);
        let classes = parts.classes.iter().filter(|class| !protective.contains(class.policy));
        let classes = classes.flat_map(|class| &class.lines);
        let mut policers: Vec<Policer> =
            classes.filter_map(|(line, words)| of_class(words).map(|own| (*line, own))).collect();
        policers.extend(with_braces(nodes));
        for (line, (rate, burst)) in policers {
            if !is_short(rate, burst) {
                continue;
            }
            let message = format!(
                "a policer of {} has a burst of {burst} bytes at {rate} b/s: fewer than two packets",
                snapshot.devices[device].name
            );
            let effect =
                "packets that arrive back to back are dropped, although the mean rate is lower".to_owned();
            let rule = &rules::NETWORK_QUEUE_DIFFERS;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
    }
}

/// A policer: the line of its burst, its rate, b/s, and its burst, bytes.
type Policer = (usize, (u64, u64));

fn is_short(rate: u64, burst: u64) -> bool {
    burst < TWO_PACKETS && burst.saturating_mul(8_000_000) < rate.saturating_mul(USUAL_US)
}

/// Returns the policies of control planes, with their inner policies.
fn of_control_plane<'t>(nodes: &[Node<'t>], parts: &Parts<'t>) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = Vec::new();
    for node in nodes {
        match *node.words().as_slice() {
            ["control-plane", ..] => {
                let policies = node.inner.iter().filter(|inner| inner.begins_with("service-policy "));
                open.extend(policies.filter_map(|inner| inner.words().last().copied()));
            }
            ["policy-map", "type", "control-plane", .., policy] => open.push(policy),
            _ => {}
        }
    }
    while let Some(policy) = open.pop() {
        if found.insert(policy) {
            let lines = parts.classes_of(policy).flat_map(|class| &class.lines);
            let inner = lines.filter(|(_, words)| words.first() == Some(&"service-policy"));
            open.extend(inner.filter_map(|(_, words)| words.last().copied()));
        }
    }
    found
}

/// Reads a policer of a class (Cisco). A burst without a unit is in bytes. A policer with another unit is not
/// read.
fn of_class(words: &[&str]) -> Option<(u64, u64)> {
    match words {
        ["police", "cir", rate, "bc", burst, rest @ ..] | ["police", rate, burst, rest @ ..] => {
            let is_in_bytes = rest.first().is_none_or(|next| !UNITS.contains(next));
            Some((rate.parse().ok()?, burst.parse().ok()?)).filter(|_| is_in_bytes)
        }
        _ => None,
    }
}

/// Reads the policers of a configuration with braces.
fn with_braces(nodes: &[Node]) -> Vec<Policer> {
    let Some(firewall) = block(nodes, &["firewall"]) else { return Vec::new() };
    let protective = of_loopback(nodes, firewall);
    let is_own = |policer: &&Node| !words(policer).get(1).is_some_and(|name| protective.contains(name));
    let blocks = inside(firewall, "policer").into_iter().filter(is_own);
    let blocks = blocks.flat_map(|policer| inside(policer, "if-exceeding"));
    let policers = blocks.filter_map(|limits| {
        let value = |name: &str| {
            let found = inside(limits, name).first().map(|node| (node.line.0, words(node)))?;
            Some((found.0, scaled(found.1.get(1)?)?))
        };
        let (line, burst) = value("burst-size-limit")?;
        Some((line, (value("bandwidth-limit")?.1, burst)))
    });
    policers.collect()
}

/// Returns the policers in the filters of the loopback interface, which protect the device itself (Juniper,
/// "Routing Policies, Firewall Filters, and Traffic Policers User Guide").
fn of_loopback<'t>(nodes: &[Node<'t>], firewall: &Node<'t>) -> BTreeSet<&'t str> {
    let Some(loopback) = block(nodes, &["interfaces", "lo0"]) else { return BTreeSet::new() };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for filter in inside(loopback, "filter") {
        let lines = std::iter::once(filter).chain(&filter.inner);
        names.extend(lines.flat_map(words));
    }
    let filters = inside(firewall, "filter").into_iter();
    let filters = filters.filter(|filter| words(filter).get(1).is_some_and(|name| names.contains(name)));
    let policers = filters.flat_map(|filter| inside(filter, "policer"));
    policers.filter_map(|line| words(line).get(1).copied()).collect()
}

/// Reads a number with a suffix: `90m`.
fn scaled(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if text.ends_with('k') => (digits, 1_000),
        Some(digits) if text.ends_with('m') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::super::parts::Parts;
    use super::{is_short, of_class, of_control_plane, with_braces};

    #[test]
    fn fast_policers_pass_two_packets() {
        assert!(is_short(50_000_000, 2000));
        assert!(!is_short(8000, 1500) && !is_short(50_000_000, 15_000));
    }

    #[test]
    fn policers_are_read() {
        assert_eq!(of_class(&["police", "cir", "50000000", "bc", "2000"]), Some((50_000_000, 2000)));
        assert_eq!(of_class(&["police", "cir", "percent", "30"]), None);
        assert_eq!(of_class(&["police", "cir", "50000000", "bc", "200", "ms", "conform", "transmit"]), None);
        assert_eq!(of_class(&["police", "50000000", "2000", "2000"]), Some((50_000_000, 2000)));
        let text = "firewall {\n    policer P {\n        if-exceeding {\n            bandwidth-limit 50m;\n            \
                    burst-size-limit 2k;\n        }\n        then discard;\n    }\n}\n";
        assert_eq!(with_braces(&read(text)), [(5, (50_000_000, 2000))]);
    }

    #[test]
    fn policers_of_the_device_itself_are_known() {
        let text = "policy-map COPP\n class A\n  service-policy INNER\npolicy-map INNER\n class B\n  police \
                    50000000 2000\npolicy-map OTHER\n class B\n  police 50000000 2000\ncontrol-plane\n \
                    service-policy input COPP\n";
        let nodes = read(text);
        let found = of_control_plane(&nodes, &Parts::read(&nodes));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["COPP", "INNER"]);
        let text = [
            "interfaces {",
            "    lo0 {",
            "        filter {",
            "            input-list [ OTHER RE ];",
            "firewall {",
            "    filter RE {",
            "        term A {",
            "            policer P;",
            "    policer P {",
            "        if-exceeding {",
            "            bandwidth-limit 50m;",
            "            burst-size-limit 2k;",
        ]
        .join("\n");
        assert!(with_braces(&read(&text)).is_empty());
        assert_eq!(with_braces(&read(&text.replace("lo0", "ge-0/0/0"))).len(), 1);
    }
}
