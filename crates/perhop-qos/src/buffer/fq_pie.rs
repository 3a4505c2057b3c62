//! FQ-PIE: one queue for each flow with [`PIE`](super::Pie). Queues of sparse flows are served first.
//!
//! The queues work as in FQ-CoDel. PIE decides when a packet arrives, by the backlog of the flow of that
//! packet. The updates of a flow that became due in the meantime are applied when one of its packets arrives
//! or leaves, because the backlog of the flow is constant in between.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::BufferManager;
use super::mred::options::EcnConfig;
use super::pie::config::{PieConfig, PieDelay, PieLaw, PieSpacing};
use super::pie::control::{Control, Updates};
use crate::framing::Framing;
use crate::packet::Ecn;
use crate::queue::{Emptied, FlowChoice, FlowHash, Occupancy, SparseSettings, Stay};
use crate::random::{Stream, Streams};
use crate::{ByteSize, Color, ConfigError, DropCause, Packet, QueueSize, Time, Verdict};

/// Linux, `fq_pie_timer`: the number of flows whose probabilities are updated at the same time. The next
/// flows are updated one jiffy later.
const FLOWS_AT_ONCE: usize = 2048;
/// The duration of a jiffy at `HZ` 1000.
const JIFFY: Time = Time::from_milliseconds(1);

/// FQ-PIE as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct FqPieConfig {
    /// The implementation: `rfc` is PIE of RFC 8033 in the queues of RFC 8290, `linux` is `sch_fq_pie.c`. An
    /// option that contradicts the implementation is an error.
    pub law: PieLaw,
    /// The target of a flow's queueing delay (tc's `target`).
    pub target: Time,
    /// The interval between updates of the drop probabilities (tc's `tupdate`). Linux rounds it to
    /// whole milliseconds and adds one.
    pub update_interval: Time,
    /// The gain for the difference between delay and target, per second, 0 to 2. Under `linux`, it is a
    /// multiple of 1/16, and tc expects the numerator.
    pub alpha: f64,
    /// The gain for the change of the delay since the last update, per second, 0 to 2. Under `linux`, it is a
    /// multiple of 1/16, and tc expects the numerator.
    pub beta: f64,
    /// The time for which all packets of an uncongested flow are admitted.
    pub burst: Time,
    /// The source of the queueing delay. Default: `departure-rate` for `rfc`, `sojourn` for `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<PieDelay>,
    /// The spacing of drops. Default: `random` for `rfc`, `derandomized` for `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_spacing: Option<PieSpacing>,
    /// The backlog of a flow, IP bytes, up to which an arriving packet is not dropped early. Default: two
    /// packets of 1500 B.
    pub floor: ByteSize,
    /// The number of queues, 1 to 65534. A hash selects the queue of a flow, so several flows may share a
    /// queue.
    pub flows: u16,
    /// The header fields that distinguish flows.
    #[serde(skip_serializing_if = "FlowHash::is_default")]
    pub flow_hash: FlowHash,
    /// The bytes that a flow may send in one turn, 256B to 1MB. With `law: linux` they include the Ethernet
    /// header.
    pub quantum: ByteSize,
    /// The limit of all queues together, packets. A packet that finds this number of packets is dropped.
    pub limit: QueueSize,
    /// Whether ECN-capable packets are marked instead of dropped: `mark` marks up to the drop probability
    /// `mark-up-to`, `mark-all` always.
    pub ecn: EcnConfig,
    /// The drop probability above which `ecn: mark` marks no packets, 0 to 1. Under `linux`, it is a whole
    /// number of percent (tc's `ecn_prob`).
    pub mark_up_to: f64,
}

impl Default for FqPieConfig {
    /// The defaults of RFC 8033 and Linux.
    fn default() -> FqPieConfig {
        let pie = PieConfig::default();
        FqPieConfig {
            law: pie.law,
            target: pie.target,
            update_interval: pie.update_interval,
            alpha: pie.alpha,
            beta: pie.beta,
            burst: pie.burst,
            delay: pie.delay,
            drop_spacing: pie.drop_spacing,
            floor: pie.floor,
            flows: 1024,
            flow_hash: FlowHash::default(),
            quantum: ByteSize::from_bytes(1514),
            limit: QueueSize::Packets(10_240),
            ecn: pie.ecn,
            mark_up_to: pie.mark_up_to,
        }
    }
}

impl FqPieConfig {
    /// The PIE settings of one flow.
    fn pie(&self) -> Result<PieConfig, ConfigError> {
        let percent = self.mark_up_to * 100.0;
        let is_linux = self.law == PieLaw::Linux;
        if is_linux && !((0.0..=100.0).contains(&percent) && (percent - libm::round(percent)).abs() < 1e-9) {
            let message = format!("in Linux {} is not a whole number of percent", self.mark_up_to);
            return Err(ConfigError::new("mark-up-to", message).help("for example 0.1"));
        }
        let pie = PieConfig {
            law: self.law,
            target: self.target,
            update_interval: self.update_interval,
            alpha: self.alpha,
            beta: self.beta,
            burst: self.burst,
            delay: self.delay,
            drop_spacing: self.drop_spacing,
            floor: self.floor,
            ecn: self.ecn,
            mark_up_to: if is_linux { PieConfig::default().mark_up_to } else { self.mark_up_to },
            limit: self.limit,
        };
        pie.check()?;
        Ok(pie)
    }

    /// Builds the buffer manager of queues on a link of this `framing`.
    ///
    /// # Errors
    /// The error names the first field that is out of range or contradicts the law.
    pub fn build(&self, framing: Framing, streams: &Streams) -> Result<FqPie, ConfigError> {
        let (control, updates, header) = Control::from_config(&self.pie()?, framing);
        let rounds = usize::from(self.flows).div_ceil(FLOWS_AT_ONCE) as u64;
        let is_linux = self.law == PieLaw::Linux;
        let flow = |index: usize| {
            let late = if is_linux { JIFFY * (index / FLOWS_AT_ONCE) as u64 } else { Time::ZERO };
            let longer = if is_linux { JIFFY * rounds.saturating_sub(1) } else { Time::ZERO };
            let updates = Updates { next: updates.next + late, interval: updates.interval + longer };
            Flow { control, updates, backlog: 0 }
        };
        let settings = self.queues(framing, streams)?;
        Ok(FqPie {
            flows: (0..usize::from(self.flows)).map(flow).collect(),
            choice: settings.choice(),
            header,
            limit: settings.limit,
            ecn: self.ecn,
            mark_up_to: self.mark_up_to,
            percent: libm::round(self.mark_up_to * 100.0) as u64,
            random: streams.stream(),
        })
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
        let QueueSize::Packets(limit @ 1..=1_000_000) = self.limit else {
            return Err(ConfigError::new("limit", format!("a limit of {} is out of range", self.limit))
                .help("1 to 1000000 packets, for example 10240 packets"));
        };
        let is_linux = self.law == PieLaw::Linux;
        Ok(SparseSettings {
            flows: self.flows,
            quantum: self.quantum.as_bytes() as u32,
            header: if is_linux { framing.queued_header() } else { 0 },
            limit: limit as u32,
            // No queued packet is discarded: a packet that finds the queues full is dropped on arrival.
            drop_batch: 1,
            emptied: if is_linux { Emptied::GoesBehindOthers } else { Emptied::GoesBehind },
            key: streams.child("flows").stream().bits(),
            flow_hash: self.flow_hash,
        })
    }
}

/// The buffer manager of FQ-PIE: PIE for the queue of each flow. The state of a flow is kept while its queue
/// is empty.
#[derive(Clone, Debug)]
pub struct FqPie {
    flows: Box<[Flow]>,
    /// Selects the flow of a packet. The queues use the same hash, so each flow has its own queue.
    choice: FlowChoice,
    /// Bytes that the law counts for a packet in addition to its IP bytes.
    header: u32,
    limit: u32,
    ecn: EcnConfig,
    mark_up_to: f64,
    /// `mark_up_to` in whole percent, for `law: linux`.
    percent: u64,
    random: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    control: Control,
    updates: Updates,
    /// The backlog, in bytes as the law counts them.
    backlog: u64,
}

impl FqPie {
    /// Whether `control` permits marks of ECN-capable packets instead of drops.
    fn marks(&self, control: &Control) -> bool {
        match (self.ecn, control) {
            (EcnConfig::Ignore, _) => false,
            (EcnConfig::MarkAll, _) => true,
            (EcnConfig::Mark, Control::Rfc(control)) => control.probability() < self.mark_up_to,
            (EcnConfig::Mark, Control::Linux(control)) => control.marks_up_to(self.percent),
        }
    }
}

impl BufferManager for FqPie {
    #[inline(never)] // inlined, it would slow down all other buffer managers
    fn admit(&mut self, now: Time, packet: &Packet, _: Color, queue: &Occupancy) -> Verdict {
        let index = usize::from(self.choice.queue_index(packet));
        let Flow { mut control, mut updates, backlog } = self.flows[index];
        updates.catch_up(&mut control, now, backlog);
        let verdict = if queue.packets >= u64::from(self.limit) {
            control.overflowed();
            Verdict::Drop(DropCause::QueueFull)
        } else if !control.selects(backlog, &mut self.random) {
            Verdict::Pass
        } else if self.marks(&control) && packet.marks.ecn() != Ecn::NotCapable {
            Verdict::MarkCe
        } else {
            if let Control::Linux(control) = &mut control {
                control.dropped();
            }
            Verdict::Drop(DropCause::EarlyRandom)
        };
        let joins = !matches!(verdict, Verdict::Drop(_));
        let backlog = backlog + if joins { u64::from(packet.length + self.header) } else { 0 };
        self.flows[index] = Flow { control, updates, backlog };
        verdict
    }
    #[inline(never)]
    fn release(&mut self, now: Time, packet: &Packet, _: Color, stay: Stay, _: &Occupancy) -> Verdict {
        let Flow { control, updates, backlog } = &mut self.flows[usize::from(stay.flow.number())];
        updates.catch_up(control, now, *backlog);
        *backlog -= u64::from(packet.length + self.header);
        control.departed(now, stay.since, packet.length, *backlog);
        Verdict::Pass
    }
    fn needs_sojourn_times(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_values_are_errors_with_their_field() {
        for (written, field) in [
            (json!({"flows": 0}), "flows"),
            (json!({"quantum": "10B"}), "quantum"),
            (json!({"limit": "0 packets"}), "limit"),
            (json!({"limit": "15kB"}), "limit"),
            (json!({"target": "0ms"}), "target"),
            (json!({"law": "linux", "mark-up-to": 0.125}), "mark-up-to"),
            (json!({"mark-up-to": 1.5}), "mark-up-to"),
            (json!({"law": "linux", "burst": "100ms"}), "burst"),
            (json!({"law": "linux", "delay": "departure-rate"}), "delay"),
        ] {
            let config: FqPieConfig = serde_json::from_value(written.clone()).unwrap();
            let error = config.build(Framing::Raw, &Streams::new(1, 0)).unwrap_err();
            assert!(error.path == [field] && error.help.is_some(), "{written}: {error}");
        }
        for written in [json!({}), json!({"law": "linux", "mark-up-to": 0.07, "ecn": "mark"})] {
            let config: FqPieConfig = serde_json::from_value(written).unwrap();
            config.build(Framing::Raw, &Streams::new(1, 0)).unwrap();
        }
    }
}
