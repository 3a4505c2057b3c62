//! [`Snapshot`]: the devices of a network from a folder of configurations, with links and routes.
//!
//! ```text
//! files → Snapshot::read → devices
//!       → links: written by the user, else the ends of cables, else ports in the same subnet
//!       → routes: configured, given by the user or printed by the device, else the shortest paths of OSPF
//!         and IS-IS
//!       → guesses: links that descriptions suggest, which no packet takes
//!       → walk: trace at each device, hop by hop
//!       → plan: hosts, links and routes of a scenario in which packets take the paths of their walks
//! ```
//!
//! Every inferred link has its reason. A walk that needs an unknown route stops and reports it.

mod cables;
mod fates;
mod guesses;
mod hop_labels;
mod hops;
mod label_plans;
mod labels;
mod links;
mod matrix;
mod model;
mod plan;
mod planned;
mod read;
mod rules;
mod shortest_paths;
mod sites;
mod stops;
mod tables;
mod vpn;
mod walk;
mod ways;
mod wires;

pub use guesses::{Described, Guess};
pub use labels::{ExpChange, HopLabel};
pub use matrix::{ExpFate, ExpPlace, Fate, MatrixRow, Place};
pub use model::{
    ConfigurationFile, DeviceSummary, LeftOut, Link, LinkEnd, LinkReason, PortId, Snapshot, SnapshotDevice,
    Written, WrittenCable,
};
pub(crate) use model::{Duplicate, carries_packets};
pub use planned::{Journey, Plan, PlannedStop};
pub use rules::NetworkFinding;
pub use sites::Site;
pub use walk::{Change, Hop, Walk, WalkEnd, WalkPath};
pub use ways::{NotRun, Stop, Way, Ways};
pub use wires::AMPLE;
