//! Tests of `perhop-capture` through its public interface, linked as one program.

mod headers;
