//! The live functions on systems without packet sockets and network namespaces: each function raises an
//! error.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Defines functions that take any arguments and raise `OSError`.
macro_rules! unsupported {
    ($($name:ident),+) => {$(
        /// Raises an error: live runs are not supported on this system.
        ///
        /// # Errors
        ///
        /// Always `OSError`.
        #[pyfunction]
        #[pyo3(signature = (*_arguments, **_options))]
        pub(crate) fn $name(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
            Err(PyOSError::new_err("live runs need Linux"))
        }
    )+};
}

unsupported!(live_forward, live_bridge, live_host, live_results);
