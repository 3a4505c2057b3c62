//! Tests of `perhop-tc` from outside, linked as one program.

mod accounted;
mod class_trees;
mod hostile;
mod intent;
mod json;
mod policers;
mod read;
mod reference;
mod statistics;
mod users;
mod write;
