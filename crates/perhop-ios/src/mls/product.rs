//! [`Product`]: the switch, if the configuration or the user names it.

use perhop_device::EgressMemory;

use crate::ast::Configuration;
use crate::platform::product;

/// Prefixes of the names of products with `mls qos` and shaped round robin.
const PRODUCTS: &[&str] =
    &["ws-c2960", "ws-c3560", "ws-c3750", "c2960", "c3560", "c3750", "ie-2000", "ie-3000", "catalyst-mls"];
/// The name of a switch whose configuration does not name the product.
const UNKNOWN: &str = "Catalyst with mls qos";

/// The product of a switch.
pub(crate) struct Product {
    /// The name of the product in lower case.
    pub(crate) name: String,
}

/// Whether `name` begins with the prefix of a product of these families.
pub(crate) fn is_product(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PRODUCTS.iter().any(|start| name.starts_with(start))
}

impl Product {
    /// Returns the product that the user names or, by default, the configuration.
    pub(super) fn find(configuration: &Configuration, chosen: Option<&str>) -> Product {
        let mut lines = configuration.lines.iter();
        let written =
            || lines.find_map(|line| product(&line.text.trim().to_ascii_lowercase()).map(str::to_owned));
        let name = chosen.map(str::to_ascii_lowercase).or_else(written);
        Product { name: name.unwrap_or_else(|| UNKNOWN.to_owned()) }
    }

    fn is_of(&self, family: &str) -> bool {
        self.name.trim_start_matches("ws-").starts_with(family)
    }

    /// Returns the memory for departing packets, if it is published: Cisco TAC 116102.
    pub(super) fn egress_memory(&self) -> Vec<EgressMemory> {
        let memory = |ports, megabytes| EgressMemory { ports, megabytes };
        if self.is_of("c2960s") {
            vec![memory("all ports", 2)]
        } else if self.is_of("c3750x") {
            vec![memory("each 24 downlinks", 2), memory("the uplinks", 2)]
        } else {
            Vec::new()
        }
    }

    /// Returns the maximum length of a queue, percent of its allocated memory, regardless of the configured
    /// value: Cisco, "Catalyst 3750 Switch Command Reference" (OL-8552-07), page 2-369.
    pub(super) fn most_percent(&self) -> Option<u64> {
        self.is_of("c3750").then_some(400)
    }
}
