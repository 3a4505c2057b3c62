//! ECN marks by drop profiles, and drop profiles in the shared memory of a switch.

use perhop_qos::policy::ClassConfig;
use serde_json::{Value, json};

use crate::read::{parse, show};

/// Returns the queues inside the nodes of a port.
fn innermost(classes: Vec<ClassConfig>) -> Vec<ClassConfig> {
    match classes.as_slice() {
        [ClassConfig { queueing: Some(inner), .. }] => innermost(inner.classes.clone()),
        _ => classes,
    }
}

/// Returns the buffer of the queue of best effort with a scheduler that marks by a profile.
fn buffer(platform: &str, profile: &str, others: &str) -> Value {
    let text = format!(
        "set interfaces xe-0/0/0 unit 0 family inet address 192.0.2.1/30
set class-of-service drop-profiles D interpolate {profile}
set class-of-service schedulers S transmit-rate percent 95
set class-of-service schedulers S buffer-size percent 95
set class-of-service schedulers S drop-profile-map loss-priority any protocol any drop-profile D
set class-of-service schedulers S explicit-congestion-notification
set class-of-service scheduler-maps M forwarding-class best-effort scheduler S
set class-of-service interfaces xe-0/0/0 scheduler-map M
{others}"
    );
    let model = parse(&text, Some(platform));
    assert_eq!(show(&model), "");
    let port = model.router.ports.into_iter().next().unwrap();
    let classes = innermost(port.output.queueing.unwrap().classes);
    let class = classes.into_iter().find(|class| class.name == "best-effort").unwrap();
    serde_json::to_value(class.buffer).unwrap()
}

#[test]
fn a_router_marks_the_packets_that_a_profile_selects() {
    let found = buffer("junos-mx", "fill-level [ 50 75 ] drop-probability [ 20 60 ]", "");
    assert_eq!(found["fill-profile"]["ecn"], "mark-all");
    assert_eq!(found["fill-profile"]["precedences"].as_array().unwrap().len(), 4);
}

/// A QFX5120 has 27 396 KB of shared memory in cells of 256 bytes, 31 percent of it for queues that drop: 33
/// 971 cells. With α = 1, a single congested queue can use half of them.
#[test]
fn a_switch_compares_the_memory_that_a_queue_has_alone() {
    let found = buffer("junos-qfx5120", "fill-level [ 40 43 ] drop-probability [ 0 30 ]", "");
    let steps = json!([{"fill": 41, "drop": 10}, {"fill": 42, "drop": 20}, {"fill": 43, "drop": 100}]);
    let profiles = json!({"full": 16_985, "precedences": vec![steps; 4], "ecn": "mark-all"});
    assert_eq!(found, json!({"shared-memory": {"alpha": 1.0, "profiles": profiles}}));
    // α = 8: 8 / 9 of the cells.
    let eight = "set class-of-service schedulers S buffer-dynamic-threshold 10\n";
    let found = buffer("junos-qfx5120", "fill-level [ 40 43 ] drop-probability [ 0 30 ]", eight);
    assert_eq!(found["shared-memory"]["profiles"]["full"], 30_196);
}

/// A QFX5240 has 84 206 KB of shared memory, and dedicates 30 847 and 47 208 KB to arriving and departing
/// packets. With 15 and 30 percent, 26 220 and 33 046 KB of these become shared: 143 472 KB in total. 70
/// percent of them are two memories of 202 442 cells of 254 bytes each, and one queue can use half of one
/// memory.
#[test]
fn a_smaller_dedicated_memory_leaves_more_shared_memory() {
    let dedicated = "set class-of-service dedicated-buffer ingress percent 15
set class-of-service dedicated-buffer egress percent 30\n";
    let found = buffer("junos-qfx5240", "fill-level [ 40 43 ] drop-probability [ 0 30 ]", dedicated);
    assert_eq!(found["shared-memory"]["profiles"]["full"], 101_221);
}

#[test]
fn marks_without_a_drop_profile_are_reported() {
    let text = "set interfaces xe-0/0/0 unit 0 family inet address 192.0.2.1/30
set class-of-service schedulers S transmit-rate percent 95
set class-of-service schedulers S explicit-congestion-notification
set class-of-service scheduler-maps M forwarding-class best-effort scheduler S
set class-of-service interfaces xe-0/0/0 scheduler-map M\n";
    let found = show(&parse(text, Some("junos-mx")));
    assert!(found.contains("scheduler S has no drop profile, so it marks no packet"), "{found}");
}
