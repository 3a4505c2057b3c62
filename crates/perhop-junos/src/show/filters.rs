//! Reading of the output of `show firewall`: counters and policers of filters.

use perhop_device::intent::Direction;
use perhop_device::show::{ClassReading, PolicyReading};

/// The first word of a filter.
pub(super) const FILTER: &str = "Filter: ";
/// The titles of the two tables of a filter. The reader uses them as the outer classes of the rows.
const TABLES: [&str; 2] = ["Counters", "Policers"];
/// The suffix of the names of an `interface-specific` filter that is attached to departing packets.
const DEPARTING: &str = "-o";

/// The filters of an output.
#[derive(Default)]
pub(super) struct Filters {
    found: Vec<PolicyReading>,
    /// The table of the next rows; `None` outside of filters.
    table: Option<&'static str>,
    is_open: bool,
}

impl Filters {
    /// Returns the filters in the order of the output.
    pub(super) fn policies(self) -> Vec<PolicyReading> {
        self.found
    }

    /// Reads a line. Returns whether it belongs to a filter.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if let Some(name) = line.strip_prefix(FILTER) {
            let name = name.trim();
            let side = if name.ends_with(DEPARTING) { Direction::Output } else { Direction::Input };
            self.found.push(PolicyReading {
                interface: String::new(),
                side,
                name: name.to_owned(),
                classes: Vec::new(),
            });
            (self.table, self.is_open) = (None, true);
            return true;
        }
        if !self.is_open {
            return false;
        }
        if let Some(title) = line.strip_suffix(':') {
            self.table = TABLES.into_iter().find(|table| *table == title);
            self.is_open = self.table.is_some();
            return self.is_open;
        }
        if line.is_empty() {
            return true;
        }
        let (Some(table), Some(policy)) = (self.table, self.found.last_mut()) else {
            self.is_open = false;
            return false;
        };
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["Name", "Bytes", "Packets"] => true,
            [name, bytes, packets] => {
                let numbers = bytes.parse::<u64>().ok().zip(packets.parse::<u64>().ok());
                self.is_open = numbers.is_some();
                let Some((bytes, packets)) = numbers else { return false };
                let path = vec![table.to_owned(), name.to_owned()];
                let mut class = ClassReading { path, ..ClassReading::default() };
                class.numbers.insert("bytes".to_owned(), bytes);
                class.numbers.insert("packets".to_owned(), packets);
                policy.classes.push(class);
                true
            }
            _ => {
                self.is_open = false;
                false
            }
        }
    }
}
