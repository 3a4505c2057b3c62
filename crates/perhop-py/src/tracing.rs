//! The paths of packets through devices, and packets that reach a class.

use std::collections::BTreeMap;

use perhop_analysis::{Node, PacketSpace, Set, TooComplex, Witness, arriving, classes_of, moved};
use perhop_device::ParseOptions;
use perhop_front_ends::FRONT_ENDS;
use perhop_network::NetworkDevice;
use perhop_qos::packet::Encapsulation;
use perhop_qos::policy::PolicyConfig;
use perhop_scenario::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::router;

/// A node in a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestedNode {
    interfaces: Vec<String>,
    /// The interface at which packets arrive; any interface if it is missing.
    arrives: Option<String>,
    input: Option<PolicyConfig>,
    output: Option<PolicyConfig>,
    /// Whether packets leave with a VLAN tag.
    tag: bool,
    /// Whether packets leave with MPLS labels.
    labels: bool,
}

impl RequestedNode {
    fn node(&self) -> Node<'_> {
        Node {
            interfaces: &self.interfaces,
            input: self.input.as_ref(),
            output: self.output.as_ref(),
            encapsulation: Encapsulation { tag: self.tag, labels: self.labels },
        }
    }
    fn number(&self, name: Option<&String>) -> PyResult<Option<usize>> {
        let Some(name) = name else { return Ok(None) };
        let number = self.interfaces.iter().position(|interface| interface == name);
        number.map(Some).ok_or_else(|| wrong(format!("there is no interface {name}")))
    }
}

fn wrong(message: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// A queue of a node, and a packet that reaches it.
#[derive(Serialize)]
struct Reached {
    queue: String,
    /// The packet as it arrives; `None` if no packet reaches the queue.
    packet: Option<String>,
}

/// Returns, as JSON, a packet that may reach each queue of the output policy, as it arrives at the node;
/// `None` for a queue that no packet reaches. The answer is exact over the fields that conditions read, for
/// any meter state. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn reach_queues(py: Python<'_>, node: &str) -> PyResult<String> {
    let requested: RequestedNode = serde_json::from_str(node).map_err(wrong)?;
    let number = requested.number(requested.arrives.as_ref())?;
    let reached = py.detach(|| reached(&requested, number)).map_err(wrong)?;
    serde_json::to_string(&reached).map_err(wrong)
}

fn reached(requested: &RequestedNode, number: Option<usize>) -> Result<Vec<Reached>, TooComplex> {
    let mut space = PacketSpace::new(&requested.interfaces);
    let arrived = arriving(&mut space, number)?;
    let Some(queueing) = requested.output.as_ref().and_then(|policy| policy.queueing.as_ref()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for class in classes_of(&mut space, queueing, Set::ALL)? {
        let set = requested.node().came_from(&mut space, class.takes)?;
        let set = space.and(set, arrived)?;
        let packet = space.witness(set)?.map(|witness| witness.to_string());
        found.push(Reached { queue: class.name, packet });
    }
    Ok(found)
}

/// Returns, as JSON, the pairs of different queues that one packet can reach in the two nodes, each pair with
/// such a packet. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn moved_packets(py: Python<'_>, before: &str, after: &str) -> PyResult<String> {
    let first: RequestedNode = serde_json::from_str(before).map_err(wrong)?;
    let second: RequestedNode = serde_json::from_str(after).map_err(wrong)?;
    let arrives = first.arrives.as_deref();
    let moved = py.detach(|| moved(&first.node(), &second.node(), arrives)).map_err(wrong)?;
    serde_json::to_string(&moved).map_err(wrong)
}

/// A device of a network, whose packets can be traced.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Device(NetworkDevice<'static>);

#[pymethods]
impl Device {
    /// Reads a router configuration, and adds `routes`. Raises a `ValueError` with a message and a help.
    #[new]
    #[pyo3(signature = (text, platform=None, assume=None, routes=None))]
    fn new(
        py: Python<'_>,
        text: &str,
        platform: Option<String>,
        assume: Option<BTreeMap<String, String>>,
        routes: Option<Vec<String>>,
    ) -> PyResult<Device> {
        let assume = assume.unwrap_or_default();
        let options = ParseOptions { platform, assume, ..ParseOptions::default() };
        let read = py.detach(|| {
            let mut device = NetworkDevice::read(FRONT_ENDS, text, &options)?;
            for route in routes.unwrap_or_default() {
                device.add_route(&route)?;
            }
            Ok(device)
        });
        read.map(Device).map_err(router::wrong)
    }

    /// Returns the node `name` of a resolved scenario. Raises a `ValueError` with a message and a help.
    #[staticmethod]
    fn of_scenario(py: Python<'_>, resolved: &str, name: &str) -> PyResult<Device> {
        let scenario: Scenario = serde_json::from_str(resolved).map_err(wrong)?;
        py.detach(|| NetworkDevice::of_scenario(&scenario, name)).map(Device).map_err(router::wrong)
    }

    /// Returns the paths of a packet as JSON: `packet`, `paths`, `assumed` and `not_looked_at`. Raises a
    /// `ValueError` of message and help.
    #[pyo3(signature = (packet, at=None, out=None))]
    fn trace(&self, py: Python<'_>, packet: &str, at: Option<&str>, out: Option<&str>) -> PyResult<String> {
        let answer = py.detach(|| self.0.trace(packet, at, out)).map_err(router::wrong)?;
        serde_json::to_string(&answer).map_err(wrong)
    }

    /// Returns the unmodeled lines that affect packets at one of `interfaces`.
    #[allow(clippy::needless_pass_by_value)] // Python passes owned arguments
    fn open_lines(&self, interfaces: Vec<String>) -> Vec<String> {
        self.0.open_lines(&interfaces)
    }

    /// Returns the full name of an interface. Raises a `ValueError` with a message and a help.
    fn interface(&self, written: &str) -> PyResult<String> {
        self.0.port(written).map(|port| port.name.clone()).map_err(router::wrong)
    }

    /// Returns the neighbors that the configuration shows, as JSON.
    fn neighbors(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.neighbors()).map_err(wrong)
    }
}

/// Returns one packet for each combination of field values in a capture that a condition may distinguish,
/// with the count, as JSON. The most frequent packet is first. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn distinct_packets(py: Python<'_>, capture: &[u8]) -> PyResult<String> {
    let capture = py.detach(|| perhop_capture::read(capture)).map_err(wrong)?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for observed in &capture.packets {
        let witness = Witness { packet: observed.packet, input: None };
        *counts.entry(witness.to_string()).or_default() += 1;
    }
    let mut distinct: Vec<(String, u64)> = counts.into_iter().collect();
    distinct.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    serde_json::to_string(&distinct).map_err(wrong)
}
