//! Configuration of TCP: the [`Profile`] of an era, replacements of individual parameters ([`TcpConfig`]),
//! and the complete [`Parameters`].

mod config;
mod header;
mod parameters;
mod profile;

pub use config::{LONGEST_DELAY, TcpConfig};
pub use header::{Flags, HEADERS, TCP_HEADER, TIMESTAMPS_OPTION};
pub use parameters::{
    Acknowledgment, CongestionControl, Counting, FastRetransmit, Fin, Growth, Handshake, HandshakeTiming,
    Headers, InitialWindow, Parameters, Recovery, Reduction, RepeatedTimeout, RtoRule,
};
pub use profile::Profile;
