//! The tables `queues`, `throughput`, `delays`, `packets` and `histogram`.

use super::table::{Rows, Table, rate};
use super::tcp::Transactions;
use super::traffic::{ClassRow, FlowRow, seconds};
use crate::Measurements;
use crate::counters::{Distribution, LoggedPacket};

pub(super) fn queue_table(measurements: &Measurements, replication: u64) -> Table {
    let rows = measurements.queues.iter().flat_map(|probe| {
        let port = &measurements.ports[probe.port];
        probe.samples.iter().map(move |sample| (port, sample))
    });
    Rows::new(replication, rows)
        .text("port", |(port, _)| &port.name)
        .text("queue", |(port, sample)| &port.queue_names[sample.queue as usize])
        .float("time_s", "s", |(_, sample)| sample.time.as_seconds())
        .count("packets", "packets", |(_, sample)| sample.packets)
        .count("bytes", "bytes", |(_, sample)| sample.bytes)
        .count("most_packets", "packets", |(_, sample)| sample.most.packets)
        .count("most_bytes", "bytes", |(_, sample)| sample.most.bytes)
        .count("precedence", "", |(_, sample)| u64::from(sample.precedence))
        .float("average", "thresholds' unit", |(_, sample)| sample.average)
        .float("deciding_average", "thresholds' unit", |(_, sample)| sample.deciding_average)
        .table("queues")
}

pub(super) fn throughput_table(measurements: &Measurements, replication: u64) -> Table {
    let samples = measurements.samples.iter();
    let rows = samples.filter_map(|samples| Some((samples.throughput.as_ref()?, samples.drops.as_ref())));
    let rows = rows.flat_map(|(received, drops)| {
        let dropped: Vec<_> = drops.iter().flat_map(|drops| drops.iter()).map(|(_, counts)| counts).collect();
        received.iter().enumerate().flat_map(move |(interval, (ends, counts))| {
            let dropped = dropped.get(interval).copied();
            let classes = measurements.class_names.iter().zip(counts).enumerate();
            classes.map(move |(place, (class, count))| {
                let dropped = dropped.map_or(f64::NAN, |dropped| dropped[place] as f64);
                (class, ends, count, received.every, dropped)
            })
        })
    });
    Rows::new(replication, rows)
        .text("class", |(class, ..)| class)
        .float("time_s", "s", |(_, ends, ..)| ends.as_seconds())
        .count("received_packets", "packets", |(.., received, _, _)| received.packets)
        .float("throughput_bps", "b/s", |(.., received, every, _)| rate(received.bytes, *every))
        .float("dropped_packets", "packets", |(.., dropped)| *dropped)
        .table("throughput")
}

/// Returns the table of delay and delay variation of each class in each interval.
pub(super) fn delay_table(measurements: &Measurements, replication: u64) -> Table {
    let sampled = measurements.samples.iter().flat_map(|samples| &samples.delays);
    let classes = measurements.class_names.iter().zip(sampled);
    let rows =
        classes.flat_map(|(class, samples)| samples.iter().map(move |(ends, delay)| (class, ends, delay)));
    Rows::new(replication, rows)
        .text("class", |(class, ..)| class)
        .float("time_s", "s", |(_, ends, _)| ends.as_seconds())
        .count("packets", "packets", |(.., delay)| delay.packets)
        .float("delay_mean_s", "s", |(.., delay)| delay.mean())
        .float("delay_min_s", "s", |(.., delay)| seconds(delay.packets, delay.least.as_picoseconds() as f64))
        .float("delay_max_s", "s", |(.., delay)| {
            seconds(delay.packets, delay.greatest.as_picoseconds() as f64)
        })
        .float("ipdv_mean_abs_s", "s", |(.., delay)| delay.mean_absolute_variation())
        .float("ipdv_min_s", "s", |(.., delay)| seconds(delay.pairs, delay.least_variation as f64))
        .float("ipdv_max_s", "s", |(.., delay)| seconds(delay.pairs, delay.greatest_variation as f64))
        .table("delays")
}

/// Returns the table of logged packets in order of arrival. `flows` are in the order of the flows of the run.
pub(super) fn packet_table(measurements: &Measurements, replication: u64, flows: &[FlowRow]) -> Table {
    let log = measurements.samples.iter().filter_map(|samples| samples.packets.as_ref());
    let mut packets: Vec<&LoggedPacket> = log.flat_map(|log| &log.packets).collect();
    // The log is not in order of arrival, because an engine logs some packets before their arrival is
    // simulated.
    packets.sort_by_key(|packet| (packet.sent + packet.delay, packet.flow, packet.number));
    Rows::new(replication, packets)
        .text("flow", |packet| &flows[packet.flow as usize].flow)
        .count("number", "", |packet| u64::from(packet.number))
        .float("sent_s", "s", |packet| packet.sent.as_seconds())
        .count("bytes", "bytes", |packet| u64::from(packet.bytes))
        .float("delay_s", "s", |packet| packet.delay.as_seconds())
        .table("packets")
}

pub(super) fn histogram_table(
    replication: u64,
    classes: &[ClassRow],
    transactions: &[Transactions],
) -> Table {
    let packet_delays = classes.iter().flat_map(|ClassRow { class, delays, .. }| {
        [(*class, "delay", &delays.delay), (*class, "ipdv", &delays.variation)]
    });
    let completion_times = transactions.iter().map(|row| (row.class, "completion", row.times));
    let rows =
        packet_delays.chain(completion_times).flat_map(|(class, quantity, times): (_, _, &Distribution)| {
            times.bins().map(move |bin| (class, quantity, bin))
        });
    Rows::new(replication, rows)
        .text("class", |(class, ..)| class)
        .text("quantity", |(_, quantity, _)| quantity)
        .float("up_to_s", "s", |(.., bin)| bin.longest as f64 / 1e9)
        .count("packets", "packets", |(.., bin)| u64::from(bin.count))
        .table("histogram")
}
