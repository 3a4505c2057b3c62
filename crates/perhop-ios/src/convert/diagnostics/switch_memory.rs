//! Rules about the packet memory of a switch: thresholds that lower the maximum of a queue, memory of classes
//! without packets, priority queues that drop bursts, and ports that may use the memory of all ports.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::lower::ResolvedClass;
use perhop_device::{LineLeftOut, PortMemory, QueueMemory, SwitchMemory};
use perhop_lint::Diagnostic;

use crate::convert::context::Context;
use crate::convert::ports::ConvertedPort;
use crate::rules;

/// The ceiling of a queue without thresholds, percent of the queue's own memory (Cisco TAC 200594).
const USUAL_CEILING: u64 = 400;
/// Bytes of the initial window of TCP, ten packets of 1500 bytes (RFC 6928 §2): the burst of one sender.
const BURST: u64 = 15_000;

impl Context<'_> {
    /// Reports faults in the division of the switch's memory, once for each policy and rule.
    pub(in crate::convert) fn switch_memory_rules(&mut self, ports: &[ConvertedPort]) {
        let Some(memory) = &self.memory else { return };
        let shadowed: BTreeSet<usize> = self
            .found
            .iter()
            .filter(|found| found.rule.id == rules::CLASS_SHADOWED.id)
            .map(|found| found.line)
            .collect();
        let mut found: Vec<Diagnostic> = Vec::new();
        let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
        for port in ports {
            let own = memory.port(&port.port.interface);
            if let Some(reason) = own.and_then(|own| own.refused.as_ref()) {
                let policy = own.and_then(|own| own.policy.as_deref()).unwrap_or_default();
                if known.insert(("refused", policy)) {
                    found.push(refused(memory, policy, reason));
                }
                continue;
            }
            let Some(own) = own else { continue };
            let policy = own.policy.as_deref().unwrap_or_default();
            let of_port = self.takes_pool(memory, own).filter(|_| !port.port.shutdown);
            found.extend(of_port.filter(|_| known.insert(("pool", policy))));
            if own.queues.iter().any(|queue| queue.default.is_some()) || !known.insert(("queues", policy)) {
                continue;
            }
            for queue in &own.queues {
                found.extend(self.lowers_ceiling((memory, own), queue));
                found.extend(without_traffic(port, queue, &shadowed));
                found.extend(loses_bursts(memory, port, queue));
            }
        }
        found.extend(unknown_memory(memory, ports));
        self.found.extend(found);
    }

    /// Reports a queue with three thresholds if all of them are below the default ceiling of the queue.
    fn lowers_ceiling(
        &self,
        (memory, port): (&SwitchMemory, &PortMemory),
        queue: &QueueMemory,
    ) -> Option<Diagnostic> {
        let [_, _, last] = queue.thresholds.as_slice() else { return None };
        let line = last.line?;
        // The queue of priority level 1 has only reserved memory, so its thresholds do not lower a ceiling.
        if queue.priority_level == Some(1) {
            return None;
        }
        let percent = self.percent_at(line).filter(|percent| *percent < USUAL_CEILING)?;
        Some(Diagnostic::new(
            &rules::SWITCH_CEILING_LOWERED,
            line,
            format!(
                "the third queue-limit of class {} lowers the ceiling of its queue from {USUAL_CEILING} to \
                 {percent} % of its part of the memory, on {}",
                queue.class,
                places(memory, port.policy.as_deref().unwrap_or_default())
            ),
            format!(
                "the queue can use {} units; with two thresholds, it can use up to {USUAL_CEILING} % of its \
                 part",
                last.units.unwrap_or(0)
            ),
        ))
    }

    /// Returns the percentage of the `queue-limit` on a line.
    fn percent_at(&self, line: usize) -> Option<u64> {
        use perhop_device::intent::PartialLimit;
        let classes = self.configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
        let limit = classes.flat_map(|class| &class.value_limits).find(|limit| limit.line == line)?;
        match limit.value.limit {
            PartialLimit::Percent(percent) => Some(percent),
            PartialLimit::Limit(_) => None,
        }
    }

    /// Reports a queue that may use the whole shared memory of the chip.
    fn takes_pool(&self, memory: &SwitchMemory, port: &PortMemory) -> Option<Diagnostic> {
        let shared = memory.shared_units?;
        let queue = port.queues.iter().max_by_key(|queue| queue.soft)?;
        let soft = queue.soft.filter(|soft| *soft >= shared)?;
        let multiplier = self.configuration.softmax_multiplier.as_ref();
        let line = multiplier.map(|written| written.line).or(queue.line)?;
        Some(Diagnostic::new(
            &rules::SWITCH_PORT_TAKES_POOL,
            line,
            format!(
                "queue {} of {} may use {} units, but all ports of the chip share only {shared}",
                queue.class, port.interface, soft
            ),
            "the switch accepts the policy: while this queue is full, the other ports lose bursts; configure \
             a smaller multiplier or ratio",
        ))
    }
}

/// Reports a policy that the switch refuses.
fn refused(memory: &SwitchMemory, policy: &str, reason: &LineLeftOut) -> Diagnostic {
    Diagnostic::new(
        &rules::SWITCH_POLICY_REFUSED,
        reason.line,
        format!("the switch refuses policy {policy} on {}: {}", places(memory, policy), reason.text),
        "a port of the switch has 8 queues with 3 thresholds each, one for each priority level 1 and 2, and \
         ratios that sum to at most 100 %",
    )
}

/// Returns the first interface of a policy and the number of its other interfaces, as text.
fn places(memory: &SwitchMemory, policy: &str) -> String {
    let mut ports = memory.ports.iter().filter(|port| port.policy.as_deref().unwrap_or_default() == policy);
    ports.next().map_or_else(String::new, |first| with_others(&first.interface, ports.count()))
}

/// Returns the name of the first port and the number of the other ports, as text.
fn with_others(first: &str, others: usize) -> String {
    match others {
        0 => first.to_owned(),
        1 => format!("{first} and 1 other port"),
        others => format!("{first} and {others} other ports"),
    }
}

/// Reports ports that have an output policy but an unknown packet memory, because perhop does not simulate
/// their queues. Each line that attaches a policy has one finding. The default policy of a switch, which has
/// no line, also has one finding.
fn unknown_memory(memory: &SwitchMemory, ports: &[ConvertedPort]) -> Vec<Diagnostic> {
    // Another rule reports a policy that the switch refuses.
    let is_refused =
        |port: &ConvertedPort| memory.port(&port.port.interface).is_some_and(|own| own.refused.is_some());
    let mut unknown = BTreeMap::<(Option<usize>, &str), Vec<_>>::new();
    for port in ports.iter().filter(|port| !is_refused(port)) {
        let Some(policy) = port.output.as_ref().filter(|_| port.port.unmodeled_queues.is_some()) else {
            continue;
        };
        let line = port.port.forwarding.output_line.unwrap_or(policy.line);
        let written = Some(line).filter(|line| *line != port.port.line);
        unknown.entry((written, &policy.name)).or_default().push((line, port));
    }
    let report = |((_, policy), places): ((_, &str), Vec<(usize, &ConvertedPort)>)| {
        let (line, first) = places[0];
        Diagnostic::new(
            &rules::SWITCH_MEMORY_UNKNOWN,
            line,
            format!(
                "perhop does not simulate the queues of policy {policy} on {}",
                with_others(&first.port.name, places.len() - 1)
            ),
            first.port.unmodeled_queues.clone().unwrap_or_default(),
        )
    };
    unknown.into_iter().map(report).collect()
}

/// Reports memory of a class that no packet reaches.
fn without_traffic(
    port: &ConvertedPort,
    queue: &QueueMemory,
    shadowed: &BTreeSet<usize>,
) -> Option<Diagnostic> {
    let line = queue.line?;
    let units = queue.most_units()?;
    let links = port.port.links.output.classes.iter().find(|links| links.line == line)?;
    let is_reached = links.queue.is_some() && !shadowed.contains(&line);
    (units > 0 && !is_reached).then(|| {
        Diagnostic::new(
            &rules::SWITCH_BUFFERS_UNREACHED,
            line,
            format!(
                "class {} has {units} units of memory, but no packet reaches it, on {}",
                queue.class, port.port.interface
            ),
            "the switch divides the memory by the ratios, so the other queues have less memory; remove the \
             class",
        )
    })
}

/// Reports a priority queue whose memory or policer is too small for the burst of one sender.
fn loses_bursts(memory: &SwitchMemory, port: &ConvertedPort, queue: &QueueMemory) -> Option<Diagnostic> {
    let (line, _) = queue.line.zip(queue.priority_level)?;
    let class = class_at(&port.output.as_ref()?.classes, line)?;
    let policer = class.police.as_ref().map(|police| police.bc_bytes);
    let policer = policer.or_else(|| class.priority.and_then(|priority| priority.burst_bytes))?;
    let room = queue.ceiling()? * memory.unit_bytes;
    let needed = BURST.min(room);
    (policer < needed).then(|| {
        Diagnostic::new(
            &rules::SWITCH_PRIORITY_BURST,
            line,
            format!(
                "the policer of priority class {} passes bursts of only {policer} bytes, but the queue has \
                 room for {room}, on {}",
                queue.class, port.port.interface
            ),
            format!(
                "the policer drops packets although the queue has room: configure a burst of {needed} bytes"
            ),
        )
    })
}

fn class_at(classes: &[ResolvedClass], line: usize) -> Option<&ResolvedClass> {
    classes.iter().find_map(|class| {
        let inside = || class.policy.as_ref().and_then(|inner| class_at(&inner.classes, line));
        if class.line == line { Some(class) } else { inside() }
    })
}
