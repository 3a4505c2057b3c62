//! [`same_value`]: comparison of values of policies, with a tolerance for rounding.

use perhop_qos::policy::QueueingConfig;
use perhop_qos::{ByteSize, Rate};
use serde_json::Value;

/// Whether two numbers differ by at most the relative error of rounding to bits per second.
pub(super) fn are_close(first: f64, second: f64) -> bool {
    (first - second).abs() <= 1e-5 * first.abs().max(second.abs())
}

/// Whether two values are equal, numbers up to rounding.
pub(super) fn same_value(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Object(left), Value::Object(right)) => {
            let null = Value::Null;
            let mut keys = left.keys().chain(right.keys());
            keys.all(|key| same_value(left.get(key).unwrap_or(&null), right.get(key).unwrap_or(&null)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(first, second)| same_value(first, second))
        }
        (Value::Number(left), Value::Number(right)) => {
            are_close(left.as_f64().unwrap_or(0.0), right.as_f64().unwrap_or(0.0))
        }
        (Value::String(left), Value::String(right)) => left == right || same_quantity(left, right),
        _ => first == second,
    }
}

/// Whether two texts denote the same rate or size, up to rounding.
pub(super) fn same_quantity(first: &str, second: &str) -> bool {
    let rates = first.parse::<Rate>().ok().zip(second.parse::<Rate>().ok());
    let bits = |rate: Rate| rate.as_bits_per_second() as f64;
    let sizes = first.parse::<ByteSize>().ok().zip(second.parse::<ByteSize>().ok());
    rates.is_some_and(|(first, second)| are_close(bits(first), bits(second)))
        || sizes.is_some_and(|(first, second)| first == second)
}

/// Returns the queueing of a port whose policy has no queueing.
pub(super) fn only_queue() -> QueueingConfig {
    let class = perhop_qos::policy::ClassConfig { name: "fifo".to_owned(), ..Default::default() };
    QueueingConfig { classes: vec![class], ..QueueingConfig::default() }
}
