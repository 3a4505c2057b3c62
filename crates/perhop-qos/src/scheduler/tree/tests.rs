//! Choices that are kept until a head changes, held against choices that are made afresh for every packet.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Layout, SchedulerTree};
use crate::policy::QueueingConfig;
use crate::queue::{PrecedenceSource, Queue, QueueId};
use crate::scheduler::Selection;
use crate::{FlowKey, Packet, Rate, Time};

/// The schedulers whose choices do not depend on time, and a share that each takes.
const SCHEDULERS: [(&str, &str, [&str; 4]); 6] = [
    ("fifo", "", [""; 4]),
    ("priority", "level", ["3", "0", "2", "1"]),
    ("wrr", "weight", ["0.4", "1", "2.5", "1"]),
    ("drr", "quantum", ["\"300B\"", "\"900B\"", "\"1500B\"", "\"40B\""]),
    ("scfq", "weight", ["1", "2", "5", "0.1"]),
    ("wfq", "weight", ["1", "2", "5", "0.1"]),
];

/// `scheduler` over as many classes as `inner` has entries: a queue, or a scheduler inside.
fn queueing(scheduler: usize, inner: &[Option<Value>]) -> Value {
    let (name, share, shares) = SCHEDULERS[scheduler];
    let class = |(index, inner): (usize, &Option<Value>)| {
        let mut class = json!({ "name": index.to_string(), "match": { "dscp": index } });
        if !share.is_empty() {
            class["share"] = serde_json::from_str(&format!("{{\"{share}\": {}}}", shares[index])).unwrap();
        }
        if let Some(inner) = inner {
            class["queueing"] = inner.clone();
        }
        class
    };
    let classes: Vec<Value> = inner.iter().enumerate().map(class).collect();
    json!({ "scheduler": name, "classes": classes })
}

/// Up to three levels, up to four classes each.
fn policies() -> impl Strategy<Value = Value> {
    let leaf = (0..6usize, 1..5usize).prop_map(|(scheduler, count)| queueing(scheduler, &vec![None; count]));
    let level = |below: BoxedStrategy<Value>| {
        let classes = prop::collection::vec(prop::option::of(below), 1..5);
        (0..6usize, classes).prop_map(|(scheduler, classes)| queueing(scheduler, &classes)).boxed()
    };
    level(level(leaf.boxed()))
}

proptest! {
    #[test]
    fn a_choice_stands_until_a_head_changes(
        policy in policies(),
        steps in prop::collection::vec((0u32..5, 0usize..64, 40u32..1500, 0u64..2000), 1..300),
    ) {
        let config: QueueingConfig = serde_json::from_value(policy).unwrap();
        let rate = Rate::from_bits_per_second(8_000_000);
        let mut tree = SchedulerTree::build(&config, rate).unwrap();
        prop_assume!(matches!(tree.layout, Layout::Deep));
        let mut afresh = SchedulerTree { heeds_time: true, ..tree.clone() };
        let mut queues = vec![Queue::new(&PrecedenceSource::default()); tree.leaves.len()];
        let mut now = Time::ZERO;
        for (step, queue, length, gap) in steps {
            now += Time::from_microseconds(gap);
            if step < 2 {
                let queue = queue % queues.len();
                queues[queue].push(Packet::new(FlowKey::default(), length));
                tree.enqueued(now, QueueId(queue as u16), length, &queues[queue]);
                afresh.enqueued(now, QueueId(queue as u16), length, &queues[queue]);
                continue;
            }
            let selection = tree.select(now, &queues);
            prop_assert_eq!(selection, afresh.select(now, &queues));
            // Now and then a choice is not followed at once: the ring has no room.
            if let (Selection::Serve(id), true) = (selection, step > 2) {
                let length = queues[id.index()].pop().unwrap().length;
                tree.dequeued(now, id, length, &queues[id.index()]);
                afresh.dequeued(now, id, length, &queues[id.index()]);
            }
        }
    }
}
