//! Results of a live run, from the records of hosts and the reports of forwarders. The results have the same
//! tables as those of a simulation.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use perhop_measure::tcp::{ConnectionSample, SenderStatistics, SessionTally};
use perhop_measure::{Conditioned, Measurements, PortMeasurements, Replication, Results};
use perhop_qos::conditioner::Count;
use perhop_qos::packet::{Dscp, FlowKey, Protocol};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::Scenario;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::{HostError, trying};
use super::flows::Flows;
use super::record::{Record, read_records, records_of};
use super::report::{HostReport, Sample, SessionReport};
use crate::report::{ByCause, DirectionReport, FlowReport, InputReport, StageReport};

/// The files of one run.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RunFiles {
    /// Reports of hosts; the records are in the same directories.
    pub hosts: Vec<PathBuf>,
    /// Reports of forwarders.
    pub forwarders: Vec<PathBuf>,
}

/// Counters of packets over all flows.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Account {
    /// Sent packets, including the warm-up.
    sent: u64,
    /// Packets that arrived before the end of the run.
    arrived: u64,
    /// Packets that were in flight at the end of the run and arrived later.
    late: u64,
    /// Packets that arrived, but were not recorded when they left.
    unmatched: u64,
    /// Packets sent after the warm-up that did not arrive and that no forwarder dropped. They were lost
    /// elsewhere.
    missing: u64,
}

/// The results of `runs` of `scenario`. Each run is a replication. The key `live` of the summary describes
/// the runs.
///
/// # Errors
/// A file cannot be read, or the scenario is not valid.
pub fn measured_results(scenario: &Scenario, seed: u64, runs: &[RunFiles]) -> Result<Results, HostError> {
    let flows = Flows::new(scenario);
    let (mut replications, mut live) = (Vec::new(), Vec::new());
    for (number, run) in (0..).zip(runs) {
        let (measured, account) = measure(scenario, &flows, run)?;
        replications.push(Replication::new(scenario, &measured, number));
        live.push(account);
    }
    let mut results = Results::new(scenario, seed, replications);
    results.summary.describe_live_runs(live);
    Ok(results)
}

fn measure(scenario: &Scenario, flows: &Flows, run: &RunFiles) -> Result<(Measurements, Value), HostError> {
    let mut measured = Measurements::for_scenario(scenario).map_err(HostError::Config)?;
    let hosts: Vec<HostReport> = run.hosts.iter().map(|path| read_json(path)).collect::<Result<_, _>>()?;
    let reports: Vec<Value> = run.forwarders.iter().map(|path| read_json(path)).collect::<Result<_, _>>()?;
    let mut account = take_packets(&mut measured, &run.hosts)?;
    take_sessions(&mut measured, &hosts);
    for report in &reports {
        let forwarder: ForwarderReport = trying(
            || "cannot read the report of a forwarder".to_owned(),
            serde_json::from_value(report.clone()).map_err(io::Error::from),
        )?;
        forwarder.take(&mut measured, flows);
    }
    for series in &mut measured.tcp.series {
        series.samples.sort_by_key(|sample| (sample.time, sample.session, sample.connection));
    }
    measured.in_network = measured.unaccounted();
    account.missing = measured.in_network.iter().sum::<u64>().saturating_sub(account.late);
    let hosts: Vec<Value> = hosts.iter().map(host_summary).collect();
    let forwarders: Vec<Value> = reports.iter().map(forwarder_summary).collect();
    Ok((measured, json!({ "packets": account, "hosts": hosts, "forwarders": forwarders })))
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, HostError> {
    let text = trying(|| path.display().to_string(), std::fs::read_to_string(path))?;
    trying(|| path.display().to_string(), serde_json::from_str(&text).map_err(io::Error::from))
}

/// Counts sent and arrived packets of all flows.
fn take_packets(measured: &mut Measurements, hosts: &[PathBuf]) -> Result<Account, HostError> {
    let mut account = Account::default();
    for (sent, arrived) in [("sent", "arrived"), ("tcp-sent", "tcp-arrived")] {
        let (mut sent, arrived) = (records(hosts, sent)?, records(hosts, arrived)?);
        // The records of sent packets are sorted by flow and time of sending. As in a simulation, arrivals
        // are counted in the order of arrival over all flows.
        sent.sort_by_key(|record| (record.flow, record.at));
        account.sent += sent.len() as u64;
        match_packets(measured, &sent, arrived, &mut account);
    }
    Ok(account)
}

fn records(hosts: &[PathBuf], kind: &str) -> Result<Vec<Record>, HostError> {
    let mut all = Vec::new();
    for host in hosts {
        let path = records_of(host, kind);
        all.extend(trying(|| path.display().to_string(), read_records(&path))?);
    }
    Ok(all)
}

/// Matches every arrived packet with its record of sending.
fn match_packets(
    measured: &mut Measurements,
    sent: &[Record],
    mut arrived: Vec<Record>,
    account: &mut Account,
) {
    let mut under_way: BTreeMap<(u32, u64), VecDeque<(u32, u64)>> = BTreeMap::new();
    let (mut flow, mut number) = (u32::MAX, 0);
    for record in sent {
        number = if record.flow == flow { number + 1 } else { 0 };
        flow = record.flow;
        measured.record_sent(flow as usize, Time::from_nanoseconds(record.at), record.length);
        under_way.entry((flow, record.identity)).or_default().push_back((number, record.at));
    }
    arrived.sort_by_key(|record| record.at);
    let ends = measured.duration;
    for record in arrived {
        let sent = under_way.get_mut(&(record.flow, record.identity)).and_then(VecDeque::pop_front);
        let Some((number, sent_at)) = sent else {
            account.unmatched += 1;
            continue;
        };
        let (sent_at, at) = (Time::from_nanoseconds(sent_at), Time::from_nanoseconds(record.at));
        let dscp = Dscp::new(record.class >> 2).unwrap_or_default();
        measured.record_arrived(record.flow as usize, number, record.length, sent_at, at, dscp);
        *(if at > ends { &mut account.late } else { &mut account.arrived }) += 1;
    }
}

/// Counts the reports of the two ends of each session.
fn take_sessions(measured: &mut Measurements, hosts: &[HostReport]) {
    let all: Vec<&SessionReport> = hosts.iter().flat_map(|host| &host.sessions).collect();
    for session in &all {
        let Some(place) = measured.tcp.position(session.traffic, session.number) else { continue };
        let mut completions: Vec<Time> =
            session.completions.iter().map(|nanoseconds| Time::from_nanoseconds(*nanoseconds)).collect();
        let mut received = [0; 2];
        received[usize::from(!session.is_client)] = session.received;
        if !session.is_client {
            let is_its_client = |other: &&&SessionReport| {
                other.is_client && (other.traffic, other.number) == (session.traffic, session.number)
            };
            if let Some(client) = all.iter().find(is_its_client) {
                completions.extend(transfers(client, session, measured.warmup));
            }
        }
        let sent = SenderStatistics {
            segments: session.segments,
            retransmissions: session.retransmissions,
            timeouts: session.timeouts,
            ..SenderStatistics::default()
        };
        let transactions = session.transactions + completions.len() as u64;
        let connections = session.connections;
        let counted = SessionTally { connections, transactions, received, sent, ..SessionTally::default() };
        measured.tcp.sessions[place].tally.merge(&counted);
        for time in completions {
            measured.tcp.complete(place, time);
        }
        for sample in &session.samples {
            if let Some(series) = measured.tcp.series.get_mut(sample.probe) {
                series.samples.push(connection_sample(place, sample));
            }
        }
    }
}

/// Completion times of the client's transfers that ended at the server after the `warmup`.
fn transfers(client: &SessionReport, server: &SessionReport, warmup: Time) -> Vec<Time> {
    let mut begun: BTreeMap<u16, VecDeque<u64>> = BTreeMap::new();
    for transfer in &client.transfers {
        begun.entry(transfer.port).or_default().push_back(transfer.at);
    }
    let mut took = Vec::new();
    for transfer in &server.transfers {
        let began = begun.get_mut(&transfer.port).and_then(VecDeque::pop_front);
        let ended = Time::from_nanoseconds(transfer.at);
        if let Some(began) = began.filter(|_| ended >= warmup) {
            took.push(ended.saturating_sub(Time::from_nanoseconds(began)));
        }
    }
    took
}

fn connection_sample(session: usize, sample: &Sample) -> ConnectionSample {
    ConnectionSample {
        time: Time::from_nanoseconds(sample.at),
        session,
        connection: sample.connection,
        window: f64::from(sample.window),
        threshold: f64::from(sample.threshold),
        in_flight: u64::from(sample.in_flight) * u64::from(sample.segment),
        round_trip: (sample.round_trip > 0).then(|| Time::from_microseconds(sample.round_trip.into())),
        timeout: Time::from_microseconds(sample.timeout.into()),
    }
}

/// The parts of a forwarder's report that become rows of the tables.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ForwarderReport {
    directions: Vec<DirectionReport>,
    #[serde(default)]
    inputs: Vec<InputReport>,
    #[serde(default)]
    flows: Vec<FlowReport>,
}

/// The causes in `dropped`, with their counts.
fn causes(dropped: &ByCause) -> impl Iterator<Item = (DropCause, Count)> {
    let cause = |name: &str| DropCause::ALL.into_iter().find(|cause| cause.name() == name);
    dropped.iter().filter_map(move |(name, count)| Some((cause(name)?, *count)))
}

impl ForwarderReport {
    fn take(self, measured: &mut Measurements, flows: &Flows) {
        for direction in self.directions {
            take_direction(direction, measured);
        }
        for InputReport { name, input, dropped } in self.inputs {
            take_stages(measured, &name, "input", input);
            if let Some(port) = measured.port(&name) {
                causes(&dropped).for_each(|(cause, count)| port.tally.beyond.merge(cause, count));
            }
        }
        for flow in self.flows {
            let key = FlowKey {
                source: flow.source.into(),
                destination: flow.destination.into(),
                source_port: flow.source_port,
                destination_port: flow.destination_port,
                protocol: Protocol(flow.protocol),
            };
            if let Some(place) = flows.find(&key) {
                let dropped = &mut measured.counters[place].dropped;
                causes(&flow.dropped).for_each(|(cause, count)| dropped.merge(cause, count));
            }
        }
    }
}

fn take_direction(direction: DirectionReport, measured: &mut Measurements) {
    measured.packet_hops += direction.queues.iter().map(|queue| queue.sent.packets).sum::<u64>();
    if let Some(PortMeasurements { queue_names, tally: port, .. }) = measured.port(&direction.name) {
        for queue in &direction.queues {
            let Some(place) = queue_names.iter().position(|name| *name == queue.queue) else { continue };
            let tally = port.tally_mut(place, queue.precedence);
            tally.arrived.merge(queue.arrived);
            tally.sent.merge(queue.sent);
            tally.marked.merge(queue.marked);
            causes(&queue.dropped).for_each(|(cause, count)| tally.dropped.merge(cause, count));
        }
        causes(&direction.unqueued).for_each(|(cause, count)| port.unqueued.merge(cause, count));
        causes(&direction.beyond).for_each(|(cause, count)| port.beyond.merge(cause, count));
    }
    take_stages(measured, &direction.name, "output", direction.output);
    take_stages(measured, &direction.name, "input", direction.input);
}

/// Adds the counters of stages on one `side` of the link `name`.
fn take_stages(measured: &mut Measurements, name: &str, side: &'static str, stages: Vec<StageReport>) {
    let Some((from, to)) = name.split_once("->") else { return };
    let (node, neighbor) = if side == "output" { (from, to) } else { (to, from) };
    for StageReport { conditioner, colors } in stages {
        for (color, taken) in colors {
            measured.conditioners.push(Conditioned {
                node: node.to_owned(),
                neighbor: neighbor.to_owned(),
                side,
                stage: conditioner.clone(),
                color,
                taken,
            });
        }
    }
}

/// The part of a host's report for the summary: all fields except the sessions.
fn host_summary(host: &HostReport) -> Value {
    json!({
        "host": host.host,
        "datagrams": host.send_delay.count,
        "late_p50_s": host.send_delay.p50_ns as f64 / 1e9,
        "late_p99_s": host.send_delay.p99_ns as f64 / 1e9,
        "late_max_s": host.send_delay.max_ns as f64 / 1e9,
        "refused_packets": host.refused_packets,
        "lengthened_packets": host.lengthened_packets,
        "foreign_packets": host.foreign_packets,
        "unseen_packets": host.unseen_packets,
        "notes": host.notes,
    })
}

/// The part of a forwarder's report for the summary: all fields except the tables.
fn forwarder_summary(report: &Value) -> Value {
    let Value::Object(report) = report else { return Value::Null };
    let in_tables = ["directions", "inputs", "flows"];
    let kept = report.iter().filter(|(name, _)| !in_tables.contains(&name.as_str()));
    Value::Object(kept.map(|(name, value)| (name.replace('-', "_"), value.clone())).collect())
}
