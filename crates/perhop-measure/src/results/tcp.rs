//! The tables of TCP: per flow, transactions per class, connections over time.

use std::sync::Arc;

use hdrhistogram::Histogram;
use perhop_qos::units::Time;

use super::table::{Rows, Table};
use super::traffic::flow_name;
use crate::Measurements;
use crate::counters::{Delays, quantile_seconds};
use crate::tcp::{
    CLIENT, ConnectionSample, ConnectionSeries, SERVER, SenderStatistics, SessionMeasurements, SessionTally,
};
use perhop_scenario::Scenario;

#[derive(Debug)]
pub(super) struct TcpRow {
    replication: u64,
    flow: String,
    class: String,
    from: String,
    to: String,
    tally: SessionTally,
    measured: Time,
}

#[derive(Debug)]
pub(super) struct TransactionRow {
    replication: u64,
    class: String,
    tally: SessionTally,
    times: Histogram<u32>,
    measured: Time,
}

/// A sample of one endpoint of a connection.
#[derive(Debug)]
pub(super) struct ConnectionRow {
    replication: u64,
    flow: Arc<str>,
    end: &'static str,
    sample: ConnectionSample,
}

pub(super) fn tcp_rows(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Vec<TcpRow> {
    let measured = measurements.duration.saturating_sub(measurements.warmup);
    let row = |session: &SessionMeasurements| {
        let traffic = &scenario.traffic[session.traffic];
        TcpRow {
            replication,
            flow: flow_name(traffic, session.number),
            class: measurements.class_names[session.class].clone(),
            from: traffic.from.clone(),
            to: traffic.to.clone(),
            tally: session.tally,
            measured,
        }
    };
    measurements.tcp.sessions.iter().map(row).collect()
}

pub(super) fn transaction_rows(measurements: &Measurements, replication: u64) -> Vec<TransactionRow> {
    let measured = measurements.duration.saturating_sub(measurements.warmup);
    let row = |(place, (class, times)): (usize, &(usize, Delays))| {
        let mut row = TransactionRow {
            replication,
            class: measurements.class_names[*class].clone(),
            tally: SessionTally::default(),
            times: times.delay.histogram(),
            measured,
        };
        for session in measurements.tcp.sessions.iter().filter(|session| session.completions == place) {
            row.tally.merge(&session.tally);
        }
        row
    };
    measurements.tcp.completions.iter().enumerate().map(row).collect()
}

pub(super) fn connection_rows(
    scenario: &Scenario,
    measurements: &Measurements,
    replication: u64,
) -> Vec<ConnectionRow> {
    let name =
        |session: &SessionMeasurements| flow_name(&scenario.traffic[session.traffic], session.number).into();
    let names: Vec<Arc<str>> = measurements.tcp.sessions.iter().map(name).collect();
    let row = |series: &ConnectionSeries, sample: &ConnectionSample| ConnectionRow {
        replication,
        flow: Arc::clone(&names[sample.session]),
        end: if series.end == CLIENT { "client" } else { "server" },
        sample: *sample,
    };
    let all = measurements.tcp.series.iter();
    all.flat_map(|series| series.samples.iter().map(move |sample| row(series, sample))).collect()
}

/// The completion times of each class for the table `histogram`.
pub(super) fn completion_histograms(
    rows: &[TransactionRow],
) -> impl Iterator<Item = (&str, &Histogram<u32>)> {
    rows.iter().map(|row| (row.class.as_str(), &row.times))
}

/// Mean in seconds of `count` times with a sum of `sum` picoseconds; NaN without any.
fn mean_seconds(sum: u128, count: u64) -> f64 {
    sum as f64 / count as f64 / 1e12
}

fn rate(bytes: u64, measured: Time) -> f64 {
    bytes as f64 * 8.0 / measured.as_seconds()
}

/// Columns of the senders' reactions to loss and marks.
fn sender_columns<R>(rows: Rows<R>, sent: impl Fn(&R) -> &SenderStatistics + Copy) -> Rows<R> {
    rows.count("segments", "", |row| sent(row).segments)
        .count("retransmissions", "", |row| sent(row).retransmissions)
        .count("fast_retransmits", "", |row| sent(row).fast_retransmits)
        .count("timeouts", "", |row| sent(row).timeouts)
        .count("congestion_marks", "", |row| sent(row).congestion_marks)
}

pub(super) fn tcp_table(rows: Rows<TcpRow>) -> Table {
    let rows = rows
        .count("replication", "", |row| row.replication)
        .text("flow", |row| &row.flow)
        .text("class", |row| &row.class)
        .text("from", |row| &row.from)
        .text("to", |row| &row.to)
        .count("connections", "", |row| row.tally.connections)
        .count("transactions", "", |row| row.tally.transactions)
        .float("completion_mean_s", "s", |row| mean_seconds(row.tally.completion, row.tally.completed))
        .count("received_bytes", "bytes", |row| row.tally.received[SERVER])
        .count("reply_bytes", "bytes", |row| row.tally.received[CLIENT])
        .float("goodput_bps", "b/s", |row| rate(row.tally.received[SERVER], row.measured))
        .float("reply_goodput_bps", "b/s", |row| rate(row.tally.received[CLIENT], row.measured));
    sender_columns(rows, |row| &row.tally.sent).table("tcp")
}

pub(super) fn transaction_table(rows: Rows<TransactionRow>) -> Table {
    let quantile = |quantile: f64| move |row: &TransactionRow| quantile_seconds(&row.times, quantile);
    let rows = rows
        .count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .count("transactions", "", |row| row.tally.transactions)
        .float("transactions_per_s", "1/s", |row| row.tally.transactions as f64 / row.measured.as_seconds())
        .float("completion_mean_s", "s", |row| mean_seconds(row.tally.completion, row.tally.completed))
        .float("completion_p50_s", "s", quantile(0.5))
        .float("completion_p95_s", "s", quantile(0.95))
        .float("completion_p99_s", "s", quantile(0.99))
        .float("goodput_bps", "b/s", |row| rate(row.tally.received[SERVER], row.measured))
        .float("reply_goodput_bps", "b/s", |row| rate(row.tally.received[CLIENT], row.measured));
    sender_columns(rows, |row| &row.tally.sent).table("transactions")
}

pub(super) fn connection_table(rows: Rows<ConnectionRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("flow", |row| &row.flow)
        .text("end", |row| row.end)
        .count("connection", "", |row| u64::from(row.sample.connection))
        .float("time_s", "s", |row| row.sample.time.as_seconds())
        .float("cwnd_segments", "segments", |row| row.sample.window)
        .float("ssthresh_segments", "segments", |row| row.sample.threshold)
        .count("in_flight_bytes", "bytes", |row| row.sample.in_flight)
        .float("srtt_s", "s", |row| row.sample.round_trip.map_or(f64::NAN, Time::as_seconds))
        .float("rto_s", "s", |row| row.sample.timeout.as_seconds())
        .table("connections")
}
