//! FQ-CoDel (RFC 8290): one queue for each flow with [`CoDel`](super::Codel). Queues of sparse flows are
//! served first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codel::config::{CeThresholdConfig, CodelConfig, CodelLaw, EcnMarking};
use super::codel::control::{Control, Controller};
use super::contract::BufferManager;
use crate::framing::Framing;
use crate::queue::{Emptied, FlowHash, Occupancy, SparseSettings, Stay};
use crate::random::Streams;
use crate::{ByteSize, Color, ConfigError, Packet, QueueSize, Time, Verdict};

/// FQ-CoDel as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct FqCodelConfig {
    /// The implementation.
    pub law: CodelLaw,
    /// The acceptable wait of a packet in the queue of its flow.
    pub target: Time,
    /// The time for which the waits of all packets must exceed the target before the first drop, 10us to
    /// 100s. Choose about the longest round-trip time of the connections.
    pub interval: Time,
    /// The number of queues, 1 to 65534. A hash selects the queue of a flow, so several flows may share a
    /// queue.
    pub flows: u16,
    /// The header fields that distinguish flows.
    #[serde(skip_serializing_if = "FlowHash::is_default")]
    pub flow_hash: FlowHash,
    /// The bytes that a flow may send in one turn, 256B to 1MB. With `law: linux` they include the Ethernet
    /// header.
    pub quantum: ByteSize,
    /// The limit of all queues together, packets. A packet that exceeds it causes drops at the head of the
    /// queue with the most bytes.
    pub limit: QueueSize,
    /// The largest number of packets that are dropped when the limit is exceeded, at least 1. All of them are
    /// in the queue with the most bytes. Dropping also ends when half of the bytes of this queue are dropped.
    pub drop_batch: u32,
    /// The treatment of ECN-capable packets that are to be dropped early.
    pub ecn: EcnMarking,
    /// Marks ECN-capable packets that have waited longer than a second threshold, regardless of `ecn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<CeThresholdConfig>,
    /// The backlog, IP bytes, up to which a queue drops no packet. It should be the length of the longest
    /// packet. With `law: linux`, the backlog of all queues together is compared.
    pub mtu: ByteSize,
}

impl Default for FqCodelConfig {
    /// The defaults of RFC 8290 §5.2 and Linux.
    fn default() -> FqCodelConfig {
        let CodelConfig { law, target, interval, mtu, ce_threshold, .. } = CodelConfig::default();
        FqCodelConfig {
            law,
            target,
            interval,
            flows: 1024,
            flow_hash: FlowHash::default(),
            quantum: ByteSize::from_bytes(1514),
            limit: QueueSize::Packets(10_240),
            drop_batch: 64,
            ecn: EcnMarking::Mark,
            ce_threshold,
            mtu,
        }
    }
}

impl FqCodelConfig {
    /// Builds the buffer manager of queues on a link of this `framing`.
    ///
    /// # Errors
    /// The interval is out of range, or the target is not below it.
    pub fn build(&self, framing: Framing) -> Result<FqCodel, ConfigError> {
        let controller = Controller::from_config(
            &CodelConfig {
                law: self.law,
                target: self.target,
                interval: self.interval,
                limit: self.limit,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold,
                mtu: self.mtu,
            },
            framing,
        )?;
        let controls = vec![Control::default(); usize::from(self.flows)].into();
        Ok(FqCodel { controls, controller, law: self.law })
    }
    /// The settings of the queues of the flows.
    ///
    /// # Errors
    /// There is no queue, the quantum is out of range, or the limit is in bytes or out of range.
    pub(crate) fn queues(&self, framing: Framing, streams: &Streams) -> Result<SparseSettings, ConfigError> {
        if !(1..u16::MAX).contains(&self.flows) {
            return Err(ConfigError::new("flows", format!("{} queues are out of range", self.flows))
                .help("1 to 65534"));
        }
        if !(256..=1_000_000).contains(&self.quantum.as_bytes()) {
            return Err(ConfigError::new(
                "quantum",
                format!("a quantum of {} is out of range", self.quantum),
            )
            .help("256B to 1MB; 1514B sends a packet of any length in every turn"));
        }
        let limit = match self.limit {
            QueueSize::Packets(packets @ 1..=1_000_000) => packets as u32,
            QueueSize::Packets(packets) => {
                return Err(ConfigError::new(
                    "limit",
                    format!("a limit of {packets} packets is out of range"),
                )
                .help("1 to 1000000 packets, for example 10240 packets"));
            }
            QueueSize::Bytes(_) => {
                return Err(ConfigError::new("limit", "the limit of fq-codel is in packets")
                    .help("for example 10240 packets"));
            }
        };
        // Linux, `fq_codel_change`: the batch is at least 1, even if the limit is lower.
        if self.drop_batch == 0 {
            return Err(ConfigError::new("drop-batch", "a batch of 0 packets drops nothing")
                .help("at least 1; 64 in Linux"));
        }
        let is_linux = self.law == CodelLaw::Linux;
        Ok(SparseSettings {
            flows: self.flows,
            quantum: self.quantum.as_bytes() as u32,
            header: if is_linux { framing.queued_header() } else { 0 },
            limit,
            drop_batch: self.drop_batch,
            emptied: if is_linux { Emptied::GoesBehindOthers } else { Emptied::GoesBehind },
            key: streams.child("flows").stream().bits(),
            flow_hash: self.flow_hash,
        })
    }
}

/// The buffer manager of FQ-CoDel: `CoDel` for the queue of each flow. The state of a flow is kept while its
/// queue is empty.
#[derive(Clone, Debug)]
pub struct FqCodel {
    controls: Box<[Control]>,
    controller: Controller,
    law: CodelLaw,
}

impl BufferManager for FqCodel {
    /// Admits every packet. If the limit is exceeded, the queue with the most bytes discards packets.
    fn admit(&mut self, _: Time, _: &Packet, _: Color, _: &Occupancy) -> Verdict {
        Verdict::Pass
    }
    #[inline(never)] // inlined, it would slow down all other buffer managers
    fn release(&mut self, now: Time, packet: &Packet, _: Color, stay: Stay, queue: &Occupancy) -> Verdict {
        let backlog = || match self.law {
            CodelLaw::Rfc => u64::from(stay.flow.left()),
            CodelLaw::Linux => self.controller.counted(queue.packets, queue.bytes),
        };
        let control = &mut self.controls[usize::from(stay.flow.number())];
        if stay.flow.was_idle() {
            control.found_empty();
        }
        let verdict = control.decide(&self.controller, now, stay.since, backlog, packet.marks.ecn());
        if stay.flow.left() == 0 && matches!(verdict, Verdict::Drop(_)) {
            control.end_drops();
        }
        verdict
    }
    /// Linux, `fq_codel_drop`: "Tell codel to increase its signal strength also".
    fn discarded_from_flow(&mut self, flow: u16) {
        if self.law == CodelLaw::Linux {
            self.controls[usize::from(flow)].count_other_drop();
        }
    }
    fn needs_sojourn_times(&self) -> bool {
        true
    }
}
