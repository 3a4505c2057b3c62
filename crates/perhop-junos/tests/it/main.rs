//! Tests of `perhop-junos` from outside, linked as one program.

mod faults;
mod hostile;
mod read;
mod readings;
