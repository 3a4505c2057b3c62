//! Default classes and policies of the switch.
//!
//! Source: `show class-map` and `show policy-map` of a Nexus 93180YC-FX with NX-OS 10.3 in
//! microsoft/arc-switch, `src/SwitchOutput/Cisco/Nexus/10`.

use super::model::Model;
use crate::ast::{
    At, Bandwidth, ClassMap, Combination, Configuration, Criterion, Family, Interface, Polarity, PolicyClass,
    PolicyMap, PolicyType, Priority, PriorityRate, Statement,
};
use crate::grammar::Grammar;

/// The line number of parts that the text does not contain.
const NO_LINE: usize = 0;
/// The families of system classes for output queues: the prefix of the names, and the number of queues.
const FAMILIES: [(&str, u8); 2] = [("c-out-8q-q", 8), ("c-out-q", 4)];

/// A queue of a port, according to the name of its system class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    /// The qos-group of packets in the queue.
    pub(crate) group: u8,
    /// The number of queues of a port in this family of names.
    pub(crate) queues: u8,
}

/// Returns the queue of the system class `name`, such as `c-out-8q-q3` or `c-out-q-default`.
pub(crate) fn queue_of(name: &str) -> Option<Queue> {
    FAMILIES.iter().find_map(|(begin, queues)| {
        let group = match name.strip_prefix(begin)? {
            "-default" => 0,
            number => number.parse().ok().filter(|group| (1..*queues).contains(group))?,
        };
        // `c-out-q03` is not the name of group 3.
        (name_of(Queue { group, queues: *queues }) == name).then_some(Queue { group, queues: *queues })
    })
}

/// Returns the group of the system class `name` of the input queues, such as `c-in-q3`.
pub(super) fn input_group(name: &str) -> Option<u8> {
    group_in(name, &["c-in-q"])
}

/// Returns the group in the name of a system class that begins with one of `families`.
pub(super) fn group_in(name: &str, families: &[&str]) -> Option<u8> {
    let rest = families.iter().find_map(|family| name.strip_prefix(family))?;
    if rest == "-default" {
        return Some(0);
    }
    // `c-in-q03` is another name.
    rest.parse().ok().filter(|group: &u8| (1..8).contains(group) && rest == group.to_string())
}

/// Whether `name` is the class of the packets without a group.
pub(crate) fn is_default_queue(name: &str) -> bool {
    queue_of(name).is_some_and(|queue| queue.group == 0)
}

fn name_of(queue: Queue) -> String {
    let begin = if queue.queues == 8 { FAMILIES[0].0 } else { FAMILIES[1].0 };
    match queue.group {
        0 => format!("{begin}-default"),
        group => format!("{begin}{group}"),
    }
}

/// Returns the predefined policy `name`; `None` for other names.
pub(crate) fn system_policy(name: &str) -> Option<PolicyMap> {
    let queues = match name {
        "default-8q-out-policy" => 8,
        "default-out-policy" => 4,
        _ => return None,
    };
    let classes = (0..queues).rev().map(|group| {
        let class = implied_class(Queue { group, queues }, NO_LINE);
        match group {
            // The last queue has priority, and the first queue has the remaining rate.
            group if group == queues - 1 => PolicyClass {
                priority: Some(At::new(
                    NO_LINE,
                    Priority { level: 1, rate: PriorityRate::Unlimited, burst: None },
                )),
                bandwidth: None,
                ..class
            },
            0 => PolicyClass { bandwidth: Some(At::new(NO_LINE, Bandwidth::RemainingPercent(100))), ..class },
            _ => class,
        }
    });
    Some(PolicyMap { name: name.to_owned(), line: NO_LINE, classes: classes.collect() })
}

/// Returns the class of a queue that a policy does not contain. The class gets the rate that the other queues
/// leave.
fn implied_class(queue: Queue, line: usize) -> PolicyClass {
    PolicyClass {
        name: name_of(queue),
        line: NO_LINE,
        bandwidth: Some(At::new(line, Bandwidth::RemainingPercent(0))),
        ..PolicyClass::default()
    }
}

/// Adds the defaults of the switch to a configuration of NX-OS: the class-maps of the system, the queues that
/// a policy does not contain, and the policy of each port.
///
/// `model` is the product that the user names.
pub(crate) fn complete(configuration: &mut Configuration, model: Option<&str>) {
    if configuration.grammar != Grammar::NxOs {
        return;
    }
    // Without a known product, eight queues are assumed, because most Nexus 9300 have eight.
    let queues = Model::find(configuration, model).map_or(8, |model| model.chip.queues());
    attach(configuration, queues);
    let Configuration { policy_maps, class_maps, nx_os, .. } = configuration;
    for policy in policy_maps.iter_mut() {
        if nx_os.policy_type(&policy.name) != PolicyType::Queuing {
            continue;
        }
        let of_system = policy.classes.iter().find_map(|class| queue_of(&class.name));
        for group in (0..of_system.map_or(0, |queue| queue.queues)).rev() {
            let queue = Queue { group, queues: of_system.map_or(0, |queue| queue.queues) };
            let name = name_of(queue);
            if !policy.classes.iter().any(|class| class.name == name) {
                policy.classes.push(implied_class(queue, policy.line));
            }
        }
        for class in &policy.classes {
            if let Some(group) = input_group(&class.name) {
                // Eight input queues are assumed, because most Nexus 9300 have eight.
                class_maps.place(&class.name, || system_class(class, Queue { group, queues: 8 }));
            }
            let Some(queue) = queue_of(&class.name) else { continue };
            let place = class_maps.place(&class.name, || system_class(class, queue));
            // A class with a guarantee needs a line number, because other checks can report the class, for
            // example if no policy sets its group.
            let is_named = queue.group > 0 && is_promised(class);
            if let Some(map) = class_maps.at_mut(place).filter(|_| is_named) {
                for statement in &mut map.statements {
                    statement.line = statement.line.max(class.line);
                }
            }
        }
    }
}

fn is_promised(class: &PolicyClass) -> bool {
    let is_share =
        |at: &At<Bandwidth>| !matches!(at.value, Bandwidth::RemainingPercent(0) | Bandwidth::Percent(0));
    class.priority.is_some() || class.bandwidth.as_ref().is_some_and(is_share)
}

fn system_class(class: &PolicyClass, queue: Queue) -> ClassMap {
    let statement = Statement {
        line: NO_LINE,
        polarity: Polarity::Is,
        family: Family::Any,
        criterion: Criterion::QosGroup(queue.group.into()),
    };
    ClassMap {
        name: class.name.clone(),
        line: NO_LINE,
        combination: Combination::MatchAny,
        statements: vec![statement],
    }
}

/// Attaches the policies of the system to the ports without policies of their own.
///
/// Source: Cisco, "Nexus 5000 Series NX-OS Quality of Service Configuration Guide": the policy of an
/// interface takes precedence over the policy of the system.
fn attach(configuration: &mut Configuration, queues: u8) {
    let default = if queues == 8 { "default-8q-out-policy" } else { "default-out-policy" };
    let system = configuration.nx_os.system.clone();
    let mut named = Vec::new();
    for interface in configuration.interfaces.iter_mut() {
        let is_port = is_port(interface);
        let line = interface.line;
        let policies = &mut interface.service_policies;
        if is_port {
            let queuing = || system.queuing.clone().unwrap_or_else(|| At::new(line, default.to_owned()));
            let output = policies.output.get_or_insert_with(queuing);
            named.push(output.value.clone());
        } else if policies.output.is_none() {
            // Without a queueing policy, the marking policy is the only output policy.
            policies.output = policies.second_output.take();
        }
        if is_port && policies.input.is_none() {
            policies.input.clone_from(&system.input);
        }
        if is_port && policies.queuing_input.is_none() {
            policies.queuing_input.clone_from(&system.queuing_input);
        }
    }
    for name in named {
        let Some(policy) = system_policy(&name) else { continue };
        configuration.nx_os.policy_types.insert(name.clone(), PolicyType::Queuing);
        configuration.policy_maps.place(&name, || policy);
    }
}

/// Whether the policies of the system apply to `interface`: a port of the chip or a bundle of such ports.
pub(super) fn is_port(interface: &Interface) -> bool {
    let name = interface.name.as_str();
    interface.parent.is_none() && (name.starts_with("Ethernet") || name.starts_with("Port-channel"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_queues_have_their_group() {
        assert_eq!(queue_of("c-out-8q-q3"), Some(Queue { group: 3, queues: 8 }));
        assert_eq!(queue_of("c-out-8q-q-default"), Some(Queue { group: 0, queues: 8 }));
        assert_eq!(queue_of("c-out-q2"), Some(Queue { group: 2, queues: 4 }));
        assert_eq!(queue_of("c-out-q-default"), Some(Queue { group: 0, queues: 4 }));
        for name in ["c-out-q4", "c-out-8q-q8", "c-out-q0", "c-in-q1", "VOICE", "c-out-q02"] {
            assert_eq!(queue_of(name), None, "{name}");
        }
    }

    /// `show policy-map` of NX-OS 10.3: the last queue has priority, and the default queue has 100 % of the
    /// remaining rate.
    #[test]
    fn the_policies_of_the_system() {
        for (name, queues, first, last) in [
            ("default-8q-out-policy", 8, "c-out-8q-q7", "c-out-8q-q-default"),
            ("default-out-policy", 4, "c-out-q3", "c-out-q-default"),
        ] {
            let policy = system_policy(name).unwrap();
            let classes = &policy.classes;
            assert_eq!((classes.len(), classes[0].name.as_str()), (queues, first));
            assert_eq!(classes[0].priority.map(|at| at.value.level), Some(1));
            let share = |class: &PolicyClass| class.bandwidth.map(|at| at.value);
            assert_eq!(share(&classes[1]), Some(Bandwidth::RemainingPercent(0)));
            assert_eq!(classes[queues - 1].name, last);
            assert_eq!(share(&classes[queues - 1]), Some(Bandwidth::RemainingPercent(100)));
        }
    }
}
