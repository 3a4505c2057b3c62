//! [`same_value`]: values of policies compared up to rounding.

use perhop_qos::policy::QueueingConfig;
use perhop_qos::{ByteSize, Rate};
use serde_json::Value;

/// Whether two numbers differ by at most the relative error of rounding to bits per second.
pub(super) fn are_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-5 * one.abs().max(other.abs())
}

/// Whether two values are equal, numbers up to rounding.
pub(super) fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            let null = Value::Null;
            let mut keys = left.keys().chain(right.keys());
            keys.all(|key| same_value(left.get(key).unwrap_or(&null), right.get(key).unwrap_or(&null)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(one, other)| same_value(one, other))
        }
        (Value::Number(left), Value::Number(right)) => {
            are_close(left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0))
        }
        (Value::String(left), Value::String(right)) => left == right || same_quantity(left, right),
        _ => one == other,
    }
}

/// Whether two texts denote the same rate or size, up to rounding.
pub(super) fn same_quantity(one: &str, other: &str) -> bool {
    let rates = one.parse::<Rate>().ok().zip(other.parse::<Rate>().ok());
    let bits = |rate: Rate| rate.as_bits_per_second() as f64;
    let sizes = one.parse::<ByteSize>().ok().zip(other.parse::<ByteSize>().ok());
    rates.is_some_and(|(one, other)| are_close(bits(one), bits(other)))
        || sizes.is_some_and(|(one, other)| one == other)
}

/// The queueing of a port whose policy has no queueing.
pub(super) fn only_queue() -> QueueingConfig {
    let class = perhop_qos::policy::ClassConfig { name: "fifo".to_owned(), ..Default::default() };
    QueueingConfig { classes: vec![class], ..QueueingConfig::default() }
}
