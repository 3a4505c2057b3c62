//! Findings on attached policies and on their lowered form.
//!
//! `extent` and `refusals`: policies that the router does not attach. `hidden`, `link_marks`, `fragments`,
//! `tunnels`, `hold_queue`: commands that have no effect or another effect at their port. `remarks`:
//! differences between a policy and its lowered form. `shadows`: classes and entries without packets.
//! `mark_uses`: marks that no policy reads. `percentages`, `promises` and `policy_rules`: numbers, and the
//! vendor-neutral rules. `routing`: policers of the control plane.

mod criteria;
pub(super) mod extent;
pub(super) mod fragments;
pub(super) mod hardware;
mod hidden;
pub(super) mod hold_queue;
pub(super) mod link_marks;
mod mark_uses;
mod memory_commands;
mod percentages;
mod policy_rules;
mod promises;
mod reached;
pub(super) mod refusals;
pub(super) mod remarks;
mod routing;
mod shadows;
mod switch_memory;
mod switch_queues;
pub(super) mod tunnels;
