//! [`Kind`]: a kind of queueing discipline, and its model.

use crate::options::Opt;

/// A kind of queueing discipline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The name.
    pub(crate) name: &'static str,
    /// The model.
    pub(crate) model: Model,
    /// The options of the discipline.
    pub(crate) options: &'static [Opt],
    /// The options of its classes; `None` for a classless discipline.
    pub(crate) class: Option<&'static [Opt]>,
}

/// The model of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// Modeled, with the equivalent in perhop.
    Modelled(&'static str),
    /// Known but not modeled, with the reason or an alternative.
    NotModelled(&'static str),
    /// Without effect, with the reason.
    Irrelevant(&'static str),
}
