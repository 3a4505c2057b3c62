//! Plain implementations of algorithms. They follow the descriptions in their sources and are not optimized.
//! Property tests and fuzzing (`crates/perhop-fuzz-targets`) compare the crate with them.

pub(crate) mod cake;
pub(crate) mod codel;
pub(crate) mod dualpi2;
pub(crate) mod hfsc;
pub(crate) mod htb;
pub(crate) mod laws;
pub(crate) mod meters;
pub(crate) mod pie;
pub(crate) mod red;
