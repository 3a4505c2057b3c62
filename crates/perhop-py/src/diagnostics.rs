//! Diagnostics as a Python exception.

use perhop_qos::ConfigError;
use perhop_scenario::{Coloring, Diagnostic, Diagnostics, Severity, ValuePath};
use pyo3::import_exception;
use pyo3::prelude::*;

// Defined in Python, so that it is one of the package's own errors.
import_exception!(perhop.errors, ScenarioError);

/// The exception for `diagnostics`: its message rendered without color, `.diagnostics` as dictionaries.
pub(crate) fn raise(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    let error = ScenarioError::new_err(diagnostics.render(Coloring::Plain));
    let value = error.value(py);
    let attached = from_json(py, &diagnostics.to_json())
        .and_then(|list| value.setattr("diagnostics", list))
        .and_then(|()| value.setattr("colored", diagnostics.render(Coloring::Ansi)));
    attached.err().unwrap_or(error)
}

/// The exception for a scenario whose error was found only when it was built.
pub(crate) fn raise_config(py: Python<'_>, error: ConfigError) -> PyErr {
    let path = ValuePath::root().extend(&error.path);
    let mut diagnostic = Diagnostic::new(Severity::Error, &path, error.message);
    diagnostic.help = error.help;
    raise(py, &diagnostic.into())
}

/// A JSON value as Python objects, read by Python's own parser.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
