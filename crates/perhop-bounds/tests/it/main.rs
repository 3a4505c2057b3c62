//! Tests of `perhop-bounds` from outside, linked as one program.

mod adversary;
mod by_hand;
mod conforming;
mod networks;
mod promises;
