//! Tests of `perhop-junos` from outside, linked as one program.

mod hostile;
mod read;
mod readings;
