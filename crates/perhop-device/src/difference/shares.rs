//! Comparison of shares of classes by their proportions.

use perhop_analysis::rates::weight;
use perhop_qos::policy::QueueingConfig;
use serde_json::{Map, Value, json};

/// Relative difference of shares that rounding to bits per second can cause.
const ROUNDED: f64 = 1e-5;

/// Whether two numbers differ by at most the fraction `relative` of the larger one.
pub(super) fn are_close(first: f64, other: f64, relative: f64) -> bool {
    (first - other).abs() <= relative * first.abs().max(other.abs())
}

/// Whether the classes of two schedulers share in the same proportions.
pub(super) fn are_proportional(first: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let weights = |fields: &Map<String, Value>| -> Option<Vec<f64>> {
        let queueing: QueueingConfig = serde_json::from_value(Value::Object(fields.clone())).ok()?;
        queueing.classes.iter().map(|class| weight(queueing.scheduler, class)).collect()
    };
    let (Some(left), Some(right)) = (weights(first), weights(other)) else { return false };
    let (sum, other_sum) = (left.iter().sum::<f64>(), right.iter().sum::<f64>());
    left.len() == right.len()
        && left.iter().zip(&right).all(|(first, two)| are_close(first / sum, two / other_sum, ROUNDED))
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
