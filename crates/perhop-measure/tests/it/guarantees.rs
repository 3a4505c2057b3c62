//! The queues of classes and their guaranteed rates, calculated by hand.

use std::collections::BTreeMap;

use perhop_measure::guarantees::guaranteed_rates;
use perhop_measure::places::{Place, queues_by_class};
use perhop_scenario::Scenario;
use serde_json::{Value, json};

/// Returns two classes on a link of 2 Mb/s. DRR serves them in the ratio 3 to 1.
fn scenario(change: impl FnOnce(&mut Value)) -> Scenario {
    let source = json!({"cbr": {"rate": "100kb/s", "packet": {"ip": "200B"}}});
    let traffic = |name: &str, dscp: &str| json!({"name": name, "from": "a", "to": "b", "dscp": dscp, "source": source});
    let mut written = json!({
        "perhop": 1, "name": "guarantees", "duration": "1s",
        "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "100Mb/s"},
            {"between": ["r", "b"], "rate": "2Mb/s", "interfaces": {"r": {"output": "wan"}}},
        ],
        "policies": {"wan": {"queueing": {"scheduler": "drr", "classes": [
            {"name": "files", "match": {"dscp": "af11"}, "share": {"quantum": "4500B"}},
            {"name": "rest", "share": {"quantum": "1500B"}},
        ]}}},
        "traffic": [traffic("backup", "af11"), traffic("rest", "default")],
    });
    change(&mut written);
    serde_json::from_value(written).unwrap()
}

fn place(queue: &str) -> Place {
    Place { port: "r->b".to_owned(), queue: queue.to_owned() }
}

fn summary() -> Value {
    json!({"classes": [{"class": "backup"}, {"class": "rest"}], "ports": []})
}

fn rates(scenario: &Scenario, inferred: &BTreeMap<String, Place>) -> Vec<(String, f64)> {
    guaranteed_rates(scenario, &summary(), inferred).into_iter().collect()
}

#[test]
fn a_codepoint_determines_the_queue_and_its_rate() {
    let scenario = scenario(|_| {});
    let queues = queues_by_class(&scenario);
    assert_eq!((&queues["backup"], &queues["rest"]), (&vec![place("files")], &vec![place("rest")]));
    let expected = [("backup".to_owned(), 1.5e6), ("rest".to_owned(), 0.5e6)];
    assert_eq!(rates(&scenario, &BTreeMap::new()), expected);
}

#[test]
fn a_queue_that_is_not_certain_is_recognized_by_its_name() {
    for change in [
        json!({"conditioners": [{"actions": [{"mark": "af12"}]}]}),
        json!({"conditioners": [{"match": {"dscp": "ef"}, "actions": [{"mark-precedence": "critical"}]}]}),
    ] {
        let scenario = scenario(|written| {
            written["policies"]["in"] = change;
            written["links"][0]["interfaces"] = json!({"r": {"input": "in"}});
        });
        assert!(queues_by_class(&scenario).is_empty());
        assert_eq!(rates(&scenario, &BTreeMap::new()), [("rest".to_owned(), 0.5e6)]);
        // An inference also returns queues that codepoints do not determine.
        let inferred = BTreeMap::from([("backup".to_owned(), place("files"))]);
        let expected = [("backup".to_owned(), 1.5e6), ("rest".to_owned(), 0.5e6)];
        assert_eq!(rates(&scenario, &inferred), expected);
    }
}

#[test]
fn other_criteria_and_a_second_path_make_a_queue_uncertain() {
    let by_source = scenario(|written| {
        written["policies"]["wan"]["queueing"]["classes"][0]["match"] = json!({"source": "10.0.0.0/8"});
    });
    let twice = scenario(|written| {
        let links = written["links"].as_array_mut().unwrap();
        links.push(json!({"between": ["a", "b"], "rate": "1Mb/s"}));
    });
    for scenario in [by_source, twice] {
        assert!(queues_by_class(&scenario).is_empty());
    }
}

#[test]
fn traffic_with_two_codepoints_has_no_certain_queue() {
    let scenario = scenario(|written| written["traffic"][1]["class"] = json!("backup"));
    assert!(queues_by_class(&scenario).is_empty());
}

#[test]
fn priority_and_a_limit_below_the_promise_are_no_guarantees() {
    let scenario = scenario(|written| {
        let classes = &mut written["policies"]["wan"]["queueing"];
        classes["scheduler"] = json!("priority");
        classes["classes"][0]["share"] = json!({"level": 0});
        classes["classes"][1]["share"] = json!({"level": 1});
    });
    assert_eq!(rates(&scenario, &BTreeMap::new()), []);
}
