//! Tests of the list of front ends, linked as one program.

mod invented;
mod questions;
mod rules;
