//! Any bytes as commands or output of Linux's `tc`: they are parsed and converted. Every line has a state,
//! and every policy of every device can be built.

use crate::outcome::Outcome;

#[path = "../../perhop-tc/tests/it/accounted/mod.rs"]
mod accounted;

/// Reads and converts `bytes` as commands of `tc`: every line has a state, every policy can be built.
pub fn tc_commands(bytes: &[u8]) -> Outcome {
    accounted::check(&String::from_utf8_lossy(bytes));
    Outcome::Kept
}
