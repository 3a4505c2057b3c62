//! Priority flow control: classes of type network-qos with `pause`, at the ports with
//! `priority-flow-control mode on`.
//!
//! For classes without configured thresholds, the thresholds of these switches are not published. perhop uses
//! the thresholds of Cisco's example of a no-drop class on a Nexus 5500 (recalled), and the headroom that
//! follows from the times in the standards. [`thresholds_assumed`] reports this assumption.

use perhop_device::Port;
use perhop_lint::Diagnostic;
use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::packet::LinkMark;
use perhop_qos::policy::{ClassConfig, PauseBuffer, PauseConfig, PauseMode, QueueingConfig};
use perhop_qos::{ByteSize, QueueSize, Rate, Time};

use super::system_policies::{group_in, input_group, is_port, queue_of};
use crate::ast::{Configuration, FlowControlMode, Interface, NetworkPause, PauseMemory};
use crate::grammar::Grammar;
use crate::rules;

/// Bytes of the longest packet of an interface without `mtu`.
pub(super) const DEFAULT_MTU: u64 = 1500;
/// The pause threshold of a class without configured thresholds, bytes: `pause-threshold 103360` of a Nexus
/// 5500. Certainty: recalled; inferred for other products.
const ASSUMED_PAUSE: u64 = 103_360;
/// The resume threshold of such a class, bytes: `resume-threshold 83520`. Same source and certainty.
const ASSUMED_RESUME: u64 = 83_520;
/// The propagation delay of the longest cable for which the headroom suffices: 100 m at 5 ns/m. Certainty:
/// inferred.
const ASSUMED_CABLE: Time = Time::from_nanoseconds(500);
/// The number of packets of maximum length for which the headroom has room: the packet that exceeds the
/// threshold, a packet in front of the pause frame, and a packet that the neighbor has just begun to send.
const PACKETS: u64 = 3;
/// The limit of a queue without drops, bytes: more than the memory of any of these chips.
const NO_LIMIT: u64 = 100_000_000;
/// Names of the system classes of type network-qos without the number of the group.
const NETWORK_CLASSES: [&str; 2] = ["c-8q-nq", "c-nq"];

/// A class of the attached policy of type network-qos whose packets are not dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoDrop {
    /// The qos-group of packets in the class.
    pub(super) group: u8,
    /// The line of `pause`.
    pub(super) line: usize,
    pause: NetworkPause,
}

impl NoDrop {
    /// Returns the priority of the pause frames. Without `pfc-cos`, this is the group. Certainty: inferred.
    fn priority(&self) -> u8 {
        self.pause.priority.unwrap_or(self.group)
    }
}

/// Returns the classes whose packets the switch does not drop, if a port has flow control. Omits classes
/// whose names are not names of system classes, because their group is not known. Of several classes with one
/// priority, returns only the first.
pub(super) fn no_drop_classes(configuration: &Configuration) -> Vec<NoDrop> {
    let attached = configuration.nx_os.system.network.as_ref();
    let Some(attached) = attached.filter(|_| is_in_use(configuration)) else { return Vec::new() };
    let policies = configuration.nx_os.network_policies.iter();
    let classes = policies.filter(|policy| policy.name == attached.value).flat_map(|policy| &policy.classes);
    let named = classes.filter_map(|class| {
        let (group, pause) = (group_in(&class.name, &NETWORK_CLASSES)?, class.pause?);
        Some(NoDrop { group, line: pause.line, pause: pause.value })
    });
    // A pause frame stops all packets of a priority, so a second class with the same priority cannot have its
    // own memory.
    let mut no_drop: Vec<NoDrop> = Vec::new();
    for class in named {
        if no_drop.iter().all(|other| other.priority() != class.priority()) {
            no_drop.push(class);
        }
    }
    no_drop
}

/// Returns the memory of arriving packets of `group` at `interface` that an input policy of type queuing
/// sets, and the line that sets it.
pub(super) fn input_memory(
    configuration: &Configuration,
    interface: &Interface,
    group: u8,
) -> Option<(PauseMemory, usize)> {
    let policy = interface.service_policies.queuing_input.as_ref()?;
    let classes = &configuration.policy_maps.get(&policy.value)?.classes;
    let class = classes.iter().find(|class| input_group(&class.name) == Some(group))?;
    class.pause.map(|at| (at.value, at.line))
}

/// Whether some interface has `priority-flow-control mode on`.
pub(super) fn is_in_use(configuration: &Configuration) -> bool {
    configuration.interfaces.iter().filter(|interface| is_port(interface)).any(has_mode_on)
}

fn has_mode_on(interface: &Interface) -> bool {
    interface.flow_control.is_some_and(|at| at.value == FlowControlMode::On)
}

/// Whether `interface` sends and obeys pause frames. A bundle sends and obeys them if one of its members
/// does.
pub(super) fn is_on(configuration: &Configuration, interface: &Interface) -> bool {
    let is_member = |other: &&Interface| {
        let group =
            other.channel_group.map(|group| format!("{}{}", configuration.bundle_name(), group.value));
        group.is_some_and(|name| name == interface.name)
    };
    has_mode_on(interface) || configuration.interfaces.iter().filter(is_member).any(has_mode_on)
}

/// Adds priority flow control to the queues of `port`.
pub(crate) fn add_pauses(configuration: &Configuration, port: &mut Port) {
    if configuration.grammar != Grammar::NxOs {
        return;
    }
    let interface = configuration.interfaces.get(&port.interface).filter(|interface| is_port(interface));
    let (Some(interface), Some(queueing)) = (interface, &mut port.output.queueing) else { return };
    let rate = port.wire.rate.or(port.assumed_rate).or(port.bandwidth);
    let longest = interface.mtu.map_or(DEFAULT_MTU, |mtu| mtu.value);
    for class in no_drop_classes(configuration) {
        let Some(priority) = LinkMark::new(class.priority()) else { continue };
        let mode = if is_on(configuration, interface) { PauseMode::On } else { PauseMode::Off };
        let written = input_memory(configuration, interface, class.group).map(|(memory, _)| memory);
        let buffer = match (mode, written.or(class.pause.memory), rate) {
            (PauseMode::Off, ..) | (PauseMode::On, None, None) => None,
            (PauseMode::On, Some(memory), _) => Some(buffer(memory)),
            (PauseMode::On, None, Some(rate)) => Some(assumed_buffer(rate, longest)),
        };
        let pause = PauseConfig { priority, mode, buffer, response: None };
        set_pause(queueing, class.group, pause);
    }
}

fn buffer(memory: PauseMemory) -> PauseBuffer {
    PauseBuffer {
        xoff: ByteSize::from_bytes(memory.pause),
        xon: ByteSize::from_bytes(memory.resume),
        headroom: ByteSize::from_bytes(memory.buffer - memory.pause),
    }
}

fn assumed_buffer(rate: Rate, longest: u64) -> PauseBuffer {
    let pause =
        PauseConfig { priority: LinkMark::default(), mode: PauseMode::On, buffer: None, response: None };
    let before = ASSUMED_CABLE * 2 + PauseConfig::frame_time(rate) + pause.response(rate);
    let bits = u128::from(rate.as_bits_per_second()) * u128::from(before.as_picoseconds());
    let arriving = u64::try_from(bits.div_ceil(8 * 1_000_000_000_000)).unwrap_or(u64::MAX);
    let headroom = arriving.saturating_add(PACKETS * longest);
    buffer(PauseMemory { buffer: ASSUMED_PAUSE + headroom, pause: ASSUMED_PAUSE, resume: ASSUMED_RESUME })
}

/// Sets `pause` at the queue of `group`. With flow control, the memory of the input ports replaces the limit
/// of the queue. Without flow control, the port drops packets as in any other queue (inferred).
fn set_pause(queueing: &mut QueueingConfig, group: u8, pause: PauseConfig) {
    for class in &mut queueing.classes {
        if let Some(inner) = &mut class.queueing {
            set_pause(inner, group, pause);
        } else if queue_of(&class.name).is_some_and(|queue| queue.group == group) {
            set_class(class, pause);
        }
    }
}

fn set_class(class: &mut ClassConfig, pause: PauseConfig) {
    class.pause = Some(pause);
    if pause.mode == PauseMode::Off {
        return;
    }
    let limit = QueueSize::Bytes(NO_LIMIT);
    match &mut class.buffer {
        // Early drops and marks still occur at the same thresholds.
        Some(BufferConfig::Wred(config) | BufferConfig::Red(config)) => config.limit = Some(limit),
        other => *other = Some(BufferConfig::TailDrop(TailDropConfig { limit })),
    }
}

/// Returns a single diagnostic if no line sets the thresholds of a class without drops.
pub(crate) fn thresholds_assumed(configuration: &Configuration) -> Option<Diagnostic> {
    let classes = no_drop_classes(configuration);
    let mut ports = configuration.interfaces.iter().filter(|interface| is_port(interface));
    let (class, interface) = ports.find_map(|interface| {
        let is_open = |class: &&NoDrop| {
            class.pause.memory.is_none() && input_memory(configuration, interface, class.group).is_none()
        };
        let class = classes.iter().find(is_open).filter(|_| is_on(configuration, interface))?;
        Some((class, interface))
    })?;
    Some(Diagnostic::new(
        &rules::PAUSE_THRESHOLDS_ASSUMED,
        class.line,
        format!(
            "no line sets the pause-threshold of group {} at {}: {ASSUMED_PAUSE} bytes are assumed, and \
             {ASSUMED_RESUME} bytes to resume",
            class.group, interface.name
        ),
        "times and numbers of pauses depend on the thresholds; write `pause buffer-size`, `pause-threshold` \
         and `resume-threshold` in an input policy of type queuing",
    ))
}
