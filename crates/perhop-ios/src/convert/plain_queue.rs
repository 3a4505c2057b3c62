//! The one queue of an interface or circuit that tells no classes, and fair queueing of flows.

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::FairQueueingConfig;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::units::QueueSize;

use super::Context;
use super::circuit::Circuit;
use super::condition::Condition;
use super::random_detect::{Queue, random_detect, wred};
use super::resolved::Limit;
use crate::ast::{At, FairQueue, Hardware, Interface, RandomDetect};

impl Context<'_> {
    /// What an interface or circuit queues by without a policy that queues.
    pub(super) fn without_classes(&self, interface: &Interface, circuit: &Circuit) -> QueueingConfig {
        let pvc = circuit.pvc;
        let hold = pvc.and_then(|pvc| pvc.hold_queue).or(interface.hold_queue).map(|hold| hold.value);
        let detect = pvc.and_then(|pvc| pvc.random_detect.as_ref()).or(interface.random_detect.as_ref());
        let fair = pvc.and_then(|pvc| pvc.fair_queue).or(interface.fair_queue);
        let class = ClassConfig { name: "fifo".to_owned(), ..ClassConfig::default() };
        let class = match (detect, fair) {
            (Some(detect), _) => self.random_detect_only(class, detect, hold, circuit),
            (None, Some(At { value: Some(fair), .. })) => fair_only(class, &fair, hold),
            (None, None) if self.is_slow_serial(interface, circuit) => {
                fair_only(class, &FairQueue::default(), hold)
            }
            _ => {
                let limit =
                    QueueSize::Packets(hold.unwrap_or(*self.platform.rules().interface_queue_packets).max(1));
                ClassConfig { buffer: Some(BufferConfig::TailDrop(TailDropConfig { limit })), ..class }
            }
        };
        QueueingConfig { scheduler: SchedulerConfig::Fifo, classes: vec![class], ..QueueingConfig::default() }
    }

    fn random_detect_only(
        &self,
        class: ClassConfig,
        detect: &At<RandomDetect>,
        hold: Option<u64>,
        circuit: &Circuit,
    ) -> ClassConfig {
        let limit = Limit::packets(hold.unwrap_or(*self.platform.rules().interface_queue_packets));
        let queue = Queue { limit, rate: circuit.bandwidth };
        let detect = random_detect(&detect.value, &Condition::Always, queue, self.platform);
        let (buffer, precedence) = wred(&detect, hold.map(QueueSize::Packets), self.platform);
        ClassConfig { name: "random-detect".to_owned(), buffer: Some(buffer), precedence, ..class }
    }

    fn is_slow_serial(&self, interface: &Interface, circuit: &Circuit) -> bool {
        let most = *self.platform.rules().fair_interface_bps;
        interface.hardware == Hardware::Serial && circuit.bandwidth.as_bits_per_second() <= most
    }
}

/// Weighted fair queueing of the flows of an interface, with HQF as before it: measured on 15.0M by
/// I. Pepelnjak, "HQF intra-class WFQ ignores IP precedence", blog.ipspace.net 2009.
fn fair_only(class: ClassConfig, fair: &FairQueue, hold: Option<u64>) -> ClassConfig {
    let default = FairQueueingConfig::default();
    let flows = FairQueueingConfig {
        queues: fair.dynamic_queues.map_or(default.queues, |queues| queues.clamp(1, 4096) as u16),
        flow_limit: fair.congestive_discard.map_or(default.flow_limit, QueueSize::Packets),
        limit: hold.map_or(default.limit, QueueSize::Packets),
        ..default
    };
    ClassConfig { name: "fair-queue".to_owned(), fair_queueing: Some(flows), ..class }
}
