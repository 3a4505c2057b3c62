//! The tables of queueing disciplines, with their options and the options of their classes.
//!
//! Names and types of values are from iproute2 6.1 to 7.1 (`tc/q_*.c`). Defaults are from Linux 6.1 to 6.18
//! (`net/sched/sch_*.c`), with the function that sets them.

mod aqm;
mod cake;
mod classful;
mod kind;
mod others;

pub(crate) use cake::{EXCLUSIVE, RTT_PRESETS};
pub(crate) use classful::STAB;
pub(crate) use kind::{Kind, Model};

/// Iterates over all kinds, in the order of the documentation.
pub(crate) fn kinds() -> impl Iterator<Item = &'static Kind> {
    [aqm::KINDS, classful::KINDS, cake::KINDS, others::KINDS].into_iter().flatten()
}

/// Returns the kind `name`.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    kinds().find(|kind| kind.name == name)
}
