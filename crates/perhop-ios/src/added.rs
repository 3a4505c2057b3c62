//! Interfaces that a run adds to a device.

/// Interface names that do not exist on real routers, slowest first, with their rates in Gb/s.
pub(crate) const ADDED: [(&str, u64); 3] =
    [("TenGigabitEthernet99/0", 10), ("HundredGigE99/0", 100), ("FourHundredGigE99/0", 400)];

/// Whether a run has added the interface `name`.
pub(crate) fn is_added(name: &str) -> bool {
    ADDED.iter().any(|(own, _)| *own == name)
}
