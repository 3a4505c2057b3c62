//! Queuing policies that the switch refuses.

use perhop_lint::Diagnostic;

use super::model::Model;
use super::system_policies::queue_of;
use crate::ast::{Bandwidth, Configuration, Interface, PolicyMap, PolicyType};
use crate::rules;

/// Returns the reason why the switch refuses the queuing policy of `interface`; `None` if it accepts the
/// policy, or if there is no policy.
pub(crate) fn refused(
    configuration: &Configuration,
    interface: &Interface,
    model: &Model,
) -> Option<Diagnostic> {
    let attached = interface.service_policies.output.as_ref()?;
    let policy = configuration.policy_maps.get(&attached.value)?;
    if configuration.nx_os.policy_type(&policy.name) != PolicyType::Queuing {
        return None;
    }
    own_class(policy)
        .or_else(|| too_many_queues(policy, model, attached.line))
        .or_else(|| priority_below_others(policy, attached.line))
        .or_else(|| sum_of_percentages(policy, attached.line))
        .or_else(|| in_private_vlan(configuration, interface, attached.line))
}

/// Reports a class that is not a system class. Source: Cisco, "Nexus 9000 Series NX-OS Quality of Service
/// Configuration Guide", queuing and scheduling.
fn own_class(policy: &PolicyMap) -> Option<Diagnostic> {
    let class = policy.classes.iter().find(|class| queue_of(&class.name).is_none())?;
    Some(Diagnostic::new(
        &rules::QUEUING_CLASS_UNKNOWN,
        class.line,
        format!("class {} of queuing policy {} is not a queue of the switch", class.name, policy.name),
        "the switch refuses the line: use c-out-8q-q1 to c-out-8q-q7 and c-out-8q-q-default, or c-out-q1 to \
         c-out-q3 and c-out-q-default",
    ))
}

/// Reports a policy that has more queues than a port. Source: an output of a Nexus 9000v with NX-OS 10.1,
/// which has four queues.
fn too_many_queues(policy: &PolicyMap, model: &Model, line: usize) -> Option<Diagnostic> {
    let queues = model.chip.queues();
    let mut of_policy = policy.classes.iter().filter_map(|class| queue_of(&class.name));
    let most = of_policy.find(|queue| queue.queues > queues)?.queues;
    Some(Diagnostic::new(
        &rules::OUTPUT_CLASSES,
        line,
        format!(
            "output policy {} names classes of ports with {most} queues, but a port of {} has {queues}",
            policy.name, model.name
        ),
        "the switch refuses the policy (ACLQOS_ERROR: Invalid Class id : Max class reached): use c-out-q1 to \
         c-out-q3 and c-out-q-default",
    ))
}

/// Reports priority classes whose groups are not the highest. Several levels use the highest groups without a
/// gap. With four queues, one level uses group 3. Source: Cisco, "Nexus 9000 Series NX-OS Quality of Service
/// Configuration Guide" 10.5, priority.
fn priority_below_others(policy: &PolicyMap, line: usize) -> Option<Diagnostic> {
    let queues = policy.classes.iter().find_map(|class| queue_of(&class.name))?.queues;
    let has_priority = policy.classes.iter().filter(|class| class.priority.is_some());
    let groups: Vec<u8> = has_priority.filter_map(|class| Some(queue_of(&class.name)?.group)).collect();
    let highest = queues - u8::try_from(groups.len()).unwrap_or(queues);
    let is_bound = groups.len() > 1 || queues == 4;
    let group = groups.into_iter().find(|group| is_bound && *group < highest)?;
    Some(Diagnostic::new(
        &rules::PRIORITY_QUEUE_ORDER,
        line,
        format!(
            "queuing policy {} gives priority to qos-group {group}, but not to all higher groups",
            policy.name
        ),
        "the switch refuses the policy: the groups with priority must be the highest ones, without a gap",
    ))
}

fn sum_of_percentages(policy: &PolicyMap, line: usize) -> Option<Diagnostic> {
    // A queue without a configured percentage has 0.
    let written = policy.classes.iter().filter(|class| class.line > 0).filter_map(|class| class.bandwidth);
    let sum: u64 = written
        .map(|at| match at.value {
            Bandwidth::Percent(percent) | Bandwidth::RemainingPercent(percent) => percent,
            _ => 0,
        })
        .sum();
    // A sum below 100 is valid: a document of Azure Local configures 1 percent, and 50 and 48 percent of the
    // remaining rate.
    (sum > 100).then(|| {
        Diagnostic::new(
            &rules::BANDWIDTH_SUM,
            line,
            format!("the percentages of queuing policy {} add up to {sum}", policy.name),
            "the switch refuses the policy: percentages may add up to at most 100",
        )
    })
}

/// Reports a queuing policy of a port in a private VLAN. Source: Cisco, "Nexus 9000 Series NX-OS Quality of
/// Service Configuration Guide", guidelines of queuing.
fn in_private_vlan(configuration: &Configuration, interface: &Interface, line: usize) -> Option<Diagnostic> {
    let of_system = configuration.nx_os.system.queuing.as_ref().is_some_and(|at| at.line == line);
    interface.private_vlan.filter(|_| !of_system && line != interface.line)?;
    Some(Diagnostic::new(
        &rules::PRIVATE_VLAN_QUEUES,
        line,
        format!("a queuing policy on {}, which is in a private VLAN", interface.name),
        "the switch does not support queuing policies there: attach the policy under system qos",
    ))
}
