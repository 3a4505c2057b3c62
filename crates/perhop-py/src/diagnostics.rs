//! Diagnostics as a Python exception.

use perhop_qos::ConfigError;
use perhop_scenario::{Coloring, Diagnostic, Diagnostics, Severity, ValuePath};
use pyo3::import_exception;
use pyo3::prelude::*;

// Defined in Python, because it derives from the package's base error.
import_exception!(perhop.errors, ScenarioError);

/// Creates the exception for `diagnostics`: the message without color, and `.diagnostics` as dictionaries.
pub(crate) fn raise(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    let error = ScenarioError::new_err(diagnostics.render(Coloring::Plain));
    let value = error.value(py);
    let attached = from_json(py, &diagnostics.to_json())
        .and_then(|list| value.setattr("diagnostics", list))
        .and_then(|()| value.setattr("colored", diagnostics.render(Coloring::Ansi)));
    attached.err().unwrap_or(error)
}

/// Creates the exception for an error that only building the scenario revealed.
pub(crate) fn raise_config(py: Python<'_>, error: ConfigError) -> PyErr {
    let path = ValuePath::root().extend(&error.path);
    let mut diagnostic = Diagnostic::new(Severity::Error, &path, error.message);
    diagnostic.help = error.help;
    raise(py, &diagnostic.into())
}

/// Converts a JSON value to Python objects with Python's parser.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
