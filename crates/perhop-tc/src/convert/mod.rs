//! What is in the kernel as policies: a port for each device.

mod bands;
mod buffers;
mod cake;
mod class_tree;
mod classes;
mod conditioners;
mod hierarchy;
mod inputs;
mod policy_rules;
mod shares;
mod tree;

use perhop_device::lower::PortLinks;
use perhop_device::{Forwarding, Port, PortForwarding, Router, Wire};
use perhop_qos::ByteSize;
use perhop_qos::Rate;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;

use inputs::inputs;

use crate::configuration::Configuration;
use crate::log::Log;
use crate::model::{Device, ETHERNET, HOOK_EGRESS, HOOK_INGRESS};

/// What `configuration` amounts to. What is found out on the way joins its lines and diagnostics.
pub fn convert(configuration: &mut Configuration) -> Router {
    let Configuration { devices, log, .. } = &mut *configuration;
    let ports: Vec<Port> = devices.iter().map(|device| port(device, log)).collect();
    let policies: Vec<[&PolicyConfig; 2]> = ports.iter().map(|port| [&port.input, &port.output]).collect();
    policy_rules::check(devices, &policies, log);
    configuration.settle();
    Router { hostname: None, ports, forwarding: Forwarding::default() }
}

/// `policy`, or none where perhop cannot build it: a value that Linux takes and perhop does not.
fn buildable(policy: PolicyConfig, device: &Device, log: &mut Log) -> PolicyConfig {
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(1_000_000_000),
        framing: Framing::default(),
        headers: HeaderStack::EMPTY,
        ring: RingConfig::default(),
    };
    let (interfaces, streams) = (inputs(&policy), Streams::new(0, 0));
    let built = policy.build_conditioner(&interfaces, &streams).map(|_| ());
    let built = built.and_then(|()| policy.build_port(&wire, &interfaces, &streams).map(|_| ()));
    match built {
        Ok(()) => policy,
        Err(error) => {
            let line = device.root().map_or(device.line, |root| root.line);
            let error = if error.help.is_some() { error } else { error.help("perhop has no such value") };
            log.not_modelled(line, format!("{}: {error}", device.name));
            PolicyConfig::default()
        }
    }
}

fn port(device: &Device, log: &mut Log) -> Port {
    let input = conditioners::of(device, HOOK_INGRESS, 0, log);
    let mut tree = tree::Tree { device, log, bandwidth: None, depth: 0, entered: 0 };
    let queueing = tree.queueing();
    let bandwidth = tree.bandwidth;
    let stab = device.root().and_then(tree::stab).unwrap_or(0);
    let overhead = (ETHERNET.cast_signed() + stab).clamp(-64, 255) as i32;
    let mut output = conditioners::of(device, HOOK_EGRESS, overhead, log);
    if queueing.is_some() {
        output.overhead = overhead;
    }
    output.queueing = queueing;
    let (input, output) = (buildable(input, device, log), buildable(output, device, log));
    Port {
        name: device.name.clone(),
        interface: device.name.clone(),
        line: device.line,
        kind: None,
        addresses: Vec::new(),
        bandwidth,
        has_known_line: true,
        input,
        output,
        attachments: None,
        links: PortLinks::default(),
        counted_bytes: None,
        wire: Wire { mtu: device.mtu.map(ByteSize::from_bytes), ..Wire::default() },
        shutdown: false,
        forwarding: PortForwarding::default(),
    }
}
