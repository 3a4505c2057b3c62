//! [`drop_curves`]: the configured drop probabilities of a scenario's queues, for drawing.

use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::QueueingConfig;
use perhop_qos::units::QueueSize;
use serde_json::{Value, json};

use crate::Scenario;

/// Returns the curves of every queue with early drops, in the order of the scenario's links: objects with
/// `port`, `queue`, `unit` and `precedences`.
pub fn drop_curves(scenario: &Scenario) -> Value {
    let mut found = Vec::new();
    for link in &scenario.links {
        let [a, b] = &link.between;
        for (from, to) in [(a, b), (b, a)] {
            let policy = link.interfaces.get(from).and_then(|interface| interface.output.as_ref());
            let queueing = policy.and_then(|name| scenario.policies.get(name)?.queueing.as_ref());
            if let Some(queueing) = queueing {
                collect(queueing, &format!("{from}->{to}"), "", &mut found);
            }
        }
    }
    Value::Array(found)
}

fn collect(queueing: &QueueingConfig, port: &str, prefix: &str, found: &mut Vec<Value>) {
    for class in &queueing.classes {
        let name = format!("{prefix}{}", class.name);
        if let Some(inner) = &class.queueing {
            collect(inner, port, &format!("{name}/"), found);
        }
        let config = class.buffer.as_ref().and_then(BufferConfig::mred);
        // Loading has built the policies, so the thresholds are valid.
        let Some(curves) = config.and_then(|config| config.drop_curves().ok()) else { continue };
        let unit = match curves.first().map(|curve| curve.unit) {
            Some(QueueSize::Bytes(_)) => "bytes",
            _ => "packets",
        };
        let precedences: Vec<Value> =
            curves.iter().map(|curve| json!({ "shared": curve.shared, "own": curve.own })).collect();
        found.push(json!({ "port": port, "queue": name, "unit": unit, "precedences": precedences }));
    }
}
