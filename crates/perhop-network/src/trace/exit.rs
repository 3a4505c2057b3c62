//! The path of a packet after the forwarding decision: to the device itself, or through an output port.

use std::net::{IpAddr, Ipv4Addr};

use perhop_device::intent::{Direction, VisibleHeader};
use perhop_device::{ClassifiedHeader, Encryption, Port, PortRole, Tunnel, TunnelEnds};
use perhop_qos::framing::Header;
use perhop_qos::{ConfigError, Packet};

use super::decision::{Onto, Onward, has_output};
use super::outer::{ESP, encrypted, lines_of, outer_packet};
use super::stages::PolicySide;
use super::{
    AddedHeader, Cause, End, HeaderName, LineText, OwnPackets, RouteKind, Stage, Tracer, Way, written,
};
use crate::forwarding::{Decision, Origin};

/// Limit on the number of nested tunnels.
const MOST_TUNNELS: usize = 4;
impl<'a> Tracer<'a> {
    /// Makes the forwarding decision for packets that arrive on `port`, and follows the packets to their end.
    pub(super) fn forward(
        &mut self,
        mut ways: Vec<Way>,
        port: Option<&'a Port>,
    ) -> Result<Vec<Way>, ConfigError> {
        let Some(packet) = ways.iter().find(|way| way.end.is_none()).map(|way| way.packet) else {
            return Ok(ways);
        };
        let destination = packet.destination.to_ip();
        let vrf = port.and_then(|port| port.forwarding.vrf.as_ref()).map(|vrf| vrf.value.as_str());
        let labels = self.options.labels;
        let vrf = labels.map_or(vrf, |labels| labels.table.vrf(vrf));
        let onward = match self.options.leaves {
            Some(port) => Onward::without_route(RouteKind::Chosen, destination, port),
            None => self.decide(vrf, destination)?,
        };
        // If a label determines the output port, the destination is not looked up.
        let by_label = labels.is_some() && self.options.leaves.is_some();
        let (before, after): (&[Stage], &[Stage]) =
            labels.map_or((&[], &[]), |labels| (&labels.before, &labels.after));
        for way in ways.iter_mut().filter(|way| way.end.is_none()) {
            way.stages.extend_from_slice(before);
            way.stages.extend((!by_label).then(|| onward.stage.clone()));
            way.stages.extend_from_slice(after);
            if labels.is_some() {
                way.visible = VisibleHeader::Ip;
            }
        }
        match onward.to {
            Onto::Port(port) => {
                let next_hop = onward.next_hop().unwrap_or(destination);
                self.leave(ways, port, next_hop, MOST_TUNNELS)
            }
            Onto::Device => self.deliver(ways),
            Onto::Nowhere => {
                ways.iter_mut().filter(|way| way.end.is_none()).for_each(|way| way.drop(Cause::Route));
                Ok(ways)
            }
            Onto::Unknown => Ok(ways),
        }
    }

    /// Follows packets to the device itself.
    fn deliver(&mut self, ways: Vec<Way>) -> Result<Vec<Way>, ConfigError> {
        let mut ports = self.device.router.ports.iter();
        let control_plane = ports.find(|port| port.forwarding.role == PortRole::ControlPlane);
        let mut ways = match control_plane.filter(|_| self.options.own == OwnPackets::ControlPlane) {
            Some(port) => {
                self.cross(port);
                let side = PolicySide::control_plane(port);
                let ways = self.condition(ways, &side, None)?;
                self.queue(ways, &side)?
            }
            None => ways,
        };
        for way in &mut ways {
            if !matches!(way.end, Some(End::Dropped { .. })) {
                way.end = Some(End::Delivered);
            }
        }
        Ok(ways)
    }

    /// Follows packets through the output port `port` to a next hop or their destination.
    fn leave(
        &mut self,
        mut ways: Vec<Way>,
        port: &'a Port,
        next_hop: IpAddr,
        tunnels: usize,
    ) -> Result<Vec<Way>, ConfigError> {
        self.cross(port);
        let encapsulation = port.wire.headers.encapsulation();
        for way in ways.iter_mut().filter(|way| way.end.is_none()) {
            match self.options.labels {
                Some(labels) => {
                    labels.leaves.depart(&mut way.packet, encapsulation);
                    way.pushed_exp = way.packet.exp();
                    way.visible = labels.leaves.visible();
                }
                None => way.packet.depart(encapsulation),
            }
            way.leaves = Some(port.name.clone());
        }
        if tunnels == MOST_TUNNELS {
            ways = self.access_lists(ways, port, Direction::Output);
        } else {
            self.look_for_lists_below(port);
        }
        let side = PolicySide::output(port);
        if let Some(tunnel) = port.forwarding.tunnel.as_ref().filter(|_| tunnels > 0) {
            let has_policy = has_output(port);
            if has_policy {
                ways = self.condition(ways, &side, None)?;
                ways = self.queue(ways, &side)?;
            }
            return self.enter_tunnel(ways, (port, tunnel), next_hop, tunnels);
        }
        let encryption = port.forwarding.encryption.as_ref();
        if let Some(encryption) = encryption {
            self.encrypt(&mut ways, port, encryption);
        }
        let outer = |packet: &Packet| {
            let encryption =
                encryption.filter(|encryption| encryption.classified_by == ClassifiedHeader::Outer)?;
            encryption.encrypts.matches(&self.interfaces, packet).then(|| encrypted(packet, port, encryption))
        };
        let ways = self.condition(ways, &side, Some(&outer))?;
        self.queue(ways, &side)
    }

    /// Adds the outer header of a tunnel to packets, and follows the outer packets through the port below.
    fn enter_tunnel(
        &mut self,
        mut ways: Vec<Way>,
        (port, tunnel): (&'a Port, &Tunnel),
        next_hop: IpAddr,
        tunnels: usize,
    ) -> Result<Vec<Way>, ConfigError> {
        let vrf = tunnel.vrf.as_ref().map(|vrf| vrf.value.as_str());
        let source = self.source_of(tunnel);
        let map = self.tunnel_map(port, tunnel, next_hop);
        let destination = tunnel.destination.as_ref().map(|to| to.value).or(map.map(|map| map.outside));
        let onward = match destination {
            Some(destination) => self.below(vrf, destination, tunnel),
            None => self.below_source(port, tunnel),
        };
        let classified_by = match tunnel.classified_by {
            ClassifiedHeader::Outer => HeaderName::Outer,
            ClassifiedHeader::Inner(_) => HeaderName::Inner,
        };
        let lines = self.lines(lines_of(tunnel).into_iter().chain(map.map(|map| map.line)));
        if tunnel.protocol == ESP && !tunnel.headers.iter().any(|header| matches!(header, Header::Esp(_))) {
            self.look_for_length(&port.name);
        }
        for way in &mut ways {
            if !matches!(way.end, None | Some(End::Queued)) {
                continue;
            }
            way.end = None;
            let outer = outer_packet(&way.packet, tunnel, source, destination);
            way.stages.push(Stage::Encapsulation {
                interface: port.name.clone(),
                protocol: tunnel.protocol.0,
                packet: written(&outer),
                classified_by,
                lines: lines.clone(),
            });
            way.added_headers.push(AddedHeader { inner: way.packet, outer, classified_by });
            if classified_by == HeaderName::Outer {
                way.packet = outer;
            }
            way.stages.extend(onward.as_ref().map(|onward| onward.stage.clone()));
        }
        let below = onward.and_then(|onward| match onward.to {
            Onto::Port(below) if !std::ptr::eq(below, port) => Some(below),
            _ => None,
        });
        let Some(below) = below else {
            self.not_looked_at.insert(format!("the port below {}, which is not known", port.name));
            return Ok(ways);
        };
        let queues: Vec<Option<String>> = ways.iter().map(|way| way.queue.clone()).collect();
        let is_plain = !has_output(below) && queues.iter().any(Option::is_some);
        // The destination is unknown only if the tunnel has no mapping either. The placeholder is then never
        // looked up.
        let outer = destination.unwrap_or(Ipv4Addr::UNSPECIFIED.into());
        let mut ways = self.leave(ways, below, outer, tunnels - 1)?;
        if is_plain {
            // The queue of the tunnel's own policy has precedence over the FIFO of the port below.
            ways.iter_mut().zip(queues).for_each(|(way, queue)| way.queue = queue.or(way.queue.take()));
        }
        Ok(ways)
    }

    /// Returns the decision for the outer packets of a tunnel: the route to the outer destination, otherwise
    /// the port of the tunnel's source.
    fn below(&mut self, vrf: Option<&str>, destination: IpAddr, tunnel: &Tunnel) -> Option<Onward<'a>> {
        if let Decision::Leaves(exit) = self.table.decide(vrf, destination) {
            if exit.origin != Origin::Connected {
                self.look_for_protocols(destination);
            }
            return Some(self.by_route(destination, &exit));
        }
        let port = self.source_port(tunnel)?;
        self.assumed.insert(format!(
            "no route to {destination} is known: the tunnel's packets leave via {}, its source",
            port.name
        ));
        Some(Onward::without_route(RouteKind::Unknown, destination, port))
    }

    /// Returns the decision to use the port of a tunnel's source, because the configuration does not contain
    /// the outer destination.
    fn below_source(&mut self, port: &Port, tunnel: &Tunnel) -> Option<Onward<'a>> {
        let reason = match tunnel.ends {
            TunnelEnds::Several => "the device learns it at run time",
            TunnelEnds::One => "the configuration does not state it as an address",
        };
        self.not_looked_at.insert(format!("the outer destination of {}: {reason}", port.name));
        let below = self.source_port(tunnel)?;
        self.assumed.insert(format!("the packets of {} leave via {}, its source", port.name, below.name));
        Some(Onward::without_route(RouteKind::Unknown, Ipv4Addr::UNSPECIFIED.into(), below))
    }

    /// Records the output access lists of a port below a tunnel. Platforms differ in whether such lists
    /// filter packets that the device itself sends, including tunnel packets.
    fn look_for_lists_below(&mut self, port: &Port) {
        let groups = &port.forwarding.access_groups;
        for group in groups.iter().filter(|group| group.direction == Direction::Output) {
            let LineText { line, text } = self.line(group.line);
            self.not_looked_at.insert(format!(
                "line {line}, `{text}`: platforms differ in whether this access list filters the packets of a \
                 tunnel"
            ));
        }
    }

    /// Records that the length of packets that `name` encrypts does not include the overhead of the
    /// encryption.
    fn look_for_length(&mut self, name: &str) {
        self.not_looked_at.insert(format!(
            "the bytes that the encryption of {name} adds, which depend on the ciphers of both ends"
        ));
    }

    /// Adds the outer header to packets that a port encrypts. The packet of the path remains the inner
    /// packet.
    fn encrypt(&mut self, ways: &mut [Way], port: &Port, encryption: &Encryption) {
        for way in ways.iter_mut().filter(|way| way.end.is_none()) {
            if !encryption.encrypts.matches(&self.interfaces, &way.packet) {
                continue;
            }
            let (classified_by, asking) = match encryption.classified_by {
                ClassifiedHeader::Outer => (HeaderName::Outer, None),
                ClassifiedHeader::Inner(line) => (HeaderName::Inner, Some(line)),
            };
            let outer = encrypted(&way.packet, port, encryption);
            // The path keeps the inner packet, and the output policy marks it. The walk copies the codepoint
            // to the outer header.
            let inner = HeaderName::Inner;
            way.added_headers.push(AddedHeader { inner: way.packet, outer, classified_by: inner });
            way.stages.push(Stage::Encapsulation {
                interface: port.name.clone(),
                protocol: ESP.0,
                packet: written(&outer),
                classified_by,
                lines: self.lines(std::iter::once(encryption.line).chain(asking)),
            });
            self.look_for_length(&port.name);
        }
    }
}
