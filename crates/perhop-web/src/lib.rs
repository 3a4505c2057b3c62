//! The engine as a WebAssembly module: the only place in Rust that knows the playground.
//!
//! The interface is small on purpose, as that of `perhop-py` is: a question goes in as JSON, an answer comes
//! out as JSON with columns of numbers ([`Ask`], [`Answer`]). [`seam`] hands both through the memory of the
//! module. A page asks one question at a time, from its worker.

mod answer;
mod around;
mod ask;
mod check;
mod csv;
mod player;
mod runner;
pub mod seam;
mod session;

pub use answer::{Answer, Column};
pub use ask::Ask;
pub use session::Session;
