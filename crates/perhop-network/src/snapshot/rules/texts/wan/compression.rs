//! Compressed headers of RTP and TCP that only one end of a link has.

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::circuits::block;
use crate::rules;

/// The protocols whose headers a link can compress.
const PROTOCOLS: [&str; 2] = ["rtp", "tcp"];
/// The formats that a line can name.
const FORMATS: [&str; 2] = ["iphc-format", "ietf-format"];
/// The word of a map for both protocols.
const BOTH: &str = "compress";

/// The line that compresses headers, and the format that it names.
#[derive(Clone, Copy)]
struct Compression<'t> {
    line: usize,
    format: Option<&'t str>,
}

/// Reports ends of links without the compression of the other end, and ends with different formats.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let node = |id: PortId| block(&trees[id.device], snapshot.port(id).line).filter(|node| is_line(node));
        let (Some(near), Some(far)) = (node(own), node(other)) else { continue };
        if [(own, near), (other, far)].iter().any(|(id, node)| is_elsewhere(&trees[id.device], node)) {
            continue;
        }
        for protocol in PROTOCOLS {
            let Some(there) = compression(far, protocol) else { continue };
            let place = snapshot.place(other.device, there.line);
            let [own_name, far_name] = [own, other].map(|id| snapshot.port_name(id));
            let protocol = protocol.to_uppercase();
            let (line, message) = match compression(near, &protocol.to_lowercase()) {
                None => (
                    near.line.0,
                    format!(
                        "{own_name} does not compress headers of {protocol}, but {far_name} at the other end \
                         does ({place})"
                    ),
                ),
                Some(here) => match (here.format, there.format) {
                    (Some(format), Some(other)) if format != other => (
                        here.line,
                        format!(
                            "{own_name} compresses headers of {protocol} in the {format}, but {far_name} at \
                             the other end in the {other} ({place})"
                        ),
                    ),
                    _ => continue,
                },
            };
            // Cisco, "IP Application Services Command Reference" and "Quality of Service Solutions Command
            // Reference", `ip rtp header-compression`: both ends of the connection must enable it.
            let effect = "the ends cannot use compressed headers: packets are lost, or each call needs more \
                          than twice the rate";
            let rule = &rules::NETWORK_SETTING_DIFFERS;
            found.push(snapshot.finding(own.device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Whether a block is an interface that can compress headers.
fn is_line(node: &Node) -> bool {
    ["interface Serial", "interface Multilink"].iter().any(|start| node.begins_with(start))
}

/// Returns the line of an interface that compresses headers of a protocol. Maps and formats for both
/// protocols count.
fn compression<'t>(node: &Node<'t>, protocol: &str) -> Option<Compression<'t>> {
    node.inner.iter().find_map(|inner| {
        // Most lines do not compress headers.
        if !inner.line.1.contains("compress") {
            return None;
        }
        let words = inner.words();
        let format = words.iter().copied().find(|word| FORMATS.contains(word));
        let is_own = match words.as_slice() {
            // Cisco: with such a format for RTP, the interface also compresses headers of TCP.
            ["ip", own, "header-compression", ..] => *own == protocol || (*own == "rtp" && format.is_some()),
            ["frame-relay", "ip", own, "header-compression", ..] => *own == protocol,
            ["frame-relay", "map", "ip", rest @ ..] => {
                rest.contains(&BOTH) || rest.windows(2).any(|part| part == [protocol, "header-compression"])
            }
            _ => false,
        };
        is_own.then_some(Compression { line: inner.line.0, format })
    })
}

/// Whether another block can compress the headers of an interface: the interface of a part, or the output
/// policy.
fn is_elsewhere(nodes: &[Node], node: &Node) -> bool {
    let name = node.words().get(1).copied().unwrap_or_default();
    let main = name.split_once('.').map(|(main, _)| main);
    let has_main = main.is_some_and(|main| {
        nodes.iter().any(|node| {
            node.begins_with("interface ")
                && node.words().get(1) == Some(&main)
                && PROTOCOLS.iter().any(|protocol| compression(node, protocol).is_some())
        })
    });
    let compresses = |policy: &Node| {
        policy
            .inner
            .iter()
            .flat_map(|class| &class.inner)
            .any(|inner| inner.begins_with("compression header"))
    };
    has_main || nodes.iter().any(|node| node.begins_with("policy-map ") && compresses(node))
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::{compression, is_elsewhere};

    #[test]
    fn lines_maps_and_formats_compress() {
        let text = "interface A\n ip rtp header-compression iphc-format\ninterface B\n frame-relay map ip \
                    192.0.2.1 101 tcp header-compression passive\ninterface C\n ip tcp header-compression\n ip rtp \
                    compression-connections 20";
        let nodes = read(text);
        let of_node = |place: usize| ["rtp", "tcp"].map(|own| compression(&nodes[place], own).is_some());
        assert_eq!([of_node(0), of_node(1), of_node(2)], [[true, true], [false, true], [false, true]]);
    }

    #[test]
    fn the_interface_of_a_part_can_compress() {
        let text = "interface Serial0\n frame-relay ip rtp header-compression\ninterface Serial0.1\n\
                    interface Serial1.1";
        let nodes = read(text);
        assert!(is_elsewhere(&nodes, &nodes[1]) && !is_elsewhere(&nodes, &nodes[2]));
    }
}
