//! Tests of `perhop-bounds` through its public interface, linked as one program.

mod adversary;
mod by_hand;
mod conforming;
mod networks;
mod promises;
