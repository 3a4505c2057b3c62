//! Tests of `perhop-analysis` from outside, linked as one program.

mod conditioning;
mod conditions;
mod rates;
mod unknown_line;
