//! FQ-CoDel (RFC 8290): a queue for each flow, sparse ones first, and [`CoDel`](super::Codel) in each.

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
    /// Whose FQ-CoDel it is.
    pub law: CodelLaw,
    /// The wait that is acceptable in the queue of a flow.
    pub target: Time,
    /// How long waits must be longer than that before the first drop, 10us to 100s; about the longest round
    /// trip of the connections.
    pub interval: Time,
    /// How many queues there are, 1 to 65534; a flow's is found by a hash, so that flows may share one.
    pub flows: u16,
    /// What tells flows apart.
    #[serde(skip_serializing_if = "FlowHash::is_default")]
    pub flow_hash: FlowHash,
    /// What a flow may send in a turn, 256B to 1MB; with `law: linux` the Ethernet header counts.
    pub quantum: ByteSize,
    /// Packets in all queues at most. Beyond, the first packets of the queue with most bytes are dropped.
    pub limit: QueueSize,
    /// How many of them at once, at least 1, unless half of that queue's bytes are less.
    pub drop_batch: u32,
    /// What becomes of ECN-capable packets that are to be dropped early.
    pub ecn: EcnMarking,
    /// Marks every ECN-capable packet that has waited for longer, whatever `ecn` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<CeThresholdConfig>,
    /// A queue that holds no more than this drops nothing: the longest packet, in IP bytes. With `law: linux`
    /// all queues together.
    pub mtu: ByteSize,
}

impl Default for FqCodelConfig {
    /// RFC 8290 §5.2 and Linux.
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
    /// The buffer manager of queues before a link of this `framing`.
    ///
    /// # Errors
    /// Where the interval is out of range, or the target not below it.
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
    /// How its queues are served.
    ///
    /// # Errors
    /// Where there is no queue, a quantum out of range, or a limit in bytes or out of range.
    pub(crate) fn queues(&self, framing: Framing, streams: &Streams) -> Result<SparseSettings, ConfigError> {
        if !(1..u16::MAX).contains(&self.flows) {
            return Err(ConfigError::new("flows", format!("{} queues", self.flows)).help("1 to 65534"));
        }
        if !(256..=1_000_000).contains(&self.quantum.as_bytes()) {
            return Err(ConfigError::new("quantum", format!("a quantum of {}", self.quantum))
                .help("256B to 1MB; 1514B sends a packet of any length in every turn"));
        }
        let limit = match self.limit {
            QueueSize::Packets(packets @ 1..=1_000_000) => packets as u32,
            QueueSize::Packets(packets) => {
                return Err(ConfigError::new("limit", format!("a limit of {packets} packets"))
                    .help("1 to 1000000 packets, for example 10240 packets"));
            }
            QueueSize::Bytes(_) => {
                return Err(
                    ConfigError::new("limit", "fq-codel counts packets").help("for example 10240 packets")
                );
            }
        };
        // Linux, `fq_codel_change`: at least 1, however few packets are the limit.
        if self.drop_batch == 0 {
            return Err(ConfigError::new("drop-batch", "0 packets at once").help("at least 1; 64 in Linux"));
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

/// `CoDel` of every flow's queue. What it remembers of one survives that the queue is empty.
#[derive(Clone, Debug)]
pub struct FqCodel {
    controls: Box<[Control]>,
    controller: Controller,
    law: CodelLaw,
}

impl BufferManager for FqCodel {
    /// What is too much is given up by the queue with most bytes.
    fn admit(&mut self, _: Time, _: &Packet, _: Color, _: &Occupancy) -> Verdict {
        Verdict::Pass
    }
    #[inline(never)] // or the ways of all other buffer managers grow
    fn release(&mut self, now: Time, packet: &Packet, _: Color, stay: Stay, queue: &Occupancy) -> Verdict {
        let backlog = || match self.law {
            CodelLaw::Rfc => u64::from(stay.left),
            CodelLaw::Linux => self.controller.counted(queue.packets, queue.bytes),
        };
        let control = &mut self.controls[usize::from(stay.flow)];
        if stay.was_idle {
            control.found_empty();
        }
        let verdict = control.decide(&self.controller, now, stay.since, backlog, packet.marks.ecn());
        if stay.left == 0 && matches!(verdict, Verdict::Drop(_)) {
            control.end_of_row();
        }
        verdict
    }
    /// Linux, `fq_codel_drop`: "Tell codel to increase its signal strength also".
    fn gave_up(&mut self, flow: u16) {
        if self.law == CodelLaw::Linux {
            self.controls[usize::from(flow)].strengthen();
        }
    }
    fn asks_for_stays(&self) -> bool {
        true
    }
}
