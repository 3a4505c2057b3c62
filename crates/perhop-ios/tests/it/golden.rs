//! Compares every configuration in `vectors/ios` with its table: the state of each line, the diagnostics, and
//! the resulting policies. `BLESS=1` rewrites the tables for review.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use perhop_device::{Port, Router};
use perhop_ios::{Configuration, LineState, Platform, Recognition, convert, parse};
use perhop_qos::Rate;
use perhop_qos::framing::HeaderStack;
use perhop_qos::policy::{PolicyConfig, QueueingConfig, WireConfig};
use perhop_qos::random::Streams;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/ios")
}

fn configurations() -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cfg"));
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_configuration_has_the_result_in_its_table() {
    let mut wrong = Vec::new();
    for (name, text) in configurations() {
        let mut configuration = parse(&text);
        let router = converted(&mut configuration);
        let found = table(&configuration, &router);
        let path = vectors().join(format!("{name}.txt"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &found).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != found {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "not as in the tables: {wrong:?}; BLESS=1 rewrites them");
}

#[test]
fn converted_policies_can_be_built() {
    for (name, text) in configurations() {
        let router = converted(&mut parse(&text));
        let interfaces: Vec<String> = router.ports.iter().map(|port| port.interface.clone()).collect();
        for port in &router.ports {
            for policy in [&port.input, &port.output] {
                let built = build(policy, port, &interfaces);
                assert!(built.is_ok(), "{name}, {}: {}", port.name, built.unwrap_err());
            }
        }
    }
}

/// Converts `configuration` on the detected platform.
fn converted(configuration: &mut Configuration) -> Router {
    let recognition = Recognition::from_configuration(configuration);
    convert(configuration, &Platform::for_profile(recognition.profile))
}

fn build(policy: &PolicyConfig, port: &Port, interfaces: &[String]) -> Result<(), perhop_qos::ConfigError> {
    let streams = Streams::new(1, 0);
    policy.build_conditioner(interfaces, &streams)?;
    let wire = WireConfig {
        rate: port.wire.rate.unwrap_or(Rate::from_bits_per_second(1_000_000)),
        framing: port.wire.framing.unwrap_or_default(),
        headers: HeaderStack::EMPTY,
        ring: port.wire.ring.unwrap_or_default(),
    };
    policy.build_port(&wire, interfaces, &streams).map(|_| ())
}

fn table(configuration: &Configuration, router: &Router) -> String {
    let mut text = String::new();
    for line in &configuration.lines {
        let state = if line.is_blank('!') { String::new() } else { line.state.to_string() };
        writeln!(text, "{:>4} {state:14} {}", line.number, line.text).unwrap();
        if let Some(note) = &line.note {
            writeln!(text, "{:19} ^ {note}", "").unwrap();
        }
    }
    let count =
        |state| configuration.lines.iter().filter(|line| !line.is_blank('!') && line.state == state).count();
    let counts = LineState::ALL.map(|state| format!("{} {state}", count(state)));
    writeln!(text, "\nlines: {}", counts.join(", ")).unwrap();
    writeln!(text, "platform: {}", Recognition::from_configuration(configuration).profile.name()).unwrap();
    writeln!(text, "\ndiagnostics").unwrap();
    for diagnostic in &configuration.diagnostics {
        writeln!(text, "  {diagnostic}").unwrap();
    }
    for port in &router.ports {
        write_port(&mut text, port);
    }
    text
}

fn write_port(text: &mut String, port: &Port) {
    let addresses: Vec<String> =
        port.addresses.iter().map(|own| format!("{}/{}", own.address, own.prefix_length)).collect();
    let down = if port.shutdown { ", shut down" } else { "" };
    let bandwidth = port.bandwidth.expect("routers calculate with a bandwidth");
    writeln!(text, "\n{} ({bandwidth}, line {}{down})", port.name, port.line).unwrap();
    writeln!(text, "  addresses {}", addresses.join(", ")).unwrap();
    writeln!(text, "  wire {}", json(&port.wire)).unwrap();
    for (side, policy) in [("input", &port.input), ("output", &port.output)] {
        if policy.overhead != 0 {
            writeln!(text, "  {side} counts {} bytes more than IP's", policy.overhead).unwrap();
        }
        for stage in &policy.conditioners {
            writeln!(text, "  {side} {}", json(stage)).unwrap();
        }
        if let Some(queueing) = &policy.queueing {
            write_queueing(text, queueing, "  ");
        }
    }
}

fn write_queueing(text: &mut String, queueing: &QueueingConfig, indent: &str) {
    let limit = queueing.limit.map_or_else(String::new, |limit| format!(", {limit} together"));
    writeln!(text, "{indent}{}{limit}", json(&queueing.scheduler)).unwrap();
    for class in &queueing.classes {
        let mut outer = class.clone();
        let inner = outer.queueing.take();
        writeln!(text, "{indent}- {}", json(&outer)).unwrap();
        if let Some(inner) = inner {
            write_queueing(text, &inner, &format!("{indent}    "));
        }
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}
