//! The nodes on the path from a port to the queues of a unit.

use super::device::Findings;
use super::nodes::{Guarantees, Mode, Node, REMAINING};
use super::ports::LineOf;
use crate::cos::Attached;
use crate::interfaces::{Scheduling, Unit};
use crate::rules;

/// The name of the class that contains all queues.
const PORT: &str = "port";

impl LineOf<'_> {
    /// Returns the nodes of a port, from the outermost node to the node that contains the queues.
    pub(super) fn chain(
        &self,
        unit: &Unit,
        (physical, own): (&Attached, Option<&Attached>),
        findings: &mut Findings,
    ) -> Vec<Node> {
        let port = self.port_node(physical);
        let inside = port.shaping.unwrap_or(self.line_bits());
        if self.interface.scheduling == Scheduling::Port {
            if let Some(own) = own {
                self.note_units(own, findings);
            }
            return vec![port];
        }
        let nodes = own.map(|own| self.unit_nodes(unit, own, inside, findings)).unwrap_or_default();
        let rest = self.remaining(physical, inside).filter(|_| nodes.is_empty());
        [port].into_iter().chain(nodes).chain(rest).collect()
    }

    /// Returns the nodes of a unit below its port: the node of its set and its own node, if they exist.
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
                // A scheduler map of a unit needs a traffic-control profile (observed by S. van de Klundert,
                // 2015).
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
        let named = self
            .named_lines
            .get_or_init(|| self.device.cos.attachments.of_name(&self.interface.name).lines());
        let map = own.scheduler_map.as_ref().map(|at| at.line);
        // The commit refuses a scheduler map at a unit name without wildcards if the port has neither of the
        // two statements (observed by S. van de Klundert).
        if let Some(line) = map.filter(|line| named.contains(line))
            && self.interface.scheduling == Scheduling::Port
        {
            let message = format!("the units of {} have no schedulers of their own", self.interface.name);
            let router = "the commit fails: set `per-unit-scheduler` or `hierarchical-scheduler`";
            return findings.found(&rules::JUNOS_VALUE_INVALID, line, message, router);
        }
        let lines = [
            map,
            own.profile.as_ref().map(|at| at.line),
            own.shaping_rate.map(|at| at.line),
            own.shaping_burst.map(|at| at.line),
        ];
        let note = match self.interface.scheduling {
            Scheduling::Port => "schedulers of units need `per-unit-scheduler` or `hierarchical-scheduler`",
            _ => "with `hierarchical-scheduler` a unit needs a traffic-control profile",
        };
        for line in lines.into_iter().flatten() {
            let message = format!("{} does not use schedulers of units", self.interface.name);
            findings.found(&rules::JUNOS_WITHOUT_EFFECT, line, message, note);
        }
    }

    /// Returns the rate that the nodes under the port share, bits per second.
    pub(super) fn inside(&self, physical: &Attached) -> u64 {
        self.port_node(physical).shaping.unwrap_or(self.line_bits())
    }

    /// Scales the guarantees of the nodes in `chain`, and returns the mode of the nodes under the port.
    ///
    /// Junos CoS User Guide, "Providing a Guaranteed Minimum Rate": if any node below the port has a
    /// guarantee, all its nodes share by guarantees. Guarantees are scaled down if their sum exceeds the rate
    /// of the parent.
    pub(super) fn scale_guarantees(&self, physical: &Attached, chain: &mut [Node]) -> Mode {
        let mut rate = self.inside(physical);
        let all = self.nodes.get_or_init(|| Guarantees::new(&self.all_nodes(physical, rate)));
        if !all.has_any {
            return Mode::Peak;
        }
        let mut path: Vec<String> = Vec::new();
        for node in chain.iter_mut().filter(|node| !node.is_port) {
            let sum = all.sums.get(&path).copied().unwrap_or(0);
            let whole = u128::from(rate);
            let scaled = |bits: u64| (u128::from(bits) * whole / sum.max(whole).max(1)) as u64;
            node.scaled = node.guaranteed.map(scaled);
            rate = node.shaping.unwrap_or(rate);
            path.push(node.name.clone());
        }
        Mode::Committed
    }

    /// Returns the nodes of every unit under the port.
    fn all_nodes(&self, physical: &Attached, inside: u64) -> Vec<Vec<Node>> {
        let mut quiet = Findings::default();
        let attachments = &self.device.cos.attachments;
        let units = self.interface.units.iter().map(|unit| {
            let own = attachments.applied(&self.interface.name, Some(&unit.number));
            self.unit_nodes(unit, &own, inside, &mut quiet)
        });
        units.chain([self.remaining(physical, inside).into_iter().collect()]).collect()
    }

    fn port_node(&self, physical: &Attached) -> Node {
        let profile = physical.profile.as_ref().and_then(|at| self.device.cos.profiles.get(&at.value));
        Node::from_attachments(PORT, physical, profile, self.line_bits()).into_port()
    }

    /// Returns the node of the units without their own node.
    fn remaining(&self, physical: &Attached, inside: u64) -> Option<Node> {
        let profile = self.device.cos.profiles.get(&physical.remaining.as_ref()?.value)?;
        let rest = Attached { profile: None, ..physical.clone() };
        Some(Node::from_attachments(REMAINING, &rest, Some(profile), inside))
    }
}
