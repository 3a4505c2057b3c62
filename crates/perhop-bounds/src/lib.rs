//! Guaranteed rates, worst-case delays and backlogs of every class of a network, computed by network
//! calculus. They are valid for all traffic that conforms to its contract.
//!
//! Reading order: [`arrival`] and [`service`] (the curves), [`deviation`] (the distance between them),
//! [`schedule`] (the guarantees of each scheduler of `perhop-qos`), [`port`] (the queues of one port), and
//! [`network`] (the ports on the path of every stream).

pub mod arrival;
pub mod capacity;
pub mod conditioning;
pub mod deviation;
pub mod entry;
pub mod expedited;
mod fragment;
pub mod guarantee;
mod guaranteed;
pub mod lengths;
pub mod network;
pub mod paths;
pub mod port;
pub mod queue;
pub mod report;
pub mod rule;
pub mod schedule;
pub mod service;
pub mod shaping;
pub mod source;
pub mod stream;
pub mod turns;
