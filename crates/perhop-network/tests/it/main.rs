//! Tests of `perhop-network` from outside, linked as one program.

mod router_configuration;
