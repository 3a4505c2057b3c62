//! [`LoadLevel`]: the load of each class as a fraction of its rate while all other classes are busy.

use serde::Deserialize;

/// The load of a router whose traffic is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadLevel {
    /// Less than the planned load of most networks.
    Quiet,
    /// The load that a suitable policy still serves completely.
    #[default]
    Busy,
    /// A load above the rate at which all classes together can send.
    Overload,
}

impl LoadLevel {
    /// Returns the load of a class as a fraction of its rate while all other classes are busy.
    pub(crate) fn part(self) -> f64 {
        match self {
            LoadLevel::Quiet => 0.7,
            LoadLevel::Busy => 0.9,
            LoadLevel::Overload => 1.2,
        }
    }

    /// Returns the fraction of the line rate that can enter the router, at most 1.
    pub(crate) fn fitting_part(self) -> f64 {
        self.part().min(LoadLevel::Busy.part())
    }

    /// Returns the level in a sentence.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            LoadLevel::Quiet => {
                "load: quiet: the load of each class is 70 % of the rate that it gets while \
                                 all classes are busy"
            }
            LoadLevel::Busy => {
                "load: busy: the load of each class is 90 % of the rate that it gets while \
                                all classes are busy"
            }
            LoadLevel::Overload => {
                "load: overload: the load of each class is 120 % of the rate that it gets while all classes \
                 are busy; bulk data and best effort send as much as they can"
            }
        }
    }
}
