//! Hubs of tunnels that do not pass on the EIGRP routes of one spoke to the other spokes.

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other ends of a tunnel.
const LEAST_SPOKES: usize = 2;

/// Reports hubs of multipoint tunnels with EIGRP that keep split horizon, which is the default (RFC 7868
/// §5.4), and do not announce a summary or a default route instead.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in snapshot.links.iter().filter(|link| link.is_tunnel && link.ends.len() > LEAST_SPOKES) {
        let ends: Vec<PortId> = link.ends.iter().map(|end| end.id).collect();
        let mut hubs = ends.iter().filter(|id| is_hub(snapshot, **id));
        // With several hubs, a spoke may learn the routes of the other spokes from another hub.
        let (Some(hub), None) = (hubs.next(), hubs.next()) else { continue };
        let nodes = &trees[hub.device];
        let port = snapshot.port(*hub);
        let Some(block) = nodes.iter().find(|node| node.line.0 == port.line) else { continue };
        let Some(process) = nodes.iter().find(|node| node.begins_with("router eigrp ")) else { continue };
        if nodes.iter().any(sends_default) {
            continue;
        }
        let [part, usual] = [port.name.as_str(), "default"].map(|name| {
            let mut parts = process.inner.iter().flat_map(|inner| &inner.inner);
            parts.find(|inner| inner.words() == ["af-interface", name])
        });
        let is_named = process.inner.iter().any(|inner| inner.begins_with("address-family "));
        let line = if is_named { part.map_or(process.line.0, |part| part.line.0) } else { port.line };
        let parts = part.into_iter().chain(usual);
        let mut lines = block.inner.iter().chain(parts.flat_map(|part| &part.inner));
        if lines.any(passes_on) || !runs(process, [part, usual], &port.name) {
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

/// Whether a line of a device can give the spokes a default route to the hub: a redistributed route, a
/// `network` line for 0.0.0.0, or `ip default-network`.
fn sends_default(node: &Node) -> bool {
    let text = node.line.1.trim();
    let is_source = |line: &Node| {
        (line.begins_with("redistribute ") && !line.begins_with("redistribute connected"))
            || line.begins_with("network 0.0.0.0")
    };
    let is_inside =
        |node: &Node| node.inner.iter().any(|inner| is_source(inner) || inner.inner.iter().any(is_source));
    text.starts_with("ip default-network ")
        || (node.begins_with("router eigrp ")
            && (is_inside(node) || node.inner.iter().any(|family| family.inner.iter().any(is_inside))))
}

/// Whether a process has neighbors at a port. The block of the port (`part`) has precedence over the block
/// for all ports (`usual`).
fn runs(process: &Node, [part, usual]: [Option<&Node>; 2], name: &str) -> bool {
    let has = |node: &Node, line: &[&str]| node.inner.iter().any(|inner| inner.words() == line);
    if part.or(usual).is_none() {
        return !has(process, &["passive-interface", name])
            && (!has(process, &["passive-interface", "default"])
                || has(process, &["no", "passive-interface", name]));
    }
    let passive = |node: &Node| {
        let is_set = has(node, &["passive-interface"]);
        (is_set || has(node, &["no", "passive-interface"])).then_some(is_set)
    };
    !part.and_then(passive).or_else(|| usual.and_then(passive)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{passes_on, runs, sends_default};

    #[test]
    fn a_summary_replaces_the_routes_of_spokes() {
        let passes = |text: &str| passes_on(&read(text)[0]);
        assert!(passes("no ip split-horizon eigrp 7") && passes("summary-address 10.0.0.0 255.0.0.0"));
        assert!(!passes("ip split-horizon eigrp 7") && !passes("no ip next-hop-self eigrp 7"));
    }

    #[test]
    fn passive_ports_have_no_neighbors() {
        let runs_at = |text: &str| runs(&read(text)[0], [None, None], "Tunnel1");
        assert!(runs_at("router eigrp 7\n network 10.0.0.0\n"));
        assert!(!runs_at("router eigrp 7\n passive-interface default\n"));
        assert!(runs_at("router eigrp 7\n passive-interface default\n no passive-interface Tunnel1\n"));
        let passive = &read("af-interface default\n passive-interface\n")[0];
        let active = &read("af-interface Tunnel1\n no passive-interface\n")[0];
        let process = &read("router eigrp N\n")[0];
        assert!(!runs(process, [None, Some(passive)], "Tunnel1"));
        assert!(runs(process, [Some(active), Some(passive)], "Tunnel1"));
    }

    #[test]
    fn a_hub_can_send_a_default_route() {
        let sends = |text: &str| sends_default(&read(text)[0]);
        assert!(sends("router eigrp 7\n redistribute static\n"));
        let named = "router eigrp N\n address-family ipv4 unicast autonomous-system 7\n  topology base\n   \
                     redistribute static\n";
        assert!(sends(named) && !sends(&named.replace("static", "connected")));
        assert!(!sends("router ospf 1\n redistribute static\n"));
    }
}
