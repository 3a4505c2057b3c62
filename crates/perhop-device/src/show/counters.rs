//! [`PortCounters`]: the counters of a port, as a run measures them.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::{Add, Sub};

use perhop_qos::packet::Color;
use perhop_qos::verdict::DropCause;

use crate::intent::Direction;

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// The number of packets.
    pub packets: u64,
    /// The bytes of these packets; a fraction if they are estimated.
    pub bytes: f64,
}

impl Traffic {
    /// Creates the traffic of `packets` with `bytes` in total.
    pub fn new(packets: u64, bytes: f64) -> Traffic {
        Traffic { packets, bytes }
    }

    /// Returns the same packets with `overhead` bytes added to each.
    #[must_use]
    pub fn with_overhead(self, overhead: i32) -> Traffic {
        Traffic { bytes: self.bytes + f64::from(overhead) * self.packets as f64, ..self }
    }

    /// Returns the bytes, rounded to a whole number.
    pub fn whole_bytes(self) -> u64 {
        self.bytes.round_ties_even().max(0.0) as u64
    }
}

impl Add for Traffic {
    type Output = Traffic;
    fn add(self, other: Traffic) -> Traffic {
        Traffic { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// The difference is never negative, although the counters may come from different instants.
impl Sub for Traffic {
    type Output = Traffic;
    fn sub(self, other: Traffic) -> Traffic {
        Traffic {
            packets: self.packets.saturating_sub(other.packets),
            bytes: (self.bytes - other.bytes).max(0.0),
        }
    }
}

impl Sum for Traffic {
    fn sum<I: Iterator<Item = Traffic>>(parts: I) -> Traffic {
        parts.fold(Traffic::default(), Traffic::add)
    }
}

/// The counters of one drop precedence of a queue, in IP bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrecedenceCounters {
    /// Packets that reached the queue.
    pub arrived: Traffic,
    /// Packets that left the queue.
    pub sent: Traffic,
    /// Packets that the queue marked (CE).
    pub marked_packets: u64,
    /// Dropped packets by cause, in the order of [`DropCause::ALL`].
    pub dropped: [u64; DropCause::COUNT],
}

impl PrecedenceCounters {
    /// Returns the same counters with `overhead` bytes added to each packet.
    #[must_use]
    pub fn with_overhead(&self, overhead: i32) -> PrecedenceCounters {
        PrecedenceCounters {
            arrived: self.arrived.with_overhead(overhead),
            sent: self.sent.with_overhead(overhead),
            ..self.clone()
        }
    }

    /// Returns the packets that were dropped for one of `causes`. Their bytes are estimated.
    pub fn drops(&self, causes: &[DropCause]) -> Traffic {
        self.of_packets(causes.iter().map(|cause| self.dropped[cause.index()]).sum())
    }

    /// Returns the traffic of `packets`, with bytes estimated from the mean length of the arrivals.
    pub fn of_packets(&self, packets: u64) -> Traffic {
        if self.arrived.packets == 0 {
            return Traffic::new(packets, 0.0);
        }
        Traffic::new(packets, packets as f64 * self.arrived.bytes / self.arrived.packets as f64)
    }
}

/// The last sample of a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueSample {
    /// Packets in the queue.
    pub packets: u64,
    /// The IP bytes of these packets.
    pub bytes: u64,
    /// The averages of the buffer manager by drop precedence, in the unit of its thresholds.
    pub averages: BTreeMap<u64, f64>,
}

/// The counters of a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueCounters {
    /// The counters of each drop precedence.
    pub precedences: BTreeMap<u64, PrecedenceCounters>,
    /// The last sample; `None` if the run took no sample.
    pub sample: Option<QueueSample>,
}

impl QueueCounters {
    /// Returns the sum of the traffic that `part` selects, over all drop precedences.
    pub fn sum(&self, part: impl Fn(&PrecedenceCounters) -> Traffic) -> Traffic {
        self.precedences.values().map(part).sum()
    }

    /// Returns the same counters with `overhead` bytes added to each packet.
    #[must_use]
    pub fn with_overhead(&self, overhead: i32) -> QueueCounters {
        let precedences = self
            .precedences
            .iter()
            .map(|(value, counters)| (*value, counters.with_overhead(overhead)))
            .collect();
        let more = |sample: &QueueSample| {
            let bytes = Traffic::new(sample.packets, sample.bytes as f64).with_overhead(overhead);
            QueueSample { bytes: bytes.whole_bytes(), ..sample.clone() }
        };
        QueueCounters { precedences, sample: self.sample.as_ref().map(more) }
    }
}

/// Packets by the color that a conditioner set, including dropped packets.
pub type ColorCounters = BTreeMap<Color, Traffic>;

/// The counters of a port, in IP bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortCounters {
    /// The duration of the count, seconds.
    pub seconds: f64,
    /// All packets that arrived over the link.
    pub arrived: Traffic,
    /// All packets that the port sent to the link or dropped.
    pub handed: Traffic,
    /// The counters of each queue, by name.
    pub queues: BTreeMap<String, QueueCounters>,
    /// The counters of the conditioners for arriving packets, by name.
    pub input: BTreeMap<String, ColorCounters>,
    /// The counters of the conditioners for departing packets, by name.
    pub output: BTreeMap<String, ColorCounters>,
}

impl PortCounters {
    /// Returns the counters of the conditioner `name`; an empty map if no packets were counted.
    pub fn stage(&self, direction: Direction, name: &str) -> ColorCounters {
        let stages = match direction {
            Direction::Input => &self.input,
            Direction::Output => &self.output,
        };
        stages.get(name).cloned().unwrap_or_default()
    }

    /// Returns the counters of the queue `name`; empty counters if no packets were counted.
    pub fn queue(&self, name: &str) -> QueueCounters {
        self.queues.get(name).cloned().unwrap_or_default()
    }

    /// Returns the mean rate of `traffic`, bits per second.
    pub fn bits_per_second(&self, traffic: Traffic) -> f64 {
        if self.seconds > 0.0 { traffic.bytes * 8.0 / self.seconds } else { 0.0 }
    }
}
