//! [`Report`]: counters of one forwarder, for results and monitoring.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hdrhistogram::Histogram;
use perhop_measure::counters::Tally;
use perhop_net::{Direction, Flights, Network};
use perhop_qos::conditioner::{Count, TrafficConditioner};
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::{Color, FlowKey};
use perhop_qos::queue::Occupancy;
use perhop_qos::units::{Rate, Time};
use perhop_qos::verdict::DropCause;
use serde::{Deserialize, Serialize};

use crate::forwarder::{Devices, Input, Passed, Totals};
use crate::frame::Refusal;

/// Dropped packets, by the name of the cause.
pub type ByCause = BTreeMap<String, Count>;

/// Counters of one forwarder. The counters of ports, conditioners and flows begin at `counted_from_s`. The
/// counters of frames begin at the start.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// Name of the forwarder.
    pub node: String,
    /// Start of the counters of ports and flows, seconds on the forwarder's clock.
    pub counted_from_s: f64,
    /// Time of the report, seconds on the forwarder's clock.
    pub counted_until_s: f64,
    /// Counters of frames since the start.
    pub frames: Frames,
    /// Directions of links in the order of the configuration.
    pub directions: Vec<DirectionReport>,
    /// Devices on which packets from another process arrive.
    pub inputs: Vec<InputReport>,
    /// Drops of each flow with drops.
    pub flows: Vec<FlowReport>,
    /// Drops of the flows that exceed the limit of individually counted flows.
    pub other_flows: ByCause,
    /// Lateness of sent frames.
    #[serde(rename = "lateness")]
    pub send_delay: SendDelay,
}

/// Counters of all frames since the start.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Frames {
    /// Received frames.
    pub received: u64,
    /// Bytes of these frames, including link-layer headers.
    pub received_bytes: u64,
    /// Sent frames.
    pub sent: u64,
    /// Bytes of these frames, including link-layer headers.
    pub sent_bytes: u64,
    /// Sent frames without an IP packet.
    pub passed: u64,
    /// Frames that could not be sent on a device.
    pub unsent: u64,
    /// Frames in queues or in flight.
    pub held: u64,
    /// Slots in use.
    pub slots_taken: u64,
    /// Frames dropped because all slots were in use.
    pub no_slot: u64,
    /// Frames dropped because they are longer than a slot.
    pub oversized: u64,
    /// Frames dropped because no frames are expected on their device.
    pub unexpected: u64,
    /// Multicast, broadcast and link-local packets, which are not forwarded.
    pub local: u64,
    /// Frames without a packet to forward, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Packets dropped, by cause.
    pub dropped: BTreeMap<&'static str, u64>,
}

/// Counters of one direction of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DirectionReport {
    /// Name of the direction: `C1->E3`.
    pub name: String,
    /// Counters by queue and drop precedence.
    pub queues: Vec<QueueReport>,
    /// Packets dropped before a queue was selected, by cause.
    pub unqueued: ByCause,
    /// Packets dropped on the wire or by the far end's conditioners, by cause.
    pub beyond: ByCause,
    /// Stages of the output policy's conditioner.
    pub output: Vec<StageReport>,
    /// Stages of the far end's input conditioner.
    pub input: Vec<StageReport>,
    /// Packets in queues.
    pub backlog: u64,
    /// The fill of each queue, in the order of the policy.
    #[serde(default)]
    pub waiting: Vec<WaitingReport>,
    /// Packets in the transmit ring or on the wire.
    pub in_flight: u64,
    /// Rate of the port, bits per second.
    #[serde(default)]
    pub rate: Rate,
    /// Frames without an IP packet, which bypassed the port, by their contents. Bytes count whole frames.
    #[serde(default)]
    pub passed: BTreeMap<String, Count>,
}

/// The fill of one queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WaitingReport {
    /// Name of the class.
    pub queue: String,
    /// Packets.
    pub packets: u64,
    /// IP bytes of these packets.
    pub bytes: u64,
}

/// Counters of one queue and drop precedence.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueReport {
    /// Name of the class.
    pub queue: String,
    /// Drop precedence, from 0.
    pub precedence: usize,
    /// Packets that arrived at the queue, including dropped packets.
    pub arrived: Count,
    /// Packets that left the queue for the transmit ring.
    pub sent: Count,
    /// Packets marked as congestion experienced.
    pub marked: Count,
    /// Dropped packets, by cause.
    pub dropped: ByCause,
}

/// Counters of a device on which packets from another process arrive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct InputReport {
    /// Name of the direction that ends at the device.
    pub name: String,
    /// Stages of the input policy.
    pub input: Vec<StageReport>,
    /// Packets dropped by these stages, by cause.
    pub dropped: ByCause,
}

/// One stage of a conditioner.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StageReport {
    /// Name of the stage.
    pub conditioner: String,
    /// Packets of the stage, by the resulting color.
    pub colors: BTreeMap<String, Count>,
}

/// Drops of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FlowReport {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Source port; 0 for protocols without ports.
    pub source_port: u16,
    /// Destination port; 0 for protocols without ports.
    pub destination_port: u16,
    /// Number of the IP protocol.
    pub protocol: u8,
    /// Dropped packets, by cause.
    pub dropped: ByCause,
}

/// Lateness of sent frames: from the scheduled time of departure until the forwarder passed them to the
/// kernel.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SendDelay {
    /// Number of frames.
    pub frames: u64,
    /// Mean, seconds.
    pub mean_s: f64,
    /// Median, seconds.
    pub p50_s: f64,
    /// 99th percentile, seconds.
    pub p99_s: f64,
    /// Maximum, seconds.
    pub max_s: f64,
}

impl Report {
    pub(crate) fn from_network<O: PortObservers>(
        node: &str,
        now: Time,
        network: &Network<Devices, O>,
        send_delay: &Histogram<u64>,
    ) -> Report {
        let Devices { names, passed, .. } = &network.edge;
        let directions = names.iter().zip(&network.directions).zip(passed);
        Report {
            node: node.to_owned(),
            counted_from_s: network.counts_from.as_seconds(),
            counted_until_s: now.as_seconds(),
            frames: Frames::from_network(network),
            directions: directions
                .map(|((name, direction), passed)| {
                    DirectionReport::from_counters(name, direction, passed, &network.flights)
                })
                .collect(),
            inputs: network.edge.inputs.iter().map(InputReport::from_input).collect(),
            flows: network
                .edge
                .flows
                .iter()
                .map(|(flow, dropped)| FlowReport::from_drops(flow, dropped))
                .collect(),
            other_flows: by_cause(network.edge.flows.others()),
            send_delay: SendDelay::from_histogram(send_delay),
        }
    }
}

impl Frames {
    fn from_network<O: PortObservers>(network: &Network<Devices, O>) -> Frames {
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
        } = network.edge.totals;
        let refused = Refusal::ALL.iter().map(|reason| (reason.name(), refused[reason.index()]));
        // Causes that need shared memory are listed only if they occurred.
        let listed = |cause: &&DropCause| !cause.needs_shared_memory() || dropped[cause.index()] > 0;
        let dropped =
            DropCause::ALL.iter().filter(listed).map(|cause| (cause.name(), dropped[cause.index()]));
        Frames {
            received,
            received_bytes,
            sent,
            sent_bytes,
            passed,
            unsent,
            held: network.edge.held(&network.directions, &network.flights),
            slots_taken: network.edge.slots.taken() as u64,
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
    fn from_counters(
        name: &str,
        direction: &Direction,
        passed: &Passed,
        flights: &Flights,
    ) -> DirectionReport {
        let queue = |(queue, precedence, tally): (usize, usize, Tally)| QueueReport {
            queue: direction.queue_names[queue].clone(),
            precedence,
            arrived: tally.arrived,
            sent: tally.sent,
            marked: tally.marked,
            dropped: by_cause(&tally.dropped.by_cause()),
        };
        let waiting = direction.queue_names.iter().zip(direction.port.queues()).map(|(name, queue)| {
            let Occupancy { packets, bytes, .. } = *queue.occupancy();
            WaitingReport { queue: name.clone(), packets, bytes }
        });
        DirectionReport {
            name: name.to_owned(),
            queues: direction.tally.iter().map(queue).collect(),
            unqueued: by_cause(&direction.tally.unqueued.by_cause()),
            beyond: by_cause(&direction.tally.beyond.by_cause()),
            output: stages(direction.output.as_deref()),
            input: stages(direction.input.as_deref()),
            backlog: direction.port.backlog(),
            waiting: waiting.collect(),
            in_flight: flights.iter(&direction.in_flight).count() as u64,
            rate: passed.rate,
            passed: passed.counted().map(|(kind, count)| (kind.name(), count)).collect(),
        }
    }
}

impl InputReport {
    fn from_input(input: &Input) -> InputReport {
        InputReport {
            name: input.name.clone(),
            input: stages(Some(&input.conditioner)),
            dropped: by_cause(&input.dropped),
        }
    }
}

impl FlowReport {
    fn from_drops(flow: &FlowKey, dropped: &[Count; DropCause::COUNT]) -> FlowReport {
        FlowReport {
            source: flow.source.to_ip(),
            destination: flow.destination.to_ip(),
            source_port: flow.source_port,
            destination_port: flow.destination_port,
            protocol: flow.protocol.0,
            dropped: by_cause(dropped),
        }
    }
}

impl SendDelay {
    fn from_histogram(histogram: &Histogram<u64>) -> SendDelay {
        let seconds = |nanoseconds: f64| nanoseconds / 1e9;
        let quantile = |share| seconds(histogram.value_at_quantile(share) as f64);
        SendDelay {
            frames: histogram.len(),
            mean_s: seconds(histogram.mean()),
            p50_s: quantile(0.5),
            p99_s: quantile(0.99),
            max_s: seconds(histogram.max() as f64),
        }
    }
}

fn stages(conditioner: Option<&TrafficConditioner>) -> Vec<StageReport> {
    let stage = |(name, counted): (&str, &[Count; Color::COUNT])| {
        let colors = counted.iter().enumerate().filter(|(_, count)| count.packets > 0);
        StageReport {
            conditioner: name.to_owned(),
            colors: colors.map(|(index, count)| (Color::new(index).to_string(), *count)).collect(),
        }
    };
    conditioner.into_iter().flat_map(TrafficConditioner::counted).map(stage).collect()
}

fn by_cause(counts: &[Count; DropCause::COUNT]) -> ByCause {
    let of_cause = DropCause::ALL.iter().map(|cause| (cause.name().to_owned(), counts[cause.index()]));
    of_cause.filter(|(_, count)| count.packets > 0).collect()
}
