//! Any bytes as a configuration: read, converted, every line accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perhop_ios::{Platform, Profile, convert, parse};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut configuration = parse(&text);
    convert(&mut configuration, &Platform::of(Profile::PreHqf));
    assert_eq!(configuration.lines.len(), text.strip_prefix('\u{feff}').unwrap_or(&text).lines().count());
});
