//! What is asked of every policy (`perhop_lint`), said of the lines that the policy came from.

use std::collections::{BTreeMap, BTreeSet};

use perhop_lint::{Diagnostic, Finding, Place, Subject, all_nqb, check_nqb, names_nqb};
use perhop_qos::Rate;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig, WireConfig};
use perhop_qos::ring::RingConfig;

use super::resolved::{ResolvedClass, ResolvedPolicy};
use super::{Context, Port, Wire};
use crate::ast::Then;

impl Context<'_> {
    /// Says what rules find in the policies of `ports`.
    pub(super) fn policy_rules(&mut self, ports: &[Port]) {
        let mut known = BTreeSet::new();
        // What the router itself names is taken to come.
        let policies = ports.iter().flat_map(|port| [&port.input, &port.output]);
        let nqb: Vec<MatchConfig> = policies.into_iter().any(names_nqb).then(all_nqb).into_iter().collect();
        let names: Vec<String> = ports.iter().map(|port| port.interface.clone()).collect();
        for port in ports {
            let wire = whole(&port.wire);
            for (resolved, config, wire) in [
                (&port.policies.input, &port.input, None),
                (&port.policies.output, &port.output, wire.as_ref()),
            ] {
                let Some(resolved) = resolved else { continue };
                // The same policy on a thousand interfaces of one rate has the same faults.
                let wire_rate = wire.map(|wire| wire.rate);
                let queues = config.queueing.is_some();
                if known.insert((resolved.name.clone(), resolved.rate_bps, wire_rate, queues)) {
                    self.found.extend(in_policy(port, resolved, config, wire));
                    let of_nqb = check_nqb(config, &names, &nqb);
                    self.found.extend(of_nqb.into_iter().map(|one| said(port, resolved, config, one)));
                }
            }
        }
    }
}

fn in_policy(
    port: &Port,
    resolved: &ResolvedPolicy,
    config: &PolicyConfig,
    wire: Option<&WireConfig>,
) -> Vec<Diagnostic> {
    let rate = resolved.rate_bps;
    let rate = (rate > 0 && port.has_known_line).then(|| Rate::from_bits_per_second(rate));
    let mut limits = BTreeMap::new();
    held(resolved, &mut limits);
    let subject = Subject { policy: config, rate, wire, limits: &limits, interfaces: &[] };
    let found = perhop_lint::check_sharing(&subject).into_iter();
    found.map(|finding| said(port, resolved, config, finding)).collect()
}

/// A finding, said of the line that it comes from.
fn said(port: &Port, resolved: &ResolvedPolicy, config: &PolicyConfig, finding: Finding) -> Diagnostic {
    let line = line_of(resolved, config, &finding.place).unwrap_or(resolved.line);
    let message = format!("{}, on {}", finding.message, port.name);
    Diagnostic::new(finding.rule, line, message, finding.remedy)
}

/// The wire where the configuration says all of it.
fn whole(wire: &Wire) -> Option<WireConfig> {
    Some(WireConfig {
        rate: wire.rate?,
        framing: wire.framing?,
        headers: wire.headers,
        ring: wire.ring.unwrap_or(RingConfig::Packets(1)),
    })
}

/// Bits per second to which policers hold the packets of queues.
fn held(policy: &ResolvedPolicy, limits: &mut BTreeMap<String, Rate>) {
    for class in &policy.classes {
        if let (Some(queue), Some(police)) = (&class.queue, &class.police) {
            let drops = |actions: &Vec<crate::ast::Action>| actions.iter().any(|one| one.then == Then::Drop);
            if drops(&police.exceed) || drops(&police.violate) {
                let rate = police.pir_bps.filter(|_| !drops(&police.exceed)).unwrap_or(police.cir_bps);
                limits.insert(queue.clone(), Rate::from_bits_per_second(rate));
            }
        }
        class.policy.iter().for_each(|inner| held(inner, limits));
    }
}

/// The line that a part of a policy comes from.
fn line_of(resolved: &ResolvedPolicy, config: &PolicyConfig, place: &Place) -> Option<usize> {
    let line = match place {
        Place::Policy => return None,
        Place::Conditioner(index) => {
            let name = config.conditioners.get(*index)?.name.as_ref()?;
            class(resolved, &|class| class.conditioner.as_ref() == Some(name))?.line
        }
        Place::Class(path) => {
            let name = queue_name(config.queueing.as_ref()?, path)?;
            let inside = format!("{name}/");
            let leaf = class(resolved, &|class| class.queue.as_ref() == Some(&name));
            // A class around others has no queue: the last around one of them.
            let within = || {
                let holds = |class: &ResolvedClass| {
                    class.policy.as_ref().is_some_and(|inner| {
                        self::class(inner, &|class| {
                            class.queue.as_ref().is_some_and(|queue| queue.starts_with(&inside))
                        })
                        .is_some()
                    })
                };
                class(resolved, &holds)
            };
            leaf.or_else(within)?.line
        }
    };
    (line > 0).then_some(line)
}

/// The first class that `is` one, from the outermost in.
fn class<'a>(policy: &'a ResolvedPolicy, is: &dyn Fn(&ResolvedClass) -> bool) -> Option<&'a ResolvedClass> {
    let own = policy.classes.iter().find(|class| is(class));
    own.or_else(|| {
        let inner = policy.classes.iter().filter_map(|class| class.policy.as_ref());
        inner.into_iter().find_map(|inner| self::class(inner, is))
    })
}

/// The names of the classes on the way to one, joined as in results.
fn queue_name(queueing: &QueueingConfig, path: &[usize]) -> Option<String> {
    let class = queueing.classes.get(*path.first()?)?;
    match path {
        [_] => Some(class.name.clone()),
        _ => Some(format!("{}/{}", class.name, queue_name(class.queueing.as_ref()?, &path[1..])?)),
    }
}
