//! Reads arbitrary bytes as commands or output of Linux's `tc` and converts them. Every line must have a
//! state, and perhop must be able to build every policy of every device.

use crate::outcome::Outcome;

#[path = "../../perhop-tc/tests/it/accounted/mod.rs"]
mod accounted;

/// Reads and converts `bytes` as commands of `tc`. Every line must have a state, and perhop must be able to
/// build every policy.
pub fn tc_commands(bytes: &[u8]) -> Outcome {
    accounted::check(&String::from_utf8_lossy(bytes));
    Outcome::Kept
}
