//! Catalyst switches with Silicon One. The limit of their virtual output queues depends only on the speed of
//! the port.
//!
//! Source: `show platform hardware fed … qos queue config` of a Catalyst 9500X, 9350 and 9610 in genieparser.
//! The profile `catalyst-silicon-one` has the rules with their evidence; [`memory()`] applies them.

mod memory;
mod product;
mod written;

pub(crate) use memory::memory;
pub(crate) use product::has_silicon_one;
pub(crate) use written::product_in;
