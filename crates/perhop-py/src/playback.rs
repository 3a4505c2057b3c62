//! The packets at a port of a run, for the live view in a browser.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::Scenario;
use perhop_scenario::queue_description::queue_descriptions;
use perhop_sim::playback::{self, Span};
use pyo3::prelude::*;
use serde_json::json;

use crate::{diagnostics, loading};

/// Start and end of a span in seconds, and named columns of numbers about the packets in it.
type Columns = (f64, f64, Vec<(&'static str, Vec<f64>)>);

/// The first replication of a scenario, for a view of single packets.
#[pyclass(frozen, module = "perhop._core")]
pub(crate) struct Playback {
    scenario: Scenario,
    base: PathBuf,
    seed: u64,
    /// A port number, and a repetition of the run that records the packets at this port.
    current: Mutex<Option<(usize, playback::Playback)>>,
}

#[pymethods]
impl Playback {
    #[new]
    fn new(py: Python<'_>, scenario_json: &str, base: PathBuf, seed: u64) -> PyResult<Playback> {
        let loaded = loading::parse(py, scenario_json, &base, &[])?;
        Ok(Playback { scenario: loaded.resolved, base, seed, current: Mutex::default() })
    }
    /// Returns the data for a drawing as JSON: the scenario, and the names of ports, queues and drop causes.
    fn about(&self, py: Python<'_>) -> PyResult<String> {
        let Playback { scenario, base, seed, .. } = self;
        let built = playback::Playback::new(scenario, base, *seed, 0);
        let built = built.map_err(|error| diagnostics::raise_config(py, error))?;
        let ports: Vec<_> =
            built.ports().iter().map(|(name, queues)| json!({"name": name, "queues": queues})).collect();
        let about = json!({
            "name": scenario.name, "seed": seed, "duration": scenario.duration.as_seconds(),
            "warmup": scenario.measure.warmup.as_seconds(), "ports": ports,
            "causes": DropCause::ALL.map(DropCause::name), "resolved": scenario,
            "queues": queue_descriptions(scenario),
        });
        Ok(about.to_string())
    }
    /// Returns `(from, until, [(column, numbers)])` of the packets at port number `port`. The span ends early
    /// after `enough` packets. Releases the GIL; concurrent calls wait for each other.
    fn packets(
        &self,
        py: Python<'_>,
        port: usize,
        from_s: f64,
        until_s: f64,
        enough: usize,
    ) -> PyResult<Columns> {
        let found = py.detach(|| {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            let playback = match current.take() {
                Some((known, playback)) if known == port => playback,
                _ => playback::Playback::new(&self.scenario, &self.base, self.seed, port)?,
            };
            let (_, playback) = current.insert((port, playback));
            playback.span(Time::from_seconds_f64(from_s), Time::from_seconds_f64(until_s), enough)
        });
        let span: Span = found.map_err(|error| diagnostics::raise_config(py, error))?;
        Ok((span.from.as_seconds(), span.until.as_seconds(), span.columns()))
    }
}
