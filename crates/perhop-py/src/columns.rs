//! Result tables for Python: as `NumPy` arrays, which take over the memory without a copy, and as lists.

use std::mem;

use numpy::PyArray1;
use perhop_measure::results::{Column, Table, Values};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The columns of a table. The columns become arrays at the first use of an array, because the import of
/// `NumPy` needs more time than a short run.
#[pyclass(module = "perhop._core")]
pub(crate) struct TableColumns(Columns);

enum Columns {
    Simulated(Vec<Column>),
    /// An array by name; for text `(codes, names)`.
    Arrays(Py<PyDict>),
}

impl TableColumns {
    pub(crate) fn new(table: Table) -> TableColumns {
        TableColumns(Columns::Simulated(table.columns))
    }
}

#[pymethods]
impl TableColumns {
    /// Makes columns from their arrays.
    #[new]
    fn from_arrays(arrays: Py<PyDict>) -> TableColumns {
        TableColumns(Columns::Arrays(arrays))
    }
    /// Returns `{column: array, or (codes, names) for text}`.
    fn arrays<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &mut self.0 {
            Columns::Arrays(arrays) => Ok(arrays.bind(py).clone()),
            Columns::Simulated(columns) => {
                let arrays = to_arrays(py, mem::take(columns))?;
                self.0 = Columns::Arrays(arrays.clone().unbind());
                Ok(arrays)
            }
        }
    }
    /// Returns some columns as lists. Raises a `KeyError` if a name is missing.
    fn lists<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let lists = PyDict::new(py);
        for name in names {
            let list = match &self.0 {
                Columns::Simulated(columns) => {
                    let column = columns.iter().find(|column| column.name == name);
                    list_of_values(py, &column.ok_or_else(|| PyKeyError::new_err(name.clone()))?.values)?
                }
                Columns::Arrays(arrays) => {
                    let column = arrays.bind(py).get_item(&name)?;
                    list_of_array(&column.ok_or_else(|| PyKeyError::new_err(name.clone()))?)?
                }
            };
            lists.set_item(name, list)?;
        }
        Ok(lists)
    }
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match &self.0 {
            Columns::Simulated(columns) => Ok(columns.first().map_or(0, |column| column.values.len())),
            Columns::Arrays(arrays) => match arrays.bind(py).values().iter().next() {
                None => Ok(0),
                Some(column) => codes_or_values(&column)?.len(),
            },
        }
    }
    /// Returns the constructor and its arguments, for `copy` and `pickle`.
    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Py<PyDict>,))> {
        let arrays = slf.borrow_mut().arrays(slf.py())?;
        Ok((slf.get_type().into_any().unbind(), (arrays.unbind(),)))
    }
}

/// Returns `{column: array, or (codes, names) for text}`.
pub(crate) fn to_arrays(py: Python<'_>, columns: Vec<Column>) -> PyResult<Bound<'_, PyDict>> {
    let arrays = PyDict::new(py);
    for column in columns {
        match column.values {
            Values::Float(values) => arrays.set_item(column.name, PyArray1::from_vec(py, values))?,
            Values::Count(values) => arrays.set_item(column.name, PyArray1::from_vec(py, values))?,
            Values::Text { codes, names } => {
                let codes = PyArray1::from_vec(py, codes).into_any();
                let names = PyList::new(py, names)?.into_any();
                arrays.set_item(column.name, PyTuple::new(py, [codes, names])?)?;
            }
        }
    }
    Ok(arrays)
}

/// Returns `{column: unit}`.
pub(crate) fn units<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let units = PyDict::new(py);
    for column in &table.columns {
        units.set_item(column.name, column.unit)?;
    }
    Ok(units)
}

fn list_of_values<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyAny>> {
    let list = match values {
        Values::Float(values) => PyList::new(py, values)?,
        Values::Count(values) => PyList::new(py, values)?,
        Values::Text { codes, names } => PyList::new(py, codes.iter().map(|code| &names[*code as usize]))?,
    };
    Ok(list.into_any())
}

fn list_of_array<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let values = codes_or_values(column)?.call_method0("tolist")?;
    let Ok(text) = column.cast::<PyTuple>() else { return Ok(values) };
    let names = text.get_item(1)?;
    let found = PyList::empty(column.py());
    for code in values.try_iter()? {
        found.append(names.get_item(code?)?)?;
    }
    Ok(found.into_any())
}

/// Returns the array of a column. For text, this is the array of the codes.
fn codes_or_values<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    column.cast::<PyTuple>().map_or_else(|_| Ok(column.clone()), |text| text.get_item(0))
}
