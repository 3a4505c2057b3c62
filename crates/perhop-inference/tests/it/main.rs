//! Tests of inference.

mod entrances;
mod loads;
mod whole_port;
mod work;
