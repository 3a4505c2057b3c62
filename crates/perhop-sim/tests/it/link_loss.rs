//! A link with `loss` loses packets independently, with separate draws for each direction.

use crate::simulation::{ONCE, count, simulate};
use perhop_measure::Results;
use perhop_sim::RunOptions;
use serde_json::json;

fn results(loss: f64) -> Results {
    let scenario = json!({
        "perhop": 1, "name": "loss", "duration": "100s", "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "10Mb/s"},
            {"between": ["r", "b"], "rate": "10Mb/s", "loss": loss},
        ],
        "traffic": [{"name": "flow", "from": "a", "to": "b", "stop": "90s",
                     "source": {"cbr": {"rate": "8Mb/s", "packet": {"ip": "1000B"}}}}],
    });
    simulate(&scenario, RunOptions { seed: 7, ..ONCE })
}

#[test]
fn packets_are_lost_with_the_given_probability() {
    let results = results(0.02);
    let (offered, lost) =
        (count(&results, "flows", "offered_packets"), count(&results, "flows", "dropped_lost"));
    assert_eq!(offered, 90_000);
    // Binomial: 1800 ± 4 standard deviations of 42.
    assert!((1632..1968).contains(&lost), "{lost} of {offered} lost");
    assert_eq!(count(&results, "flows", "delivered_packets") + lost, offered);
    assert_eq!(count(&results, "ports", "dropped_lost"), lost);
}

#[test]
fn a_loss_of_zero_loses_nothing() {
    assert_eq!(count(&results(0.0), "flows", "delivered_packets"), 90_000);
}
