//! What is counted of a run, and the tables made of it: for the simulator and for the live path alike.
//!
//! Reading order: [`Measurements`] (all that one run counted; an engine or a live run fills it), [`counters`]
//! (what it is made of), [`tcp`] (what is counted of sessions), then [`results`] (the tables) and
//! [`statistics`] (confidence intervals). [`exercise`] judges a run by what an
//! exercise asks for, [`fitness`] by the roles of its classes, [`telephony`] by what calls would be rated
//! ([`emodel`]); [`applications`] are calls and games of a scenario. Nothing here moves a packet or reads a
//! clock.

pub mod applications;
pub mod budget;
pub mod counters;
pub mod downsample;
pub mod emodel;
pub mod exercise;
pub mod fitness;
mod measurements;
pub mod results;
pub mod statistics;
pub mod tcp;
pub mod telephony;

pub use measurements::{Conditioned, Flow, FlowId, Measurements, PortMeasurements, QueueSeries, flows};
pub use results::{Replication, Results};
