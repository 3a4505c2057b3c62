//! Hold times that expire before the next hello of the neighbor.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The hello interval and the hold time of a neighbor, seconds, each with its line.
#[derive(Default)]
struct Timers {
    hello: Option<(usize, u64)>,
    hold: Option<(usize, u64)>,
}

/// Reports a hold time that is not longer than the hello interval of the same port.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let mut open: Vec<&Node> = nodes.iter().collect();
        while let Some(node) = open.pop() {
            open.extend(&node.inner);
            for (protocol, timers) in timers(node) {
                let (Some((_, hello)), Some((line, hold))) = (timers.hello, timers.hold) else { continue };
                if hold > hello {
                    continue;
                }
                let message = format!(
                    "{} of {}: the hold time of {protocol} is {hold} s, but the hello interval is {hello} s",
                    node.line.1.trim(),
                    snapshot.devices[device].name
                );
                let effect = "the neighbors end the session before the next hello arrives".to_owned();
                let rule = &rules::NETWORK_HOLD_TIME_SHORT;
                found.push(snapshot.finding(device, rule, line, (message, effect)));
            }
        }
    }
}

/// Returns the timers of a block by protocol, or by group of a first-hop protocol.
fn timers(node: &Node) -> BTreeMap<String, Timers> {
    let mut found: BTreeMap<String, Timers> = BTreeMap::new();
    let is_eigrp = node.line.1.trim_start().starts_with("af-interface ");
    for inner in &node.inner {
        let line = inner.line.0;
        let second = |text: &str| Some((line, text.parse().ok()?));
        match *inner.words().as_slice() {
            ["hello-interval", hello] if is_eigrp => {
                found.entry("EIGRP".to_owned()).or_default().hello = second(hello);
            }
            ["hold-time", hold] if is_eigrp => {
                found.entry("EIGRP".to_owned()).or_default().hold = second(hold);
            }
            ["ip", "hello-interval", "eigrp", number, hello] => {
                found.entry(format!("EIGRP {number}")).or_default().hello = second(hello);
            }
            ["ip", "hold-time", "eigrp", number, hold] => {
                found.entry(format!("EIGRP {number}")).or_default().hold = second(hold);
            }
            ["ip", "ospf", "hello-interval", hello] => {
                found.entry("OSPF".to_owned()).or_default().hello = second(hello);
            }
            ["ip", "ospf", "dead-interval", dead] => {
                found.entry("OSPF".to_owned()).or_default().hold = second(dead);
            }
            [kind @ ("standby" | "glbp"), group, "timers", hello, hold] => {
                let own = found.entry(format!("{kind} group {group}")).or_default();
                (own.hello, own.hold) = (second(hello), second(hold));
            }
            ["neighbor", name, "timers", hello, hold, ..] => {
                let own = found.entry(format!("the neighbor {name}")).or_default();
                // The value 0 disables the timer.
                let is_on = |(_, seconds): &(usize, u64)| *seconds > 0;
                (own.hello, own.hold) = (second(hello).filter(is_on), second(hold).filter(is_on));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::timers;

    fn shown(text: &str) -> Vec<(String, Option<u64>, Option<u64>)> {
        let seconds = |timer: Option<(usize, u64)>| timer.map(|(_, seconds)| seconds);
        let nodes = read(text);
        let all = timers(&nodes[0]).into_iter();
        all.map(|(name, own)| (name, seconds(own.hello), seconds(own.hold))).collect()
    }

    #[test]
    fn protocols_have_timers_of_their_own() {
        let text = "interface Gi0/0\n ip hello-interval eigrp 7 20\n ip hold-time eigrp 7 15\n ip ospf \
                    dead-interval 40\n standby 3 timers msec 250 msec 750";
        let expected = [("EIGRP 7".to_owned(), Some(20), Some(15)), ("OSPF".to_owned(), None, Some(40))];
        assert_eq!(shown(text), expected, "milliseconds are not read");
        let off = "router bgp 65000\n neighbor 192.0.2.1 timers 0 0";
        assert_eq!(shown(off), [("the neighbor 192.0.2.1".to_owned(), None, None)]);
    }
}
