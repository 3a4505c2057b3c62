//! Configuration of TCP: the [`Profile`] of an era, replacements of individual parameters ([`TcpConfig`]),
//! and the complete [`Parameters`].

mod check;
mod config;
mod flags;
mod parameters;
mod profile;
mod shared;

pub use config::TcpConfig;
pub use flags::Flags;
pub use parameters::{
    Accounting, Acknowledgment, CongestionControl, Counting, EcnFeedback, FastRetransmit, Fin, Growth,
    HEADERS, Handshake, HandshakeTiming, Headers, InitialWindow, LONGEST_DELAY, Parameters, QUIC_HEADERS,
    QUIC_PACKET, Recovery, Reduction, RepeatedTimeout, RtoRule, SegmentationOffload, SlowStartExit,
    TCP_HEADER, TIMESTAMPS_OPTION, TimerRestart, WindowReduction,
};
pub use profile::Profile;
pub use shared::SharedTcp;
