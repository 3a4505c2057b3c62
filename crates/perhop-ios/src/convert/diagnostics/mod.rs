//! Findings on policies where they are attached, and on what they amount to.
//!
//! `extent` and `refusals`: policies that the router does not attach. `hidden`, `link_marks`, `fragments`,
//! `tunnels`, `hold_queue`: demands that a port cannot meet. `remarks`: differences between a policy and its
//! lowered form. `shadows`: classes and entries without packets. `mark_uses`: marks that nothing reads.
//! `percentages`, `promises` and `policy_rules`: numbers, and the rules of every policy.

pub(super) mod extent;
pub(super) mod fragments;
mod hidden;
pub(super) mod hold_queue;
pub(super) mod link_marks;
mod mark_uses;
mod percentages;
mod policy_rules;
mod promises;
pub(super) mod refusals;
pub(super) mod remarks;
mod shadows;
pub(super) mod tunnels;
