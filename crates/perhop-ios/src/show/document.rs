//! `show policy-map interface` as JSON: the attached policies, with the counters of every class.

use perhop_device::intent::Direction;
use perhop_device::show::{CountedPort, Traffic};
use serde_json::{Map, Value, json};

use super::early_drops::EarlyDrops;
use super::state::{ClassState, PoliceState, PolicyState, QueueState};

/// Returns an interface and its policies.
pub(super) fn interface(port: &CountedPort, policies: &[(Direction, PolicyState)], interval_s: u64) -> Value {
    let mut by_side = Map::new();
    for (direction, state) in policies {
        let side = if *direction == Direction::Input { "input" } else { "output" };
        by_side.insert(side.to_owned(), policy(state));
    }
    json!({
        "name": port.port.name,
        "link_to": port.link_to,
        "load_interval_s": interval_s,
        "policies": by_side,
    })
}

fn policy(state: &PolicyState) -> Value {
    let mut value = json!(state.config);
    value["priority_limits"] = state
        .priorities
        .iter()
        .map(|(limit, counters)| {
            let mut value = json!(limit);
            value["counters"] = queue(counters);
            value
        })
        .collect();
    value["classes"] = state.classes.iter().map(class).collect();
    value
}

fn class(state: &ClassState) -> Value {
    let mut value = json!(state.config);
    value["counters"] = json!({
        "classified": state.classified.map(traffic),
        "dropped": traffic(state.dropped),
        "offered_bps": state.offered_bps,
        "drop_bps": state.drop_bps,
        "queue": state.queue.as_ref().map(queue),
        "exceed_drops": state.exceed_drops,
        "police": state.police.map(police),
        "random_detect": state.early_drops.as_ref().map(early_drops),
    });
    value["policy"] = state.policy.as_ref().map(policy).into();
    value
}

fn traffic(traffic: Traffic) -> Value {
    json!({"packets": traffic.packets, "bytes": traffic.whole_bytes()})
}

fn queue(state: &QueueState) -> Value {
    json!({
        "depth_packets": state.depth,
        "dropped_packets": state.drops.packets,
        "flow_dropped_packets": state.flow_drops,
        "output": traffic(state.output),
    })
}

fn police(state: PoliceState) -> Value {
    let named = [
        ("conformed", Some(state.conformed)),
        ("exceeded", Some(state.exceeded)),
        ("violated", state.violated),
    ];
    let found = named.into_iter().filter_map(|(name, policed)| {
        let policed = policed?;
        let mut value = traffic(policed.traffic);
        value["bps"] = policed.bps.into();
        Some((name.to_owned(), value))
    });
    Value::Object(found.collect())
}

fn early_drops(state: &EarlyDrops) -> Value {
    let rows: Vec<Value> = state
        .rows
        .iter()
        .map(|row| {
            json!({
                "value": row.config.value,
                "transmitted": traffic(row.transmitted),
                "random": traffic(row.random),
                "tail": traffic(row.tail),
                "marked": traffic(row.marked),
            })
        })
        .collect();
    json!({"mean_depth": state.mean_depth, "rows": rows})
}
