//! Conversion of the kernel state to policies, with one port per device.

mod bands;
mod branch;
mod buffers;
mod cake;
mod class_tree;
mod classes;
mod conditioners;
mod demands;
mod filter_actions;
mod hierarchy;
mod htb_turns;
mod inputs;
mod policers;
mod policy_rules;
mod shares;
mod tree;
mod unset_marks;

use perhop_device::intent::{ClassId, Policy, PortIntent};
use perhop_device::lower::{Links, PortLinks};
use perhop_device::{Forwarding, Port, Router, Wire};
use perhop_qos::ByteSize;
use perhop_qos::Rate;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;

use branch::Branches;
use conditioners::Hook;
use inputs::inputs;

use crate::configuration::Configuration;
use crate::log::Log;
use crate::model::{Device, ETHERNET, HOOK_EGRESS, HOOK_INGRESS, Qdisc};

/// Returns the buffer manager of a discipline with all defaults; `None` if perhop has no equivalent.
pub(crate) fn buffer_of(qdisc: &Qdisc, device: &Device) -> Option<BufferConfig> {
    buffers::from_qdisc(qdisc, device, buffers::Above::Device, &mut Log::default())
}

/// Converts `configuration` to a router. Adds findings to its lines and diagnostics.
pub fn convert(configuration: &mut Configuration) -> Router {
    let Configuration { devices, log, marks, .. } = &mut *configuration;
    let ports: Vec<Port> = devices.iter().map(|device| port(device, log)).collect();
    policy_rules::check(devices, &ports, log);
    htb_turns::check(devices, log);
    unset_marks::check(devices, marks, log);
    configuration.settle();
    Router { hostname: None, ports, forwarding: Forwarding::default() }
}

/// The rates of Ethernet, bits per second. No command sets the line rate, so a host has the lowest of these
/// rates that is at least the rate of its shaper.
const ETHERNET_RATES: [u64; 6] =
    [1_000_000_000, 10_000_000_000, 25_000_000_000, 40_000_000_000, 100_000_000_000, 400_000_000_000];

/// Returns the assumed line rate of a device with a shaper of rate `shaped`.
fn assumed_rate(shaped: Option<Rate>) -> Rate {
    let least = shaped.map_or(0, Rate::as_bits_per_second);
    let found = ETHERNET_RATES.into_iter().find(|rate| *rate >= least);
    Rate::from_bits_per_second(found.unwrap_or(least))
}

/// One direction of a port: lowered policy, Intent, and links between them.
#[derive(Debug, Default)]
struct Side {
    config: PolicyConfig,
    intent: Vec<Policy>,
    links: Links,
}

impl Side {
    /// Combines the filters of a hook, the filters that select classes and act on packets, and the classes of
    /// the root.
    fn new(hook: Hook, filters: Option<Policy>, queues: Option<&Branches>, overhead: i32) -> Side {
        let Hook { mut config, intent } = hook;
        let conditioners = config.conditioners.len();
        let mut intent: Vec<Policy> = intent.into_iter().chain(filters).collect();
        if let Some(branches) = queues {
            config.overhead = overhead;
            config.queueing = Some(branches.queueing());
            intent.push(branches.intent(&mut conditioners.clone()));
        }
        let mut links = Links::new(&intent);
        for index in 0..conditioners {
            if let Some(class) = links.of_class_mut(ClassId(index)) {
                class.conditioner = Some(index);
            }
        }
        if let Some(branches) = queues {
            branches.link(&[], &mut conditioners.clone(), &mut links);
        }
        Side { config, intent, links }
    }

    /// Returns this side, or an empty side if perhop cannot build it because it rejects a value that Linux
    /// accepts.
    fn buildable(self, device: &Device, log: &mut Log) -> Side {
        let wire = WireConfig {
            rate: assumed_rate(None),
            framing: Framing::default(),
            headers: HeaderStack::EMPTY,
            ring: RingConfig::default(),
        };
        let policy = &self.config;
        let (interfaces, streams) = (inputs(policy), Streams::new(0, 0));
        let built = policy.build_conditioner(&interfaces, &streams).map(|_| ());
        let built = built.and_then(|()| policy.build_port(&wire, &interfaces, &streams).map(|_| ()));
        match built {
            Ok(()) => self,
            Err(error) => {
                let line = device.root().map_or(device.line, |root| root.line);
                let error = if error.help.is_some() { error } else { error.help("perhop has no such value") };
                log.not_modelled(line, format!("{}: {error}", device.name));
                Side::default()
            }
        }
    }
}

fn port(device: &Device, log: &mut Log) -> Port {
    let input = conditioners::at_hook(device, HOOK_INGRESS, 0, log);
    let mut tree = tree::Tree::new(device, log);
    let branches = tree.branches();
    let (policers, bandwidth) = (tree.policers, tree.bandwidth);
    let stab = device.root().and_then(tree::stab).unwrap_or(0);
    let overhead = (ETHERNET.cast_signed() + stab).clamp(-64, 255) as i32;
    let mut output = conditioners::at_hook(device, HOOK_EGRESS, overhead, log);
    let conditioners = &mut output.config.conditioners;
    let filters = device.root().and_then(|root| policers.behind(conditioners, root, log));
    let input = Side::new(input, None, None, 0).buildable(device, log);
    let output = Side::new(output, filters, branches.as_ref(), overhead).buildable(device, log);
    Port {
        bandwidth,
        assumed_rate: Some(assumed_rate(bandwidth)),
        input: input.config,
        output: output.config,
        intent: PortIntent { input: input.intent, output: output.intent },
        links: PortLinks { input: input.links, output: output.links },
        wire: Wire { mtu: device.mtu.map(ByteSize::from_bytes), ..Wire::default() },
        ..Port::new(&device.name, device.line)
    }
}
