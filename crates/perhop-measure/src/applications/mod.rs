//! Applications by which people judge a network, by the figures that their users quote.
//!
//! Calls and games are judged by their packets, when a run is over: in which order the packets of different
//! flows were heard does not matter.

mod calls;
mod games;
mod sessions;

pub use calls::{Played, play};
pub use games::{Ticks, answer};
pub use sessions::{PageTally, SpeedTally, VideoTally};

use perhop_qos::units::Time;

/// The value at `quantile` (0 to 1) of `sorted`, by nearest rank, in seconds; NaN without any.
pub(crate) fn nearest_rank(sorted: &[Time], quantile: f64) -> f64 {
    let rank = (quantile * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).map_or(f64::NAN, |time| time.as_seconds())
}
