//! Rates on a line whose rate is not known.

use std::collections::BTreeMap;

use perhop_analysis::rates::{Given, Level, rates};
use perhop_qos::policy::PolicyConfig;
use serde_json::{Value, json};

/// Returns the service rates, in kilobits per second, of the classes inside the only class of `policy`.
fn served(policy: Value) -> Vec<Option<f64>> {
    let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
    let none = BTreeMap::new();
    let level: Level = rates(&policy, Given { line: None, limits: &none }).unwrap();
    let inner = level.classes[0].inner.as_ref().unwrap();
    inner.classes.iter().map(|class| class.service.map(|rate| rate / 1000.0)).collect()
}

/// Two classes may borrow up to 100 kb/s. While both are busy, they have 60 and 40 kb/s.
#[test]
fn the_ceiling_of_a_class_of_htb_is_not_its_rate() {
    let class = |name: &str, rate: &str| json!({"name": name, "share": {"rate": rate, "ceil": "100kb/s"}});
    let policy = json!({"queueing": {"scheduler": "htb", "classes": [{
        "name": "1:1",
        "share": {"rate": "100kb/s", "ceil": "100kb/s"},
        "queueing": {"scheduler": "htb", "classes": [class("1:10", "60kb/s"), class("1:20", "40kb/s")]},
    }]}});
    assert_eq!(served(policy), [Some(60.0), Some(40.0)]);
}

#[test]
fn a_shaper_is_the_rate_of_a_class_that_has_no_other() {
    let shaped = json!({"name": "a", "shape": {"rate": "2Mb/s", "burst": "8kB"}});
    let policy = json!({"queueing": {"scheduler": "scfq", "classes": [{
        "name": "all",
        "queueing": {"scheduler": "scfq", "classes": [shaped, {"name": "b"}]},
    }]}});
    assert_eq!(served(policy), [Some(2000.0), None]);
}
