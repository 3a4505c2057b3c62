//! Any bytes as a router's configuration: read, converted for every profile, every line accounted for, every
//! policy of every port built.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/perhop-ios/tests/it/accounted/mod.rs"]
mod accounted;

fuzz_target!(|bytes: &[u8]| accounted::check(&String::from_utf8_lossy(bytes)));
