//! Configuration of TCP: the [`Profile`] of an era, replacements of individual parameters ([`TcpConfig`]),
//! and the complete [`Parameters`].

mod config;
mod parameters;
mod profile;

pub use config::{LONGEST_DELAY, TcpConfig};
pub use parameters::{
    Accounting, Acknowledgment, CongestionControl, Counting, FastRetransmit, Fin, Flags, Growth, HEADERS,
    Handshake, HandshakeTiming, Headers, InitialWindow, Parameters, Recovery, Reduction, RepeatedTimeout,
    RtoRule, SlowStartExit, TCP_HEADER, TIMESTAMPS_OPTION, WindowReduction,
};
pub use profile::Profile;
