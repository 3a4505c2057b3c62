//! The names of interfaces and devices in outputs.

use perhop_device::ShownNeighbor;

/// Returns the full name of an interface in an output. A space may precede the number: `Gig 0/1`.
pub(super) fn full_name(written: &str) -> String {
    let name: String = written.split_whitespace().collect();
    let letters = name.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(name.len());
    let (kind, number) = name.split_at(letters);
    match kind {
        // The port of a telephone or a switch: `Port 1`.
        "Port" => name,
        // Outputs have three letters. The third letter is removed, because `Ser` is ambiguous (`Serial`,
        // `Service-Engine`), but `Se` is the short name of `Serial` in commands.
        "Ser" | "Eth" => crate::interface_name(&format!("{}{number}", &kind[..2])),
        _ => crate::interface_name(&name),
    }
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
