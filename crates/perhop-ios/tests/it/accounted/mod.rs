//! Invariants for any text, shared by property tests and fuzzing.

use perhop_ios::{LineState, Platform, Profile, Severity, convert, is_configuration, parse};
use perhop_qos::Rate;
use perhop_qos::policy::WireConfig;
use perhop_qos::random::Streams;

/// Names of switches with memory of usual and unusual sizes.
const SWITCHES: [&str; 4] =
    ["c3850", "c9300,port-units=1", "c9400,port-units=1073741824,shared-units=1", "c9600,port-units=300"];

/// Names of Nexus switches whose memory is known, set by the user, small or unknown.
const NEXUS: [&str; 4] =
    ["n9k-c93240yc-fx2", "n9k-c93180yc-fx,shared-units=1", "n3k-c3064pq", "n9k-c93180yc-ex"];

/// Returns the platform of a profile. A switch has memory only if its product is known.
fn platform(profile: Profile, choice: usize) -> Platform {
    match profile {
        Profile::CatalystUadp => Platform::named(SWITCHES[choice % SWITCHES.len()]).expect("a product"),
        Profile::Nexus9000 => Platform::named(NEXUS[choice % NEXUS.len()]).expect("a product"),
        _ => Platform::for_profile(profile),
    }
}

/// Checks the invariants of `text`, parsed and converted.
pub(crate) fn check(text: &str) {
    let mut configuration = parse(text);
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().count();
    assert_eq!(configuration.lines.len(), lines);
    assert!(configuration.lines.iter().enumerate().all(|(index, line)| line.number == index + 1));
    // The length of the text selects the profile.
    let profile = Profile::ALL[text.len() % Profile::ALL.len()];
    let router = convert(&mut configuration, &platform(profile, text.len() / Profile::ALL.len()));
    for diagnostic in
        configuration.diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Note)
    {
        let line = &configuration.lines[diagnostic.line - 1];
        assert_eq!(line.state, LineState::Suspicious, "{diagnostic}");
    }
    assert!(router.ports.len() <= lines);
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
            let built = policy.build_conditioner(&interfaces, &streams).map(|_| ());
            let built = built.and_then(|()| policy.build_port(&wire, &interfaces, &streams).map(|_| ()));
            assert!(built.is_ok(), "{}: {}", port.name, built.unwrap_err());
        }
    }
    is_configuration(text);
}
