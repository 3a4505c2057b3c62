//! Plain implementations of algorithms, as their sources describe them and not as fast code is written.
//! Property tests and fuzzing (`crates/perhop-fuzz-targets`) compare the crate with them. They do not depend
//! on the random tests.

pub(crate) mod cake;
pub(crate) mod codel;
pub(crate) mod dualpi2;
pub(crate) mod hfsc;
pub(crate) mod htb;
pub(crate) mod laws;
pub(crate) mod meters;
pub(crate) mod pie;
pub(crate) mod red;
