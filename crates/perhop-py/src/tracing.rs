//! The way of a packet through a node, and packets that get to a class.

use std::collections::BTreeMap;

use perhop_analysis::{
    Node, PacketSpace, PacketText, Set, TooComplex, Witness, arriving, classes_of, moved, trace,
};
use perhop_device::ParseOptions;
use perhop_front_ends::FRONT_ENDS;
use perhop_qos::packet::{Encapsulation, Ingress, InterfaceId};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::{ConfigError, Packet};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// A node as it is asked about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    interfaces: Vec<String>,
    /// The interface by which packets arrive; any where it is missing.
    arrives: Option<String>,
    input: Option<PolicyConfig>,
    output: Option<PolicyConfig>,
    /// Whether packets leave with a VLAN tag, and with MPLS labels.
    tag: bool,
    labels: bool,
}

impl Asked {
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
        let number = self.interfaces.iter().position(|one| one == name);
        number.map(Some).ok_or_else(|| wrong(format!("there is no interface {name}")))
    }
}

fn wrong(message: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

fn of_policy(error: &ConfigError) -> PyErr {
    wrong(format!("the policy: {error}"))
}

/// The node of `asked` and the packet of `text` as it arrives there.
fn read(asked: &str, text: &str) -> PyResult<(Asked, Packet)> {
    let asked: Asked = serde_json::from_str(asked).map_err(wrong)?;
    let PacketText { mut packet, input } = text.parse().map_err(wrong)?;
    let number = asked.number(asked.arrives.as_ref().or(input.as_ref()))?;
    let carried = Encapsulation { tag: packet.cos().is_some(), labels: packet.exp().is_some() };
    packet.input = Ingress::new(InterfaceId(number.unwrap_or(0) as u16), carried);
    Ok((asked, packet))
}

/// All ways of a packet through a node, as JSON: `steps` (`is_input`, `index`, `name`, `color`, `actions`,
/// `packet`), `packet`, `dropped`, `queue` (indices of classes), `tin` (of CAKE there) and `color`. Raises a
/// `ValueError`.
#[pyfunction]
pub(crate) fn trace_packet(node: &str, packet: &str) -> PyResult<String> {
    let (asked, packet) = read(node, packet)?;
    let branches = trace(&asked.node(), &packet).map_err(|error| of_policy(&error))?;
    serde_json::to_string(&branches).map_err(wrong)
}

/// A queue of a node, and a packet that gets there.
#[derive(Serialize)]
struct Reached {
    queue: String,
    /// As it arrives; none where no packet gets there.
    packet: Option<String>,
}

/// For every queue of the output policy a packet that may get there, as it arrives, or none: exact over the
/// fields that conditions ask for, whatever meters have seen before. As JSON. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn reach_queues(py: Python<'_>, node: &str) -> PyResult<String> {
    let asked: Asked = serde_json::from_str(node).map_err(wrong)?;
    let number = asked.number(asked.arrives.as_ref())?;
    let reached = py.detach(|| reached(&asked, number)).map_err(wrong)?;
    serde_json::to_string(&reached).map_err(wrong)
}

fn reached(asked: &Asked, number: Option<usize>) -> Result<Vec<Reached>, TooComplex> {
    let mut space = PacketSpace::new(&asked.interfaces);
    let arrived = arriving(&mut space, number)?;
    let Some(queueing) = asked.output.as_ref().and_then(|policy| policy.queueing.as_ref()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for class in classes_of(&mut space, queueing, Set::ALL)? {
        let set = asked.node().came_from(&mut space, class.takes)?;
        let set = space.and(set, arrived)?;
        let packet = space.witness(set)?.map(|witness| witness.to_string());
        found.push(Reached { queue: class.name, packet });
    }
    Ok(found)
}

/// For each pair of different queues of two nodes a packet that may get to the one in the first and to the
/// other in the second, as JSON. Raises a `ValueError`.
#[pyfunction]
pub(crate) fn moved_packets(py: Python<'_>, before: &str, after: &str) -> PyResult<String> {
    let first: Asked = serde_json::from_str(before).map_err(wrong)?;
    let second: Asked = serde_json::from_str(after).map_err(wrong)?;
    let arrives = first.arrives.as_deref();
    let moved = py.detach(|| moved(&first.node(), &second.node(), arrives)).map_err(wrong)?;
    serde_json::to_string(&moved).map_err(wrong)
}

/// By which lines of a router's configuration a packet belongs to the classes of a policy, as JSON: `policy`,
/// `class`, `line` and `criteria`, from the outermost policy in. Raises a `ValueError`.
#[pyfunction]
#[pyo3(signature = (text, policy, node, packet, assume=None))]
pub(crate) fn matched_lines(
    text: &str,
    policy: &str,
    node: &str,
    packet: &str,
    assume: Option<BTreeMap<String, String>>,
) -> PyResult<String> {
    let (asked, packet) = read(node, packet)?;
    let options = ParseOptions { assume: assume.unwrap_or_default(), ..ParseOptions::default() };
    let lines = FRONT_ENDS
        .choose(text, None)
        .and_then(|one| one.class_lines(text, &options))
        .map_err(|error| wrong(format!("{}: {}", error.path.join(" "), error.message)))?;
    let found = lines.map_or_else(Vec::new, |lines| lines.matched(policy, &asked.interfaces, &packet));
    serde_json::to_string(&found).map_err(wrong)
}

/// The packets of a capture that differ in anything that a condition may ask for, each with how many there
/// are, as JSON: the most frequent first. Raises a `ValueError`.
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
