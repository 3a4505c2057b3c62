//! What a policy does with every packet, without running it.
//!
//! A [`PacketSpace`] holds sets of packets exactly: which packets a condition takes
//! ([`PacketSpace::taken_by`]), which of them reach a class after the classes before it ([`classes_of`]), and
//! one packet of a set as a witness ([`PacketSpace::witness`]). Two sets are the same exactly if their
//! [`Set`]s are equal.

mod classes;
mod condition;
mod decision_diagram;
mod fields;
mod space;
mod witness;

pub use classes::{Class, classes_of};
pub use decision_diagram::{Set, TooComplex};
pub use fields::Field;
pub use space::PacketSpace;
pub use witness::Witness;
