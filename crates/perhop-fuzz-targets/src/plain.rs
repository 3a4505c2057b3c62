//! The plain models of the tests of `perhop-qos` that targets are compared with.

#[path = "../../perhop-qos/tests/it/plain/meters.rs"]
pub(crate) mod meters;
#[path = "../../perhop-qos/tests/it/plain/red.rs"]
#[allow(dead_code, reason = "the tests of perhop-qos use more of it")]
pub(crate) mod red;
