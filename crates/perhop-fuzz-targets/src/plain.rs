//! The plain models from the tests of `perhop-qos`, with which targets compare results.

#[path = "../../perhop-qos/tests/it/plain/meters.rs"]
pub(crate) mod meters;
#[path = "../../perhop-qos/tests/it/plain/red.rs"]
#[allow(dead_code, reason = "the tests of perhop-qos use more of it")]
pub(crate) mod red;
