//! The measurements of a run and the tables made from them, for the simulator and for the live path.
//!
//! Reading order: [`Measurements`] (all counts of one run, filled by an engine or a live run), [`counters`]
//! (its parts), [`tcp`] (the counts of sessions), then [`results`] (the tables) and [`statistics`]
//! (confidence intervals). [`exercise`] judges a run by the requirements of an exercise, [`fitness`] by the
//! roles of its classes ([`guarantees`], [`places`]), [`telephony`] by the rating of calls ([`emodel`]);
//! [`applications`] has the calls and games of a scenario. This crate does not move packets or read a clock.

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
