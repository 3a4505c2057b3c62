//! Invariants for any text, shared by property tests and fuzzing.

use perhop_lint::{LineState, Severity, pictured};
use perhop_qos::Rate;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::WireConfig;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_tc::{convert, is_configuration, parse};

/// Checks the invariants: every line has a state, every finding has a line, output has no control characters,
/// and the policy of every port can be built.
pub(crate) fn check(text: &str) {
    let mut configuration = parse(text);
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().count();
    assert!(configuration.lines.len() == lines || configuration.counts_items());
    assert!(configuration.lines.iter().enumerate().all(|(index, line)| line.number == index + 1));
    let router = convert(&mut configuration);
    let messages = configuration
        .diagnostics
        .iter()
        .flat_map(|diagnostic| [diagnostic.message.as_str(), &diagnostic.router]);
    for shown in configuration.lines.iter().map(|line| line.text.as_str()).chain(messages) {
        assert_eq!(pictured(shown), shown, "a terminal would take it for a command");
    }
    for found in configuration.diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Note) {
        let line = &configuration.lines[found.line - 1];
        assert_eq!(line.state, LineState::Suspicious, "{found}");
    }
    let streams = Streams::new(1, 0);
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(1_000_000),
        framing: Framing::default(),
        headers: HeaderStack::EMPTY,
        ring: RingConfig::default(),
    };
    for port in &router.ports {
        // Only the scenario knows the interface of arrival that a filter can name.
        if format!("{:?}", (&port.input, &port.output)).contains("input: Some(") {
            continue;
        }
        for policy in [&port.input, &port.output] {
            let built = policy.build_conditioner(&[], &streams).map(|_| ());
            let built = built.and_then(|()| policy.build_port(&wire, &[], &streams).map(|_| ()));
            assert!(built.is_ok(), "{}: {}", port.name, built.unwrap_err());
        }
    }
    is_configuration(text);
}
