//! Conversion of the control plane to a port. Packets to the router itself pass the policers of the control
//! plane.

use perhop_device::intent::PortIntent;
use perhop_device::lower::{PortLinks, Reference, Side, SidePath, lower};
use perhop_device::{CountedBytes, Port, PortForwarding, PortRole, Wire};
use perhop_qos::Rate;
use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::framing::Framing;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::units::QueueSize;

use super::context::Context;
use super::diagnostics::remarks::diagnostic;
use super::ports::ConvertedPort;
use super::wire::Tags;
use crate::ast::{Direction, Hardware};

/// The rate of the path to the processor, bits per second. It is above all rates of policers.
const PUNT_RATE: u64 = 1_000_000_000;
/// The limit of the queue to the processor, packets, which is the limit of the input queue of an interface.
const PUNT_QUEUE: u64 = 75;

impl Context<'_> {
    /// Converts `control-plane` to a port. The packets of the port pass the policers of the input policy and
    /// leave towards the processor.
    pub(super) fn control_plane(&mut self) -> Option<ConvertedPort> {
        let plane = self.configuration.control_plane.as_ref()?;
        let at = plane.service_policies.input.as_ref()?;
        let policy = self.configuration.policy_maps.get(&at.value)?;
        if !self.may_arrive_by(policy, at.line) {
            return None;
        }
        let bandwidth = Rate::from_bits_per_second(PUNT_RATE);
        let intent = self.intent_of(policy, Tags::default());
        let side = Side {
            path: SidePath::ToDevice,
            policy: Some((&intent, Reference::top(bandwidth, 100))),
            before: None,
            limiters: &[],
            markings: self.markings(Direction::Input),
            labels: self.first_label(),
            overhead: 0,
        };
        let lowered = lower(&side, self.target(""));
        self.found.extend(lowered.remarks.iter().map(|remark| diagnostic(remark, at.line)));
        let limit = QueueSize::Packets(PUNT_QUEUE);
        let class = ClassConfig {
            name: "fifo".to_owned(),
            buffer: Some(BufferConfig::TailDrop(TailDropConfig { limit })),
            ..ClassConfig::default()
        };
        let queueing = QueueingConfig {
            scheduler: SchedulerConfig::Fifo,
            classes: vec![class],
            ..QueueingConfig::default()
        };
        let port = Port {
            kind: Some(Hardware::Virtual),
            bandwidth: Some(bandwidth),
            output: PolicyConfig { queueing: Some(queueing), ..lowered.config },
            intent: PortIntent { output: vec![intent], ..PortIntent::default() },
            links: PortLinks { output: lowered.links, ..PortLinks::default() },
            counted_bytes: Some(CountedBytes::default()),
            wire: Wire { rate: Some(bandwidth), framing: Some(Framing::Raw), ..Wire::default() },
            forwarding: PortForwarding {
                role: PortRole::ControlPlane,
                input_line: Some(at.line),
                ..PortForwarding::default()
            },
            ..Port::new("control-plane", plane.line)
        };
        // The policers of the input policy act before the queue to the processor.
        Some(ConvertedPort { port, input: lowered.policy, output: None })
    }
}
