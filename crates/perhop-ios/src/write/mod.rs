//! [`IosWriter`]: writing of policies as a configuration. The writer reads its output again and compares it
//! with the policies.
//!
//! ```text
//! Intent → demands ─────────────────────────────────────────────────────────┐
//! PolicyConfig → classes (conditioners and queues of one class together) ───┴→ policy_map
//! policy_map → configuration → parse → difference
//! ```
//!
//! The policies of a router are written from Intent if every demand has a command. Other policies are written
//! from their lowered form.

mod access_list;
mod actions;
mod blocks;
mod class;
mod class_map;
mod classes;
mod configuration;
mod criteria;
mod demanded_queue;
mod demands;
mod flattening;
mod folding;
mod foreign;
mod meter;
mod order;
mod policy_map;
mod queue;
mod random_detect;
mod rate_limit;
mod reading_again;
mod share;
mod table_map;
mod words;

pub(crate) use reading_again::IosWriter;
