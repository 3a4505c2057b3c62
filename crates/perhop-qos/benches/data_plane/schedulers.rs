//! Schedulers without a port: 13 children that always have packets to send.

use std::hint::black_box;

use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::{Scheduler, SchedulerConfig};
use perhop_qos::{Rate, Time};
use serde_json::{Value, json};

use crate::{Bench, Numbers, TABLE};

const CHILDREN: usize = 13;
/// The rate that HTB lends to its classes. It is above the rate of the wire.
const LENT: &str = "100Gb/s";

pub(crate) fn run(bench: &Bench) {
    for (name, scheduler) in [
        ("fifo", SchedulerConfig::Fifo),
        ("priority", SchedulerConfig::Priority),
        ("wrr", SchedulerConfig::Wrr),
        ("drr", SchedulerConfig::Drr),
        ("scfq", SchedulerConfig::Scfq),
        ("wfq", SchedulerConfig::Wfq),
        ("wf2q-plus", SchedulerConfig::Wf2qPlus),
        ("three-parameter", SchedulerConfig::ThreeParameter),
        ("cbq", SchedulerConfig::Cbq),
        ("hfsc", SchedulerConfig::Hfsc),
        ("htb", SchedulerConfig::Htb),
    ] {
        bench.case(&format!("scheduler/{name}"), || turns(scheduler));
    }
}

/// Serves one packet of the child that the scheduler selects, and adds a packet to that child.
fn turns(config: SchedulerConfig) -> impl FnMut(usize) -> usize {
    let weighted = matches!(
        config,
        SchedulerConfig::Wrr | SchedulerConfig::Scfq | SchedulerConfig::Wfq | SchedulerConfig::Wf2qPlus
    );
    let has_minima = matches!(config, SchedulerConfig::ThreeParameter);
    let mut classes: Vec<Value> = (0..CHILDREN)
        .map(|index| {
            let share = if weighted {
                json!({"weight": 1 + index})
            } else if has_minima {
                // Three of every four classes have a minimum. All minima together are half of the rate of the
                // wire.
                json!({"minimum": (index % 4 > 0).then(|| format!("{}Mb/s", 1 + 80 * index))})
            } else if matches!(config, SchedulerConfig::Cbq) {
                json!({"fraction": (1 + index) as f64 / 91.0})
            } else if matches!(config, SchedulerConfig::Hfsc) {
                json!({"real-time": {"m2": format!("{}Mb/s", 1 + index)}, "link-share": {"m2": "1Mb/s"}})
            } else if matches!(config, SchedulerConfig::Htb) {
                json!({"rate": format!("{}Mb/s", 100 * (1 + index)), "ceil": LENT})
            } else {
                json!({})
            };
            json!({"name": format!("class{index}"), "share": share})
        })
        .collect();
    if matches!(config, SchedulerConfig::Htb) {
        // The rates of the classes add up to less than the rate of the wire. A class borrows only from its
        // parent class.
        let inside = json!({"scheduler": "htb", "classes": classes});
        classes = vec![json!({"name": "all", "share": {"rate": LENT, "ceil": LENT}, "queueing": inside})];
    }
    let classes: Vec<ClassConfig> =
        serde_json::from_value(Value::Array(classes)).expect("the benchmark's classes are valid");
    let rate = Rate::from_bits_per_second(10_000_000_000);
    let mut scheduler = config.build(&classes, rate).expect("the benchmark's scheduler can be built");
    let lengths = Numbers::table(1, 1437);
    let mut heads = vec![0; CHILDREN];
    for (child, head) in heads.iter_mut().enumerate() {
        *head = 64 + lengths[child];
        scheduler.head_changed(child, *head);
        scheduler.enqueued(Time::ZERO, child, *head);
        // There is one more packet in each child, so that no child becomes empty.
        scheduler.enqueued(Time::ZERO, child, *head);
    }
    let mut now = 0;
    move |n| {
        let at = Time::from_picoseconds(now);
        let child = scheduler.select(at, black_box(&heads)).expect("all children have packets");
        let length = heads[child];
        now += u64::from(length) * 800;
        heads[child] = 64 + lengths[n % TABLE];
        scheduler.dequeued(at, child, length, heads[child]);
        scheduler.enqueued(at, child, length);
        child.min(2)
    }
}
