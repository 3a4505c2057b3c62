//! Networks: a folder of configurations, and the end-to-end paths of packets.

use perhop_analysis::PacketText;
use perhop_device::Detail;
use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{NetworkRequest, infer_network};
use perhop_network::snapshot::{ConfigurationFile, Snapshot, Written};
use perhop_qos::Dscp;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use crate::threads::in_pool;
use crate::{inferring, python_json, router};

fn wrong(message: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// Whether a text is an output of a device with routes or neighbors.
#[pyfunction]
pub(crate) fn is_device_output(py: Python<'_>, text: &str) -> bool {
    py.detach(|| FRONT_ENDS.read_tables(text).is_some())
}

/// The devices of a folder of configurations, with their links and routes.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Network(Snapshot<'static>);

#[pymethods]
impl Network {
    /// Reads configurations and outputs of devices (`[{file, name, text, platform}]`) with the facts from the
    /// user (`{links, cables, routes, hosts}`), both as JSON. Raises a `ValueError` of message and help.
    #[new]
    fn new(py: Python<'_>, files: &str, written: &str) -> PyResult<Network> {
        let files: Vec<ConfigurationFile> = serde_json::from_str(files).map_err(wrong)?;
        let written: Written = serde_json::from_str(written).map_err(wrong)?;
        py.detach(|| in_pool(|| Snapshot::read(FRONT_ENDS, &files, written)))
            .map(Network)
            .map_err(router::wrong)
    }

    /// Returns devices, links, sites, files that are left out, and remarks, as JSON.
    fn summary(&self) -> PyResult<String> {
        let devices: Vec<_> =
            self.0.devices.iter().map(perhop_network::snapshot::SnapshotDevice::summary).collect();
        let found = json!({
            "devices": devices,
            "links": self.0.links,
            "guesses": self.0.guesses(),
            "cables": self.0.cables,
            "sites": self.0.sites(),
            "left_out": self.0.left_out,
            "passed_over": self.0.passed_over,
            "remarks": self.0.remarks,
        });
        serde_json::to_string(&found).map_err(wrong)
    }

    /// Returns the paths of a packet as JSON. Raises a `ValueError` of message and help.
    fn walk(&self, py: Python<'_>, packet: &str) -> PyResult<String> {
        let packet: PacketText = packet.parse().map_err(|message: String| wrong(message))?;
        let walk = py.detach(|| in_pool(|| self.0.walk(&packet.packet))).map_err(router::wrong)?;
        serde_json::to_string(&walk).map_err(wrong)
    }

    /// Returns a scenario of the network with traffic between its sites as JSON (`NetworkInferred` of
    /// `perhop_inference`), for choices as JSON (`NetworkRequest`). Raises a `ValueError` of message, help
    /// and the index of the demand.
    fn scenario(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request: NetworkRequest = serde_json::from_str(request).map_err(wrong)?;
        let inferred = py.detach(|| in_pool(|| infer_network(FRONT_ENDS, &self.0, &request)));
        let inferred = inferred.map_err(|failure| inferring::raise(py, failure))?;
        serde_json::to_string(&inferred).map_err(wrong)
    }

    /// Returns the report of a device's configuration in the form of `check_router`; `None` for a file that
    /// is not a device. Raises a `ValueError`.
    fn report(&self, file: &str, detail: &str) -> PyResult<Option<String>> {
        let detail = Detail::named(detail).map_err(router::wrong)?;
        let device = self.0.devices.iter().find(|device| device.file == file);
        let model = device.and_then(|device| device.device.model());
        model.map(|model| serde_json::to_string(&model.report(detail)).map_err(wrong)).transpose()
    }

    /// Returns the members of a device's report with its policies, without braces, as Python's `json.dumps`
    /// writes them; `None` for a file that is not a device.
    fn report_members(&self, file: &str) -> PyResult<Option<String>> {
        let device = self.0.devices.iter().find(|device| device.file == file);
        let model = device.and_then(|device| device.device.model());
        model.map(|model| python_json::members(&model.report(Detail::Policies)).map_err(wrong)).transpose()
    }

    /// Returns the findings of the rules that need several devices, as JSON.
    fn findings(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&py.detach(|| in_pool(|| self.0.findings()))).map_err(wrong)
    }

    /// Returns the differences between this snapshot and a newer one as JSON: `only`, `devices`, `changes`,
    /// `witnesses`, `same`, `sites`, `proof`, `not_compared`, `assumed` and `not_looked_at`. `names` are the
    /// names of both in messages. Raises a `ValueError` of message and help.
    #[allow(clippy::needless_pass_by_value)] // arguments of Python are owned
    fn compare(
        &self,
        py: Python<'_>,
        newer: &Network,
        names: [String; 2],
        codepoints: Vec<String>,
    ) -> PyResult<String> {
        let codepoints: Result<Vec<Dscp>, _> =
            codepoints.iter().map(|codepoint| codepoint.parse::<Dscp>()).collect();
        let codepoints = codepoints.map_err(wrong)?;
        let names = [names[0].as_str(), names[1].as_str()];
        let both = [&self.0, &newer.0];
        let found =
            py.detach(|| in_pool(|| perhop_diff::compare_networks(FRONT_ENDS, both, names, &codepoints)));
        serde_json::to_string(&found.map_err(router::wrong)?).map_err(wrong)
    }

    /// Returns the fate of packets of each codepoint between all sites, as JSON. Raises a `ValueError`.
    #[allow(clippy::needless_pass_by_value)] // arguments of Python are owned
    fn matrix(&self, py: Python<'_>, codepoints: Vec<String>) -> PyResult<String> {
        let codepoints: Result<Vec<Dscp>, _> =
            codepoints.iter().map(|codepoint| codepoint.parse::<Dscp>()).collect();
        let codepoints = codepoints.map_err(wrong)?;
        let rows = py.detach(|| in_pool(|| self.0.matrix(&codepoints))).map_err(router::wrong)?;
        serde_json::to_string(&rows).map_err(wrong)
    }
}
