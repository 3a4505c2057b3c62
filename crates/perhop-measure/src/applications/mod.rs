//! Applications by which people judge a network, by the figures that their users quote.
//!
//! Calls and games are judged by their packets, when a run is over: in which order the packets of different
//! flows were heard does not matter.

mod calls;
mod games;
mod quantile;
mod sessions;

pub use calls::{Played, play};
pub use games::{Ticks, answer};
pub(crate) use quantile::nearest_rank;
pub use sessions::{PageTally, SpeedTally, VideoTally};
