//! The nodes on the way from a port to the queues of a unit.

use super::device::Findings;
use super::nodes::{Mode, Node};
use super::ports::LineOf;
use crate::cos::Attached;
use crate::interfaces::{Scheduling, Unit};

/// The name of the class around all queues.
const PORT: &str = "port";

impl LineOf<'_> {
    /// Returns the nodes of a port from the outermost one to that of the queues.
    pub(super) fn chain(
        &self,
        unit: &Unit,
        (physical, own): (&Attached, Option<&Attached>),
        findings: &mut Findings,
    ) -> Vec<Node> {
        let profile = physical.profile.as_ref().and_then(|at| self.device.cos.profiles.get(&at.value));
        let line = self.line_bits();
        let port = Node::from_attachments(PORT, physical, profile, line).into_port();
        let inside = port.shaping.unwrap_or(line);
        if self.interface.scheduling == Scheduling::Port {
            if let Some(own) = own {
                self.note_units(own, findings);
            }
            return vec![port];
        }
        let nodes = own.map(|own| self.unit_nodes(unit, own, inside, findings)).unwrap_or_default();
        let remaining = physical.remaining.as_ref().and_then(|at| self.device.cos.profiles.get(&at.value));
        let rest = Attached { profile: None, ..physical.clone() };
        let rest =
            remaining.map(|profile| vec![Node::from_attachments("remaining", &rest, Some(profile), inside)]);
        let nodes = if nodes.is_empty() { rest.unwrap_or_default() } else { nodes };
        [port].into_iter().chain(nodes).collect()
    }

    /// Returns the nodes of a unit under its port: that of its set, and its own; none for a unit without.
    fn unit_nodes(&self, unit: &Unit, own: &Attached, rate: u64, findings: &mut Findings) -> Vec<Node> {
        let profiles = &self.device.cos.profiles;
        let profile = |attached: &Attached| attached.profile.as_ref().and_then(|at| profiles.get(&at.value));
        let set = unit.set.as_ref().and_then(|name| {
            let attached = self.device.cos.attachments.of_set(name)?;
            Some(Node::from_attachments(name, attached, profile(attached), rate))
        });
        let rate = set.as_ref().and_then(|set| set.shaping).unwrap_or(rate);
        let name = format!("unit {}", unit.number);
        let is_queued = own.scheduler_map.is_some() || own.shaping_rate.is_some();
        let node = match (profile(own), self.interface.scheduling) {
            (Some(profile), _) => Some(Node::from_attachments(&name, own, Some(profile), rate)),
            (None, Scheduling::Units) if is_queued => Some(Node::from_attachments(&name, own, None, rate)),
            (None, _) => {
                // The map of a unit needs a traffic-control profile (observed by S. van de Klundert, 2015).
                self.note_units(own, findings);
                None
            }
        };
        let Some(node) = node else {
            return set.into_iter().filter(|set| set.scheduler_map.is_some()).collect();
        };
        set.into_iter().chain([node]).collect()
    }

    /// Reports schedulers of a unit that the device does not use.
    fn note_units(&self, own: &Attached, findings: &mut Findings) {
        let lines = [
            own.scheduler_map.as_ref().map(|at| at.line),
            own.profile.as_ref().map(|at| at.line),
            own.shaping_rate.map(|at| at.line),
            own.shaping_burst.map(|at| at.line),
        ];
        let note = match self.interface.scheduling {
            Scheduling::Port => "schedulers of units need `per-unit-scheduler` or `hierarchical-scheduler`",
            _ => "with `hierarchical-scheduler` a unit needs a traffic-control profile",
        };
        for line in lines.into_iter().flatten() {
            findings.suspicious(line, note);
        }
    }

    /// Returns the mode of the nodes under the port.
    pub(super) fn mode(&self) -> Mode {
        let mut quiet = Findings::default();
        let attachments = &self.device.cos.attachments;
        let mut outermost: Vec<Node> = Vec::new();
        for unit in &self.interface.units {
            let own = attachments.applied(&self.interface.name, Some(&unit.number));
            let mut nodes = self.unit_nodes(unit, &own, self.line_bits(), &mut quiet).into_iter();
            let is_new = |node: &Node| !outermost.iter().any(|known| known.name == node.name);
            outermost.extend(nodes.next().filter(is_new));
        }
        Mode::of_nodes(outermost.iter(), self.line_bits())
    }
}
