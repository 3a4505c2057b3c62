//! Proofs that two configurations treat all packets equally.

use std::collections::BTreeMap;

use perhop_device::intent::Direction;
use perhop_diff::ProofQuestion;
use perhop_front_ends::FRONT_ENDS;
use perhop_qos::Rate;
use perhop_scenario::{PlatformConfig, RouterConfiguration};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::router::wrong;

/// One of the two configurations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SideOfProof {
    name: String,
    text: String,
    platform: Option<String>,
    at: Option<String>,
    policy: Option<String>,
    /// The direction to compare, which only the first side gives.
    #[serde(default)]
    direction: Option<Direction>,
}

/// Returns whether two configurations treat all packets equally, as JSON: `verdict`, `place`,
/// `counterexample`, `not_decided`, `compared`, `not_looked_at` and `assumed`. `sides` is JSON with two
/// objects of `name`, `text`, `platform`, `at` and `policy`. Raises a `ValueError` of message and help.
#[pyfunction]
#[pyo3(signature = (sides, assume=None, rate=None))]
pub(crate) fn prove(
    py: Python<'_>,
    sides: &str,
    assume: Option<BTreeMap<String, String>>,
    rate: Option<&str>,
) -> PyResult<String> {
    let json = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let sides: [SideOfProof; 2] = serde_json::from_str(sides).map_err(json)?;
    let rate = rate.map(str::parse::<Rate>).transpose().map_err(PyValueError::new_err)?;
    let assume = assume.unwrap_or_default();
    let options = |side: usize| {
        let platform = PlatformConfig { profile: sides[side].platform.clone(), ..PlatformConfig::default() };
        let assume = assume.clone();
        let configuration = RouterConfiguration { platform, assume, ..RouterConfiguration::default() };
        perhop_network::options(&configuration).map_err(wrong)
    };
    let options = [options(0)?, options(1)?];
    let question = ProofQuestion {
        texts: [0, 1].map(|side: usize| sides[side].text.as_str()),
        names: [0, 1].map(|side: usize| sides[side].name.as_str()),
        options: [&options[0], &options[1]],
        at: [0, 1].map(|side: usize| sides[side].at.as_deref()),
        policy: [0, 1].map(|side: usize| sides[side].policy.as_deref()),
        direction: sides[0].direction,
        rate,
    };
    let proof = py.detach(|| perhop_diff::prove(FRONT_ENDS, &question)).map_err(wrong)?;
    serde_json::to_string(&proof).map_err(json)
}
