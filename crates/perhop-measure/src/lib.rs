//! The measurements of a run, and the tables that are made from the measurements, for the simulator and for
//! live runs.
//!
//! Reading order: [`Measurements`] (all counts of one run, which an engine or a live run fills in),
//! [`counters`] (the counters of flows, ports and queues), [`tcp`] (the counts of sessions), [`results`] (the
//! tables), and [`statistics`] (confidence intervals). Several modules judge a run: [`exercise`] by the
//! requirements of an exercise, [`fitness`] by the roles of classes (with [`guarantees`] and [`places`]), and
//! [`telephony`] by the rating of calls (with [`emodel`]). [`applications`] measures the calls and games of a
//! scenario. This crate does not move packets or read a clock.

pub mod applications;
pub mod budget;
pub mod counters;
pub mod downsample;
pub mod emodel;
pub mod exercise;
pub mod fitness;
pub mod guarantees;
mod measurements;
pub mod places;
pub mod results;
pub mod statistics;
pub mod tcp;
pub mod telephony;

pub use measurements::{
    Conditioned, Flow, FlowId, Measurements, PauseMeasurements, PortMeasurements, QueueSeries, flow_count,
    flows,
};
pub use results::{Replication, Results};
