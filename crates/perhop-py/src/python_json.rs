//! [`members`]: JSON with the spaces and the numbers of Python's `json.dumps`.
//!
//! `perhop check --json` prints the reports of all devices of a network. As objects of Python, they would
//! take ten times the memory of the text.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Returns the members of an object in JSON, without braces.
pub(crate) fn members(object: &impl Serialize) -> serde_json::Result<String> {
    let mut written = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut written, PythonFormatter))?;
    // serde_json writes UTF-8.
    let text = String::from_utf8_lossy(&written);
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    Ok(inside.unwrap_or(&text).to_owned())
}

struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number(&format!("{value:?}")).as_bytes())
    }

    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        writer.write_all(number(&format!("{value:?}")).as_bytes())
    }
}

/// Returns a number of Rust in the form of Python, whose exponents have a sign and at least two digits. Both
/// have an exponent for the same numbers.
fn number(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}
