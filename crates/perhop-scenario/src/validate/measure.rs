//! Checks of measurements: warm-up, probes, intervals.

use std::collections::BTreeMap;

use perhop_qos::units::Time;

use super::findings::Findings;
use super::topology::{Network, links_of};
use crate::nearest::suggest;
use crate::path::ValuePath;
use crate::plan::Plan;
use crate::{CaptureConfig, ConnectionProbeConfig, QueueProbeConfig, Scenario, TrafficConfig};

/// Limit on the samples of one probe in a replication, because all samples are stored in memory.
const MOST_SAMPLES: u64 = 10_000_000;

/// Checks all measurements.
pub(super) fn check(scenario: &Scenario, network: &Network, findings: &mut Findings) {
    let path = ValuePath::from("measure");
    let (measure, duration) = (&scenario.measure, scenario.duration);
    if duration > Time::ZERO && measure.warmup >= duration {
        let message = format!("`warmup` ({}) must be less than `duration` ({duration})", measure.warmup);
        findings.error(&path.join("warmup"), message).help = Some("the warm-up is part of `duration`".into());
    }
    if let Some(every) = measure.throughput_every {
        interval(&path.join("throughput-every"), every, duration, findings);
    }
    if let Some(every) = measure.delay_every {
        interval(&path.join("delay-every"), every, duration, findings);
    }
    for (index, probe) in measure.queues.iter().enumerate() {
        check_probe(network, &path.join("queues").join(index), probe, duration, findings);
    }
    for (index, CaptureConfig { from, to }) in measure.captures.iter().enumerate() {
        port(network, &path.join("captures").join(index), from, to, findings);
    }
    let mut traffic: BTreeMap<&str, &TrafficConfig> = BTreeMap::new();
    for entry in &scenario.traffic {
        traffic.entry(&entry.name).or_insert(entry);
    }
    for (index, probe) in measure.connections.iter().enumerate() {
        let known = traffic.get(probe.traffic.as_str()).copied();
        check_connections(scenario, known, &path.join("connections").join(index), probe, findings);
    }
    for (index, name) in measure.packets.iter().enumerate() {
        if !traffic.contains_key(name.as_str()) {
            let names = || scenario.traffic.iter().map(|traffic| traffic.name.as_str());
            let path = path.join("packets").join(index);
            let message = format!("there is no traffic `{name}`");
            findings.error_with(&path, message, || suggest("traffic", name, names()));
        }
    }
}

/// Checks a probe of the connections of a traffic entry; `known` is that entry, if it exists.
fn check_connections(
    scenario: &Scenario,
    known: Option<&TrafficConfig>,
    path: &ValuePath,
    probe: &ConnectionProbeConfig,
    findings: &mut Findings,
) {
    let ConnectionProbeConfig { traffic, flow, every, .. } = probe;
    let is_tcp = |traffic: &TrafficConfig| Plan::for_source(&traffic.source).is_some();
    match known {
        None => {
            let on_tcp =
                || scenario.traffic.iter().filter(|known| is_tcp(known)).map(|known| known.name.as_str());
            let message = format!("there is no traffic `{traffic}`");
            findings.error_with(&path.join("traffic"), message, || suggest("TCP traffic", traffic, on_tcp()));
        }
        Some(known) if !is_tcp(known) => {
            let message = format!("traffic `{traffic}` has no connections: it sends datagrams");
            findings.error(&path.join("traffic"), message).help =
                Some("name traffic whose `source` is an application on TCP".into());
        }
        Some(known) => {
            if let Some(flow) = flow.filter(|flow| *flow >= known.flows()) {
                let message = format!("traffic `{traffic}` has no flow {flow}");
                findings.error(&path.join("flow"), message).help = Some(match known.flows() {
                    0 => "the traffic has no flows: its `count` must be at least 1".into(),
                    1 => "the traffic has only one flow: remove `flow`".into(),
                    count => format!("flows: 0 to {}", count - 1),
                });
            }
        }
    }
    interval(&path.join("every"), *every, scenario.duration, findings);
}

fn check_probe(
    network: &Network,
    path: &ValuePath,
    probe: &QueueProbeConfig,
    duration: Time,
    findings: &mut Findings,
) {
    let QueueProbeConfig { from, to, every } = probe;
    port(network, path, from, to, findings);
    interval(&path.join("every"), *every, duration, findings);
}

/// Reports `from` and `to` in the mapping at `path` unless a link connects them.
fn port(network: &Network, path: &ValuePath, from: &str, to: &str, findings: &mut Findings) {
    let from_known = network.require(&path.join("from"), from, findings);
    let to_known = network.require(&path.join("to"), to, findings);
    if from_known && to_known && !network.are_neighbors(from, to) {
        let message = format!("`{from}` has no port to `{to}`");
        findings.error_with(&path.join("to"), message, || links_of(network, from));
    }
}

fn interval(path: &ValuePath, every: Time, duration: Time, findings: &mut Findings) {
    if every == Time::ZERO {
        findings.error(path, "interval must be above 0").help = Some("for example 100ms".into());
    } else if duration.as_picoseconds() / every.as_picoseconds() > MOST_SAMPLES {
        let samples = duration.as_picoseconds() / every.as_picoseconds();
        let least = Time::from_picoseconds(duration.as_picoseconds().div_ceil(MOST_SAMPLES));
        findings
            .error(
                path,
                format!("{samples} samples in a run of {duration}: at most {MOST_SAMPLES} are possible"),
            )
            .help = Some(format!("use an interval of at least {least}"));
    } else if duration > Time::ZERO && every > duration {
        findings.warning(path, format!("the interval ({every}) is longer than the run ({duration})"));
    }
}
