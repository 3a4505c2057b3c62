//! Hubs of tunnels that do not pass on the EIGRP routes of one spoke to the others.

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other ends of a tunnel.
const LEAST_SPOKES: usize = 2;

/// Reports hubs of multipoint tunnels with EIGRP that keep split horizon, which is the default (RFC 7868
/// §5.4), and do not announce a summary instead.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in snapshot.links.iter().filter(|link| link.is_tunnel && link.ends.len() > LEAST_SPOKES) {
        let ends: Vec<PortId> = link.ends.iter().map(|end| end.id).collect();
        let mut hubs = ends.iter().filter(|id| is_hub(snapshot, **id));
        // With several hubs, a spoke may learn the routes of the others elsewhere.
        let (Some(hub), None) = (hubs.next(), hubs.next()) else { continue };
        let nodes = &trees[hub.device];
        let port = snapshot.port(*hub);
        let Some(block) = nodes.iter().find(|node| node.line.0 == port.line) else { continue };
        let Some(process) = nodes.iter().find(|node| node.begins_with("router eigrp ")) else { continue };
        let part = process
            .inner
            .iter()
            .flat_map(|inner| &inner.inner)
            .find(|inner| inner.words() == ["af-interface", port.name.as_str()]);
        let is_named = process.inner.iter().any(|inner| inner.begins_with("address-family "));
        let line = if is_named { part.map_or(process.line.0, |part| part.line.0) } else { port.line };
        let lines = block.inner.iter().chain(part.into_iter().flat_map(|part| &part.inner));
        if lines.into_iter().any(passes_on) || !runs(process, part, &port.name) {
            continue;
        }
        let message = format!(
            "{} is the hub of {} spokes with EIGRP, but neither turns off split horizon nor announces a \
             summary",
            snapshot.port_name(*hub),
            ends.len() - 1
        );
        let effect = "the spokes have no routes to each other".to_owned();
        found.push(snapshot.finding(hub.device, &rules::NETWORK_ROUTE_MISSING, line, (message, effect)));
    }
}

/// Whether a port is a multipoint tunnel that names no other end.
fn is_hub(snapshot: &Snapshot, id: PortId) -> bool {
    let Some(tunnel) = &snapshot.port(id).forwarding.tunnel else { return false };
    tunnel.destination.is_none() && tunnel.maps.iter().all(|map| map.line == 0)
}

/// Whether a line of the hub lets spokes reach each other.
fn passes_on(line: &Node) -> bool {
    let text = line.line.1.trim();
    ["no ip split-horizon eigrp", "no split-horizon", "ip summary-address eigrp", "summary-address"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Whether the process has neighbors at a port.
fn runs(process: &Node, part: Option<&Node>, name: &str) -> bool {
    let is_passive = |node: &Node, line: &[&str]| node.inner.iter().any(|inner| inner.words() == line);
    match part {
        Some(part) => !is_passive(part, &["passive-interface"]),
        None => {
            !is_passive(process, &["passive-interface", name])
                && (!is_passive(process, &["passive-interface", "default"])
                    || is_passive(process, &["no", "passive-interface", name]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{passes_on, runs};

    #[test]
    fn a_summary_replaces_the_routes_of_spokes() {
        let passes = |text: &str| passes_on(&read(text)[0]);
        assert!(passes("no ip split-horizon eigrp 7") && passes("summary-address 10.0.0.0 255.0.0.0"));
        assert!(!passes("ip split-horizon eigrp 7") && !passes("no ip next-hop-self eigrp 7"));
    }

    #[test]
    fn passive_ports_have_no_neighbors() {
        let runs_at = |text: &str| runs(&read(text)[0], None, "Tunnel1");
        assert!(runs_at("router eigrp 7\n network 10.0.0.0\n"));
        assert!(!runs_at("router eigrp 7\n passive-interface default\n"));
        assert!(runs_at("router eigrp 7\n passive-interface default\n no passive-interface Tunnel1\n"));
    }
}
