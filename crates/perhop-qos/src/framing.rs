//! The wire bytes of an IP packet. [`HeaderStack`] contains the headers between the packet and the framing,
//! and [`Framing`] the bytes that the wire adds.

mod esp;
mod fragmentation;
mod header;
mod ip_version;
mod multilink;
mod nesting;
mod stack;
mod wire;

pub use esp::{Esp, EspCipher, EspIntegrity, EspMode};
pub use fragmentation::Fragmentation;
pub use header::{GreTunnel, Header, IpTunnel, L2tpTunnel, L2tpVersion, MplsLabels, VlanTag, VxlanTunnel};
pub use ip_version::IpVersion;
pub use multilink::{Multilink, MultilinkSequence};
pub use stack::HeaderStack;
pub use wire::Framing;
