//! Any bytes as commands or output of Linux' `tc`: read, converted, every line accounted for, every policy of
//! every device built.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/perhop-tc/tests/it/accounted/mod.rs"]
mod accounted;

fuzz_target!(|bytes: &[u8]| accounted::check(&String::from_utf8_lossy(bytes)));
