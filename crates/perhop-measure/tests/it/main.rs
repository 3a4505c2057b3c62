//! Tests of `perhop-measure` through its public interface, linked as one program.

mod emodel;
mod guarantees;
mod recorded;
