//! The tables of a run, made from the worlds of its replications.

use perhop_qos::conditioner::Count;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::conditioners::{ConditionerRow, conditioner_rows, conditioner_table};
use super::table::{Rows, Table};
use super::tcp::{self, TcpRow, TransactionRow};
use crate::probe::{DelayStatistics, FlowTally, Tally};
use crate::probe::{Delays, least_seconds, quantile_seconds};
use crate::scenario::{Scenario, TrafficConfig};
use crate::world::World;

/// What one replication found: the rows it adds to each table.
#[derive(Debug)]
pub(crate) struct Replication {
    flows: Vec<FlowRow>,
    classes: Vec<ClassRow>,
    ports: Vec<PortRow>,
    conditioners: Vec<ConditionerRow>,
    queues: Vec<QueueRow>,
    throughput: Vec<ThroughputRow>,
    histogram: Vec<HistogramRow>,
    tcp: Vec<TcpRow>,
    transactions: Vec<TransactionRow>,
    packet_hops: u64,
}

#[derive(Clone, Debug)]
struct FlowRow {
    replication: u64,
    flow: String,
    class: String,
    from: String,
    to: String,
    tally: FlowTally,
    in_network: u64,
    measured: Time,
}

#[derive(Clone, Debug)]
struct ClassRow {
    replication: u64,
    class: String,
    flows: u64,
    tally: FlowTally,
    in_network: u64,
    measured: Time,
    delays: Delays,
}

#[derive(Clone, Debug)]
struct PortRow {
    replication: u64,
    port: String,
    queue: String,
    precedence: u64,
    tally: Tally,
}

#[derive(Clone, Debug)]
struct QueueRow {
    replication: u64,
    port: String,
    queue: String,
    time: Time,
    packets: u64,
    bytes: u64,
    precedence: u64,
    average: f64,
    deciding_average: f64,
}

#[derive(Clone, Debug)]
struct ThroughputRow {
    replication: u64,
    class: String,
    ends: Time,
    received: Count,
    interval: Time,
}

#[derive(Clone, Debug)]
struct HistogramRow {
    replication: u64,
    class: String,
    quantity: &'static str,
    up_to_nanoseconds: u64,
    packets: u64,
}

impl Replication {
    /// What `world` found by the end of its run as replication `number`.
    pub(crate) fn new(scenario: &Scenario, world: &World, number: u32) -> Replication {
        let replication = u64::from(number);
        let flows = flow_rows(scenario, world, replication);
        let classes = class_rows(world, replication, &flows);
        let histogram = classes.iter().flat_map(histogram_rows).collect();
        Replication {
            classes,
            histogram,
            flows,
            ports: port_rows(world, replication),
            conditioners: conditioner_rows(world, replication),
            queues: queue_rows(world, replication),
            throughput: throughput_rows(world, replication),
            tcp: tcp::tcp_rows(scenario, world, replication),
            transactions: tcp::transaction_rows(world, replication),
            packet_hops: world.packet_hops(),
        }
    }
}

/// A flow's name: its traffic's, numbered where there are several.
pub(super) fn flow_name(traffic: &TrafficConfig, number: u32) -> String {
    if traffic.count == 1 { traffic.name.clone() } else { format!("{}#{number}", traffic.name) }
}

fn flow_rows(scenario: &Scenario, world: &World, replication: u64) -> Vec<FlowRow> {
    let in_network = world.in_network();
    let measured = world.duration.saturating_sub(world.warmup);
    let row = |(index, flow): (usize, &crate::world::Flow)| {
        let traffic = &scenario.traffic[flow.traffic];
        let name = flow_name(traffic, flow.number);
        let (name, from, to) = if flow.answers {
            (format!("{name} (back)"), &traffic.to, &traffic.from)
        } else {
            (name, &traffic.from, &traffic.to)
        };
        FlowRow {
            replication,
            flow: name,
            class: world.class_names[flow.class].clone(),
            from: from.clone(),
            to: to.clone(),
            tally: world.tallies[index],
            in_network: in_network[index],
            measured,
        }
    };
    world.flows.iter().enumerate().map(row).collect()
}

fn class_rows(world: &World, replication: u64, flows: &[FlowRow]) -> Vec<ClassRow> {
    let of_class = |(class, delays): (&String, &Delays)| {
        let members: Vec<&FlowRow> = flows.iter().filter(|flow| flow.class == *class).collect();
        let mut tally = FlowTally::default();
        for flow in &members {
            tally.merge(&flow.tally);
        }
        ClassRow {
            replication,
            class: class.clone(),
            flows: members.len() as u64,
            tally,
            in_network: members.iter().map(|flow| flow.in_network).sum(),
            measured: world.duration.saturating_sub(world.warmup),
            delays: delays.clone(),
        }
    };
    world.class_names.iter().zip(&world.delays).map(of_class).collect()
}

fn port_rows(world: &World, replication: u64) -> Vec<PortRow> {
    let mut rows = Vec::new();
    for link in &world.links {
        for (queue, precedence, tally) in link.tally.iter() {
            let (port, queue) = (link.name.clone(), link.queue_names[queue].clone());
            rows.push(PortRow { replication, port, queue, precedence: precedence as u64, tally: *tally });
        }
        // Conditioners and classifiers drop before a queue is chosen: rows of their own, so that the
        // drops of a port add up.
        for (queue, dropped) in [("(none)", link.tally.unqueued), ("(beyond)", link.tally.beyond)] {
            if dropped.iter().all(|count| count.packets == 0) {
                continue;
            }
            let mut tally = Tally { dropped, ..Tally::default() };
            for count in dropped {
                tally.arrived.merge(count);
            }
            let (port, queue) = (link.name.clone(), queue.to_owned());
            rows.push(PortRow { replication, port, queue, precedence: 0, tally });
        }
    }
    rows
}

fn queue_rows(world: &World, replication: u64) -> Vec<QueueRow> {
    let mut rows = Vec::new();
    for probe in &world.queue_probes {
        let link = &world.links[probe.link.index()];
        let samples = &probe.samples;
        for index in 0..samples.time.len() {
            rows.push(QueueRow {
                replication,
                port: link.name.clone(),
                queue: link.queue_names[samples.queue[index] as usize].clone(),
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

fn throughput_rows(world: &World, replication: u64) -> Vec<ThroughputRow> {
    let Some(samples) = &world.throughput else { return Vec::new() };
    let mut rows = Vec::new();
    for (index, counts) in samples.received.iter().enumerate() {
        let ends = samples.begins + samples.every * (index as u64 + 1);
        for (class, received) in world.class_names.iter().zip(counts) {
            let (class, interval) = (class.clone(), samples.every);
            rows.push(ThroughputRow { replication, class, ends, received: *received, interval });
        }
    }
    rows
}

fn histogram_rows(row: &ClassRow) -> Vec<HistogramRow> {
    let quantities = [("delay", &row.delays.delay), ("ipdv", &row.delays.variation)];
    let rows = quantities.into_iter().flat_map(|(quantity, histogram)| {
        histogram.iter_recorded().map(move |value| HistogramRow {
            replication: row.replication,
            class: row.class.clone(),
            quantity,
            up_to_nanoseconds: value.value_iterated_to(),
            packets: value.count_since_last_iteration(),
        })
    });
    rows.collect()
}

/// All tables of a run.
pub(super) fn tables(replications: &[Replication]) -> Vec<Table> {
    fn all<'r, R: Clone + 'r>(
        replications: &'r [Replication],
        rows: impl Fn(&'r Replication) -> &'r [R],
    ) -> Vec<R> {
        replications.iter().flat_map(|replication| rows(replication).iter().cloned()).collect()
    }
    let runs: Vec<(u64, u64)> = replications
        .iter()
        .enumerate()
        .map(|(index, replication)| (index as u64, replication.packet_hops))
        .collect();
    vec![
        class_table(&all(replications, |r| &r.classes)),
        flow_table(&all(replications, |r| &r.flows)),
        port_table(&all(replications, |r| &r.ports)),
        conditioner_table(&all(replications, |r| &r.conditioners)),
        queue_table(&all(replications, |r| &r.queues)),
        throughput_table(&all(replications, |r| &r.throughput)),
        histogram_table(&all(replications, |r| &r.histogram)),
        tcp::tcp_table(&all(replications, |r| &r.tcp)),
        tcp::transaction_table(&all(replications, |r| &r.transactions)),
        Rows::new(&runs)
            .count("replication", "", |run| run.0)
            .count("packet_hops", "packets", |run| run.1)
            .table("runs"),
    ]
}

/// Names of the columns with the drops of each cause.
const DROP_COLUMNS: [&str; DropCause::COUNT] = [
    "dropped_queue_full",
    "dropped_early_random",
    "dropped_early_forced",
    "dropped_policed",
    "dropped_no_route",
    "dropped_no_class",
    "dropped_lost",
];

/// The columns that flows and classes share.
fn traffic_columns<R>(
    rows: Rows<R>,
    tally: impl Fn(&R) -> &FlowTally + Copy,
    in_network: impl Fn(&R) -> u64,
    measured: impl Fn(&R) -> Time,
) -> Rows<R> {
    let delay = move |row: &R| -> DelayStatistics { tally(row).delay };
    let seconds = |present: u64, picoseconds: f64| if present == 0 { f64::NAN } else { picoseconds / 1e12 };
    let mut rows = rows
        .count("offered_packets", "packets", |row| tally(row).offered.packets)
        .count("offered_bytes", "bytes", |row| tally(row).offered.bytes)
        .count("delivered_packets", "packets", |row| tally(row).delivered.packets)
        .count("delivered_bytes", "bytes", |row| tally(row).delivered.bytes)
        .count("dropped_packets", "packets", |row| tally(row).dropped_in_all().packets)
        .count("in_network_packets", "packets", in_network);
    for (cause, name) in DropCause::ALL.into_iter().zip(DROP_COLUMNS) {
        rows = rows.count(name, "packets", |row| tally(row).dropped[cause.index()].packets);
    }
    rows.float("dropped_percent", "%", |row| {
        percent(tally(row).dropped_in_all().packets, tally(row).offered.packets)
    })
    .float("throughput_bps", "b/s", |row| tally(row).received.bytes as f64 * 8.0 / measured(row).as_seconds())
    .float("delay_mean_s", "s", |row| delay(row).mean())
    .float("delay_min_s", "s", |row| seconds(delay(row).packets, delay(row).least.as_picoseconds() as f64))
    .float("delay_max_s", "s", |row| seconds(delay(row).packets, delay(row).greatest.as_picoseconds() as f64))
    .float("ipdv_mean_s", "s", |row| delay(row).mean_variation())
    .float("ipdv_mean_abs_s", "s", |row| delay(row).mean_absolute_variation())
    .float("ipdv_min_s", "s", |row| seconds(delay(row).pairs, delay(row).least_variation as f64))
    .float("ipdv_max_s", "s", |row| seconds(delay(row).pairs, delay(row).greatest_variation as f64))
}

/// `part` of `whole` in percent; NaN of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

fn flow_table(rows: &[FlowRow]) -> Table {
    let keys = Rows::new(rows)
        .count("replication", "", |row| row.replication)
        .text("flow", |row| &row.flow)
        .text("class", |row| &row.class)
        .text("from", |row| &row.from)
        .text("to", |row| &row.to);
    traffic_columns(keys, |row| &row.tally, |row| row.in_network, |row| row.measured).table("flows")
}

fn class_table(rows: &[ClassRow]) -> Table {
    let keys = Rows::new(rows)
        .count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .count("flows", "", |row| row.flows);
    let delay = |quantile: f64| move |row: &ClassRow| quantile_seconds(&row.delays.delay, quantile);
    let variation = |quantile: f64| move |row: &ClassRow| quantile_seconds(&row.delays.variation, quantile);
    // RFC 5481 §4.2: PDV is a packet's delay less the least delay of its stream; a class of several
    // streams has none. Both delays are read off the histogram, so that equal ones differ by 0.
    let pdv = |quantile: f64| {
        move |row: &ClassRow| {
            let delays = &row.delays.delay;
            if row.flows == 1 { quantile_seconds(delays, quantile) - least_seconds(delays) } else { f64::NAN }
        }
    };
    traffic_columns(keys, |row| &row.tally, |row| row.in_network, |row| row.measured)
        .float("delay_p50_s", "s", delay(0.5))
        .float("delay_p90_s", "s", delay(0.9))
        .float("delay_p95_s", "s", delay(0.95))
        .float("delay_p99_s", "s", delay(0.99))
        .float("delay_p999_s", "s", delay(0.999))
        .float("ipdv_abs_p50_s", "s", variation(0.5))
        .float("ipdv_abs_p95_s", "s", variation(0.95))
        .float("ipdv_abs_p99_s", "s", variation(0.99))
        .float("pdv_p50_s", "s", pdv(0.5))
        .float("pdv_p95_s", "s", pdv(0.95))
        .float("pdv_p99_s", "s", pdv(0.99))
        .table("classes")
}

fn port_table(rows: &[PortRow]) -> Table {
    let dropped = |row: &PortRow| row.tally.dropped.iter().map(|count| count.packets).sum();
    let mut table = Rows::new(rows)
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

fn queue_table(rows: &[QueueRow]) -> Table {
    Rows::new(rows)
        .count("replication", "", |row| row.replication)
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

fn throughput_table(rows: &[ThroughputRow]) -> Table {
    Rows::new(rows)
        .count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .float("time_s", "s", |row| row.ends.as_seconds())
        .count("received_packets", "packets", |row| row.received.packets)
        .float("throughput_bps", "b/s", |row| row.received.bytes as f64 * 8.0 / row.interval.as_seconds())
        .table("throughput")
}

fn histogram_table(rows: &[HistogramRow]) -> Table {
    Rows::new(rows)
        .count("replication", "", |row| row.replication)
        .text("class", |row| &row.class)
        .text("quantity", |row| row.quantity)
        .float("up_to_s", "s", |row| row.up_to_nanoseconds as f64 / 1e9)
        .count("packets", "packets", |row| row.packets)
        .table("histogram")
}
