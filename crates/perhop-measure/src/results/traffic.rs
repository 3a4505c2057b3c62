//! The tables `flows` and `classes`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use super::table::{Rows, Table, rate};
use crate::counters::{
    DelayStatistics, Delays, Distribution, FlowTally, above_least, least_seconds, quantile_seconds,
};
use crate::statistics::fairness;
use crate::{Flow, Measurements};
use perhop_scenario::{DelayScope, Scenario, TrafficConfig};

/// A flow in the table `flows`.
pub(super) struct FlowRow<'a> {
    pub(super) flow: String,
    class: &'a str,
    from: &'a str,
    to: &'a str,
    tally: FlowTally,
    in_network: u64,
    pub(super) answers: bool,
    /// The delay distribution of the flow; `None` if the flow shares the distribution of its class.
    delay: Option<&'a Distribution>,
}

/// A class in the table `classes`.
pub(super) struct ClassRow<'a> {
    pub(super) class: &'a str,
    flows: u64,
    tally: FlowTally,
    in_network: u64,
    pub(super) delays: Cow<'a, Delays>,
    /// The PDV of all flows; `None` if the delays of each flow are not known.
    above_least: Option<Distribution>,
    fairness: f64,
}

impl FlowRow<'_> {
    /// Returns the received bits per second.
    pub(super) fn throughput(&self, measured: Time) -> f64 {
        rate(self.tally.received.bytes, measured)
    }
}

/// Returns the name of a flow: the name of the traffic, with a number if the traffic has several flows.
pub(super) fn flow_name(traffic: &TrafficConfig, number: u32) -> String {
    if traffic.flows() == 1 { traffic.name.clone() } else { format!("{}#{number}", traffic.name) }
}

pub(super) fn flow_rows<'a>(scenario: &'a Scenario, measurements: &'a Measurements) -> Vec<FlowRow<'a>> {
    let per_flow = scenario.measure.delays == DelayScope::PerFlow;
    let row = |(index, flow): (usize, &Flow)| {
        let traffic = &scenario.traffic[flow.traffic];
        let name = flow_name(traffic, flow.number);
        let (name, from, to) = if flow.answers {
            (format!("{name} (back)"), &traffic.to, &traffic.from)
        } else {
            (name, &traffic.from, &traffic.to)
        };
        let counters = &measurements.counters[index];
        FlowRow {
            flow: name,
            class: &measurements.class_names[flow.class],
            from,
            to,
            tally: counters.tally(),
            in_network: measurements.in_network[index],
            answers: flow.answers,
            delay: per_flow.then(|| &measurements.delays[counters.distribution as usize].delay),
        }
    };
    measurements.flows.iter().enumerate().map(row).collect()
}

pub(super) fn class_rows<'a>(measurements: &'a Measurements, flows: &[FlowRow]) -> Vec<ClassRow<'a>> {
    let mut by_class: BTreeMap<&str, Vec<&FlowRow>> = BTreeMap::new();
    for flow in flows {
        by_class.entry(flow.class).or_default().push(flow);
    }
    let mut places = vec![Vec::new(); measurements.class_names.len()];
    for (flow, counters) in measurements.flows.iter().zip(&measurements.counters) {
        places[flow.class].push(counters.distribution as usize);
    }
    let row = |(index, class): (usize, &'a String)| {
        let members = by_class.get(class.as_str()).map_or(&[][..], Vec::as_slice);
        let mut tally = FlowTally::default();
        for flow in members {
            tally.merge(&flow.tally);
        }
        let own: Vec<&Distribution> = members.iter().filter_map(|flow| flow.delay).collect();
        ClassRow {
            class,
            flows: members.len() as u64,
            tally,
            in_network: members.iter().map(|flow| flow.in_network).sum(),
            delays: merged_delays(measurements, &places[index]),
            above_least: (!own.is_empty()).then(|| above_least(own)),
            fairness: fairness(members.iter().map(|flow| flow.throughput(measurements.measured()))),
        }
    };
    measurements.class_names.iter().enumerate().map(row).collect()
}

/// Returns the sum of the delay distributions at `places`, which are those of the flows of one class. These
/// flows share one distribution or have one each.
fn merged_delays<'a>(measurements: &'a Measurements, places: &[usize]) -> Cow<'a, Delays> {
    let mut shared = places.chunk_by(PartialEq::eq).map(|places| &measurements.delays[places[0]]);
    let mut delays = shared.next().map_or_else(Cow::default, Cow::Borrowed);
    shared.for_each(|other| delays.to_mut().merge(other));
    delays
}

/// The names of the columns for drops, by cause.
const DROP_COLUMNS: [&str; DropCause::COUNT] = [
    "dropped_queue_full",
    "dropped_early_random",
    "dropped_early_forced",
    "dropped_policed",
    "dropped_no_route",
    "dropped_no_class",
    "dropped_lost",
    "dropped_too_big",
    "dropped_shared_memory",
    "dropped_port_memory",
    "dropped_headroom",
];

/// Returns the drop causes that have a column in the tables of `measurements`, with the names of the columns.
pub(super) fn drop_columns(
    measurements: &Measurements,
) -> impl Iterator<Item = (DropCause, &'static str)> + use<> {
    let (has_memory, has_pauses) = (measurements.has_shared_memory, measurements.has_pauses);
    let columns = DropCause::ALL.into_iter().zip(DROP_COLUMNS);
    columns.filter(move |(cause, _)| {
        (has_memory || !cause.needs_shared_memory()) && (has_pauses || !cause.needs_pauses())
    })
}

/// Adds the columns that flows and classes have in common.
fn traffic_columns<R>(
    rows: Rows<R>,
    tally: impl Fn(&R) -> &FlowTally + Copy,
    in_network: impl Fn(&R) -> u64,
    measurements: &Measurements,
) -> Rows<R> {
    let measured = measurements.measured();
    let delay = move |row: &R| -> DelayStatistics { tally(row).delay };
    let mut rows = rows
        .count("offered_packets", "packets", |row| tally(row).offered.packets)
        .count("offered_bytes", "bytes", |row| tally(row).offered.bytes)
        .count("delivered_packets", "packets", |row| tally(row).delivered.packets)
        .count("delivered_bytes", "bytes", |row| tally(row).delivered.bytes)
        .count("dropped_packets", "packets", |row| tally(row).dropped_in_all().packets)
        .count("in_network_packets", "packets", in_network);
    for (cause, name) in drop_columns(measurements) {
        rows = rows.count(name, "packets", |row| tally(row).dropped[cause.index()].packets);
    }
    rows.float("dropped_percent", "%", |row| {
        percent(tally(row).dropped_in_all().packets, tally(row).offered.packets)
    })
    .float("throughput_bps", "b/s", |row| rate(tally(row).received.bytes, measured))
    .float("delay_mean_s", "s", |row| delay(row).mean())
    .float("delay_min_s", "s", |row| seconds(delay(row).packets, delay(row).least.as_picoseconds() as f64))
    .float("delay_max_s", "s", |row| seconds(delay(row).packets, delay(row).greatest.as_picoseconds() as f64))
    .float("ipdv_mean_s", "s", |row| delay(row).mean_variation())
    .float("ipdv_mean_abs_s", "s", |row| delay(row).mean_absolute_variation())
    .float("ipdv_min_s", "s", |row| seconds(delay(row).pairs, delay(row).least_variation as f64))
    .float("ipdv_max_s", "s", |row| seconds(delay(row).pairs, delay(row).greatest_variation as f64))
}

/// Converts `picoseconds` to seconds. Returns NaN if `present`, the number of measurements, is 0.
pub(super) fn seconds(present: u64, picoseconds: f64) -> f64 {
    if present == 0 { f64::NAN } else { picoseconds / 1e12 }
}

/// Returns `part` as a percentage of `whole`; NaN if both are 0.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

pub(super) fn flow_table(replication: u64, rows: Vec<FlowRow>, measurements: &Measurements) -> Table {
    let keys = Rows::new(replication, rows)
        .text("flow", |row| &row.flow)
        .text("class", |row| row.class)
        .text("from", |row| row.from)
        .text("to", |row| row.to);
    let quantile = |quantile: f64| {
        move |row: &FlowRow| row.delay.map_or(f64::NAN, |delay| quantile_seconds(delay, quantile))
    };
    let pdv =
        |quantile: f64| move |row: &FlowRow| row.delay.map_or(f64::NAN, |delay| pdv_seconds(delay, quantile));
    traffic_columns(keys, |row| &row.tally, |row| row.in_network, measurements)
        .float("delay_p50_s", "s", quantile(0.5))
        .float("delay_p95_s", "s", quantile(0.95))
        .float("delay_p99_s", "s", quantile(0.99))
        .float("pdv_p50_s", "s", pdv(0.5))
        .float("pdv_p95_s", "s", pdv(0.95))
        .float("pdv_p99_s", "s", pdv(0.99))
        .table("flows")
}

/// Returns the `quantile` of the PDV of one flow, seconds. PDV is the delay of a packet minus the least delay
/// of the flow (RFC 5481 §4.2). Both delays are rounded in the same way, so that the difference of equal
/// delays is 0.
fn pdv_seconds(delays: &Distribution, quantile: f64) -> f64 {
    quantile_seconds(delays, quantile) - least_seconds(delays)
}

pub(super) fn class_table(replication: u64, rows: Vec<ClassRow>, measurements: &Measurements) -> Table {
    let keys =
        Rows::new(replication, rows).text("class", |row| row.class).count("flows", "", |row| row.flows);
    let delay = |quantile: f64| move |row: &ClassRow| quantile_seconds(&row.delays.delay, quantile);
    let variation = |quantile: f64| move |row: &ClassRow| quantile_seconds(&row.delays.variation, quantile);
    // RFC 5481 §4.2 defines PDV for one stream. For the PDV of a class, the delays of each flow must be
    // known.
    let pdv = |quantile: f64| {
        move |row: &ClassRow| match (&row.above_least, row.flows) {
            (_, 1) => pdv_seconds(&row.delays.delay, quantile),
            (Some(above), _) => quantile_seconds(above, quantile),
            (None, _) => f64::NAN,
        }
    };
    traffic_columns(keys, |row| &row.tally, |row| row.in_network, measurements)
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
        .float("fairness", "", |row| row.fairness)
        .table("classes")
}
