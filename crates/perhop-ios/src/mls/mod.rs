//! Queues and packet memory of Catalyst switches with `mls qos`: 2960, 3560, 3750, IE 2000 and 3000.
//!
//! A port has four queues with shaped round robin (SRR). A queue-set divides the memory of the port in
//! percent. The size of this memory is not published, so the user sets it.

mod enabled;
mod maps;
mod product;
mod queues;
mod rules;
mod trust;

use std::collections::BTreeSet;

use perhop_device::{InputQueue, LineLeftOut, MemoryOptions, PortMemory, SrrPort, SwitchMemory};
use perhop_lint::LineState;

use crate::added::is_added;
use crate::ast::{AggregatePolicer, Configuration, Hardware, Interface, MlsQos, PolicyClass, Trust};
use product::Product;
use queues::Queues;

pub(crate) use enabled::enabled_by;
pub(crate) use product::is_product;
pub(crate) use trust::{MARK_DOWN, add_to_policy, marked_down, policy_of_port};

/// The size of a unit of memory, bytes.
const UNIT_BYTES: u64 = 256;
/// The name of the hardware.
const HARDWARE: &str = "SRR";
/// The default shares of the input queues in the memory, percent. Source: Cisco, "Catalyst 3560 Switch
/// Software Configuration Guide" (78-16156-01), page 28-53.
const INPUT_BUFFERS: [u64; 2] = [90, 10];
/// The default weights of the input queues in the rate of the ring (same source).
const INPUT_WEIGHTS: [u64; 2] = [4, 4];
/// The default share of the ring's rate that an input queue receives before the other queue, percent (same
/// source).
const INPUT_PRIORITY: [u64; 2] = [0, 10];
/// The two default drop thresholds of an input queue, percent (same source).
const INPUT_THRESHOLDS: [u64; 2] = [100, 100];

/// The rate of the slowest ring of these switches, megabits per second (certainty: recalled).
const RING_MEGABITS: u64 = 16_000;
/// The reason why `auto qos` has no effect.
pub(crate) const EXPANDED: &str = "the switch has written the commands of the template into the file";

/// Returns the port queues of the switch that `configuration` configures, and their memory if `options` set
/// its size.
pub(crate) fn memory(configuration: &Configuration, options: &MemoryOptions) -> SwitchMemory {
    let product = Product::find(configuration, options.model.as_deref());
    let ports = configuration.interfaces.iter().filter(|interface| is_switch_port(interface));
    let ports = ports.map(|interface| port(configuration, interface, &product, options)).collect();
    SwitchMemory {
        egress_memory: product.egress_memory(),
        queue_sets: queues::queue_sets(&configuration.mls),
        maps: maps::all(&configuration.mls),
        input_queues: enabled_by(configuration).map_or_else(Vec::new, |_| input_queues(&configuration.mls)),
        model: product.name,
        chip: HARDWARE.to_owned(),
        unit_bytes: UNIT_BYTES,
        shared_units: options.shared_units,
        ports,
        unknown: Vec::new(),
        rules: rules::rows(),
        not_modeled: left_out(configuration),
    }
}

/// Whether an interface is a port of the switching hardware: not a management port, not a virtual interface,
/// and not an interface that a run adds. Packets of added interfaces keep their marks.
pub(crate) fn is_switch_port(interface: &Interface) -> bool {
    interface.hardware == Hardware::Ethernet
        && interface.parent.is_none()
        && interface.nominal_kilobits.is_some()
        && interface.name.contains('/')
        && !is_added(&interface.name)
}

fn port(
    configuration: &Configuration,
    interface: &Interface,
    product: &Product,
    options: &MemoryOptions,
) -> PortMemory {
    let mls = &configuration.mls;
    let own = &interface.mls;
    let nominal = interface.nominal_kilobits.unwrap_or(0) / 1000;
    let rate_bps = megabits(interface) * 1_000_000;
    let set = own.queue_set.map_or(1, |set| set.value);
    let mut assumed = Vec::new();
    if interface.speed.is_none() {
        assumed.push(format!("the link has negotiated {nominal} Mb/s"));
    }
    let has_qos = enabled_by(configuration).is_some();
    if has_qos && mls.enabled.is_none() {
        assumed.push("mls qos is on, because the configuration has other lines of mls qos".to_owned());
    }
    if options.port_units.is_some() && options.shared_units.is_none() && has_qos {
        assumed.push(
            "the common pool of the memory always has room, because its size is not published".to_owned(),
        );
    }
    if let Some(device) = &own.device {
        assumed.push(format!("the device that the port trusts ({}) is connected", device.value));
    }
    let queues = Queues { mls, own, set: &mls.queue_sets[usize::from(set) - 1], product, rate_bps, options };
    PortMemory {
        interface: interface.name.clone(),
        rate_bps: Some(rate_bps),
        units: options.port_units,
        policy: None,
        multiplier_percent: None,
        soft_start: 0,
        soft_end: 0,
        queues: if has_qos { queues.of_port() } else { vec![queues.only_queue()] },
        assumed,
        refused: None,
        without_queues: None,
        srr: Some(SrrPort {
            has_qos,
            trust: trust_word(configuration, interface),
            queue_set: set,
            priority_queue_out: own.expedite.is_some(),
            bandwidth_limit_percent: own.limit.map_or(100, |limit| limit.value),
        }),
    }
}

fn megabits(interface: &Interface) -> u64 {
    interface.speed.map_or(interface.nominal_kilobits.unwrap_or(0) / 1000, |speed| speed.value)
}

/// Whether the rates of all ports together are at most the rate of the ring. In this case, the input queues
/// drop nothing.
fn ring_holds(configuration: &Configuration) -> bool {
    let ports = configuration.interfaces.iter();
    let ports = ports.filter(|port| is_switch_port(port) && port.shutdown.is_none());
    ports.map(megabits).fold(0, u64::saturating_add) <= RING_MEGABITS
}

/// Returns the trust of a port in the words of its command.
fn trust_word(configuration: &Configuration, interface: &Interface) -> String {
    let word = match (enabled_by(configuration), interface.mls.trust.map(|at| at.value)) {
        (None, _) => "all: no mls qos",
        _ if interface.service_policies.input.is_some() => "by the classes of the input policy",
        (_, None) => "none",
        (_, Some(Trust::Dscp)) => "dscp",
        (_, Some(Trust::Cos)) => "cos",
        (_, Some(Trust::CosPassThrough)) => "cos pass-through dscp",
        (_, Some(Trust::Precedence)) => "ip-precedence",
    };
    word.to_owned()
}

/// Returns the queues in front of the ring. A 2960 has no such queues.
fn input_queues(mls: &MlsQos) -> Vec<InputQueue> {
    let input = &mls.input;
    let (dscp, cos) = (maps::input_dscp(mls), maps::input_cos(mls));
    let has_priority = !input.priority.is_empty();
    let queue = |index: usize| {
        let number = index as u8 + 1;
        let thresholds = input.thresholds.get(&number).map_or(INPUT_THRESHOLDS, |at| at.value);
        let priority = match input.priority.get(&number) {
            Some(at) => at.value,
            None if has_priority => 0,
            None => INPUT_PRIORITY[index],
        };
        InputQueue {
            number,
            buffers_percent: input.buffers.map_or(INPUT_BUFFERS, |at| at.value)[index],
            bandwidth_weight: input.bandwidth.map_or(INPUT_WEIGHTS, |at| at.value)[index],
            priority_bandwidth_percent: priority,
            thresholds: queues::thresholds_with_packets(
                number,
                [thresholds[0], thresholds[1], 100],
                &dscp,
                &cos,
            ),
        }
    };
    (0..crate::ast::INPUT_QUEUES).map(queue).collect()
}

/// Returns the lines that a run of the switch ignores.
fn left_out(configuration: &Configuration) -> Vec<LineLeftOut> {
    if enabled_by(configuration).is_none() {
        return Vec::new();
    }
    let mls = &configuration.mls;
    let keeps = mls.keeps_dscp.map(|at| LineLeftOut {
        line: at.line,
        text: "no mls qos rewrite ip dscp: perhop rewrites the codepoint, although the switch does not"
            .to_owned(),
    });
    let ports = configuration.interfaces.iter().filter(|interface| is_switch_port(interface));
    let of_port = |interface: &Interface| {
        let own = &interface.mls;
        let vlans = own
            .vlan_based
            .map(|at| (at.line, "mls qos vlan-based: a run does not apply the policy of the VLAN"));
        // Without trust and `override`, published notes of users contradict each other about the effect of
        // `mls qos cos`.
        let has_use = own.trust.is_some() || own.cos_override.is_some();
        let cos = own.cos.filter(|_| !has_use);
        let cos = cos.map(|at| {
            (at.line, "mls qos cos on a port without trust: in a run the packets of the port get codepoint 0")
        });
        vlans.into_iter().chain(cos).map(|(line, text)| LineLeftOut { line, text: text.to_owned() })
    };
    keeps.into_iter().chain(ports.flat_map(of_port)).collect()
}

/// Returns the line of `police aggregate` and the policer of a class, if no other class of the policy uses
/// this policer. Each policy and port has its own policer: Cisco, "Catalyst 3750 Switch Software
/// Configuration Guide".
pub(crate) fn lone_aggregate<'c>(
    configuration: &'c Configuration,
    class: &PolicyClass,
) -> Option<(usize, &'c AggregatePolicer)> {
    let named = class.aggregate.as_ref()?;
    let mut policies = configuration.policy_maps.iter();
    let policy = policies.find(|policy| policy.classes.iter().any(|own| own.line == class.line))?;
    let shares = |own: &&PolicyClass| own.aggregate.as_ref().is_some_and(|name| name.value == named.value);
    let policer = configuration.mls.aggregate_policers.get(&named.value)?;
    (policy.classes.iter().filter(shares).count() == 1).then_some((named.line, &policer.value))
}

/// Marks the lines that set the queues, the maps and the trust of a switch as modeled.
pub(crate) fn mark_lines(configuration: &mut Configuration) {
    let ports = || configuration.interfaces.iter();
    let mut set: BTreeSet<usize> = configuration.mls.lines.iter().copied().collect();
    set.extend(ports().filter(|port| is_switch_port(port)).flat_map(|port| &port.mls.lines));
    let classes = || configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    set.extend(classes().filter_map(|class| class.trust.map(|at| at.line)));
    for class in classes() {
        let Some((line, _)) = lone_aggregate(configuration, class) else { continue };
        let named = class.aggregate.as_ref().map(|at| at.value.as_str()).unwrap_or_default();
        set.extend(configuration.mls.aggregate_policers.get(named).map(|at| at.line));
        set.insert(line);
    }
    let marks_down = trust::lines_that_mark_down(configuration);
    let expanded: BTreeSet<usize> =
        ports().filter(|port| !port.mls.lines.is_empty()).map(|port| port.line).collect();
    let has_global = !configuration.mls.lines.is_empty();
    let ring_holds = ring_holds(configuration);
    for line in &mut configuration.lines {
        if line.state != LineState::NotModelled {
            // The note in the table of commands concerns other devices, so it is removed.
            line.note = line.note.take().filter(|_| !configuration.mls.lines.contains(&line.number));
            continue;
        }
        let is_template = line.text.trim().starts_with("auto qos");
        if set.contains(&line.number) || marks_down.contains(&line.number) {
            (line.state, line.note) = (LineState::Modelled, None);
        } else if ring_holds && line.text.trim().starts_with("mls qos srr-queue input") {
            line.state = LineState::Modelled;
            line.note = Some(
                "all ports together are slower than the internal ring of the switch, so these queues \
                      drop nothing"
                    .to_owned(),
            );
        } else if is_template && line.block.map_or(has_global, |block| expanded.contains(&block)) {
            line.state = LineState::Irrelevant;
            line.note = Some(EXPANDED.to_owned());
        }
    }
}
