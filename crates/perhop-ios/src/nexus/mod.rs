//! Nexus switches with NX-OS: the classes and policies of the system, and the memory of their queues.
//!
//! The qos-group of a packet, which an input policy sets, selects its queue. [`complete`] adds the default
//! classes, queues and policies of the switch; [`memory`] computes the limits of the queues.

mod lines;
mod memory;
mod model;
mod pauses;
mod refusals;
mod rules;
mod system_policies;

pub(crate) use lines::{has_assumed_rate, mark_lines, speed_assumed};
pub(crate) use memory::memory;
pub(crate) use model::{ASSUMED_KILOBITS, LARGEST_FACTOR, Model, is_product, product_in};
pub(crate) use pauses::{add_pauses, thresholds_assumed};
pub(crate) use refusals::refused;
pub(crate) use system_policies::{complete, is_default_queue, system_policy};
