//! The tables `queues`, `throughput`, `packets` and `histogram`.

use std::sync::Arc;

use perhop_qos::conditioner::Count;
use perhop_qos::units::Time;

use super::table::{Rows, Table};
use super::tcp::{TransactionRow, completion_histograms};
use super::traffic::{ClassRow, FlowRow};
use crate::Measurements;

#[derive(Debug)]
pub(super) struct QueueRow {
    replication: u64,
    port: Arc<str>,
    queue: Arc<str>,
    time: Time,
    packets: u64,
    bytes: u64,
    precedence: u64,
    average: f64,
    deciding_average: f64,
}

#[derive(Debug)]
pub(super) struct ThroughputRow {
    replication: u64,
    class: Arc<str>,
    ends: Time,
    received: Count,
    interval: Time,
}

#[derive(Debug)]
pub(super) struct PacketRow {
    replication: u64,
    flow: Arc<str>,
    number: u32,
    sent: Time,
    bytes: u32,
    delay: Time,
}

#[derive(Debug)]
pub(super) struct HistogramRow {
    replication: u64,
    class: String,
    quantity: &'static str,
    up_to_nanoseconds: u64,
    packets: u64,
}

/// Names that many rows share.
pub(super) fn shared(names: &[String]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(name.as_str())).collect()
}

pub(super) fn queue_rows(measurements: &Measurements, replication: u64) -> Vec<QueueRow> {
    let mut rows = Vec::new();
    for probe in &measurements.queues {
        let port = &measurements.ports[probe.port];
        let samples = &probe.samples;
        let (port, queues) = (Arc::from(port.name.as_str()), shared(&port.queue_names));
        for index in 0..samples.time.len() {
            rows.push(QueueRow {
                replication,
                port: Arc::clone(&port),
                queue: Arc::clone(&queues[samples.queue[index] as usize]),
                time: samples.time[index],
                packets: samples.packets[index],
                bytes: samples.bytes[index],
                precedence: u64::from(samples.precedence[index]),
                average: samples.average[index],
                deciding_average: samples.deciding_average[index],
            });
        }
    }
    rows
}

pub(super) fn throughput_rows(measurements: &Measurements, replication: u64) -> Vec<ThroughputRow> {
    let samples = measurements.samples.as_ref().and_then(|samples| samples.throughput.as_ref());
    let Some(samples) = samples else { return Vec::new() };
    let (classes, mut rows) = (shared(&measurements.class_names), Vec::new());
    for (index, counts) in samples.received.iter().enumerate() {
        let ends = samples.begins + samples.every * (index as u64 + 1);
        for (class, received) in classes.iter().zip(counts) {
            let (class, interval) = (Arc::clone(class), samples.every);
            rows.push(ThroughputRow { replication, class, ends, received: *received, interval });
        }
    }
    rows
}

pub(super) fn histogram_rows(
    replication: u64,
    classes: &[ClassRow],
    transactions: &[TransactionRow],
) -> Vec<HistogramRow> {
    let of_packets = classes.iter().flat_map(|ClassRow { class, delay, variation, .. }| {
        [(class.as_str(), "delay", delay), (class.as_str(), "ipdv", variation)]
    });
    let of_transactions =
        completion_histograms(transactions).map(|(class, times)| (class, "completion", times));
    let rows = of_packets.chain(of_transactions).flat_map(|(class, quantity, histogram)| {
        histogram.iter_recorded().map(move |value| HistogramRow {
            replication,
            class: class.to_owned(),
            quantity,
            up_to_nanoseconds: value.value_iterated_to(),
            packets: value.count_since_last_iteration(),
        })
    });
    rows.collect()
}

pub(super) fn queue_table(rows: Rows<QueueRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("port", |row| &row.port)
        .text("queue", |row| &row.queue)
        .float("time_s", "s", |row| row.time.as_seconds())
        .count("packets", "packets", |row| row.packets)
        .count("bytes", "bytes", |row| row.bytes)
        .count("precedence", "", |row| row.precedence)
        .float("average", "thresholds' unit", |row| row.average)
        .float("deciding_average", "thresholds' unit", |row| row.deciding_average)
        .table("queues")
}

/// The logged packets in order of arrival; `flows` are in the order of the world's flows.
pub(super) fn packet_rows(
    measurements: &Measurements,
    replication: u64,
    flows: &[FlowRow],
) -> Vec<PacketRow> {
    let log = measurements.samples.as_ref().and_then(|samples| samples.packets.as_ref());
    let Some(log) = log else { return Vec::new() };
    let names: Vec<Arc<str>> = flows.iter().map(|row| Arc::from(row.flow.as_str())).collect();
    let row = |index: usize| PacketRow {
        replication,
        flow: Arc::clone(&names[log.flow[index] as usize]),
        number: log.number[index],
        sent: log.sent[index],
        bytes: log.bytes[index],
        delay: log.delay[index],
    };
    let mut order: Vec<usize> = (0..log.flow.len()).collect();
    // Packets that were delivered ahead of the agenda were logged early.
    order.sort_by_key(|&index| (log.sent[index] + log.delay[index], log.flow[index], log.number[index]));
    order.into_iter().map(row).collect()
}

pub(super) fn packet_table(rows: Rows<PacketRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("flow", |row| &row.flow)
        .count("number", "", |row| u64::from(row.number))
        .float("sent_s", "s", |row| row.sent.as_seconds())
        .count("bytes", "bytes", |row| u64::from(row.bytes))
        .float("delay_s", "s", |row| row.delay.as_seconds())
        .table("packets")
}

pub(super) fn throughput_table(rows: Rows<ThroughputRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .float("time_s", "s", |row| row.ends.as_seconds())
        .count("received_packets", "packets", |row| row.received.packets)
        .float("throughput_bps", "b/s", |row| row.received.bytes as f64 * 8.0 / row.interval.as_seconds())
        .table("throughput")
}

pub(super) fn histogram_table(rows: Rows<HistogramRow>) -> Table {
    rows.count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .text("quantity", |row| row.quantity)
        .float("up_to_s", "s", |row| row.up_to_nanoseconds as f64 / 1e9)
        .count("packets", "packets", |row| row.packets)
        .table("histogram")
}
