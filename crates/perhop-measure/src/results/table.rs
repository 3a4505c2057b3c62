//! [`Table`]: columns of equal length, with units.

use std::collections::BTreeMap;

use perhop_qos::units::Time;

/// A table of results.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name of the table and of its file.
    pub name: &'static str,
    /// Columns of equal length.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name, which includes the unit if the column has one (`delay_mean_s`).
    pub name: &'static str,
    /// The unit: `packets`, `bytes`, `b/s`, `s`, or empty.
    pub unit: &'static str,
    /// The values.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug)]
pub enum Values {
    /// Real numbers. NaN means that the value was not measured.
    Float(Vec<f64>),
    /// Counts.
    Count(Vec<u64>),
    /// Names.
    Text {
        /// The index in `names` for each row.
        codes: Vec<u32>,
        /// The distinct names.
        names: Vec<String>,
    },
}

impl Values {
    /// Adds the rows of `more`, which is the same column of another replication.
    fn append(&mut self, more: Values) {
        match (self, more) {
            (Values::Float(own), Values::Float(more)) => own.extend(more),
            (Values::Count(own), Values::Count(more)) => own.extend(more),
            (Values::Text { codes, names }, Values::Text { codes: more, names: others }) => {
                let known: BTreeMap<String, u32> = names.iter().cloned().zip(0..).collect();
                let code = |name| {
                    known.get(&name).copied().unwrap_or_else(|| {
                        names.push(name);
                        names.len() as u32 - 1
                    })
                };
                let translated: Vec<u32> = others.into_iter().map(code).collect();
                codes.extend(more.into_iter().map(|code| translated[code as usize]));
            }
            _ => unreachable!("a column has the same kind in every replication"),
        }
    }
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Float(values) => values.len(),
            Values::Count(values) => values.len(),
            Values::Text { codes, .. } => codes.len(),
        }
    }
    /// Whether the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the value of row `row` as a number; `None` if the column contains names.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            Values::Float(values) => values.get(row).copied(),
            Values::Count(values) => values.get(row).map(|count| *count as f64),
            Values::Text { .. } => None,
        }
    }
    /// Returns the name in row `row`; `None` if the column contains numbers.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Values::Text { codes, names } => codes.get(row).map(|code| names[*code as usize].as_str()),
            _ => None,
        }
    }
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }
    /// Adds the rows of `more`, which is the same table of another replication or another run.
    pub fn append(&mut self, more: Table) {
        for (column, more) in self.columns.iter_mut().zip(more.columns) {
            column.values.append(more.values);
        }
    }
    /// Inserts a key column before the other columns. The key has the same value in every row.
    pub fn prepend_key(&mut self, name: &'static str, value: u64) {
        let values = Values::Count(vec![value; self.rows()]);
        self.columns.insert(0, Column { name, unit: "", values });
    }
    /// Returns the column with this `name`.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }
}

/// Builds the columns of one replication from `rows`.
pub(super) struct Rows<R> {
    rows: Vec<R>,
    columns: Vec<Column>,
}

impl<R> Rows<R> {
    /// Starts a table of `rows`. The number of the replication is the first column of every table.
    pub(super) fn new(replication: u64, rows: impl IntoIterator<Item = R>) -> Rows<R> {
        let rows = Rows { rows: rows.into_iter().collect(), columns: Vec::new() };
        rows.count("replication", "", |_| replication)
    }
    pub(super) fn count(mut self, name: &'static str, unit: &'static str, value: impl Fn(&R) -> u64) -> Self {
        let values = Values::Count(self.rows.iter().map(value).collect());
        self.columns.push(Column { name, unit, values });
        self
    }
    pub(super) fn float(mut self, name: &'static str, unit: &'static str, value: impl Fn(&R) -> f64) -> Self {
        let values = Values::Float(self.rows.iter().map(value).collect());
        self.columns.push(Column { name, unit, values });
        self
    }
    pub(super) fn text(mut self, name: &'static str, value: impl Fn(&R) -> &str) -> Self {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        let mut names = Vec::new();
        let mut code = |name| {
            *known.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() as u32 - 1
            })
        };
        let codes = self.rows.iter().map(|row| code(value(row))).collect();
        self.columns.push(Column { name, unit: "", values: Values::Text { codes, names } });
        self
    }
    pub(super) fn table(self, name: &'static str) -> Table {
        Table { name, columns: self.columns }
    }
}

/// Returns the rate of `bytes` in the time `measured`, bits per second.
pub(super) fn rate(bytes: u64, measured: Time) -> f64 {
    bytes as f64 * 8.0 / measured.as_seconds()
}
