//! The fuzz targets: functions that read arbitrary bytes and panic if an invariant is violated.
//!
//! `fuzz/` runs them with libFuzzer. `tests/it` of this crate runs them on their seeds and on random inputs
//! in an ordinary test. The plain models and the proved bounds are in the tests of the other crates.

mod buffer;
mod capture;
mod configuration;
mod frame;
mod meter;
mod outcome;
mod plain;
mod port;
mod scenario;
mod scheduler;
mod tc_commands;
mod tcp;

pub use buffer::buffer;
pub use capture::capture;
pub use configuration::configuration;
pub use frame::frame;
pub use meter::meter;
pub use outcome::Outcome;
pub use port::port;
pub use scenario::scenario;
pub use scheduler::scheduler;
pub use tc_commands::tc_commands;
pub use tcp::tcp;

/// A function that panics if its input reveals a fault.
pub type Target = fn(&[u8]) -> Outcome;

/// Every target and its name, which is also the name of its file in `fuzz/fuzz_targets`.
pub const TARGETS: [(&str, Target); 10] = [
    ("buffer", buffer),
    ("capture", capture),
    ("configuration", configuration),
    ("frame", frame),
    ("meter", meter),
    ("port", port),
    ("scenario", scenario),
    ("scheduler", scheduler),
    ("tc_commands", tc_commands),
    ("tcp", tcp),
];
