//! Policies and lines that the router refuses, by release.

use perhop_device::intent::Policy;
use perhop_device::lower::{GuaranteeTotal, Reference, guarantee_total};
use perhop_device::profile::{Acceptance, GuaranteeSum, Heeded, SubinterfaceQueues};
use perhop_lint::Diagnostic;

use crate::ast::{
    AtmService, Bandwidth, CLASS_DEFAULT, Hardware, HardwareProfile, Interface, PolicyClass, PolicyMap,
    PriorityRate,
};
use crate::convert::context::Context;
use crate::convert::wire::Circuit;
use crate::grammar::Grammar;
use crate::nexus;
use crate::rules;

/// An output policy, the line that attaches the policy, its Intent, and the rates that its percentages refer
/// to.
#[derive(Clone, Copy)]
pub(in crate::convert) struct Attachment<'a> {
    pub(in crate::convert) policy: &'a PolicyMap,
    pub(in crate::convert) line: usize,
    pub(in crate::convert) intent: &'a Policy,
    pub(in crate::convert) reference: Reference,
}

impl Context<'_> {
    /// Whether the router accepts the output policy on `circuit`.
    pub(in crate::convert) fn may_be_attached(
        &mut self,
        interface: &Interface,
        circuit: &Circuit,
        attachment: Attachment,
    ) -> bool {
        let refusal = self
            .without_guaranteed_rate(circuit, attachment)
            .or_else(|| self.above_reservable(attachment))
            .or_else(|| self.without_shaper(interface, attachment))
            .or_else(|| self.refused_by_nexus(interface))
            .or_else(|| self.refused_output(interface, attachment.policy, attachment.line));
        let inside = self.refused_inside(attachment.policy, 0);
        let is_attached = refusal.is_none() && inside.is_empty();
        self.found.extend(refusal.into_iter().chain(inside));
        if is_attached {
            self.early_drops(attachment.policy, 0);
        }
        is_attached
    }

    /// Returns the reason why a Nexus switch refuses the queuing policy of `interface`.
    fn refused_by_nexus(&self, interface: &Interface) -> Option<Diagnostic> {
        if self.configuration.grammar != Grammar::NxOs {
            return None;
        }
        let model = nexus::Model::find(self.configuration, self.platform.memory.model.as_deref()).ok()?;
        nexus::refused(self.configuration, interface, &model)
    }

    /// Returns the classes with a defined class-map.
    pub(super) fn known<'a>(&self, policy: &'a PolicyMap) -> Vec<&'a PolicyClass> {
        let is_known = |class: &&PolicyClass| {
            class.name == CLASS_DEFAULT || self.configuration.class_maps.get(&class.name).is_some()
        };
        policy.classes.iter().filter(is_known).collect()
    }

    /// Reports a reservation on a circuit without a guaranteed rate.
    fn without_guaranteed_rate(&self, circuit: &Circuit, attachment: Attachment) -> Option<Diagnostic> {
        let reserves = self
            .known(attachment.policy)
            .iter()
            .any(|class| class.bandwidth.is_some() || class.priority.is_some());
        let unspecified = circuit.pvc.is_some_and(|pvc| {
            let service = pvc.service.map(|service| service.value).unwrap_or_default();
            matches!(service, AtmService::Ubr(_) | AtmService::Unspecified)
        });
        (reserves && unspecified).then(|| {
            Diagnostic::new(
                &rules::CIRCUIT_WITHOUT_RATE,
                attachment.line,
                format!(
                    "policy {} reserves bandwidth on a circuit without a guaranteed rate",
                    attachment.policy.name
                ),
                "the router refuses the line: no policy applies here; give the circuit vbr-nrt or cbr",
            )
        })
    }

    /// Reports guarantees above the share of the bandwidth that the release allows classes to reserve.
    fn above_reservable(&self, attachment: Attachment) -> Option<Diagnostic> {
        let Attachment { policy, line, intent, reference } = attachment;
        let profile = self.platform.rules();
        let GuaranteeTotal { total_bps, limit_bps } = guarantee_total(intent, reference, profile);
        if total_bps <= limit_bps {
            return None;
        }
        let (total, limit) = (total_bps / 1000, limit_bps / 1000);
        Some(match *profile.guarantee_sum {
            GuaranteeSum::Reservations { .. } => Diagnostic::new(
                &rules::RESERVED_ABOVE_LIMIT,
                line,
                format!(
                    "policy {} reserves {total} kb/s, but only {limit} kb/s are available: {} % of {}",
                    policy.name, reference.reservable_percent, reference.queueing
                ),
                "the router refuses the line, so the interface has no policy. max-reserved-bandwidth or \
                 bandwidth raises the limit",
            ),
            GuaranteeSum::Promises { percent, .. } => Diagnostic::new(
                &rules::PROMISED_ABOVE_RATE,
                line,
                format!(
                    "policy {} guarantees {total} kb/s to its classes, more than {limit} kb/s",
                    policy.name
                ),
                format!(
                    "the router refuses the policy: the sum of class bandwidths exceeds {percent} percent"
                ),
            ),
        })
    }

    /// Reports queues on a sub-interface or tunnel without a shaper. Such an interface is never congested.
    fn without_shaper(&self, interface: &Interface, attachment: Attachment) -> Option<Diagnostic> {
        if *self.platform.rules().subinterface_queues != SubinterfaceQueues::InsideShaper {
            return None;
        }
        // Only sub-interfaces with their own policy are checked. Other sub-interfaces use the policy of their
        // parent.
        let own = interface.service_policies.output.as_ref().is_some_and(|at| at.line == attachment.line);
        let is_tagged = own && interface.parent.is_some() && interface.hardware == Hardware::Ethernet;
        let is_tunnel = interface.name.starts_with("Tunnel");
        let needs = |class: &&&PolicyClass| {
            let reserves = matches!(
                class.bandwidth.map(|bandwidth| bandwidth.value),
                Some(Bandwidth::Kilobits(_) | Bandwidth::Percent(_))
            );
            let queues = reserves
                || class.priority.is_some()
                || class.fair_queue.is_some()
                || class.random_detect.is_some();
            queues && class.shape.is_none()
        };
        let known = self.known(attachment.policy);
        let class = known.iter().find(needs).filter(|_| is_tagged || is_tunnel)?;
        Some(Diagnostic::new(
            &rules::QUEUEING_ON_SUBINTERFACE,
            attachment.line,
            format!(
                "policy {} queues on {} without a shaper around it (class {}, line {})",
                attachment.policy.name, interface.name, class.name, class.line
            ),
            "the router refuses the line (CBWFQ: not supported on subinterfaces): write a parent policy with \
             `shape` in class-default, and nest the policy there",
        ))
    }

    /// Reports lines of `policy` and of nested policies that current routers refuse.
    fn refused_inside(&self, policy: &PolicyMap, depth: usize) -> Vec<Diagnostic> {
        if *self.platform.rules().conflicting_commands == Acceptance::Accepted {
            return Vec::new();
        }
        let known = self.known(policy);
        let mixed = match self.configuration.grammar {
            Grammar::Ios => mixed_units(policy, &known),
            Grammar::IosXr => mixed_shares(policy, &known),
            Grammar::NxOs => None,
        };
        let mut found: Vec<Diagnostic> = mixed.into_iter().collect();
        found.extend(above_hundred(policy, &known, "bandwidth remaining percent", remaining_percent));
        if depth > 0 {
            // For an attached policy, `above_reservable` compares rates, so percentages are added up only in
            // nested policies.
            found.extend(above_hundred(policy, &known, "bandwidth and priority percent", promised_percent));
        }
        found.extend(known.iter().filter_map(|class| self.refused_class(class)));
        found.extend(self.percent_limit_of_all(policy));
        if self.may_nest(depth) {
            let inner = known.iter().filter_map(|class| class.service_policy.as_ref());
            let inner = inner.filter_map(|at| self.configuration.policy_maps.get(&at.value));
            found.extend(inner.flat_map(|policy| self.refused_inside(policy, depth + 1)));
        }
        found
    }

    /// Reports WRED in classes with priority, if the release accepts it.
    fn early_drops(&mut self, policy: &PolicyMap, depth: usize) {
        let configuration = self.configuration;
        for class in self.known(policy).into_iter().cloned().collect::<Vec<_>>() {
            if let (Some(detect), Some(_)) = (&class.random_detect, &class.priority) {
                self.found.push(Diagnostic::new(
                    &rules::PRIORITY_DROPS_EARLY,
                    detect.line,
                    format!("class {} has priority and drops packets before its queue is full", class.name),
                    "calls lose packets at random although the queue has room; remove random-detect",
                ));
            }
            let inner = class.service_policy.as_ref();
            let inner = inner.and_then(|at| configuration.policy_maps.get(&at.value));
            if let Some(inner) = inner.filter(|_| self.may_nest(depth)) {
                self.early_drops(inner, depth + 1);
            }
        }
    }

    /// Reports commands that the release accepts but ignores.
    pub(in crate::convert) fn without_effect(&mut self) {
        if *self.platform.rules().reservable_command == Heeded::Heeded {
            return;
        }
        for interface in self.configuration.interfaces.iter() {
            let Some(percent) = interface.max_reserved_bandwidth else { continue };
            self.found.push(Diagnostic::new(
                &rules::PLATFORM_WITHOUT_EFFECT,
                percent.line,
                format!("max-reserved-bandwidth on {} has no effect", interface.name),
                "the command limits the sum of the class bandwidths only in releases before HQF; this \
                 release always allows 99 %",
            ));
        }
    }

    /// Reports commands of a class that exclude each other, and commands without a command that they require.
    fn refused_class(&self, class: &PolicyClass) -> Option<Diagnostic> {
        let most = *self.platform.rules().priority_levels;
        // Cisco, xrdocs.io, NCS 5500 hw-module profiles: four levels with hqos-enable.
        let has_hierarchy = self.configuration.hardware_profile(HardwareProfile::Hierarchy).is_some();
        let most = if has_hierarchy { most.min(4) } else { most };
        // Switches are excluded, because they have seven levels.
        let level = class.priority.filter(|priority| priority.value.level > most && self.is_router());
        let level = level.map(|priority| {
            Diagnostic::new(
                &rules::PRIORITY_LEVEL,
                priority.line,
                format!("priority level {} does not exist (class {})", priority.value.level, class.name),
                format!("the router refuses the line: the levels are 1 to {most}"),
            )
        });
        level
            .or_else(|| refused_queue(class))
            .or_else(|| self.minimum_around_queues(class))
            .or_else(|| self.lone_queue_limit(class))
    }

    /// Reports a guarantee of a class whose nested policy queues.
    fn minimum_around_queues(&self, class: &PolicyClass) -> Option<Diagnostic> {
        if *self.platform.rules().minimum_around_queues == Acceptance::Accepted {
            return None;
        }
        let inner = class.service_policy.as_ref();
        let inner = inner.and_then(|at| self.configuration.policy_maps.get(&at.value));
        let bandwidth = class.bandwidth?;
        let is_minimum = matches!(bandwidth.value, Bandwidth::Kilobits(_) | Bandwidth::Percent(_));
        (is_minimum && inner.is_some_and(|policy| self.queues(policy, 1))).then(|| {
            Diagnostic::new(
                &rules::BANDWIDTH_INSIDE_QUEUES,
                bandwidth.line,
                format!("class {} has a bandwidth, but the policy inside it queues", class.name),
                "the router refuses the inner policy: only a class without a queueing policy inside can have \
                 a minimum; use bandwidth remaining or shape",
            )
        })
    }

    /// Reports a queue limit in percent in the only class of a policy. Cisco TAC 218310, "Handle Microbursts
    /// in ASR 920": the policy needs an earlier class that no packet matches.
    fn percent_limit_of_all(&self, policy: &PolicyMap) -> Option<Diagnostic> {
        self.platform.percent_limit_bytes()?;
        let [class] = policy.classes.as_slice() else { return None };
        let limit = class.percent_limit.filter(|_| class.name == CLASS_DEFAULT)?;
        Some(Diagnostic::new(
            &rules::QUEUE_LIMIT_WITHOUT_QUEUE,
            limit.line,
            format!(
                "queue-limit percent in class-default of policy {}, which has no other class",
                policy.name
            ),
            "the router refuses the line (QOS: queue-limit com...): before class-default, write a class that \
             matches an unused qos-group",
        ))
    }

    /// Reports a queue limit in a class without a queue.
    fn lone_queue_limit(&self, class: &PolicyClass) -> Option<Diagnostic> {
        if *self.platform.rules().lone_queue_limit == Acceptance::Accepted {
            return None;
        }
        let line = class.queue_limit.map(|limit| limit.line).or(class.percent_limit.map(|at| at.line))?;
        let has_queue = class.bandwidth.is_some() || class.shape.is_some() || class.priority.is_some();
        (!has_queue && class.name != CLASS_DEFAULT).then(|| {
            Diagnostic::new(
                &rules::QUEUE_LIMIT_WITHOUT_QUEUE,
                line,
                format!("queue-limit in a class without bandwidth, shape or priority (class {})", class.name),
                "the router refuses the line: queue-limit not allowed without bandwidth shape or priority \
                 command",
            )
        })
    }
}

/// Reports a buffer manager in a class without its own queue, or in a class whose queue must be a FIFO.
fn refused_queue(class: &PolicyClass) -> Option<Diagnostic> {
    let has_share = class.bandwidth.is_some() || class.shape.is_some() || class.fair_queue.is_some();
    let (rule, line, message, router) = match (&class.random_detect, class.fair_queue, class.priority) {
        (Some(detect), _, Some(_)) => (
            &rules::PRIORITY_WITH_WRED,
            detect.line,
            "random-detect in a class with priority",
            "the router refuses the line",
        ),
        (Some(detect), _, None) if !has_share && class.name != CLASS_DEFAULT => (
            &rules::WRED_WITHOUT_QUEUE,
            detect.line,
            "random-detect in a class without bandwidth, shape or fair-queue",
            "the router refuses the line: the class has no queue of its own",
        ),
        (_, Some(fair), Some(_)) => (
            &rules::PRIORITY_WITH_FAIR_QUEUE,
            fair.line,
            "fair-queue in a class with priority",
            "the router refuses the line",
        ),
        _ => return None,
    };
    Some(Diagnostic::new(rule, line, format!("{message} (class {})", class.name), router))
}

pub(super) fn remaining_percent(class: &PolicyClass) -> Option<(u64, usize)> {
    let bandwidth = class.remaining.or(class.bandwidth)?;
    match bandwidth.value {
        Bandwidth::RemainingPercent(percent) => Some((percent, bandwidth.line)),
        _ => None,
    }
}

pub(super) fn promised_percent(class: &PolicyClass) -> Option<(u64, usize)> {
    let bandwidth = class.bandwidth.and_then(|bandwidth| match bandwidth.value {
        Bandwidth::Percent(percent) => Some((percent, bandwidth.line)),
        _ => None,
    });
    let priority = class.priority.and_then(|priority| match priority.value.rate {
        PriorityRate::Percent(percent) => Some((percent, priority.line)),
        _ => None,
    });
    bandwidth.or(priority)
}

/// Reports the line at which the sum of the percentages of `policy` exceeds 100.
pub(super) fn above_hundred(
    policy: &PolicyMap,
    classes: &[&PolicyClass],
    what: &str,
    percent_of: fn(&PolicyClass) -> Option<(u64, usize)>,
) -> Option<Diagnostic> {
    let mut sum = 0u64;
    let (_, line) = classes.iter().filter_map(|class| percent_of(class)).find(|(percent, _)| {
        sum = sum.saturating_add(*percent);
        sum > 100
    })?;
    let all = classes.iter().filter_map(|class| percent_of(class)).map(|(percent, _)| percent);
    let all = all.fold(0, u64::saturating_add);
    Some(Diagnostic::new(
        &rules::PROMISED_ABOVE_RATE,
        line,
        format!("{what} of the classes of policy {} add up to {all}", policy.name),
        "the router refuses this line: the sum must be at most 100",
    ))
}

/// Reports guarantees in different units in one policy.
fn mixed_units(policy: &PolicyMap, classes: &[&PolicyClass]) -> Option<Diagnostic> {
    let mut units = classes.iter().filter_map(|class| class.bandwidth);
    let first = units.next()?;
    let kind = std::mem::discriminant(&first.value);
    let other = units.find(|bandwidth| std::mem::discriminant(&bandwidth.value) != kind)?;
    Some(Diagnostic::new(
        &rules::BANDWIDTH_UNITS_MIXED,
        other.line,
        format!("policy {} mixes units of bandwidth (line {})", policy.name, first.line),
        "the router refuses the line: use kbps, percent, remaining percent or remaining ratio in all classes",
    ))
}

/// Reports a policy of IOS XR that mixes percentages and ratios of the excess.
fn mixed_shares(policy: &PolicyMap, classes: &[&PolicyClass]) -> Option<Diagnostic> {
    let share =
        |class: &&PolicyClass| class.remaining.or(class.bandwidth).filter(|at| !at.value.is_minimum());
    let mut shares = classes.iter().filter_map(share);
    let first = shares.next()?;
    let kind = std::mem::discriminant(&first.value);
    let other = shares.find(|share| std::mem::discriminant(&share.value) != kind)?;
    Some(Diagnostic::new(
        &rules::BANDWIDTH_UNITS_MIXED,
        other.line,
        format!("policy {} mixes percentages and ratios of the excess (line {})", policy.name, first.line),
        "the router refuses the line: use bandwidth remaining percent or ratio in all classes",
    ))
}
