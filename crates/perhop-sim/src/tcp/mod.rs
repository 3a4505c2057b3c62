//! TCP: the state machine of a connection, without input or output.
//!
//! The module reads no clock and sends nothing. The caller passes the time, segments and timer expirations to
//! a [`Connection`], and polls it for segments, events and the time of the next timer.
//!
//! Reading order: [`Segment`], [`perhop_scenario::tcp`] (the configuration), [`Connection`] (teardown,
//! events), `handshake` and `outgoing` (output), then the two halves `receiver` and `sender`, and the modules
//! of the sender: `acknowledged`, `transmit`, `rtt`, `congestion`, `recovery`. If the sender keeps a record
//! of every segment, `linux` replaces all of these modules except `transmit`.
//!
//! Header prediction (Jacobson 1990): while no loss is known, most segments carry the next data in order or
//! acknowledge data in flight. A fast path processes such segments ([`Connection::on_segment`],
//! `Receiver::is_predicted`, `Sender::is_fast_path`, `Sender::poll_fast_path`). A property test in `outgoing`
//! compares the fast path with the slow path.
//!
//! The model covers all rules that determine how many bytes are sent and when. Sequence numbers are offsets
//! in the byte stream, with 64 bits. The first byte has offset 0, SYN has no offset, and FIN has the offset
//! after the last byte. Both endpoints have the same parameters, so options are not negotiated. The model has
//! no RST, no urgent data, no path MTU discovery, no Nagle algorithm and no limit on retransmissions.

mod acknowledged;
mod congestion;
mod connection;
mod delay;
mod handshake;
mod linux;
mod marks;
mod outgoing;
mod packets;
mod reassembly;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod transmit;
mod tuning;

pub use connection::{Connection, ConnectionEvent, Reading, Role, State};
pub use linux::{BbrMode, BbrModel, LossRecovery, State as RecoveryState};
pub(crate) use outgoing::Transmitted;
pub use segment::{Numbering, PacketNumbers, SackBlocks, Segment, Timestamps};
