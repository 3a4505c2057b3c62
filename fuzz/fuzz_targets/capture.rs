//! Any bytes as a pcap or pcapng file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(capture) = perhop_capture::read(bytes) {
        assert!(capture.packets.is_sorted_by_key(|observed| observed.time));
    }
});
