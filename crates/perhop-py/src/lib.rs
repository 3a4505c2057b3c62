//! `perhop._core`: the only place that knows Python.
//!
//! The interface is small on purpose: text and JSON go in, a running experiment and columns of numbers come
//! out. Scenarios and their checks are in `perhop-scenario`; the Python package selects experiments and
//! evaluates results.

mod captures;
mod columns;
mod configuration;
mod diagnostics;
mod drawing;
#[cfg(target_os = "linux")]
mod forwarding;
#[cfg(target_os = "linux")]
mod hosting;
mod live;
mod loading;
mod router;
mod running;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use perhop_measure::statistics;
use pyo3::prelude::*;

#[cfg(not(target_os = "linux"))]
use unsupported::{live_bridge, live_forward, live_host, live_results};
#[cfg(target_os = "linux")]
use {
    forwarding::{live_bridge, live_forward},
    hosting::{live_host, live_results},
};

/// Mean and 95 % confidence interval of the mean of independent samples, by Student's t:
/// `(mean, low, high)`, or `None` for fewer than two samples.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python hands over a new list
fn confidence_95(samples: Vec<f64>) -> Option<(f64, f64, f64)> {
    statistics::confidence_95(&samples).map(|interval| (interval.mean, interval.low, interval.high))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<loading::Loaded>()?;
    module.add_class::<loading::Warnings>()?;
    module.add_class::<running::Run>()?;
    module.add_function(wrap_pyfunction!(loading::load, module)?)?;
    module.add_function(wrap_pyfunction!(loading::load_json, module)?)?;
    module.add_function(wrap_pyfunction!(loading::resolve, module)?)?;
    module.add_function(wrap_pyfunction!(loading::check, module)?)?;
    module.add_function(wrap_pyfunction!(loading::schema, module)?)?;
    module.add_function(wrap_pyfunction!(router::check_router, module)?)?;
    module.add_function(wrap_pyfunction!(router::is_router_configuration, module)?)?;
    module.add_function(wrap_pyfunction!(router::router_text, module)?)?;
    module.add_function(wrap_pyfunction!(running::start, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_plan, module)?)?;
    module.add_function(wrap_pyfunction!(live_forward, module)?)?;
    module.add_function(wrap_pyfunction!(live_bridge, module)?)?;
    module.add_function(wrap_pyfunction!(live_host, module)?)?;
    module.add_function(wrap_pyfunction!(live_results, module)?)?;
    module.add_function(wrap_pyfunction!(confidence_95, module)?)?;
    module.add_function(wrap_pyfunction!(drawing::drop_curves, module)?)?;
    module.add_function(wrap_pyfunction!(drawing::envelope, module)?)?;
    module.add_function(wrap_pyfunction!(drawing::quantity, module)?)?;
    Ok(())
}
