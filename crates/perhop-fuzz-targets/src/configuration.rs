//! Reads arbitrary bytes as a router's configuration and converts it for every profile. Every line must have
//! a state, and perhop must be able to build every policy of every port.

use crate::outcome::Outcome;

#[path = "../../perhop-ios/tests/it/accounted/mod.rs"]
mod accounted;

/// Reads and converts `bytes` as a router's configuration. Every line must have a state, and perhop must be
/// able to build every policy.
pub fn configuration(bytes: &[u8]) -> Outcome {
    accounted::check(&String::from_utf8_lossy(bytes));
    Outcome::Kept
}
