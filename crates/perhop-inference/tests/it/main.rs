//! Tests of inference.

mod entrances;
mod loads;
mod work;
