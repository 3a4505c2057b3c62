//! Packet memory of switches.

use perhop_device::{MemoryOptions, PortMemory, Room, SwitchMemory};
use perhop_front_ends::FRONT_ENDS;
use perhop_qos::Rate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::router::wrong;

/// A request for the memory of a switch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    model: Option<String>,
    port_units: Option<u64>,
    frame_bytes: u64,
    arrival_bps: Option<u64>,
}

/// Returns the packet memory of a switch from its configuration or its output, as JSON: the fields of
/// `perhop_device::SwitchMemory`, with `room` for each threshold and `printed` for each port. `request` is
/// JSON with `model`, `port_units`, `frame_bytes` and `arrival_bps`. Raises a `ValueError` of message and
/// help.
#[pyfunction]
pub(crate) fn switch_memory(py: Python<'_>, text: &str, request: &str) -> PyResult<String> {
    let request: Request =
        serde_json::from_str(request).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (model, port_units) = (request.model.clone(), request.port_units);
    let options = MemoryOptions { model, port_units, ..MemoryOptions::default() };
    let (front_end, memory) = py.detach(|| FRONT_ENDS.switch_memory(text, &options)).map_err(wrong)?;
    let mut document = json!(memory);
    for (port, shown) in memory.ports.iter().zip(document["ports"].as_array_mut().into_iter().flatten()) {
        shown["printed"] = json!(front_end.print_memory(port));
        add_rooms(&memory, port, &request, shown);
    }
    Ok(document.to_string())
}

fn add_rooms(memory: &SwitchMemory, port: &PortMemory, request: &Request, shown: &mut Value) {
    let rate = port.rate_bps.map(Rate::from_bits_per_second);
    let arrival = request.arrival_bps.map(Rate::from_bits_per_second);
    let queues = shown["queues"].as_array_mut().into_iter().flatten();
    for (queue, shown) in port.queues.iter().zip(queues) {
        let limits = shown["thresholds"].as_array_mut().into_iter().flatten();
        for (threshold, shown) in queue.thresholds.iter().zip(limits) {
            let room = threshold
                .units
                .map(|units| Room::for_frames(units, memory.unit_bytes, request.frame_bytes, rate));
            shown["room"] = json!(room);
            shown["burst"] = json!(room.and_then(|room| room.burst(rate, arrival)));
        }
    }
}
