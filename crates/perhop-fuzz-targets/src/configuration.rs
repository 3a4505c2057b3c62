//! Any bytes as a router's configuration: it is parsed and converted for every profile. Every line has a
//! state, and every policy of every port can be built.

use crate::outcome::Outcome;

#[path = "../../perhop-ios/tests/it/accounted/mod.rs"]
mod accounted;

/// Reads and converts `bytes` as a router's configuration: every line has a state, every policy can be built.
pub fn configuration(bytes: &[u8]) -> Outcome {
    accounted::check(&String::from_utf8_lossy(bytes));
    Outcome::Kept
}
