//! Any bytes as a router's configuration: read, converted for every profile, every line accounted for, every
//! policy of every port built.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perhop_ios::{Platform, Profile, convert, parse};
use perhop_qos::policy::WireConfig;
use perhop_qos::random::Streams;
use perhop_qos::units::Rate;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().count();
    let read = parse(&text);
    assert_eq!(read.lines.len(), lines);
    let profile = Profile::ALL[bytes.len() % Profile::ALL.len()];
    let mut configuration = read;
    let router = convert(&mut configuration, &Platform::of(profile));
    let interfaces: Vec<String> = router.ports.iter().map(|port| port.interface.clone()).collect();
    let streams = Streams::new(1, 0);
    for port in &router.ports {
        let wire = WireConfig {
            rate: port.wire.rate.unwrap_or(Rate::from_bits_per_second(1_000_000)),
            framing: port.wire.framing.unwrap_or_default(),
            headers: port.wire.headers,
            ring: port.wire.ring.unwrap_or_default(),
        };
        for policy in [&port.input, &port.output] {
            if let Err(error) = policy.build_conditioner(&interfaces, &streams) {
                panic!("{}: {error}", port.name);
            }
            if let Err(error) = policy.build_port(&wire, &interfaces, &streams) {
                panic!("{}: {error}", port.name);
            }
        }
    }
});
