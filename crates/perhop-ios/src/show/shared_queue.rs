//! The shared queue of priority classes. Routers print its drops before the classes.

use perhop_device::show::{ClassReading, PolicyReading};

/// The name of the shared queue, used as a class name.
pub(super) const PRIORITY: &str = "(priority)";
const LEVEL: &str = "(priority level ";
/// Counters that only priority classes have.
const OF_PRIORITY: [&str; 4] = ["priority_kbps", "priority_percent", "priority_level", "exceed_drops"];

/// Returns the name of the queue of a priority level.
pub(super) fn name_of_level(level: &str) -> String {
    format!("{LEVEL}{level})")
}

/// Assigns the drops of each shared queue to the class that uses the queue. If several classes use the queue,
/// adds the sum of their packets to the numbers of the queue.
pub(super) fn assign_drops(policy: &mut PolicyReading) {
    for shared in 0..policy.classes.len() {
        let queue = &policy.classes[shared];
        let Some(drops) = queue.number("queue_drops").filter(|_| is_shared_queue(queue)) else { continue };
        let members: Vec<usize> =
            (0..policy.classes.len()).filter(|class| is_member(&policy.classes[*class], queue)).collect();
        if let [member] = members.as_slice() {
            let class = &mut policy.classes[*member];
            let exceeding = class.number("exceed_drops").unwrap_or(0);
            // Some routers include the drops of the priority policer in the drops of the queue.
            let own = if drops >= exceeding { drops - exceeding } else { drops };
            class.numbers.entry("queue_drops".to_owned()).or_insert(own);
        } else {
            let packets = members.iter().filter_map(|class| policy.classes[*class].number("packets"));
            let packets = packets.fold(0, u64::saturating_add);
            policy.classes[shared].numbers.entry("packets".to_owned()).or_insert(packets);
        }
    }
}

/// Returns the packets and bytes that left the queue of a class, which is its own queue or a shared queue
/// that no other class uses. `None` if the output has no such counter.
pub(super) fn output_of(policy: &PolicyReading, class: &ClassReading) -> Option<(u64, u64)> {
    let output = |queue: &ClassReading| queue.number("output_packets").zip(queue.number("output_bytes"));
    let is_alone = |queue: &&ClassReading| {
        policy.classes.iter().filter(|other| is_member(other, queue)).count() == 1 && is_member(class, queue)
    };
    let shared = || policy.classes.iter().filter(|queue| is_shared_queue(queue)).find(is_alone);
    output(class).or_else(|| shared().and_then(output))
}

fn is_shared_queue(class: &ClassReading) -> bool {
    class.path.last().is_some_and(|name| name == PRIORITY || name.starts_with(LEVEL))
}

/// Whether the packets of a class use a shared queue.
fn is_member(class: &ClassReading, queue: &ClassReading) -> bool {
    let around = |class: &ClassReading| class.path.split_last().map(|(_, around)| around.to_vec());
    let has_priority = OF_PRIORITY.iter().any(|name| class.number(name).is_some());
    let level = class.number("priority_level").map(|level| name_of_level(&level.to_string()));
    let name = queue.path.last();
    let is_of_level = name.is_some_and(|name| name == PRIORITY) || level.as_ref() == name;
    has_priority && is_of_level && !is_shared_queue(class) && around(class) == around(queue)
}
