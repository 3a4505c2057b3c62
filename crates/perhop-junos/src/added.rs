//! [`ADDED`]: the interfaces that perhop adds to a configuration without a usable interface.

/// Interface names that no real configuration has, slowest first, with their rates in Gb/s.
pub(crate) const ADDED: [(&str, u64); 3] = [("xe-99/0/0", 10), ("et-99/0/0", 100), ("et-99/0/1", 400)];
