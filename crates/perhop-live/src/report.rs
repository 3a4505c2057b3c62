//! [`Report`]: what one forwarder counted, as the laboratory reads it.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use perhop_measure::counters::Tally;
use perhop_qos::conditioner::{Count, TrafficConditioner};
use perhop_qos::observer::Watch;
use perhop_qos::packet::{Color, FlowKey};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use serde::Serialize;

use crate::forwarder::Totals;
use crate::forwarder::{Direction, Input, Network};
use crate::frame::Refusal;

/// What one forwarder counted. Ports, conditioners and flows are counted from `counted_from_s` on, frames from the
/// start.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// The forwarder's name.
    pub node: String,
    /// Since when ports and flows are counted, seconds on the forwarder's clock.
    pub counted_from_s: f64,
    /// Until when, seconds on the forwarder's clock.
    pub counted_until_s: f64,
    /// Frames since the start.
    pub frames: Frames,
    /// Each direction of a link, in the order of the configuration.
    pub directions: Vec<DirectionReport>,
    /// Each device by which packets come from another process.
    pub inputs: Vec<InputReport>,
    /// What was dropped of each flow of which anything was.
    pub flows: Vec<FlowReport>,
    /// What was dropped of flows beyond the number that is counted one by one.
    pub other_flows: BTreeMap<&'static str, Count>,
    /// How late frames were sent.
    pub lateness: Lateness,
}

/// The fate of all frames since the start.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Frames {
    /// Frames that arrived.
    pub received: u64,
    /// Their bytes, link layer's header included.
    pub received_bytes: u64,
    /// Frames handed to the wire.
    pub sent: u64,
    /// Their bytes, link layer's header included.
    pub sent_bytes: u64,
    /// Of those sent, frames without an IP packet.
    pub passed: u64,
    /// Frames that a device refused to send.
    pub unsent: u64,
    /// Frames that are queued or in flight.
    pub held: u64,
    /// Slots that are taken.
    pub slots_taken: u64,
    /// Found every slot taken.
    pub no_slot: u64,
    /// Longer than a slot.
    pub oversized: u64,
    /// Came by a device on which nothing is received.
    pub unexpected: u64,
    /// IP packets for groups, or for the link they came by.
    pub local: u64,
    /// Hold no packet that could be forwarded, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Packets dropped, by cause.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DirectionReport {
    /// `C1->E3`.
    pub name: String,
    /// By queue and drop precedence.
    pub queues: Vec<QueueReport>,
    /// Dropped before any queue was chosen, by cause.
    pub unqueued: BTreeMap<&'static str, Count>,
    /// Dropped after it was sent, by cause: lost on the wire, or refused by the far end's conditioners.
    pub beyond: BTreeMap<&'static str, Count>,
    /// Stages of the output policy.
    pub output: Vec<StageReport>,
    /// Stages of the far end's input policy.
    pub input: Vec<StageReport>,
    /// Packets that are queued.
    pub backlog: u64,
    /// Packets that are in the ring or on the wire.
    pub in_flight: u64,
}

/// Packets of one drop precedence at one queue.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueReport {
    /// Name of the class.
    pub queue: String,
    /// Drop precedence, from 0.
    pub precedence: u64,
    /// Arrived at the queue, dropped ones included.
    pub arrived: Count,
    /// Left it for the transmit ring.
    pub sent: Count,
    /// Given the congestion-experienced codepoint.
    pub marked: Count,
    /// Dropped, by cause.
    pub dropped: BTreeMap<&'static str, Count>,
}

/// A device by which packets come from another process.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct InputReport {
    /// Name of the direction whose far end it is.
    pub name: String,
    /// Stages of the input policy.
    pub input: Vec<StageReport>,
    /// Dropped by them, by cause.
    pub dropped: BTreeMap<&'static str, Count>,
}

/// One stage of a conditioner.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct StageReport {
    /// Its name.
    pub conditioner: String,
    /// What it took, by the color it gave.
    pub colors: BTreeMap<String, Count>,
}

/// What was dropped of one flow.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct FlowReport {
    /// Source address.
    pub source: String,
    /// Destination address.
    pub destination: String,
    /// Source port, 0 where there is none.
    pub source_port: u16,
    /// Destination port, 0 where there is none.
    pub destination_port: u16,
    /// IP protocol, its number.
    pub protocol: u8,
    /// Dropped, by cause.
    pub dropped: BTreeMap<&'static str, Count>,
}

/// How late frames were sent: from the instant at which they were to leave until the forwarder handed them over.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lateness {
    /// Frames.
    pub frames: u64,
    /// Mean, seconds.
    pub mean_s: f64,
    /// Median, seconds.
    pub p50_s: f64,
    /// 99th percentile, seconds.
    pub p99_s: f64,
    /// The latest, seconds.
    pub max_s: f64,
}

impl Report {
    pub(crate) fn of<O: Watch>(
        node: &str,
        now: Time,
        network: &Network<O>,
        lateness: &Histogram<u64>,
    ) -> Report {
        Report {
            node: node.to_owned(),
            counted_from_s: network.books.counts_from.as_seconds(),
            counted_until_s: now.as_seconds(),
            frames: Frames::of(network),
            directions: network.directions.iter().map(DirectionReport::of).collect(),
            inputs: network.inputs.iter().map(InputReport::of).collect(),
            flows: network.books.flows.iter().map(|(flow, dropped)| FlowReport::of(flow, dropped)).collect(),
            other_flows: by_cause(network.books.flows.others()),
            lateness: Lateness::of(lateness),
        }
    }
}

impl Frames {
    fn of<O: Watch>(network: &Network<O>) -> Frames {
        let Totals {
            received,
            received_bytes,
            refused,
            unexpected,
            local,
            oversized,
            no_slot,
            dropped,
            sent,
            sent_bytes,
            passed,
            unsent,
        } = network.books.totals;
        let refused = Refusal::ALL.iter().map(|reason| (reason.name(), refused[reason.index()]));
        let dropped = DropCause::ALL.iter().map(|cause| (cause.name(), dropped[cause.index()]));
        Frames {
            received,
            received_bytes,
            sent,
            sent_bytes,
            passed,
            unsent,
            held: network.held(),
            slots_taken: network.books.slots.taken() as u64,
            no_slot,
            oversized,
            unexpected,
            local,
            refused: refused.filter(|(_, frames)| *frames > 0).collect(),
            dropped: dropped.filter(|(_, packets)| *packets > 0).collect(),
        }
    }
}

impl DirectionReport {
    fn of(direction: &Direction) -> DirectionReport {
        let queue = |(queue, precedence, tally): (usize, usize, Tally)| QueueReport {
            queue: direction.queue_names[queue].clone(),
            precedence: precedence as u64,
            arrived: tally.arrived,
            sent: tally.sent,
            marked: tally.marked,
            dropped: by_cause(&tally.dropped),
        };
        DirectionReport {
            name: direction.name.clone(),
            queues: direction.tally.iter().map(queue).collect(),
            unqueued: by_cause(&direction.tally.unqueued),
            beyond: by_cause(&direction.tally.beyond),
            output: stages(&direction.output),
            input: direction.input.as_ref().map(stages).unwrap_or_default(),
            backlog: direction.port.backlog(),
            in_flight: direction.in_flight.len() as u64,
        }
    }
}

impl InputReport {
    fn of(input: &Input) -> InputReport {
        InputReport {
            name: input.name.clone(),
            input: stages(&input.conditioner),
            dropped: by_cause(&input.dropped),
        }
    }
}

impl FlowReport {
    fn of(flow: &FlowKey, dropped: &[Count; DropCause::COUNT]) -> FlowReport {
        FlowReport {
            source: flow.source.to_ip().to_string(),
            destination: flow.destination.to_ip().to_string(),
            source_port: flow.source_port,
            destination_port: flow.destination_port,
            protocol: flow.protocol.0,
            dropped: by_cause(dropped),
        }
    }
}

impl Lateness {
    fn of(histogram: &Histogram<u64>) -> Lateness {
        let seconds = |nanoseconds: f64| nanoseconds / 1e9;
        let quantile = |share| seconds(histogram.value_at_quantile(share) as f64);
        Lateness {
            frames: histogram.len(),
            mean_s: seconds(histogram.mean()),
            p50_s: quantile(0.5),
            p99_s: quantile(0.99),
            max_s: seconds(histogram.max() as f64),
        }
    }
}

fn stages(conditioner: &TrafficConditioner) -> Vec<StageReport> {
    let stage = |(name, counted): (&str, &[Count; Color::COUNT])| {
        let colors = counted.iter().enumerate().filter(|(_, count)| count.packets > 0);
        StageReport {
            conditioner: name.to_owned(),
            colors: colors.map(|(index, count)| (Color::new(index).to_string(), *count)).collect(),
        }
    };
    conditioner.counted().map(stage).collect()
}

fn by_cause(counts: &[Count; DropCause::COUNT]) -> BTreeMap<&'static str, Count> {
    let of_cause = DropCause::ALL.iter().map(|cause| (cause.name(), counts[cause.index()]));
    of_cause.filter(|(_, count)| count.packets > 0).collect()
}
