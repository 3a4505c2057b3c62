//! The product in a configuration.

use super::has_silicon_one;
use crate::ast::Configuration;
use crate::platform::product;

/// Returns the product with Silicon One that a line of the configuration names.
pub(crate) fn product_in(configuration: &Configuration) -> Option<String> {
    let lines = configuration.lines.iter().map(|line| line.text.trim().to_ascii_lowercase());
    lines.filter_map(|line| product(&line).map(str::to_owned)).find(|name| has_silicon_one(name))
}
