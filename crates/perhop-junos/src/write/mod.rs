//! [`JunosWriter`]: policies as a Junos configuration.
//!
//! ```text
//! PolicyConfig → outcomes (packets with their marks, drops and queues, in order)
//!              → filter, or classifier (terms, policers, classes)   → device (set commands)
//!              → schedulers (rates, priorities, buffers, profiles)  ↗
//! ```
//!
//! A class of another language becomes a term that sets the forwarding class at the output, so that the
//! policy does not depend on the interface of arrival.

mod actions;
mod classes;
mod device;
mod drops;
mod filter;
mod outcomes;
mod policers;
mod queues;
mod schedulers;
mod terms;

pub(crate) use device::JunosWriter;
