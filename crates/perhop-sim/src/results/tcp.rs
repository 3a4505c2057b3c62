//! The tables about TCP: per flow, and completion times per class.

use perhop_qos::units::Time;

use super::table::{Rows, Table};
use super::tables::flow_name;
use crate::probe::{Delays, quantile_seconds};
use crate::scenario::Scenario;
use crate::session::{CLIENT, SERVER, SessionTally};
use crate::tcp::Statistics;
use crate::world::World;

#[derive(Clone, Debug)]
pub(super) struct TcpRow {
    replication: u64,
    flow: String,
    class: String,
    from: String,
    to: String,
    tally: SessionTally,
    sent: Statistics,
    measured: Time,
}

#[derive(Clone, Debug)]
pub(super) struct TransactionRow {
    replication: u64,
    class: String,
    transactions: u64,
    completed: u64,
    completion: u128,
    times: Delays,
    measured: Time,
}

pub(super) fn tcp_rows(scenario: &Scenario, world: &World, replication: u64) -> Vec<TcpRow> {
    let measured = world.duration.saturating_sub(world.warmup);
    let sessions = world.transport.sessions.iter().zip(world.transport.measured());
    let row = |(session, sent): (&crate::session::Session, Statistics)| {
        let traffic = &scenario.traffic[session.traffic];
        TcpRow {
            replication,
            flow: flow_name(traffic, session.number),
            class: world.class_names[world.flows[session.flows[CLIENT]].class].clone(),
            from: traffic.from.clone(),
            to: traffic.to.clone(),
            tally: session.tally,
            sent,
            measured,
        }
    };
    sessions.map(row).collect()
}

pub(super) fn transaction_rows(world: &World, replication: u64) -> Vec<TransactionRow> {
    let measured = world.duration.saturating_sub(world.warmup);
    let row = |(place, (class, times)): (usize, &(usize, Delays))| {
        let of_class = world.transport.sessions.iter().filter(|session| session.completions == place);
        let mut row = TransactionRow {
            replication,
            class: world.class_names[*class].clone(),
            transactions: 0,
            completed: 0,
            completion: 0,
            times: times.clone(),
            measured,
        };
        for SessionTally { transactions, completed, completion, .. } in of_class.map(|session| session.tally)
        {
            row.transactions += transactions;
            row.completed += completed;
            row.completion += completion;
        }
        row
    };
    world.transport.completions.iter().enumerate().map(row).collect()
}

/// Mean of `count` times that sum up to `sum` picoseconds, seconds; NaN of none.
fn mean_seconds(sum: u128, count: u64) -> f64 {
    sum as f64 / count as f64 / 1e12
}

pub(super) fn tcp_table(rows: &[TcpRow]) -> Table {
    let rate = |bytes: u64, measured: Time| bytes as f64 * 8.0 / measured.as_seconds();
    Rows::new(rows)
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
        .float("reply_goodput_bps", "b/s", |row| rate(row.tally.received[CLIENT], row.measured))
        .count("segments", "", |row| row.sent.segments)
        .count("retransmissions", "", |row| row.sent.retransmissions)
        .count("fast_retransmits", "", |row| row.sent.fast_retransmits)
        .count("timeouts", "", |row| row.sent.timeouts)
        .count("congestion_marks", "", |row| row.sent.congestion_marks)
        .table("tcp")
}

pub(super) fn transaction_table(rows: &[TransactionRow]) -> Table {
    let quantile = |quantile: f64| move |row: &TransactionRow| quantile_seconds(&row.times.delay, quantile);
    Rows::new(rows)
        .count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .count("transactions", "", |row| row.transactions)
        .float("transactions_per_s", "1/s", |row| row.transactions as f64 / row.measured.as_seconds())
        .float("completion_mean_s", "s", |row| mean_seconds(row.completion, row.completed))
        .float("completion_p50_s", "s", quantile(0.5))
        .float("completion_p95_s", "s", quantile(0.95))
        .float("completion_p99_s", "s", quantile(0.99))
        .table("transactions")
}
