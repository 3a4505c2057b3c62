//! Reads the BGP neighbors of a configuration with braces.

use super::super::secrets::Secret;
use super::super::texts::braces::{block, inside, words};
use super::super::tree::Node;
use super::process::{End, IPV4, Process};

/// The address families, by the names of their statements.
const FAMILIES: &[(&str, &str)] = &[
    ("inet", IPV4),
    ("inet6", "ipv6"),
    ("inet-vpn", "vpnv4"),
    ("inet6-vpn", "vpnv6"),
    ("evpn", "l2vpn evpn"),
    ("l2vpn", "l2vpn vpls"),
];

/// Returns the neighbors of all groups of a device, as one process.
pub(super) fn process(nodes: &[Node]) -> Option<Process> {
    let options = block(nodes, &["routing-options"])?;
    let mut found = options.inner.iter().find_map(|inner| match *words(inner).as_slice() {
        ["autonomous-system", number, ..] => {
            Some(Process { number_line: inner.line.0, number: number.to_owned(), ..Process::default() })
        }
        _ => None,
    })?;
    found.has_no_default = true;
    // Configuration groups (`groups`) can add neighbors and settings, but this reader does not apply them.
    let may_add = block(nodes, &["groups"]).is_some_and(|groups| !inside(groups, "bgp").is_empty());
    found.hides_number = may_add || !inside(options, "confederation").is_empty();
    let main = block(nodes, &["protocols", "bgp"]).map(|bgp| (None, bgp, false));
    let instances = block(nodes, &["routing-instances"]).map_or(&[][..], |node| &node.inner);
    let of_instances = instances.iter().filter_map(|instance| {
        let has_own_number = block(&instance.inner, &["routing-options"])
            .is_some_and(|options| !inside(options, "autonomous-system").is_empty());
        let vrf = words(instance).first().map(ToString::to_string);
        Some((vrf, block(&instance.inner, &["protocols", "bgp"])?, has_own_number))
    });
    let all: Vec<(Option<String>, &Node, bool)> = main.into_iter().chain(of_instances).collect();
    found.line = all.first()?.1.line.0;
    for (vrf, bgp, has_own_number) in all {
        let mut common = End { vrf, has_own_number, ..End::default() };
        let number = (found.number_line, found.number.clone());
        bgp.inner.iter().for_each(|inner| read(&mut common, inner, &number));
        for group in bgp.inner.iter().filter(|inner| words(inner).first() == Some(&"group")) {
            add_group(&mut found, group, &common);
        }
    }
    (!found.ends.is_empty()).then_some(found)
}

fn add_group(found: &mut Process, group: &Node, common: &End) {
    let mut of_group = common.clone();
    let number = (found.number_line, found.number.clone());
    group.inner.iter().for_each(|inner| read(&mut of_group, inner, &number));
    for neighbor in &group.inner {
        let ["neighbor", address] = *words(neighbor).as_slice() else { continue };
        let mut end = of_group.clone();
        end.line = neighbor.line.0;
        neighbor.inner.iter().for_each(|inner| read(&mut end, inner, &number));
        if end.families.is_empty() {
            end.families.insert(IPV4.to_owned());
        }
        found.ends.insert((end.vrf.clone(), address.to_owned()), end);
    }
}

/// Reads a statement of a process, of a group or of a neighbor.
fn read(end: &mut End, node: &Node, own_number: &(usize, String)) {
    let line = node.line.0;
    match words(node).as_slice() {
        ["peer-as", number] => end.number = Some((line, (*number).to_owned())),
        ["type", "internal"] => end.number = Some(own_number.clone()),
        ["local-as", ..] => end.has_own_number = true,
        ["bfd-liveness-detection", ..] => end.detection = Some(line),
        ["multihop", ..] => end.is_far = true,
        ["local-address", address] => end.source = Some((line, (*address).to_owned())),
        ["authentication-key", secret @ ..] => end.password = Some((line, Secret::read(secret))),
        // The reader does not read the keys of a key chain.
        ["authentication-key-chain", ..] => end.password = Some((line, None)),
        ["family", name, ..] => {
            let known = FAMILIES.iter().find(|(statement, _)| statement == name);
            end.families.insert(known.map_or(*name, |(_, family)| family).to_owned());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::texts::braces::read;
    use super::process;

    #[test]
    fn neighbors_have_the_settings_of_their_group() {
        let text = "routing-options {\n    autonomous-system 65000;\n}\nprotocols {\n    bgp {\n        group RR \
                    {\n            type internal;\n            local-address 10.0.0.5;\n            family \
                    inet-vpn {\n                unicast;\n            }\n            neighbor 10.0.0.1;\n        \
                    }\n    }\n}\nrouting-instances {\n    RED {\n        protocols {\n            bgp \
                    {\n                group CE {\n                    peer-as 65001;\n                    \
                    neighbor 192.0.2.1 {\n                        peer-as 65002;\n                    \
                    }\n                }\n            }\n        }\n    }\n}";
        let found = process(&read(text)).unwrap();
        let core = &found.ends[&(None, "10.0.0.1".to_owned())];
        assert_eq!(core.number.as_ref().map(|(_, number)| number.as_str()), Some("65000"));
        assert!(core.families.contains("vpnv4") && core.source.is_some());
        let edge = &found.ends[&(Some("RED".to_owned()), "192.0.2.1".to_owned())];
        assert_eq!(edge.number.as_ref().map(|(_, number)| number.as_str()), Some("65002"));
        assert!(edge.families.contains("ipv4"));
    }
}
