//! Measurements of applications by which users judge the quality of a network.
//!
//! Calls and games are evaluated at the end of a run, from the records of their packets. The order in which
//! packets of different flows were recorded therefore does not matter.

mod calls;
mod games;
mod quantile;
mod sessions;

pub use calls::{Played, play};
pub use games::{Ticks, game_delays};
pub(crate) use quantile::nearest_rank;
pub use sessions::{PageTally, SpeedTally, VideoTally};
