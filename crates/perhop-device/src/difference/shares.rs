//! Shares of classes by their proportions.

use perhop_qos::Rate;
use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::ShareConfig;
use serde_json::{Value, json};

/// Shares that agree so far differ by rounding to bits per second.
const ROUNDED: f64 = 1e-5;

/// Whether two numbers differ by no more than a part of the larger one.
pub(super) fn are_close(one: f64, other: f64, relative: f64) -> bool {
    (one - other).abs() <= relative * one.abs().max(other.abs())
}

/// Returns the weight of a class among its siblings: its fraction, rate, bandwidth, quantum, weight or slope.
pub fn weight_of(share: &ShareConfig) -> f64 {
    let bits = |rate: Rate| rate.as_bits_per_second() as f64;
    let written = share.weight.filter(|weight| *weight > 0.0);
    if share.minimum.is_some() {
        return written.unwrap_or(1.0);
    }
    let several = [
        share.fraction,
        share.rate.map(bits),
        share.bandwidth.map(bits),
        share.quantum.map(|quantum| quantum.as_bytes() as f64),
        written,
        share.link_share.map(|curve| bits(curve.m2)),
    ];
    several.into_iter().flatten().find(|weight| *weight > 0.0).unwrap_or(1.0)
}

/// Whether classes share in the same proportions.
pub(super) fn are_proportional(one: &[Value], other: &[Value]) -> bool {
    let weights = |classes: &[Value]| -> Vec<f64> {
        let share = |class: &Value| serde_json::from_value::<ClassConfig>(class.clone()).ok();
        classes.iter().map(|class| share(class).map_or(1.0, |class| weight_of(&class.share))).collect()
    };
    let (left, right) = (weights(one), weights(other));
    let (sum, other_sum) = (left.iter().sum::<f64>(), right.iter().sum::<f64>());
    left.len() == right.len()
        && left.iter().zip(&right).all(|(one, two)| are_close(one / sum, two / other_sum, ROUNDED))
}

/// Returns classes without their shares.
pub(super) fn without_shares(mut classes: Vec<Value>) -> Vec<Value> {
    for class in &mut classes {
        if let Value::Object(fields) = class {
            fields.insert("share".to_owned(), json!({}));
        }
    }
    classes
}
