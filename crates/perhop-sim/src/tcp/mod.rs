//! TCP: a connection as a state machine without input or output.
//!
//! Time is an argument and nothing is sent: whoever drives a [`Connection`] hands it segments and
//! timer calls, and takes out of it segments, events and the instant of its next timer.
//!
//! Reading order: [`Segment`] (what travels), [`perhop_scenario::tcp`] (what a user may choose),
//! [`Connection`] (teardown, events), `handshake` and `outgoing` (what it
//! sends next), then its two halves `receiver` and `sender`, and what the sender is made of: `acknowledged`, `transmit`,
//! `rtt`, `congestion`, `recovery`.
//!
//! Most segments are the next in order, acknowledge what is under way, or say both where nothing is the matter: for
//! them there is a short way ([`Connection::on_segment`], `Receiver::expects`, `Sender::calm`, `Sender::poll_foreseen`), which
//! is a part of the long one.
//!
//! What is modeled is what decides how much is sent and when. Sequence numbers are offsets in the
//! byte stream, 64 bits wide: the first byte is 0, SYN takes no offset, FIN takes the one after the last
//! byte. Both ends of a connection have the same parameters, so options are not negotiated. There is
//! no RST, no urgent data, no path MTU discovery, no Nagle algorithm and no limit on retransmissions.

mod acknowledged;
mod congestion;
mod connection;
mod handshake;
mod outgoing;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod transmit;

pub use connection::{Connection, Event, Reading, Role, State};
pub(crate) use outgoing::Transmitted;
pub use segment::{SackBlocks, Segment, Timestamps};
