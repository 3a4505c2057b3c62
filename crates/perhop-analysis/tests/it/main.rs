//! Tests of `perhop-analysis` through its public interface, linked as one program.

mod conditioning;
mod conditions;
mod rates;
mod unknown_line;
