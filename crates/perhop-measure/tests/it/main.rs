//! Tests of `perhop-measure` from outside, linked as one program.

mod emodel;
mod guarantees;
mod recorded;
