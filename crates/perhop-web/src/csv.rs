//! [`csv`]: a table in the format of `perhop export csv`.

use std::fmt::Write;

use perhop_measure::results::{Table, Values};

/// Writes `table` with a header. A number that was not measured is `NaN`.
pub(crate) fn csv(table: &Table) -> String {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..table.rows() {
        for (place, column) in table.columns.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            cell(&mut text, &column.values, row);
        }
        text.push('\n');
    }
    text
}

fn cell(text: &mut String, values: &Values, row: usize) {
    let written = match values {
        Values::Count(counts) => write!(text, "{}", counts[row]),
        Values::Float(numbers) => {
            text.push_str(&number(numbers[row]));
            Ok(())
        }
        Values::Text { codes, names } => {
            text.push_str(&quoted(&names[codes[row] as usize]));
            Ok(())
        }
    };
    debug_assert!(written.is_ok(), "a String takes everything");
}

/// Formats a number as polars does: the shortest digits that identify it, with an exponent below 1e-5 and
/// from 1e16.
fn number(number: f64) -> String {
    match number.abs() {
        size if (1e-5..1e-4).contains(&size) => number.to_string(),
        size if size.is_finite() && size >= 1e16 => format!("{number:?}").replace('e', "e+"),
        _ => format!("{number:?}"),
    }
}

/// Quotes a name if necessary, and prefixes an apostrophe if a spreadsheet would interpret it as a formula
/// (OWASP, "CSV Injection").
fn quoted(name: &str) -> String {
    let is_formula = name.starts_with(['=', '+', '@', '\t', '\r', '-']);
    let name = if is_formula { format!("'{name}") } else { name.to_owned() };
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_written_as_in_polars() {
        let cases =
            [(1.0, "1.0"), (1e-5, "0.00001"), (6.17e-5, "0.0000617"), (1.5e-7, "1.5e-7"), (0.0, "0.0")];
        let large = [(1e15, "1000000000000000.0"), (1e16, "1e+16"), (5e22, "5e+22"), (-2.5e-9, "-2.5e-9")];
        for (value, written) in cases.into_iter().chain(large) {
            assert_eq!(number(value), written);
        }
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(quoted("voice"), "voice");
    }
}
