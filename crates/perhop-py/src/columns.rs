//! Result tables as `NumPy` arrays, which take over the memory without a copy.

use numpy::PyArray1;
use perhop_measure::results::{Table, Values};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Returns `({column: array, or (codes, names) for text}, {column: unit})`.
pub(crate) fn to_python(py: Python<'_>, table: Table) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let (columns, units) = (PyDict::new(py), PyDict::new(py));
    for column in table.columns {
        units.set_item(column.name, column.unit)?;
        match column.values {
            Values::Float(values) => columns.set_item(column.name, PyArray1::from_vec(py, values))?,
            Values::Count(values) => columns.set_item(column.name, PyArray1::from_vec(py, values))?,
            Values::Text { codes, names } => {
                let codes = PyArray1::from_vec(py, codes).into_any();
                let names = PyList::new(py, names)?.into_any();
                columns.set_item(column.name, PyTuple::new(py, [codes, names])?)?;
            }
        }
    }
    Ok((columns, units))
}
