//! The plain engine: what moves packets through a network, without any shortcut.

pub mod agenda;
pub mod source;
