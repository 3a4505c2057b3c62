//! Algorithms written plainly, as their sources say them and not as fast code does: what property tests and
//! fuzzing (`fuzz/fuzz_targets`) hold the crate to. They know nothing of random tests.

#![allow(dead_code)] // not every test has all of them

pub(crate) mod cake;
pub(crate) mod dualpi2;
pub(crate) mod hfsc;
pub(crate) mod laws;
pub(crate) mod meters;
pub(crate) mod pie;
pub(crate) mod red;
