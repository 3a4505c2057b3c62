//! Tests of `perhop-capture` from outside, linked as one program.

mod headers;
