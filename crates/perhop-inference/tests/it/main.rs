//! Tests of inference.

mod drop_bursts;
mod entrances;
mod loads;
mod whole_port;
mod work;
