//! The tables of a run, made of the measurements of its replications.

use perhop_qos::verdict::DropCause;

use super::colors::{ColorRow, color_rows, color_table};
use super::conditioners::{ConditionerRow, conditioner_rows, conditioner_table};
use super::delays::{DelayRow, delay_rows, delay_table};
use super::series::{
    HistogramRow, PacketRow, QueueRow, ThroughputRow, histogram_rows, histogram_table, packet_rows,
    packet_table, queue_rows, queue_table, throughput_rows, throughput_table,
};
use super::table::{Rows, Table};
use super::tcp::{self, ConnectionRow, TcpRow, TransactionRow};
use super::traffic::{
    ClassRow, DROP_COLUMNS, FlowRow, class_rows, class_table, flow_rows, flow_table, percent,
};
use crate::Measurements;
use crate::counters::Tally;
use crate::statistics::fairness;
use perhop_scenario::Scenario;

/// The rows of one replication for each table.
#[derive(Debug)]
pub struct Replication {
    flows: Vec<FlowRow>,
    classes: Vec<ClassRow>,
    ports: Vec<PortRow>,
    conditioners: Vec<ConditionerRow>,
    queues: Vec<QueueRow>,
    throughput: Vec<ThroughputRow>,
    packets: Vec<PacketRow>,
    delays: Vec<DelayRow>,
    histogram: Vec<HistogramRow>,
    tcp: Vec<TcpRow>,
    transactions: Vec<TransactionRow>,
    connections: Vec<ConnectionRow>,
    colors: Vec<ColorRow>,
    run: RunRow,
}

#[derive(Debug)]
struct RunRow {
    replication: u64,
    packet_hops: u64,
    fairness: f64,
}

#[derive(Debug)]
struct PortRow {
    replication: u64,
    port: String,
    queue: String,
    precedence: u64,
    tally: Tally,
}

impl Replication {
    /// What `measurements` of a run of `scenario` say, as replication `number`.
    pub fn new(scenario: &Scenario, measurements: &Measurements, number: u32) -> Replication {
        let replication = u64::from(number);
        let flows = flow_rows(scenario, measurements, replication);
        let classes = class_rows(measurements, replication, &flows);
        let transactions = tcp::transaction_rows(measurements, replication);
        let histogram = histogram_rows(replication, &classes, &transactions);
        let packets = packet_rows(measurements, replication, &flows);
        let rates = flows.iter().filter(|flow| !flow.answers).map(FlowRow::throughput);
        let run = RunRow { replication, packet_hops: measurements.packet_hops, fairness: fairness(rates) };
        Replication {
            classes,
            histogram,
            run,
            flows,
            ports: port_rows(measurements, replication),
            conditioners: conditioner_rows(measurements, replication),
            queues: queue_rows(measurements, replication),
            throughput: throughput_rows(measurements, replication),
            packets,
            delays: delay_rows(measurements, replication),
            tcp: tcp::tcp_rows(scenario, measurements, replication),
            transactions,
            connections: tcp::connection_rows(scenario, measurements, replication),
            colors: color_rows(measurements, replication),
        }
    }
}

fn port_rows(measurements: &Measurements, replication: u64) -> Vec<PortRow> {
    let mut rows = Vec::new();
    for port in &measurements.ports {
        for (queue, precedence, tally) in port.tally.iter() {
            let (port, queue) = (port.name.clone(), port.queue_names[queue].clone());
            rows.push(PortRow { replication, port, queue, precedence: precedence as u64, tally });
        }
        // Conditioners and classifiers drop before a queue is selected: separate rows, so that the drops of a
        // port add up.
        for (queue, dropped) in [("(none)", port.tally.unqueued), ("(beyond)", port.tally.beyond)] {
            if dropped.iter().all(|count| count.packets == 0) {
                continue;
            }
            let mut tally = Tally { dropped, ..Tally::default() };
            for count in dropped {
                tally.arrived.merge(count);
            }
            let (port, queue) = (port.name.clone(), queue.to_owned());
            rows.push(PortRow { replication, port, queue, precedence: 0, tally });
        }
    }
    rows
}

/// All tables of a run.
pub(super) fn tables(replications: &[Replication]) -> Vec<Table> {
    fn all<'r, R>(replications: &'r [Replication], rows: impl Fn(&'r Replication) -> &'r [R]) -> Rows<'r, R> {
        Rows::new(replications.iter().flat_map(rows))
    }
    vec![
        class_table(all(replications, |r| &r.classes)),
        flow_table(all(replications, |r| &r.flows)),
        port_table(all(replications, |r| &r.ports)),
        conditioner_table(all(replications, |r| &r.conditioners)),
        queue_table(all(replications, |r| &r.queues)),
        throughput_table(all(replications, |r| &r.throughput)),
        packet_table(all(replications, |r| &r.packets)),
        delay_table(all(replications, |r| &r.delays)),
        histogram_table(all(replications, |r| &r.histogram)),
        tcp::tcp_table(all(replications, |r| &r.tcp)),
        tcp::transaction_table(all(replications, |r| &r.transactions)),
        tcp::connection_table(all(replications, |r| &r.connections)),
        color_table(all(replications, |r| &r.colors)),
        Rows::new(replications.iter().map(|replication| &replication.run))
            .count("replication", "", |run| run.replication)
            .count("packet_hops", "packets", |run| run.packet_hops)
            .float("fairness", "", |run| run.fairness)
            .table("runs"),
    ]
}

fn port_table(rows: Rows<PortRow>) -> Table {
    let dropped = |row: &PortRow| row.tally.dropped.iter().map(|count| count.packets).sum();
    let mut table = rows
        .count("replication", "", |row| row.replication)
        .text("port", |row| &row.port)
        .text("queue", |row| &row.queue)
        .count("precedence", "", |row| row.precedence)
        .count("arrived_packets", "packets", |row| row.tally.arrived.packets)
        .count("arrived_bytes", "bytes", |row| row.tally.arrived.bytes)
        .count("sent_packets", "packets", |row| row.tally.sent.packets)
        .count("sent_bytes", "bytes", |row| row.tally.sent.bytes)
        .count("marked_packets", "packets", |row| row.tally.marked.packets)
        .count("dropped_packets", "packets", dropped);
    for (cause, name) in DropCause::ALL.into_iter().zip(DROP_COLUMNS) {
        table = table.count(name, "packets", |row| row.tally.dropped[cause.index()].packets);
    }
    table.float("dropped_percent", "%", |row| percent(dropped(row), row.tally.arrived.packets)).table("ports")
}
