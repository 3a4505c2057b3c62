//! Algorithms written plainly, as their sources say them and not as fast code does: what property tests and
//! fuzzing (`crates/perhop-fuzz-targets`) hold the crate to. They know nothing of random tests.

pub(crate) mod cake;
pub(crate) mod codel;
pub(crate) mod dualpi2;
pub(crate) mod hfsc;
pub(crate) mod htb;
pub(crate) mod laws;
pub(crate) mod meters;
pub(crate) mod pie;
pub(crate) mod red;
