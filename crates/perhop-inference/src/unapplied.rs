//! [`left_out`]: the parts of a configuration on the path that a run does not apply.
//!
//! A run applies policies and the bytes of headers. Lines without a model have no effect. Only a trace
//! applies access groups, and the outer headers at a port below a tunnel or at an encrypting port.

use std::collections::BTreeSet;

use perhop_device::{ClassifiedHeader, Port, PortRole, TunnelSource};
use perhop_network::{has_input_policy, has_output_policy, trace};

use crate::common_port::CommonPort;
use crate::network::{Network, Site};

/// Returns the parts of the configuration on the path that the run does not apply, one line each.
pub(crate) fn left_out(network: &Network) -> Vec<String> {
    let mut found = Vec::new();
    let (entering, leaving) = (network.entering.port, network.leaving.port);
    if let Some(port) = leaving.filter(|port| has_input_policy(port))
        && network.entering.name != port.name
    {
        found.push(format!("the input policy of {}, where packets only leave", port.name));
    }
    let ports: Vec<&Port> = entering.into_iter().chain(leaving).collect();
    for port in &ports {
        for group in &port.forwarding.access_groups {
            let line = words(network, group.line);
            found.push(format!("{line} of {}: `perhop trace` applies access lists", port.name));
        }
        if let Some(encryption) = &port.forwarding.encryption {
            let line = words(network, encryption.line);
            let seen = match encryption.classified_by {
                ClassifiedHeader::Outer => {
                    "; the run classifies by the inner header, but the device by the outer header"
                }
                ClassifiedHeader::Inner(_) => "",
            };
            found.push(format!("{line} of {}: encryption makes packets longer{seen}", port.name));
        }
    }
    if let Some(port) = leaving {
        found.extend(tunnels_at(network, port));
    }
    let mut own = network.site.model.router.ports.iter();
    if let Some(port) = own.find(|port| port.forwarding.role == PortRole::ControlPlane) {
        found.push(format!("the policy of {}, which applies to packets to the device itself", port.name));
    }
    found.extend(network.site.common.into_iter().flat_map(|common| common.not_looked_at.iter().cloned()));
    found.extend(open_lines(network, &ports));
    let mut seen = BTreeSet::new();
    found.retain(|line| seen.insert(line.clone()));
    found
}

/// Returns the lines without a model that affect packets at `ports`, or at the ports that the leaving port
/// carries.
fn open_lines(network: &Network, ports: &[&Port]) -> Vec<String> {
    let Site { model, common, .. } = network.site;
    let is_crossed = |name: &str| {
        let is_carried = |common: &CommonPort| common.carries.contains_key(name);
        ports.iter().any(|port| port.interface == name) || common.is_some_and(is_carried)
    };
    let considered = ports.iter().flat_map(|port| {
        let groups = port.forwarding.access_groups.iter().map(|group| group.line);
        groups.chain(port.forwarding.encryption.as_ref().map(|encryption| encryption.line))
    });
    let considered: BTreeSet<usize> = considered.collect();
    // Most lines that concern the whole device do not affect these packets. `perhop check` lists them.
    let near = model.open_lines.iter().filter(|open| open.interfaces.is_some() && open.concerns(is_crossed));
    let open = near.map(|open| open.line).filter(|line| !considered.contains(line));
    open.filter_map(|line| trace::words(&model.lines, line)).collect()
}

/// Returns the policy below a tunnel, and the tunnels above a port if their packets have a different header
/// at the port.
fn tunnels_at(network: &Network, leaving: &Port) -> Vec<String> {
    if let Some(tunnel) = &leaving.forwarding.tunnel {
        let source = tunnel.source.as_ref().map(|source| &source.value);
        let below = network.site.ports.iter().find(|port| is_source(source, port));
        let below = below.filter(|port| has_output_policy(port));
        let words = |port: &Port| {
            format!(
                "the output policy of {}: the packets of {} leave through this interface",
                port.name, leaving.name
            )
        };
        return below.map(words).into_iter().collect();
    }
    if !has_output_policy(leaving) {
        return Vec::new();
    }
    let above = network.site.ports.iter().filter(|port| {
        let is_up = port.forwarding.role == PortRole::Interface && !port.shutdown;
        let tunnel = port.forwarding.tunnel.as_ref().filter(|_| is_up);
        tunnel.is_some_and(|tunnel| {
            let is_outer = matches!(tunnel.classified_by, ClassifiedHeader::Outer);
            is_outer && is_source(tunnel.source.as_ref().map(|source| &source.value), leaving)
        })
    });
    let words = |tunnel: &Port| {
        format!(
            "the packets of {}, which {} classifies by their tunnel header: `perhop trace` shows their class",
            tunnel.name, leaving.name
        )
    };
    above.map(words).collect()
}

/// Whether a tunnel whose source is `source` sends its packets from the addresses of `port`.
fn is_source(source: Option<&TunnelSource>, port: &Port) -> bool {
    match source {
        Some(TunnelSource::Interface(name)) => port.interface == *name,
        Some(TunnelSource::Address(own)) => port.addresses.iter().any(|address| address.address == *own),
        None => false,
    }
}

fn words(network: &Network, number: usize) -> String {
    let line = network.site.model.lines.get(number.wrapping_sub(1));
    format!("line {number}, `{}`", line.map_or("", |line| line.text.trim()))
}
