//! Tests of two optimizations: a choice remains valid until a head changes, and a shaper is not queried while
//! its credit is known to suffice. The results are compared with choices that are made for every packet.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Layout, SchedulerTree};
use crate::policy::QueueingConfig;
use crate::queue::{PrecedenceSource, Queue, QueueId};
use crate::scheduler::Selection;
use crate::{FlowKey, Packet, Rate, Time};

/// The schedulers, and the shares of four classes under each. The choices of the first six do not depend on
/// time.
const SCHEDULERS: [(&str, &str, [&str; 4]); 11] = [
    ("fifo", "", [""; 4]),
    ("priority", "level", ["3", "0", "2", "1"]),
    ("wrr", "weight", ["0.4", "1", "2.5", "1"]),
    ("drr", "quantum", ["\"300B\"", "\"900B\"", "\"1500B\"", "\"40B\""]),
    ("scfq", "weight", ["1", "2", "5", "0.1"]),
    ("wfq", "weight", ["1", "2", "5", "0.1"]),
    ("wf2q-plus", "weight", ["1", "2", "5", "0.1"]),
    ("three-parameter", "minimum", ["\"1Mb/s\"", "\"5Mb/s\"", "\"300kb/s\"", "\"2Mb/s\""]),
    ("priority", "cap", [r#"{"rate": "1Mb/s", "burst": "2kB"}"#; 4]),
    ("cbq", "fraction", ["0.1", "0.3", "0.05", "0.5"]),
    ("htb", "rate", ["\"1Mb/s\"", "\"5Mb/s\"", "\"300kb/s\"", "\"2Mb/s\""]),
];
/// The indices of the schedulers that support shapers in their classes.
const ABOVE_SHAPERS: [usize; 10] = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10];

/// The configuration of `scheduler` with one class for each entry of `inner`: a queue (`None`) or an inner
/// scheduler. Bit `n` of `shaped` determines whether class `n` has a shaper.
fn queueing(scheduler: usize, inner: &[Option<Value>], shaped: u32) -> Value {
    let (name, share, shares) = SCHEDULERS[scheduler];
    let class = |(index, inner): (usize, &Option<Value>)| {
        let mut class = json!({ "name": index.to_string(), "match": { "dscp": index } });
        if !share.is_empty() {
            class["share"] = serde_json::from_str(&format!("{{\"{share}\": {}}}", shares[index])).unwrap();
        }
        // CBQ inside CBQ is one scheduler, and HTB inside HTB, too. Their inner classes cannot have shapers.
        let is_one =
            inner.as_ref().is_some_and(|inner| inner["scheduler"] == name) && ["cbq", "htb"].contains(&name);
        if shaped >> index & 1 == 1 && !is_one {
            class["shape"] = json!({ "rate": format!("{}Mb/s", 1 + index), "burst": "2kB" });
        }
        if let Some(inner) = inner {
            class["queueing"] = inner.clone();
        }
        class
    };
    let classes: Vec<Value> = inner.iter().enumerate().map(class).collect();
    json!({ "scheduler": name, "classes": classes })
}

/// Generates policies of up to three levels with up to four classes each. `schedulers` are the indices of the
/// schedulers. Some classes have shapers if `shaped` is not 0.
fn policies(schedulers: &'static [usize], shaped: u32) -> impl Strategy<Value = Value> {
    let choice = move || (prop::sample::select(schedulers), 0..=shaped);
    let leaf = (choice(), 1..5usize)
        .prop_map(|((scheduler, shaped), count)| queueing(scheduler, &vec![None; count], shaped));
    let level = move |below: BoxedStrategy<Value>| {
        let classes = prop::collection::vec(prop::option::of(below), 1..5);
        (choice(), classes)
            .prop_map(|((scheduler, shaped), classes)| queueing(scheduler, &classes, shaped))
            .boxed()
    };
    level(level(leaf.boxed()))
}

/// Generates the steps of a test: the kind of step, the queue, the length of a packet, and the time since the
/// last step.
fn steps() -> impl Strategy<Value = Vec<(u32, usize, u32, u64)>> {
    prop::collection::vec((0u32..5, 0usize..64, 40u32..1500, 0u64..2000), 1..300)
}

/// Runs both trees through `steps` and compares their choices. `forget` removes the stored state of the
/// second tree, which must not change the results.
fn compare(
    mut tree: SchedulerTree,
    mut afresh: SchedulerTree,
    steps: &[(u32, usize, u32, u64)],
    forget: impl Fn(&mut SchedulerTree),
) -> Result<(), TestCaseError> {
    let mut queues = vec![Queue::new(&PrecedenceSource::default()); tree.leaves.len()];
    let mut now = Time::ZERO;
    for (step, queue, length, gap) in steps.iter().copied() {
        now += Time::from_microseconds(gap);
        forget(&mut afresh);
        if step < 2 {
            let queue = queue % queues.len();
            queues[queue].push(Packet::new(FlowKey::default(), length));
            tree.enqueued(now, QueueId(queue as u16), length, &queues[queue]);
            afresh.enqueued(now, QueueId(queue as u16), length, &queues[queue]);
            continue;
        }
        let selection = tree.select(now, &queues);
        prop_assert_eq!(selection, afresh.select(now, &queues));
        // In some steps, the selected packet is not sent, as if the ring had no room.
        if let (Selection::Serve(id), true) = (selection, step > 2) {
            let length = queues[id.index()].pop().unwrap().length;
            tree.dequeued(now, id, length, &queues[id.index()]);
            afresh.dequeued(now, id, length, &queues[id.index()]);
        }
    }
    Ok(())
}

fn build(policy: Value) -> SchedulerTree {
    let config: QueueingConfig = serde_json::from_value(policy).unwrap();
    SchedulerTree::build(&config, Rate::from_bits_per_second(8_000_000)).unwrap()
}

/// Forces each scheduler to make a new choice, even if its choice cannot have changed.
fn choose_always(tree: &mut SchedulerTree) {
    tree.valid_until = Time::ZERO;
    tree.nodes.iter_mut().for_each(|node| node.depends_on_time = true);
}

proptest! {
    #[test]
    fn a_choice_remains_until_a_head_changes(policy in policies(&[0, 1, 2, 3, 4, 5], 0), steps in steps()) {
        let tree = build(policy);
        prop_assume!(matches!(tree.layout, Layout::Nested | Layout::Timed));
        let afresh = SchedulerTree { layout: Layout::Timed, ..tree.clone() };
        compare(tree, afresh, &steps, choose_always)?;
    }

    /// A shaper whose credit is known to suffice need not be queried again.
    #[test]
    fn existing_credit_stays(policy in policies(&ABOVE_SHAPERS, 15), steps in steps()) {
        let tree = build(policy);
        prop_assume!(matches!(tree.layout, Layout::Nested | Layout::Timed));
        compare(tree.clone(), tree, &steps, |tree| {
            choose_always(tree);
            let watched = tree.nodes.iter_mut().flat_map(|node| &mut node.watched);
            watched.for_each(|watched| watched.shaping.covered = 0);
        })?;
    }
}
