//! The port at which a packet arrives.

use perhop_device::{Port, PortRole};
use perhop_qos::Packet;

use super::{Stage, Tracer};
use crate::forwarding::{Decision, Exit, Origin};

impl<'a> Tracer<'a> {
    /// Returns the port on which a packet arrives: the port that the caller chooses, otherwise the port that
    /// leads to the source of the packet, otherwise the only port with an input policy.
    pub(super) fn entrance(&mut self, packet: &Packet) -> (Stage, Option<&'a Port>) {
        if let Some(port) = self.options.arrives {
            return self.by_port(port, "chosen".to_owned(), Vec::new());
        }
        let source = packet.source.to_ip();
        match self.back_to(source) {
            Some(Decision::Own { port, address }) => {
                let because =
                    format!("the device itself sends the packet: {source} is the address of {}", port.name);
                let lines = self.lines([address.line]);
                (Stage::Entrance { interface: None, because, lines }, None)
            }
            Some(Decision::Leaves(exit)) => {
                let because = way_back(&exit);
                if exit.port.forwarding.tunnel.is_some() {
                    self.not_looked_at.insert(format!(
                        "the port below {}, where the packet arrives with its outer header",
                        exit.port.name
                    ));
                }
                if exit.origin != Origin::Connected {
                    self.assumed.insert(format!("packets arrive on the port of the route to {source}"));
                }
                self.by_port(exit.port, because, exit.lines)
            }
            _ => self.by_policy(),
        }
    }

    /// Looks up a source address in all routing tables. The subnet of a port has precedence over a route.
    fn back_to(&self, source: std::net::IpAddr) -> Option<Decision<'a>> {
        let named = self.device.router.ports.iter().filter_map(|port| port.forwarding.vrf.as_ref());
        let mut tables: Vec<Option<&str>> = vec![None];
        tables.extend(named.map(|vrf| Some(vrf.value.as_str())));
        tables.dedup();
        let rank = |decision: &Decision| match decision {
            Decision::Own { .. } => Some(0),
            Decision::Leaves(exit) if exit.origin == Origin::Connected => Some(1),
            Decision::Leaves(_) => Some(2),
            Decision::Discarded(_) | Decision::Unknown(_) => None,
        };
        let found = tables.into_iter().map(|vrf| self.table.decide(vrf, source));
        found.filter(|decision| rank(decision).is_some()).min_by_key(rank)
    }

    fn by_policy(&mut self) -> (Stage, Option<&'a Port>) {
        let mut with_input = self.device.router.ports.iter().filter(|port| {
            let is_interface = port.forwarding.role == PortRole::Interface && !port.shutdown;
            is_interface && (port.conditions_input() || port.input_policy().is_some())
        });
        match (with_input.next(), with_input.next()) {
            (Some(port), None) => {
                let because = "the only interface with an input policy";
                self.assumed.insert(format!("packets arrive on {}, {because}", port.name));
                self.by_port(port, because.to_owned(), Vec::new())
            }
            (first, _) => {
                let because = match first {
                    Some(_) => "no route leads to its source, and several interfaces have an input policy",
                    None => "no route leads to its source, and no interface has an input policy",
                };
                self.assumed.insert("packets arrive on an interface without an input policy".to_owned());
                (Stage::Entrance { interface: None, because: because.to_owned(), lines: Vec::new() }, None)
            }
        }
    }

    fn by_port(&self, port: &'a Port, because: String, lines: Vec<usize>) -> (Stage, Option<&'a Port>) {
        let interface = Some(port.name.clone());
        (Stage::Entrance { interface, because, lines: self.lines(lines) }, Some(port))
    }
}

/// Returns the reason why the port that leads to the source of a packet was chosen.
fn way_back(exit: &Exit) -> String {
    let prefix = exit.prefix.as_deref().unwrap_or("its subnet");
    match exit.origin {
        Origin::Connected => format!("its source is in {prefix}"),
        Origin::Static | Origin::Given | Origin::Computed(_) => {
            format!("the route {prefix} leads to its source")
        }
    }
}
