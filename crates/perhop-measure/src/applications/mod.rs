//! Figures of applications by which users judge the quality of a network.
//!
//! Calls and games are evaluated from their packets when a run is over, so the order in which packets of
//! different flows were recorded does not matter.

mod calls;
mod games;
mod quantile;
mod sessions;

pub use calls::{Played, play};
pub use games::{Ticks, game_delays};
pub(crate) use quantile::nearest_rank;
pub use sessions::{PageTally, SpeedTally, VideoTally};
