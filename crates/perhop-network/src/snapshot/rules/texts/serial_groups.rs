//! Serial interfaces whose channel group is not defined at their controller.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// Reports serial interfaces `X:N` if the controller X has no `channel-group N`.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for (node, group, controller) in undefined(nodes) {
            let message = format!(
                "{} of {} needs `channel-group {group}` at `{}` (line {}), which does not define it",
                node.line.1.trim(),
                snapshot.devices[device].name,
                controller.line.1.trim(),
                controller.line.0
            );
            let effect = "the interface does not exist: its link or bundle lacks this line".to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(device, rule, controller.line.0, (message, effect)));
        }
    }
}

/// Returns the serial interfaces whose channel group is not defined, with the number of the group and the
/// controller.
fn undefined<'n, 't>(nodes: &'n [Node<'t>]) -> Vec<(&'n Node<'t>, &'t str, &'n Node<'t>)> {
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| node.begins_with("interface Serial") && !node.is_shut()) {
        let name = node.words().get(1).and_then(|name| name.strip_prefix("Serial"));
        let Some((place, group)) = name.and_then(|name| name.split_once(':')) else { continue };
        let is_own = |controller: &&Node| match *controller.words().as_slice() {
            ["controller", "E1" | "T1" | "e1" | "t1", own] => own == place,
            _ => false,
        };
        let Some(controller) = nodes.iter().find(is_own) else { continue };
        // The interface of a signaling channel belongs to a `pri-group`.
        let defines = |inner: &Node| match *inner.words().as_slice() {
            ["channel-group", own, ..] => own == group,
            ["pri-group", ..] => true,
            _ => false,
        };
        if !controller.inner.iter().any(defines) {
            found.push((node, group, controller));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::undefined;

    #[test]
    fn groups_of_other_numbers_and_signaling_channels_differ() {
        let text = "controller E1 0/1/0\n channel-group 1 timeslots 1-31\ncontroller T1 0/2/0\n pri-group \
                    timeslots 1-24\ninterface Serial0/1/0:0\ninterface Serial0/1/0:1\ninterface \
                    Serial0/2/0:23\ninterface Serial0/3/0:0";
        let nodes = read(text);
        let found: Vec<usize> = undefined(&nodes).iter().map(|(node, ..)| node.line.0).collect();
        assert_eq!(found, [5], "the controller of the last interface is not in the configuration");
    }
}
