//! The tables of a run, which are made from the measurements of its replications.

use perhop_qos::units::Time;
use perhop_scenario::Scenario;

use super::applications::{call_table, game_table, page_table, speed_test_table, video_table};
use super::colors::{color_table, conditioner_table};
use super::pools::pool_table;
use super::series::{delay_table, histogram_table, packet_table, queue_table, throughput_table};
use super::table::{Rows, Table};
use super::tcp::{connection_table, tcp_table, transaction_table, transactions};
use super::traffic::{class_rows, class_table, drop_columns, flow_rows, flow_table, percent};
use crate::Measurements;
use crate::counters::Tally;
use crate::statistics::fairness;

/// The tables of one replication.
#[derive(Debug)]
pub struct Replication {
    pub(super) tables: Vec<Table>,
}

impl Replication {
    /// Returns the tables of the replication.
    pub fn into_tables(self) -> Vec<Table> {
        self.tables
    }
    /// Returns the number of transmissions of packets on wires.
    pub fn packet_hops(&self) -> u64 {
        let runs = self.tables.iter().find(|table| table.name == "runs");
        let hops = runs.and_then(|runs| runs.column("packet_hops")?.number(0));
        hops.unwrap_or_default() as u64
    }
    /// Creates the tables of replication `number` from `measurements`, the measurements of a run of
    /// `scenario`.
    pub fn new(scenario: &Scenario, measurements: &Measurements, number: u32) -> Replication {
        let replication = u64::from(number);
        let flows = flow_rows(scenario, measurements);
        let classes = class_rows(measurements, &flows);
        let transactions = transactions(measurements);
        let histogram = histogram_table(replication, &classes, &transactions);
        let packets = packet_table(measurements, replication, &flows);
        let measured = measurements.measured();
        let rates = flows.iter().filter(|flow| !flow.answers).map(|flow| flow.throughput(measured));
        let run = Rows::new(replication, [fairness(rates)])
            .count("packet_hops", "packets", |_| measurements.packet_hops)
            .float("fairness", "", |fairness| *fairness)
            .table("runs");
        let tables = vec![
            class_table(replication, classes, measurements),
            flow_table(replication, flows, measurements),
            port_table(measurements, replication),
            conditioner_table(measurements, replication),
            queue_table(measurements, replication),
            throughput_table(measurements, replication),
            packets,
            delay_table(measurements, replication),
            histogram,
            tcp_table(scenario, measurements, replication),
            transaction_table(replication, transactions, measured),
            connection_table(scenario, measurements, replication),
            color_table(measurements, replication),
            call_table(scenario, measurements, replication),
            game_table(scenario, measurements, replication),
            video_table(scenario, measurements, replication),
            page_table(scenario, measurements, replication),
            speed_test_table(scenario, measurements, replication),
            pause_table(measurements, replication),
            pool_table(measurements, replication),
            run,
        ];
        Replication { tables }
    }
}

/// Returns the table of pauses by priority flow control.
fn pause_table(measurements: &Measurements, replication: u64) -> Table {
    Rows::new(replication, &measurements.pauses)
        .text("port", |row| &measurements.ports[row.port].name)
        .count("priority", "", |row| row.priority.into())
        .count("pauses", "", |row| row.pauses)
        .count("spread_pauses", "", |row| row.spread)
        .count("deepest_links", "", |row| row.deepest.into())
        .float("paused_s", "s", |row| row.paused.as_seconds())
        .float("longest_s", "s", |row| row.longest.as_seconds())
        .count("most_bytes", "bytes", |row| row.most_bytes)
        .float("deadlocked_s", "s", |row| row.deadlocked.map_or(f64::NAN, Time::as_seconds))
        .table("pauses")
}

fn port_table(measurements: &Measurements, replication: u64) -> Table {
    let rows = measurements.ports.iter().flat_map(|port| {
        let queues = port.tally.iter();
        let queues = queues.map(|(queue, precedence, tally)| {
            (&port.name, port.queue_names[queue].as_str(), precedence as u64, tally)
        });
        // Conditioners and classifiers drop packets before a queue is selected. Such drops have their own
        // rows, so that the rows of a port include all drops of the port.
        let elsewhere = [("(none)", &port.tally.unqueued), ("(beyond)", &port.tally.beyond)];
        let elsewhere = elsewhere.into_iter().map(|(queue, dropped)| {
            let mut tally = Tally { dropped: dropped.clone(), ..Tally::default() };
            for count in dropped.by_cause() {
                tally.arrived.merge(count);
            }
            (&port.name, queue, 0, tally)
        });
        queues.chain(elsewhere.filter(|(.., tally)| tally.arrived.packets > 0))
    });
    let dropped = |tally: &Tally| tally.dropped.by_cause().iter().map(|count| count.packets).sum();
    let mut table = Rows::new(replication, rows)
        .text("port", |(port, ..)| port)
        .text("queue", |(_, queue, ..)| queue)
        .count("precedence", "", |(.., precedence, _)| *precedence)
        .count("arrived_packets", "packets", |(.., tally)| tally.arrived.packets)
        .count("arrived_bytes", "bytes", |(.., tally)| tally.arrived.bytes)
        .count("sent_packets", "packets", |(.., tally)| tally.sent.packets)
        .count("sent_bytes", "bytes", |(.., tally)| tally.sent.bytes)
        .count("marked_packets", "packets", |(.., tally)| tally.marked.packets)
        .count("dropped_packets", "packets", |(.., tally)| dropped(tally));
    for (cause, name) in drop_columns(measurements) {
        table =
            table.count(name, "packets", move |(.., tally)| tally.dropped.by_cause()[cause.index()].packets);
    }
    let percent = |tally: &Tally| percent(dropped(tally), tally.arrived.packets);
    table.float("dropped_percent", "%", |(.., tally)| percent(tally)).table("ports")
}
