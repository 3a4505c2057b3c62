//! [`LabelPlan`]: the treatment of a packet with labels in a device, and the labels that a device adds.
//!
//! ```text
//! IP packet → route → route has a FEC with a label → impose (RFC 3031 §3.10)
//! label at the top: of a FEC → swap, or pop at the last router but one (RFC 3031 §3.16)
//!                   explicit null, of a VRF → pop, and look up the next label or the IP header
//! ```

use std::net::IpAddr;

use perhop_device::{Route, RouteOrigin};
use perhop_qos::classifier::Prefix;

use super::labels::{AtDevice, Label, Meaning, NextLabel, TowardFec};
use super::{PortId, Snapshot, WalkEnd};
use crate::forwarding::Decision;
use crate::trace::{LabelOperation, LabelSwitching, LeavingLabels, LineText, RouteKind, Stage, TableChoice};

/// The treatment of the labels of a packet in a device.
#[derive(Debug, Default)]
pub(super) struct LabelPlan {
    pub(super) switching: LabelSwitching,
    /// The number of labels, from the bottom, that the device does not remove.
    pub(super) kept: usize,
    /// The labels that the device adds on top of the kept labels, from the bottom.
    pub(super) pushed: Vec<Meaning>,
    /// The port through which the packet leaves and the port on which it arrives next, if labels determine
    /// them.
    pub(super) onward: Option<(PortId, PortId)>,
    /// The assumptions of the plan.
    pub(super) assumed: Vec<String>,
}

/// The labels that a device adds to an IP packet.
pub(super) enum Imposition {
    /// No labels: the route leads to a neighbor without LDP, or to a host.
    None,
    /// Labels, or the reason why the device adds none.
    Plan(Box<LabelPlan>),
    /// The packet cannot be forwarded with the required labels.
    Ends(WalkEnd),
}

impl Snapshot<'_> {
    /// Returns the treatment of the labels of a packet at a device; `None` if the packet has no labels and
    /// the device adds none.
    ///
    /// # Errors
    /// The path of the packet ends at this device.
    pub(super) fn label_plan(&self, at: AtDevice) -> Result<Option<LabelPlan>, WalkEnd> {
        let AtDevice { device, vrf, packet, labels } = at;
        let destination = packet.destination.to_ip();
        let mut removed = Vec::new();
        let mut table = vrf.map(str::to_owned);
        let mut kept = labels.len();
        while let Some(top) = kept.checked_sub(1).map(|place| &labels[place]) {
            match &top.meaning {
                Meaning::Destination(fec) if self.own_fec(device, *fec).is_none() => {
                    return self.switched(at, kept, removed, *fec).map(Some);
                }
                Meaning::Destination(_) | Meaning::ExplicitNull => {}
                Meaning::Vpn { vrf, .. } => table = Some(vrf.clone()),
            }
            kept -= 1;
            removed.push(self.popped(&top.meaning, &labels[..kept]));
        }
        let decision = self.devices[device].device.table().decide(table.as_deref(), destination);
        let imposed = match self.imposition(device, table.as_deref(), &decision, destination) {
            Imposition::Ends(end) => return Err(end),
            Imposition::None => None,
            Imposition::Plan(plan) => Some(*plan),
        };
        if labels.is_empty() {
            return Ok(imposed);
        }
        let mut plan = imposed.unwrap_or_default();
        removed.append(&mut plan.switching.before);
        plan.switching.before = removed;
        plan.switching.arrives_labeled = true;
        plan.switching.table = TableChoice::OfLabel(table);
        Ok(Some(plan))
    }

    /// Returns the stage that removes a label.
    fn popped(&self, meaning: &Meaning, below: &[Label]) -> Stage {
        let because = match meaning {
            Meaning::ExplicitNull => "explicit null: the next header determines the path".to_owned(),
            Meaning::Vpn { vrf, .. } => format!("the label of the VRF {vrf}"),
            Meaning::Destination(fec) => format!("{fec} is an address of the device"),
        };
        let labels = self.texts(below.iter().rev().map(|label| &label.meaning));
        Stage::Labels { operation: LabelOperation::Pop, labels, because, lines: Vec::new() }
    }

    /// Returns the plan for a packet whose top label belongs to a FEC.
    fn switched(
        &self,
        at: AtDevice,
        kept: usize,
        mut before: Vec<Stage>,
        fec: Prefix,
    ) -> Result<LabelPlan, WalkEnd> {
        let AtDevice { device, labels, .. } = at;
        let below = &labels[..kept - 1];
        let Some(TowardFec { leaves, next, label }) = self.toward_fec(device, fec) else {
            return Err(self.stop(device, None, format!("no route to {fec} leads to a known router")));
        };
        let next_name = &self.devices[next.device].name;
        let (operation, pushed, because) = match label {
            NextLabel::Some(meaning) => {
                let because = match meaning {
                    Meaning::ExplicitNull => {
                        format!("{next_name} requests packets to {fec} with explicit null")
                    }
                    _ => format!("the label of {next_name} for {fec}"),
                };
                (LabelOperation::Swap, vec![meaning], because)
            }
            NextLabel::Penultimate => {
                let because = format!("{next_name} is the last router for {fec} (implicit null)");
                (LabelOperation::Pop, Vec::new(), because)
            }
            NextLabel::Missing(reason) if below.is_empty() => (
                LabelOperation::Unlabeled,
                Vec::new(),
                format!("no label to {next_name} for {fec}: {reason}"),
            ),
            // Without a label for the FEC, the next router would use the label below as its own label.
            NextLabel::Missing(reason) => {
                let because = format!(
                    "the label switched path to {fec} ends before the last router ({reason}), and the packet \
                     has a further label"
                );
                return Err(self.stop(device, None, because));
            }
        };
        let leaving = match (pushed.is_empty(), below.last()) {
            (false, _) => LeavingLabels::New,
            (true, Some(exposed)) => LeavingLabels::Exposed(exposed.exp),
            (true, None) => LeavingLabels::None,
        };
        let mut texts = self.texts(&pushed);
        texts.extend(self.texts(below.iter().rev().map(|label| &label.meaning)));
        before.push(Stage::Labels { operation, labels: texts, because, lines: self.stage_lines(leaves) });
        let switching =
            LabelSwitching { arrives_labeled: true, before, leaves: leaving, ..LabelSwitching::default() };
        let onward = Some((leaves, next));
        let assumed = self.without_filters(next.device, fec);
        Ok(LabelPlan { switching, kept: kept - 1, pushed, onward, assumed })
    }

    /// Returns the labels that a device adds to an IP packet after the forwarding decision `decision`.
    pub(super) fn imposition(
        &self,
        device: usize,
        vrf: Option<&str>,
        decision: &Decision,
        destination: IpAddr,
    ) -> Imposition {
        match vrf {
            Some(vrf) => self.vpn_imposition(device, vrf, decision, destination),
            None => self.global_imposition(device, decision),
        }
    }

    fn global_imposition(&self, device: usize, decision: &Decision) -> Imposition {
        let Decision::Leaves(exit) = decision else { return Imposition::None };
        if exit.port.forwarding.ldp.is_none() {
            return Imposition::None;
        }
        let Some(fec) = self.fec_of(device, decision) else { return Imposition::None };
        let Some(toward) = self.toward_fec(device, fec) else { return Imposition::None };
        let next_name = &self.devices[toward.next.device].name;
        let (operation, pushed, because) = match toward.label {
            NextLabel::Penultimate => return Imposition::None,
            NextLabel::Some(meaning) => {
                (LabelOperation::Impose, vec![meaning], format!("the label of {next_name} for {fec}"))
            }
            NextLabel::Missing(reason) => (
                LabelOperation::Unlabeled,
                Vec::new(),
                format!("no label to {next_name} for {fec}: {reason}"),
            ),
        };
        let leaves = if pushed.is_empty() { LeavingLabels::None } else { LeavingLabels::New };
        let lines = self.stage_lines(toward.leaves);
        let after = vec![Stage::Labels { operation, labels: self.texts(&pushed), because, lines }];
        let switching = LabelSwitching { after, leaves, ..LabelSwitching::default() };
        let assumed = self.without_filters(toward.next.device, fec);
        Imposition::Plan(Box::new(LabelPlan { switching, pushed, assumed, ..LabelPlan::default() }))
    }

    /// Returns the labels of a packet whose VRF route has a next hop in the global table (RFC 4364 §4.3.2).
    fn vpn_imposition(
        &self,
        device: usize,
        vrf: &str,
        decision: &Decision,
        destination: IpAddr,
    ) -> Imposition {
        let given = self.devices[device].device.table().given;
        let Some((route, next_hop)) = given.far_route(Some(vrf), destination) else {
            return Imposition::None;
        };
        let length = route.prefix.length();
        let is_best = match decision {
            Decision::Unknown(other) => other.is_none_or(|other| other.prefix.length() <= length),
            Decision::Leaves(exit) => {
                let own: Option<Prefix> = exit.prefix.as_ref().and_then(|prefix| prefix.parse().ok());
                own.is_some_and(|own| own.length() < length)
            }
            Decision::Own { .. } | Decision::Discarded(_) => false,
        };
        if !is_best {
            return Imposition::None;
        }
        self.vpn_route((device, vrf), route, next_hop, destination)
            .unwrap_or_else(|because| Imposition::Ends(self.stop(device, Some(vrf), because)))
    }

    fn vpn_route(
        &self,
        (device, vrf): (usize, &str),
        route: &Route,
        next_hop: IpAddr,
        destination: IpAddr,
    ) -> Result<Imposition, String> {
        let prefix = route.prefix;
        let behind = format!("{prefix} in the VRF {vrf} is behind {next_hop}");
        let far = self.owner(next_hop).ok_or_else(|| format!("{behind}, an address of no device"))?;
        let far_name = &self.devices[far.device].name;
        let (fec, toward) = self.toward_next_hop(device, next_hop).ok_or_else(|| {
            format!("{behind} of {far_name}, and no route to it over a link is known in the global table")
        })?;
        let (vpn, mut assumed) = match self.vpn_routes.get(&(device, vrf.to_owned(), prefix)) {
            Some(computed) if route.origin == RouteOrigin::Vpn => {
                let (device, vrf) = (computed.device, computed.vrf.clone());
                (Meaning::Vpn { device, vrf }, vec![computed.because.clone()])
            }
            _ => {
                let (own, assumed) = self.vrf_behind(far.device, vrf, destination)?;
                (Meaning::Vpn { device: far.device, vrf: own }, assumed)
            }
        };
        let mut pushed = vec![vpn];
        match toward.label {
            NextLabel::Some(meaning) => pushed.push(meaning),
            NextLabel::Penultimate => {}
            NextLabel::Missing(reason) => {
                return Err(format!("{behind} of {far_name}, and there is no label for {fec}: {reason}"));
            }
        }
        let forwarding = Stage::Forwarding {
            destination,
            route: if route.origin == RouteOrigin::Vpn { RouteKind::Vpn } else { RouteKind::Given },
            prefix: Some(prefix.to_string()),
            next_hop: Some(next_hop),
            interface: Some(self.port(toward.leaves).name.clone()),
            lines: Vec::new(),
        };
        assumed.extend(self.without_filters(toward.next.device, fec));
        let next_name = &self.devices[toward.next.device].name;
        let impose = Stage::Labels {
            operation: LabelOperation::Impose,
            labels: self.texts(pushed.iter().rev()),
            because: format!("{behind} of {far_name}, to which {next_name} leads"),
            lines: self.stage_lines(toward.leaves),
        };
        let switching = LabelSwitching {
            before: vec![forwarding, impose],
            leaves: LeavingLabels::New,
            ..LabelSwitching::default()
        };
        let onward = Some((toward.leaves, toward.next));
        let plan = LabelPlan { switching, pushed, onward, assumed, ..LabelPlan::default() };
        Ok(Imposition::Plan(Box::new(plan)))
    }

    /// Returns the VRF of a provider edge router to which the label of a VPN route leads, with the assumption
    /// of this choice. Routes from the user do not contain labels, so the VRF is inferred.
    fn vrf_behind(
        &self,
        device: usize,
        vrf: &str,
        destination: IpAddr,
    ) -> Result<(String, Vec<String>), String> {
        let name = &self.devices[device].name;
        let table = self.devices[device].device.table();
        let ports = &self.router(device).ports;
        let mut tables: Vec<&str> = ports
            .iter()
            .filter_map(|port| port.forwarding.vrf.as_ref())
            .map(|at| at.value.as_str())
            .collect();
        tables.sort_unstable();
        tables.dedup();
        let has_route = |own: &&str| {
            matches!(table.decide(Some(own), destination), Decision::Own { .. } | Decision::Leaves(_))
        };
        let with_route: Vec<&str> = tables.iter().copied().filter(has_route).collect();
        let assume = |own: &str, because: &str| {
            let text = format!("{name}: the label of the VPN leads to the VRF {own}, {because}");
            Ok((own.to_owned(), vec![text]))
        };
        match with_route.as_slice() {
            [] => Err(format!(
                "no VRF of {name} has a route to {destination}; write its routes, such as `vrf {vrf} \
                 {destination}/32 = …`"
            )),
            several if several.contains(&vrf) => assume(vrf, "which has the same name and a route"),
            [only] => assume(only, "the only VRF with a route"),
            _ => Err(format!("several VRFs of {name} have a route to {destination}")),
        }
    }

    /// Returns the assumption that the label filters of a device do not affect its label for a FEC.
    fn without_filters(&self, device: usize, fec: Prefix) -> Vec<String> {
        let member = &self.devices[device];
        let lines = self.router(device).forwarding.labels.not_computed.iter();
        let text = |line: &usize| {
            let text = member.device.line_text(*line);
            format!("line {line} of {}, `{text}`, does not change the label for {fec}", member.name)
        };
        lines.map(text).collect()
    }

    fn texts<'m>(&self, meanings: impl IntoIterator<Item = &'m Meaning>) -> Vec<String> {
        meanings.into_iter().map(|meaning| self.label_text(meaning)).collect()
    }

    fn stage_lines(&self, port: PortId) -> Vec<LineText> {
        self.ldp_line(port).into_iter().collect()
    }
}
