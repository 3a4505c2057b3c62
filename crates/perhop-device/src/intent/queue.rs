//! Queues: limits, fair queueing, and the queue of a port without classes.

use perhop_qos::Rate;
use serde::Serialize;

use super::drop_profile::DropProfile;
use crate::policy::Basis;

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// Microseconds at the class's rate.
    Microseconds(u64),
}

/// A limit, absolute or relative to another limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartialLimit {
    /// Percent of the queue's own limit.
    Percent(u64),
    /// An absolute limit.
    Limit(QueueLimit),
}

/// The queue lengths above which packets with some values of a field are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueLimits {
    /// The field.
    pub basis: Basis,
    /// Lists of values with their limit, in the order of the text. An empty list applies to all values.
    pub limits: Vec<(Vec<u8>, PartialLimit)>,
}

/// Weighted fair queueing of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FairQueue {
    /// The limit of one flow under congestion, packets.
    pub congestive_discard: Option<u64>,
    /// The number of queues for flows.
    pub dynamic_queues: Option<u64>,
    /// The number of queues for reserved flows.
    pub reservable_queues: Option<u64>,
    /// The limit of one flow regardless of the other queues, packets.
    pub individual_limit: Option<u64>,
}

/// The only queue of a port without classes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainQueue {
    /// The limit as written, packets.
    pub limit: Option<u64>,
    /// The rate of the port.
    pub rate: Rate,
    /// The discipline.
    pub discipline: Discipline,
}

/// The discipline of a port's only queue.
#[derive(Clone, Debug, PartialEq)]
pub enum Discipline {
    /// First in, first out.
    Fifo,
    /// Fair queueing of flows.
    Fair(FairQueue),
    /// Random drops.
    Random(DropProfile),
    /// The default of the device for a serial line: fair queueing up to a certain line rate, FIFO above it.
    OfSerialLine,
}
