//! The offered traffic of classes, from the counters of `show policy-map interface`.

use perhop_device::CountedBytes;
use perhop_device::show::{ClassReading, OfferedClass, PolicyReading, Traffic};

use super::shared_queue::output_of;

/// Returns the offered traffic of each class that has no nested classes. Classes and queues count the bytes
/// of `overhead` per packet in addition to IP.
pub(super) fn offered(policy: &PolicyReading, overhead: CountedBytes) -> Vec<OfferedClass> {
    let is_around = |class: &ClassReading| {
        let inside =
            |other: &ClassReading| other.path.len() > class.path.len() && other.path.starts_with(&class.path);
        policy.classes.iter().any(inside)
    };
    // The shared queue of priority classes has no counter of offered traffic.
    let counted = |class: &&ClassReading| class.number("packets").is_some() && !is_around(class);
    let classes = policy.classes.iter().filter(counted).map(|class| {
        let number = |name: &str| class.number(name).unwrap_or(0);
        let counted = Traffic::new(number("packets"), number("bytes") as f64);
        let traffic = Traffic { bytes: counted.with_overhead(-overhead.classes).bytes.max(0.0), ..counted };
        let ip_part = if counted.bytes > 0.0 { traffic.bytes / counted.bytes } else { 1.0 };
        let printed = class.number("offered_bps").map(|bps| bps as f64);
        let dropped_bps = class.number("drop_bps").zip(printed.filter(|bps| *bps > 0.0));
        OfferedClass {
            path: class.path.clone(),
            traffic,
            dropped: dropped(class, traffic, output_of(policy, class), overhead.queues),
            rate_bps: printed.map(|bps| bps * ip_part),
            dropped_of_rate: dropped_bps.map(|(dropped, offered)| (dropped as f64 / offered).min(1.0)),
        }
    });
    classes.collect()
}

/// Returns the dropped packets of a class with the offered `traffic`. The dropped bytes are the offered bytes
/// that neither left nor wait. If `sent` (packets and bytes) is unknown, the dropped packets are assumed to
/// have the mean size of the class. A queue counts `overhead` bytes per packet in addition to IP.
fn dropped(
    class: &ClassReading,
    traffic: Traffic,
    sent: Option<(u64, u64)>,
    overhead: i32,
) -> Option<Traffic> {
    let packets = dropped_packets(class)?;
    let mean = traffic.bytes / traffic.packets.max(1) as f64;
    let bytes = match sent.filter(|_| packets > 0) {
        Some((sent, bytes)) => {
            let bytes = Traffic::new(sent, bytes as f64).with_overhead(-overhead).bytes;
            let waiting = traffic.packets.saturating_sub(packets.saturating_add(sent));
            (traffic.bytes - bytes - mean * waiting as f64).max(0.0)
        }
        None => mean * packets as f64,
    };
    Some(Traffic::new(packets, bytes))
}

/// Returns the packets that the queue, the priority policer and the policer of a class dropped; `None`
/// without such a counter, for example if several classes share a priority queue.
fn dropped_packets(class: &ClassReading) -> Option<u64> {
    let early = class.early_drops.iter().map(|row| row.random_packets.saturating_add(row.tail_packets));
    // The total of a queue already includes the drops of WRED.
    let queue = class.number("queue_drops").or_else(|| early.reduce(u64::saturating_add));
    let is_dropping = |color: &str| {
        class.actions.get(color).is_some_and(|actions| actions.iter().any(|action| action == "drop"))
    };
    let policed = ["exceeded", "violated"].into_iter().filter(|color| is_dropping(color));
    let policed = policed.filter_map(|color| class.number(&format!("{color}_packets")));
    let counters = queue.into_iter().chain(class.number("exceed_drops")).chain(policed);
    counters.reduce(u64::saturating_add)
}
