//! The lines of ports: circuits, rates, framing, headers and counted bytes.

mod circuit;
mod counted_bytes;
mod header_stack;
mod multilink;
mod port_wire;
mod tags;

pub(in crate::convert) use circuit::{Circuit, has_known_line, rate_below};
pub(in crate::convert) use counted_bytes::{counted_bytes_of, printed_bytes};
pub(in crate::convert) use header_stack::circuit_headers;
pub(in crate::convert) use multilink::{bundle_links, is_bundle, link_kilobits};
pub(in crate::convert) use port_wire::wire_of;
pub(in crate::convert) use tags::Tags;
