//! A scenario inferred from the configuration of one device.
//!
//! The configuration defines the interfaces and the policies at them, but no hosts, links or traffic. perhop
//! infers these for one interface and a path through the router to it: one entry of traffic for each class,
//! with headers that match the class. The data plane decides which class a packet matches (module `trial`).
//! The result reports everything that was inferred.
//!
//! [`infer_network`] infers a scenario for the devices of a snapshot, from their links and routes, with
//! traffic between their sites.

mod burst;
mod candidates;
mod common_port;
mod document;
mod drop_bursts;
mod failure;
mod given;
mod header;
mod horizon;
mod infer;
mod level;
mod marks;
mod memory;
mod microburst;
mod network;
mod output;
mod path_links;
mod recording;
mod records;
mod rehearsal;
mod role;
mod selection;
mod shares;
mod snapshot;
mod sources;
mod targets;
mod traffic;
mod trial;
mod unapplied;
mod unclassified;
mod words;

pub use failure::Failure;
pub use given::{ClassLoad, Conversation, Given, Outputs, Records};
pub use infer::{ClassTraffic, Inferred, Request, infer, require_reachable_classes};
pub use level::LoadLevel;
pub use role::{Kind, kind_of_role, role_by_name};
pub use snapshot::{Demand, LeftOutTraffic, NetworkInferred, NetworkRequest, PairTraffic, infer_network};
