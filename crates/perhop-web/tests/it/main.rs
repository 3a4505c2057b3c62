//! Tests of `perhop-web` from outside, linked as one program.

mod session;
