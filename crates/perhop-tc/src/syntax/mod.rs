//! The tables of what `tc` takes: queueing disciplines with the options of themselves and of their classes.
//!
//! Names and kinds of values are those of iproute2 6.1 to 7.1 (`tc/q_*.c`), defaults those of Linux 6.1 to
//! 6.18 (`net/sched/sch_*.c`), with the function that sets them.

mod aqm;
mod cake;
mod classful;
mod others;

use crate::options::Opt;

pub(crate) use classful::STAB;

/// A kind of queueing discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Its name.
    pub(crate) name: &'static str,
    /// What perhop makes of it.
    pub(crate) model: Model,
    /// The options of the discipline.
    pub(crate) options: &'static [Opt],
    /// The options of its classes; `None` where it has none.
    pub(crate) class: Option<&'static [Opt]>,
}

/// What perhop makes of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// It is modelled; as what.
    Modelled(&'static str),
    /// It is known and not modelled; why, or what to take in its place.
    NotModelled(&'static str),
    /// It changes nothing by itself; why.
    Irrelevant(&'static str),
}

/// All kinds, in the order of the documentation.
pub(crate) fn kinds() -> impl Iterator<Item = &'static Kind> {
    [aqm::KINDS, classful::KINDS, cake::KINDS, others::KINDS].into_iter().flatten()
}

/// The kind called `name`.
pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    kinds().find(|kind| kind.name == name)
}
