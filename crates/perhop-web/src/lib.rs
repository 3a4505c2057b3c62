//! The engine as a WebAssembly module. No other crate contains code for the playground.
//!
//! The interface is deliberately small, as in `perhop-py`. A request is JSON. A reply is JSON with columns of
//! numbers ([`Ask`], [`Answer`]). [`seam`] passes both through the memory of the module. The page's worker
//! sends one request at a time.

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
