//! Differences between two configurations of a device.
//!
//! ```text
//! lines of both texts → changed lines ─────────────┐
//! DeviceModel → parts → changed, renamed parts ────┼→ Difference
//!             → sets of packets → moved packets ───┘
//! ```
//!
//! Every changed line is irrelevant, changes parts of the model, has the same effect as before, or is listed
//! as not compared ([`LineEffect`]). The effect of a line is the difference between the model of the text
//! with this line and the model without it.
//!
//! Reading order: [`compare`]; [`Difference`]; `lines`; `parts`; `compare`; `packets`; `accounting`.

mod accounting;
mod align;
mod answer;
mod compare;
mod configurations;
mod effects;
mod forwarding;
mod lines;
mod network;
mod packets;
mod parts;
mod prove;
mod sets;
mod treatment;

pub use answer::{
    Changed, Difference, End, Example, LineChange, LineEffect, LineText, Moved, PartName, Renamed,
};
pub use configurations::{Question, compare, compare_policies};
pub use network::{DeviceChange, NetworkDifference, OnlyIn, WalkChange, compare_networks};
pub use prove::{Proof, ProofQuestion, Verdict, prove};
pub use treatment::{Aspect, Counterexample};
