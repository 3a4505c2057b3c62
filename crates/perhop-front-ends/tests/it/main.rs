//! Tests of the list of front ends, linked as one program.

mod differences;
mod invented;
mod questions;
mod rules;
mod there_and_back;
