//! The forwarding decision of a path, and the assumptions of this decision.

use std::net::{IpAddr, Ipv4Addr};

use perhop_device::{Port, PortRole, RoutingProcess, RoutingProtocol};
use perhop_qos::ConfigError;

use super::{RouteKind, Stage, Tracer};
use crate::forwarding::{Decision, Exit, Origin};

/// A forwarding decision in a path.
pub(super) struct Onward<'a> {
    pub(super) stage: Stage,
    pub(super) to: Onto<'a>,
}

/// The next place of a packet.
pub(super) enum Onto<'a> {
    Port(&'a Port),
    Device,
    Nowhere,
    Unknown,
}

impl<'a> Onward<'a> {
    /// Returns the next hop of the route.
    pub(super) fn next_hop(&self) -> Option<IpAddr> {
        match &self.stage {
            Stage::Forwarding { next_hop, .. } => *next_hop,
            _ => None,
        }
    }

    /// Returns a decision for `port` that needs no route.
    pub(super) fn without_route(kind: RouteKind, destination: IpAddr, port: &'a Port) -> Onward<'a> {
        let stage = Stage::Forwarding {
            destination,
            route: kind,
            prefix: None,
            next_hop: None,
            interface: Some(port.name.clone()),
            lines: Vec::new(),
        };
        Onward { stage, to: Onto::Port(port) }
    }
}

impl<'a> Tracer<'a> {
    pub(super) fn decide(
        &mut self,
        vrf: Option<&str>,
        destination: IpAddr,
    ) -> Result<Onward<'a>, ConfigError> {
        if let Some(onward) = self.without_table(destination) {
            return Ok(onward);
        }
        let decision = self.table.decide(vrf, destination);
        if !matches!(decision, Decision::Own { .. })
            && !matches!(&decision, Decision::Leaves(exit) if exit.origin == Origin::Connected)
        {
            self.look_for_protocols(destination);
        }
        let forwarding = |route, prefix, interface: Option<&Port>, lines| Stage::Forwarding {
            destination,
            route,
            prefix,
            next_hop: None,
            interface: interface.map(|port| port.name.clone()),
            lines,
        };
        Ok(match decision {
            Decision::Own { port, address } => {
                let lines = self.lines([address.line]);
                Onward { stage: forwarding(RouteKind::Own, None, Some(port), lines), to: Onto::Device }
            }
            Decision::Leaves(exit) => self.by_route(destination, &exit),
            Decision::Discarded(route) => {
                let (prefix, lines) = (Some(route.prefix.to_string()), self.lines([route.line]));
                Onward { stage: forwarding(RouteKind::Discard, prefix, None, lines), to: Onto::Nowhere }
            }
            Decision::Unknown(route) => {
                let lines = self.lines(route.map(|route| route.line));
                let port = self.default_exit(destination)?;
                let stage = forwarding(RouteKind::Unknown, None, port, lines);
                Onward { stage, to: port.map_or(Onto::Unknown, Onto::Port) }
            }
        })
    }

    /// Returns the decision for a destination that needs no unicast route.
    fn without_table(&mut self, destination: IpAddr) -> Option<Onward<'a>> {
        // RFC 5771 §4, RFC 4291 §2.7: routers do not forward 224.0.0.0/24 and ff02::/16. RFC 1812 §4.2.2.11:
        // nor 255.255.255.255.
        let (prefix, is_multicast) = match destination {
            IpAddr::V4(Ipv4Addr::BROADCAST) => ("255.255.255.255/32", false),
            IpAddr::V4(four) if four.octets()[..3] == [224, 0, 0] => ("224.0.0.0/24", false),
            IpAddr::V6(six) if six.segments()[0] & 0xff0f == 0xff02 => ("ff02::/16", false),
            IpAddr::V4(four) if four.is_multicast() => ("224.0.0.0/4", true),
            IpAddr::V6(six) if six.is_multicast() => ("ff00::/8", true),
            _ => return None,
        };
        let (route, to) = if is_multicast {
            let line = format!("the receivers of {destination}: multicast routing determines them");
            self.not_looked_at.insert(line);
            (RouteKind::Unknown, Onto::Unknown)
        } else {
            (RouteKind::Own, Onto::Device)
        };
        let stage = Stage::Forwarding {
            destination,
            route,
            prefix: Some(prefix.to_owned()),
            next_hop: None,
            interface: None,
            lines: Vec::new(),
        };
        Some(Onward { stage, to })
    }

    pub(super) fn by_route(&mut self, destination: IpAddr, exit: &Exit<'a>) -> Onward<'a> {
        let line = exit.lines.first().copied().unwrap_or_default();
        if exit.equals > 0 {
            let count = exit.equals;
            self.assumed.insert(format!(
                "{destination}: the route of line {line} is used; {count} more with the same prefix and \
                 distance share its packets"
            ));
        }
        if exit.is_conditional {
            self.assumed.insert(format!("the test on which the route of line {line} depends succeeds"));
        }
        let stage = Stage::Forwarding {
            destination,
            route: match exit.origin {
                Origin::Connected => RouteKind::Connected,
                Origin::Static => RouteKind::Static,
                Origin::Given => RouteKind::Given,
                Origin::Computed(RoutingProtocol::Isis) => RouteKind::Isis,
                Origin::Computed(_) => RouteKind::Ospf,
            },
            prefix: exit.prefix.clone(),
            next_hop: exit.next_hop,
            interface: Some(exit.port.name.clone()),
            lines: self.lines(exit.lines.iter().copied()),
        };
        Onward { stage, to: Onto::Port(exit.port) }
    }

    /// Records routing protocols whose routes can override configured routes.
    pub(super) fn look_for_protocols(&mut self, destination: IpAddr) {
        let is_computed = |protocol: RoutingProtocol| self.device.given.computes(protocol);
        let processes = self.device.router.forwarding.processes.iter();
        for RoutingProcess { line, .. } in processes.filter(|process| !is_computed(process.protocol)) {
            let text = self.line(*line).text;
            self.not_looked_at.insert(format!(
                "line {line}, `{text}`: a route that the device learns can lead to {destination} over \
                 another interface"
            ));
        }
    }

    /// Returns the only interface with an output policy, for packets without a known route.
    fn default_exit(&mut self, destination: IpAddr) -> Result<Option<&'a Port>, ConfigError> {
        let ports = self.device.router.ports.iter();
        let with_policy: Vec<&Port> = ports.filter(|port| has_output(port)).collect();
        let because = "the only interface with an output policy";
        match with_policy.as_slice() {
            [] => {
                self.assumed.insert(format!(
                    "no route to {destination} is known: the packet leaves via an interface without an \
                     output policy"
                ));
                Ok(None)
            }
            [port] => {
                self.assumed.insert(format!(
                    "no route to {destination} is known: the packet leaves via {}, {because}",
                    port.name
                ));
                Ok(Some(port))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|port| port.name.as_str()).collect();
                let message = format!(
                    "no route to {destination} is known, and several interfaces have an output policy"
                );
                Err(ConfigError::new("out", message)
                    .help(format!("choose one with --out: {}", names.join(", "))))
            }
        }
    }
}

/// Whether a port is an interface that is not shut down and has an output policy, queues or output
/// conditioners.
pub(super) fn has_output(port: &Port) -> bool {
    let is_interface = port.forwarding.role == PortRole::Interface && !port.shutdown;
    let is_conditioned = port.conditions_output();
    is_interface
        && match &port.attachments {
            Some(attachments) => attachments.output.is_some() || is_conditioned,
            None => port.output.queueing.is_some() || is_conditioned,
        }
}
