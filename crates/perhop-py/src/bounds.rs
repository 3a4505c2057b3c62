//! Bounds by network calculus, and the measured maxima of a run to compare with them.

#![allow(clippy::doc_markdown)] // the names of RFC 3246

use std::path::PathBuf;

use perhop_bounds::expedited::{Stay, errors};
use perhop_bounds::network;
use perhop_bounds::report::Report;
use perhop_net::{FlowControl, Network};
use perhop_qos::units::{Rate, Time};
use perhop_sim::build::set_up;
use perhop_sim::waits::{Wait, Waits};
use perhop_sim::{Engine, Hosts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::{diagnostics, loading};

/// Returns the bounds of a scenario as JSON with `queues` and `classes`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over new objects
pub(crate) fn bounds(py: Python<'_>, scenario_json: &str, base: PathBuf) -> PyResult<String> {
    let scenario = loading::parse(py, scenario_json, &base, &[])?.resolved;
    let found = py.detach(|| network::bounds(&scenario, &base));
    let found = found.map_err(|error| diagnostics::raise_config(py, error))?;
    to_text(&Report::from_bounds(&scenario, &found))
}

/// Number of times that a run checks for Python signals.
const SLICES: u64 = 200;

/// Returns the longest delays and queues of one replication, and E_a and E_p of the `expedited` queues, each
/// given as port, queue and bits per second. JSON with `queues` and `expedited`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn waits(
    py: Python<'_>,
    scenario_json: &str,
    base: PathBuf,
    seed: u64,
    expedited: Vec<(String, String, u64)>,
) -> PyResult<String> {
    let scenario = loading::parse(py, scenario_json, &base, &[])?.resolved;
    let setup =
        set_up(&scenario, &base, seed, 0, &[]).map_err(|error| diagnostics::raise_config(py, error))?;
    match setup.pausing(Waits::default()) {
        Ok(network) => watched(py, network, scenario.duration, expedited),
        Err(setup) => watched(py, setup.plain(Waits::default()), scenario.duration, expedited),
    }
}

/// Runs `network` for `duration`, and returns its waits as [`waits`] does.
fn watched<P: FlowControl + Send>(
    py: Python<'_>,
    mut network: Network<Hosts, Waits, P>,
    duration: Time,
    expedited: Vec<(String, String, u64)>,
) -> PyResult<String> {
    let ports: Vec<String> = (0..).map_while(|number| network.port_name(number)).collect();
    let place = |network: &Network<Hosts, Waits, P>, port: &str, queue: &str| {
        let number = ports.iter().position(|name| name == port)?;
        let names = &network.directions[number].queue_names;
        Some((number, names.iter().position(|name| name == queue)?))
    };
    let mut noted = Vec::new();
    for (port, queue, rate) in expedited {
        let Some((number, index)) = place(&network, &port, &queue) else {
            return Err(PyValueError::new_err(format!("there is no queue `{queue}` at `{port}`")));
        };
        network.observers.note(number, index);
        noted.push((port, queue, rate, number, index));
    }
    let duration = u128::from(duration.as_picoseconds());
    for slice in 1..=SLICES {
        let until = Time::from_picoseconds((duration * u128::from(slice) / u128::from(SLICES)) as u64);
        py.detach(|| Engine::run_until(&mut network, until));
        py.check_signals()?;
    }
    let mut queues = Vec::new();
    for (number, port) in network.observers.ports.iter().enumerate() {
        let direction = &network.directions[number];
        for (wait, queue) in port.queues.iter().zip(direction.queue_names.iter()) {
            queues.push(Seen::new(&ports[number], queue, wait));
        }
    }
    let waits = &network.observers;
    let expedited = noted.into_iter().filter_map(|(port, queue, rate, number, index)| {
        let stays: Vec<Stay> = waits.wait_at(number, index)?.passages.iter().map(stay).collect();
        let found = errors(&stays, Rate::from_bits_per_second(rate))?;
        let (aggregate_s, packet_s) = (found.aggregate, found.packet);
        Some(Expedited { port, queue, rate_bps: rate, packets: stays.len(), aggregate_s, packet_s })
    });
    to_text(&Found { queues, expedited: expedited.collect() })
}

fn stay(passage: &perhop_sim::waits::Passage) -> Stay {
    Stay { arrived: passage.arrived, left: passage.left, length: passage.length }
}

#[derive(Serialize)]
struct Found {
    queues: Vec<Seen>,
    expedited: Vec<Expedited>,
}

/// The measured maxima of a queue.
#[derive(Serialize)]
struct Seen {
    port: String,
    queue: String,
    delay_max_s: f64,
    backlog_max_bytes: u64,
    backlog_max_packets: usize,
}

impl Seen {
    fn new(port: &str, queue: &str, wait: &Wait) -> Seen {
        Seen {
            port: port.to_owned(),
            queue: queue.to_owned(),
            delay_max_s: wait.longest.as_seconds(),
            backlog_max_bytes: wait.most_bytes,
            backlog_max_packets: wait.most_packets,
        }
    }
}

/// The error terms of an EF class (RFC 3246).
#[derive(Serialize)]
struct Expedited {
    port: String,
    queue: String,
    rate_bps: u64,
    packets: usize,
    aggregate_s: f64,
    packet_s: f64,
}

fn to_text(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}
