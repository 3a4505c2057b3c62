//! What is guaranteed to every class of a network whatever its traffic does within its contract: rates,
//! worst-case delays and backlogs, by network calculus.
//!
//! Reading order: [`arrival`] and [`service`], the curves; [`deviation`], how far they are apart;
//! [`schedule`], what each scheduler of `perhop-qos` guarantees; [`port`], the queues of one port;
//! [`network`], port after port along the way of every stream.

pub mod arrival;
pub mod capacity;
pub mod conditioning;
pub mod deviation;
pub mod entry;
pub mod expedited;
mod fragment;
pub mod guarantee;
pub mod lengths;
pub mod network;
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
pub mod way;
