//! [`LoadLevel`]: the part of its promise that each class is offered.

use serde::Deserialize;

/// The load of a router whose traffic is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadLevel {
    /// Below the load that most networks are planned for.
    Quiet,
    /// The load at which a policy that fits its traffic still serves all of it.
    #[default]
    Busy,
    /// More than all classes together can send.
    Overload,
}

impl LoadLevel {
    /// Returns the offered part of what a class is promised.
    pub(crate) fn part(self) -> f64 {
        match self {
            LoadLevel::Quiet => 0.7,
            LoadLevel::Busy => 0.9,
            LoadLevel::Overload => 1.2,
        }
    }

    /// Returns the part of the line that can enter the router: no more than all of it.
    pub(crate) fn fitting_part(self) -> f64 {
        self.part().min(LoadLevel::Busy.part())
    }

    /// Returns the level in a sentence.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            LoadLevel::Quiet => "load: quiet: each class is offered 70 % of what it is promised",
            LoadLevel::Busy => "load: busy: each class is offered 90 % of what it is promised",
            LoadLevel::Overload => {
                "load: overload: each class is offered 120 % of what it is promised; bulk data and best \
                 effort take all they get"
            }
        }
    }
}
