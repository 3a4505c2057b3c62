//! Applies the vendor-neutral rules (`perhop_lint`), and reports source lines.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::intent::Action;
use perhop_device::lower::{Links, ResolvedPolicy};
use perhop_device::{Port, PortRole};
use perhop_lint::{Diagnostic, Finding, Place, Subject, all_nqb, check_nqb, names_nqb};
use perhop_qos::Rate;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::ring::RingConfig;

use crate::ast::Then;
use crate::convert::context::Context;
use crate::convert::ports::ConvertedPort;

impl Context<'_> {
    /// Reports the findings of the rules for the policies of `ports`.
    pub(in crate::convert) fn policy_rules(&mut self, ports: &[ConvertedPort]) {
        let mut known = BTreeSet::new();
        // NQB traffic is assumed if the router's configuration contains the NQB codepoint.
        let policies = ports.iter().flat_map(|port| [&port.port.input, &port.port.output]);
        let nqb: Vec<MatchConfig> = policies.into_iter().any(names_nqb).then(all_nqb).into_iter().collect();
        let names: Vec<String> = ports.iter().map(|port| port.port.interface.clone()).collect();
        for ConvertedPort { port, input, output } in ports {
            let wire = known_wire(port);
            // The policers of the control plane act in front of the queue to the processor, so they belong to
            // the output of this port.
            let (arriving, links) = match port.forwarding.role {
                PortRole::ControlPlane => (&port.output, &port.links.output),
                PortRole::Interface => (&port.input, &port.links.input),
            };
            for (resolved, config, links, wire) in
                [(input, arriving, links, None), (output, &port.output, &port.links.output, wire.as_ref())]
            {
                let Some(resolved) = resolved else {
                    self.found.extend(in_limiters(port, config, links));
                    continue;
                };
                let attached = Attached { port, resolved, config, links };
                // A policy on several interfaces with the same rate has the same faults on each of them, so
                // it is checked once.
                let wire_rate = wire.map(|wire| wire.rate);
                let queues = config.queueing.is_some();
                if known.insert((resolved.name.clone(), resolved.rate_bps, wire_rate, queues)) {
                    self.found.extend(in_policy(attached, wire));
                    let of_nqb = check_nqb(config, &names, &nqb);
                    self.found.extend(of_nqb.into_iter().map(|finding| attached.diagnostic(finding)));
                }
            }
        }
    }
}

/// A policy of a port.
#[derive(Clone, Copy)]
struct Attached<'a> {
    port: &'a Port,
    resolved: &'a ResolvedPolicy,
    config: &'a PolicyConfig,
    links: &'a Links,
}

impl Attached<'_> {
    /// Converts a finding to a diagnostic of its source line.
    fn diagnostic(self, finding: Finding) -> Diagnostic {
        let line = self.line_of(&finding.place).unwrap_or(self.resolved.line);
        let message = format!("{}, on {}", finding.message, self.port.name);
        Diagnostic::new(finding.rule, line, message, finding.remedy)
    }

    /// Returns the source line of `place` in the policy.
    fn line_of(self, place: &Place) -> Option<usize> {
        let class = match place {
            Place::Policy => None,
            Place::Conditioner(index) => return line_of_conditioner(self.links, *index),
            Place::Class(path) => {
                // A class with a nested policy has no queue of its own. A finding about the queues of the
                // nested policy is reported at this class.
                self.links.class_of_queue(path).or_else(|| self.links.class_around_queues(path))
            }
        };
        class.map(|class| class.line).filter(|line| *line > 0)
    }
}

/// Returns the findings on the limiters of a port that has no policy in this direction.
fn in_limiters(port: &Port, config: &PolicyConfig, links: &Links) -> Vec<Diagnostic> {
    let limits = BTreeMap::new();
    let subject = Subject { policy: config, rate: None, wire: None, limits: &limits, interfaces: &[] };
    let found = perhop_lint::check_sharing(&subject).into_iter().filter_map(|finding| {
        let Place::Conditioner(index) = finding.place else { return None };
        let line = line_of_conditioner(links, index)?;
        let message = format!("{}, on {}", finding.message, port.name);
        Some(Diagnostic::new(finding.rule, line, message, finding.remedy))
    });
    found.collect()
}

/// Returns the source line of the class or the limiter from which a conditioner was converted.
fn line_of_conditioner(links: &Links, index: usize) -> Option<usize> {
    let class = links.class_of_conditioner(index).map(|class| class.line);
    let line = class.or_else(|| links.lines_of_conditioner(index).first().copied());
    line.filter(|line| *line > 0)
}

fn in_policy(attached: Attached, wire: Option<&WireConfig>) -> Vec<Diagnostic> {
    let port = attached.port;
    let reference = attached.resolved.rate_bps;
    let reference = (reference > 0 && port.has_known_line).then(|| Rate::from_bits_per_second(reference));
    // Percentages of a dialer refer to its default bandwidth, 56 kb/s, which does not limit its packets.
    let dialed = port.wire.rate.filter(|_| port.interface.starts_with("Dialer"));
    let rate = dialed.or(reference);
    let mut limits = BTreeMap::new();
    collect_policed_rates(attached.resolved, &mut limits);
    let subject = Subject { policy: attached.config, rate, wire, limits: &limits, interfaces: &[] };
    let found = perhop_lint::check_sharing(&subject).into_iter();
    // If the queue limits of the port are unknown, the policy has a router's default limits, which are not
    // compared.
    let is_known =
        |finding: &Finding| port.unmodeled_queues.is_none() || !OF_QUEUE_LIMITS.contains(&finding.rule.id);
    found.filter(is_known).map(|finding| attached.diagnostic(finding)).collect()
}

/// The rules that compare values with the limit of a queue.
const OF_QUEUE_LIMITS: [&str; 3] = [
    perhop_lint::rules::WRED_MAX_ABOVE_LIMIT.id,
    perhop_lint::rules::WRED_AVERAGE_SLOW.id,
    perhop_lint::rules::QUEUE_DELAY.id,
];

/// Returns the wire if its framing is known and its rate is known or assumed.
fn known_wire(port: &Port) -> Option<WireConfig> {
    let wire = &port.wire;
    Some(WireConfig {
        rate: wire.rate.or(port.assumed_rate)?,
        framing: wire.framing?,
        headers: wire.headers,
        ring: wire.ring.unwrap_or(RingConfig::Packets(1)),
    })
}

/// Collects the rates to which policers limit the packets of queues, bits per second.
fn collect_policed_rates(policy: &ResolvedPolicy, limits: &mut BTreeMap<String, Rate>) {
    for class in &policy.classes {
        if let (Some(queue), Some(police)) = (&class.queue, &class.police) {
            let drops = |actions: &Vec<Action>| actions.iter().any(|action| action.then == Then::Drop);
            if drops(&police.exceed) || drops(&police.violate) {
                let rate = police.pir_bps.filter(|_| !drops(&police.exceed)).unwrap_or(police.cir_bps);
                limits.insert(queue.clone(), Rate::from_bits_per_second(rate));
            }
        }
        class.policy.iter().for_each(|inner| collect_policed_rates(inner, limits));
    }
}
