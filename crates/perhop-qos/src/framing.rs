//! How many bytes of the wire an IP packet takes: [`HeaderStack`], the headers between the packet and the
//! framing, then [`Framing`].

mod esp;
mod header;
mod ip_version;
mod nesting;
mod stack;
mod wire;

pub use esp::{Esp, EspCipher, EspIntegrity, EspMode};
pub use header::{
    GreTunnel, Header, IpTunnel, L2tpTunnel, L2tpVersion, MplsLabels, Multilink, MultilinkSequence, VlanTag,
    VxlanTunnel,
};
pub use ip_version::IpVersion;
pub use stack::HeaderStack;
pub use wire::Framing;
