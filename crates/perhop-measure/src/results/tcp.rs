//! The tables of TCP: flows, transactions of each class, and samples of connections.

use perhop_qos::units::Time;
use perhop_scenario::Scenario;

use super::table::{Rows, Table, rate};
use super::traffic::flow_name;
use crate::Measurements;
use crate::counters::{Delays, Distribution, quantile_seconds};
use crate::tcp::{CLIENT, SERVER, SessionMeasurements, SessionTally};

/// The completed transactions of one class.
pub(super) struct Transactions<'a> {
    pub(super) class: &'a str,
    tally: SessionTally,
    /// The distribution of completion times.
    pub(super) times: &'a Distribution,
}

pub(super) fn transactions<'a>(measurements: &'a Measurements) -> Vec<Transactions<'a>> {
    let row = |(place, (class, times)): (usize, &'a (usize, Delays))| {
        let mut tally = SessionTally::default();
        for session in measurements.tcp.sessions.iter().filter(|session| session.completions == place) {
            tally.merge(&session.tally);
        }
        Transactions { class: &measurements.class_names[*class], tally, times: &times.delay }
    };
    measurements.tcp.completions.iter().enumerate().map(row).collect()
}

/// Returns the mean completion time, seconds; NaN if no transaction was completed.
fn mean_completion(tally: &SessionTally) -> f64 {
    tally.completion as f64 / tally.completed as f64 / 1e12
}

/// Adds the columns for goodput, and for the reactions of senders to losses and marks.
fn last_columns<R>(rows: Rows<R>, measured: Time, tally: impl Fn(&R) -> &SessionTally + Copy) -> Rows<R> {
    rows.float("goodput_bps", "b/s", |row| rate(tally(row).received[SERVER], measured))
        .float("reply_goodput_bps", "b/s", |row| rate(tally(row).received[CLIENT], measured))
        .count("segments", "", |row| tally(row).sent.segments)
        .count("retransmissions", "", |row| tally(row).sent.retransmissions)
        .count("fast_retransmits", "", |row| tally(row).sent.fast_retransmits)
        .count("timeouts", "", |row| tally(row).sent.timeouts)
        .count("congestion_marks", "", |row| tally(row).sent.congestion_marks)
}

pub(super) fn tcp_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let row = |session| (session_name(scenario, session), &scenario.traffic[session.traffic], session);
    let rows = Rows::new(replication, measurements.tcp.sessions.iter().map(row))
        .text("flow", |(name, ..)| name)
        .text("class", |(.., session)| &measurements.class_names[session.class])
        .text("from", |(_, traffic, _)| &traffic.from)
        .text("to", |(_, traffic, _)| &traffic.to)
        .count("connections", "", |(.., session)| session.tally.connections)
        .count("transactions", "", |(.., session)| session.tally.transactions)
        .float("completion_mean_s", "s", |(.., session)| mean_completion(&session.tally))
        .count("received_bytes", "bytes", |(.., session)| session.tally.received[SERVER])
        .count("reply_bytes", "bytes", |(.., session)| session.tally.received[CLIENT]);
    last_columns(rows, measurements.measured(), |(.., session)| &session.tally).table("tcp")
}

pub(super) fn transaction_table(replication: u64, rows: Vec<Transactions>, measured: Time) -> Table {
    let quantile = |quantile: f64| move |row: &Transactions| quantile_seconds(row.times, quantile);
    let per_second = |row: &Transactions| row.tally.transactions as f64 / measured.as_seconds();
    let rows = Rows::new(replication, rows)
        .text("class", |row| row.class)
        .count("transactions", "", |row| row.tally.transactions)
        .float("transactions_per_s", "1/s", per_second)
        .float("completion_mean_s", "s", |row| mean_completion(&row.tally))
        .float("completion_p50_s", "s", quantile(0.5))
        .float("completion_p95_s", "s", quantile(0.95))
        .float("completion_p99_s", "s", quantile(0.99));
    last_columns(rows, measured, |row| &row.tally).table("transactions")
}

pub(super) fn connection_table(scenario: &Scenario, measurements: &Measurements, replication: u64) -> Table {
    let sessions = measurements.tcp.sessions.iter();
    let names: Vec<String> = sessions.map(|session| session_name(scenario, session)).collect();
    let series = measurements.tcp.series.iter();
    let rows = series.flat_map(|series| series.samples.iter().map(move |sample| (series.end, sample)));
    Rows::new(replication, rows)
        .text("flow", |(_, sample)| &names[sample.session])
        .text("end", |(end, _)| if *end == CLIENT { "client" } else { "server" })
        .count("connection", "", |(_, sample)| u64::from(sample.connection))
        .float("time_s", "s", |(_, sample)| sample.time.as_seconds())
        .float("cwnd_segments", "segments", |(_, sample)| sample.window)
        .float("ssthresh_segments", "segments", |(_, sample)| sample.threshold)
        .count("in_flight_bytes", "bytes", |(_, sample)| sample.in_flight)
        .float("srtt_s", "s", |(_, sample)| sample.round_trip.map_or(f64::NAN, Time::as_seconds))
        .float("rto_s", "s", |(_, sample)| sample.timeout.as_seconds())
        .table("connections")
}

fn session_name(scenario: &Scenario, session: &SessionMeasurements) -> String {
    flow_name(&scenario.traffic[session.traffic], session.number)
}
