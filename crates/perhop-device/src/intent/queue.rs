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

/// A limit that may be a part of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartialLimit {
    /// Percent of the queue's own limit.
    Percent(u64),
    /// A limit of its own.
    Limit(QueueLimit),
}

/// The lengths of the queue at which packets with some values of a field are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueLimits {
    /// The field.
    pub basis: Basis,
    /// Values and their limit in the order of the text; without a value the limit is that of all.
    pub limits: Vec<(Vec<u8>, PartialLimit)>,
}

/// Weighted fair queueing of flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FairQueue {
    /// Packets of one flow at which its packets are refused under congestion.
    pub congestive_discard: Option<u64>,
    /// Queues for flows.
    pub dynamic_queues: Option<u64>,
    /// Queues for reserved flows.
    pub reservable_queues: Option<u64>,
    /// Packets of one flow at any length of the others.
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
    /// The device's choice for a serial line: fair queueing up to a rate.
    OfSerialLine,
}
