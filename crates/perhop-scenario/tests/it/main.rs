//! Tests of `perhop-scenario` from outside, linked as one program.

mod diagnostics;
mod loading;
mod scenario_fuzz;
mod schema;
mod work;
