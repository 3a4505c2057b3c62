//! [`Context`]: the inputs and the findings of a conversion.

use perhop_device::lower::{Labels, Markings, MemoryShare, Target, Writer};
use perhop_device::{PortGroup, PortMemory, SwitchMemory};
use perhop_lint::Diagnostic;

use super::wire::Tags;
use crate::ast::{Configuration, Direction, LabelUse};
use crate::grammar::Grammar;
use crate::platform::{Platform, Recognition};
use crate::switch;

/// Limit on the number of classes of all attached policies, including nested policies. Several classes can
/// nest the same policy, so the number can grow exponentially with the number of levels. A port has at most a
/// few thousand queues (ASR 1000: 4000 per interface).
pub(super) const MOST_CLASSES: usize = 50_000;

/// The reason why perhop does not simulate the queues of a port with shaped round robin.
const UNKNOWN_UNITS: &str = "the memory of the switch's ports is not published, so thresholds are known only \
                             in percent: set this memory with --platform catalyst-mls,port-units=N";

/// The reason why the limit of the only queue of a port without `mls qos` is unknown.
const UNKNOWN_LIMIT: &str = "without mls qos the port's only queue may use all memory of the switch, whose \
                             size is not published: set it with --platform catalyst-mls,shared-units=N";

/// The inputs of the conversion, and its findings.
pub(super) struct Context<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) platform: &'a Platform,
    /// The packet memory of a switch.
    pub(super) memory: Option<SwitchMemory>,
    /// The kind of device, if the configuration reveals it.
    pub(super) writer: Writer,
    /// The number of interfaces with a VLAN.
    pub(super) tagged: usize,
    pub(super) found: Vec<Diagnostic>,
    /// Whether groups of IOS XR add lines to routing processes.
    pub(super) has_router_groups: bool,
    /// The number of classes that the remaining policies may have, including nested policies.
    pub(super) classes_left: usize,
    /// The number of comparisons for [`Configuration::set_comparisons`].
    pub(super) set_comparisons: u64,
}

impl<'a> Context<'a> {
    pub(super) fn new(configuration: &'a Configuration, platform: &'a Platform) -> Context<'a> {
        let is_router = Recognition::from_configuration(configuration).dialect.is_of_router();
        // The caller refuses a switch whose product is unknown.
        let memory = switch::memory(configuration, platform).ok().flatten();
        Context {
            configuration,
            platform,
            memory,
            tagged: configuration
                .interfaces
                .iter()
                .filter(|interface| Tags::of_interface(interface).outer.is_some())
                .count(),
            writer: if is_router { Writer::Router } else { Writer::Switch },
            found: Vec::new(),
            has_router_groups: applies_groups(configuration),
            classes_left: MOST_CLASSES,
            set_comparisons: 0,
        }
    }

    /// Whether the device is a router, not a switch.
    pub(super) fn is_router(&self) -> bool {
        self.writer == Writer::Router
    }

    /// Returns the target platform for lowering the policies of `interface`.
    pub(super) fn target(&self, interface: &str) -> Target<'_> {
        Target {
            rules: self.platform.rules(),
            queue_limit: self.platform.queue_limit,
            drop_spacing: self.platform.drop_spacing,
            memory: self.memory.as_ref().and_then(|memory| self.share_of(memory, interface)),
        }
    }

    /// Returns the share of `interface` in the switch's memory; `None` if the share is unknown.
    fn share_of<'m>(&self, memory: &'m SwitchMemory, interface: &str) -> Option<MemoryShare<'m>> {
        let (port, unit_bytes) = (memory.port(interface)?, memory.unit_bytes);
        let group = Some(port_group(interface, self.platform.memory.pool_ports));
        if port.srr.is_some() && memory.shared_units.is_none() {
            // The queues of the port share its rate even if their limits are unknown. If the size of the
            // common pool is unknown, the pool gets the size of all soft parts of the port, so that it always
            // has room.
            let shared_units = port.queues.iter().filter_map(|queue| queue.soft).sum();
            return Some(MemoryShare { unit_bytes, shared_units, group: None, port });
        }
        if port.srr.is_none() && without_memory(port).is_some() {
            return None;
        }
        Some(MemoryShare { unit_bytes, shared_units: memory.shared_units?, group, port })
    }

    /// Returns the reason why perhop does not model the queues of `interface`.
    pub(super) fn unmodeled_queues(&self, interface: &str) -> Option<String> {
        let memory = self.memory.as_ref()?;
        let Some(port) = memory.port(interface) else {
            let own = memory.reason_unknown(interface).map(str::to_owned);
            return own.or_else(|| {
                Some("the interface has no packet memory of its own: name a physical port".to_owned())
            });
        };
        without_memory(port)
    }

    /// Returns the fields that the device sets on one side of a port.
    pub(super) fn markings(&self, direction: Direction) -> Markings {
        let marks = self.configuration.marks;
        Markings {
            direction,
            writer: self.writer,
            resets_drop_precedence: direction == Direction::Input && marks.discard_class,
            // In IOS XR, classes of output policies match groups, and output policies mark the labels that
            // the router has pushed.
            writes_pushed_labels: direction == Direction::Output
                && self.configuration.grammar == Grammar::IosXr,
            label_is_taken: marks.label == LabelUse::GroupOfBoth,
        }
    }

    /// Returns the label of the first class. It is above the labels of all groups if a policy can set a
    /// group.
    pub(super) fn first_label(&self) -> Labels {
        if self.configuration.marks.labels { Labels::AboveGroups } else { Labels::FromOne }
    }

    /// Whether a policy at `depth` may have nested policies. A policy that is attached to an interface has
    /// depth 0.
    pub(super) fn may_nest(&self, depth: usize) -> bool {
        depth + 1 < *self.platform.rules().policy_levels
    }
}

/// Returns the ports that share memory with `interface`: without `size`, all ports with the same first
/// number; with `size`, that number of neighboring ports.
fn port_group(interface: &str, size: Option<u64>) -> PortGroup {
    let numbers: Vec<u64> = interface
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect();
    let (module, port) = (numbers.first().copied(), numbers.last().copied());
    PortGroup::of_port(module.unwrap_or(0), port.unwrap_or(0), size)
}

/// Returns the reason why no packet can wait in a queue of `port`.
fn without_memory(port: &PortMemory) -> Option<String> {
    if let Some(refused) = &port.refused {
        return Some(format!("the switch refuses the policy: {}", refused.text));
    }
    if port.without_queues.is_some() {
        return port.without_queues.clone();
    }
    if port.queues.iter().any(|queue| queue.most_units().is_none()) {
        let has_one_queue = port.srr.as_ref().is_some_and(|settings| !settings.has_qos);
        return Some(if has_one_queue { UNKNOWN_LIMIT } else { UNKNOWN_UNITS }.to_owned());
    }
    let queue = port.queues.iter().find(|queue| queue.most_units() == Some(0))?;
    if port.srr.is_some() {
        return Some(format!(
            "{} has no buffers, and Cisco does not document what happens to its packets",
            queue.class
        ));
    }
    Some(format!(
        "class {} has no memory (queue-buffers ratio 0, or other classes have all memory), and Cisco does \
         not document what happens to its packets",
        queue.class
    ))
}

/// Whether groups of IOS XR add lines to routing processes. perhop does not read these lines.
fn applies_groups(configuration: &Configuration) -> bool {
    let begins = |starts: &[&str]| {
        let mut lines = configuration.lines.iter().map(|line| line.text.trim_start());
        lines.any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
    // The names of processes in a group are patterns in quotation marks.
    configuration.grammar == Grammar::IosXr
        && begins(&["apply-group"])
        && begins(&["router ospf '", "router isis '"])
}
