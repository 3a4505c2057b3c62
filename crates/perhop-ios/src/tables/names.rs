//! The names of interfaces and devices in outputs.

use perhop_device::ShownNeighbor;

/// Returns the full name of an interface in an output, where a space may precede the number: `Gig 0/1`.
pub(super) fn full_name(written: &str) -> String {
    crate::interface_name(&written.split_whitespace().collect::<String>())
}

/// Returns the neighbor at the other end of a cable.
pub(super) fn neighbor(
    interface: &str,
    device: &str,
    far_interface: &str,
    protocol: &'static str,
) -> ShownNeighbor {
    ShownNeighbor {
        interface: full_name(interface),
        // Some systems add a serial number: `switch(FOX1234ABCD)`.
        device: device.split('(').next().unwrap_or(device).trim().to_owned(),
        far_interface: full_name(far_interface),
        protocol,
    }
}
