//! Tests of `perhop-tc` from outside, linked as one program.

mod accounted;
mod hostile;
mod json;
mod read;
mod reference;
mod users;
