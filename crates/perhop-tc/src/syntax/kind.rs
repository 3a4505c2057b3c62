//! [`Kind`]: a queueing discipline, and what perhop makes of it.

use crate::options::Opt;

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
