//! The treatment of every packet by a policy, without a run. A [`PacketSpace`] stores sets of packets
//! exactly. Functions return the packets that match a condition ([`PacketSpace::taken_by`]), that become
//! given packets in conditioners ([`before`]), that reach each class ([`classes_of`]), or that wait in
//! different queues in two nodes ([`moved()`]). [`PacketSpace::witness`] returns one packet of a set. Two
//! sets have the same packets exactly if their [`Set`]s are equal. [`rates`] returns, for each class of a
//! policy, the guaranteed rate, the maximum rate, and the share of the excess.

mod boxes;
mod classes;
mod condition;
mod conditioning;
mod decision_diagram;
mod fields;
mod first_match;
mod moved;
mod packet_text;
mod plain;
pub mod rates;
mod space;
mod trace;
mod witness;

pub use boxes::PacketBox;
pub use classes::{Class, classes_of};
pub use conditioning::{Effect, arriving, before, departing, departures, effects, given_by};
pub use decision_diagram::{Set, TooComplex};
pub use fields::Field;
pub use first_match::FirstMatch;
pub use moved::{Moved, moved};
pub use packet_text::PacketText;
pub use space::PacketSpace;
pub use trace::{Conditioned, Node, QueuePlace, Step, conditioned, queue_of};
pub use witness::Witness;
