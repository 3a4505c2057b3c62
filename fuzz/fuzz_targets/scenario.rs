#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| -> libfuzzer_sys::Corpus {
    perhop_fuzz::corpus(perhop_fuzz_targets::scenario(bytes))
});
