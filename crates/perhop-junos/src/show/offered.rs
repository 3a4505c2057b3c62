//! The offered traffic of classes, from the counters of `show interfaces queue`.

use perhop_device::show::{ClassReading, OfferedClass, PolicyReading, Traffic};

/// Returns the classes of an interface with the packets that arrived for their queues, in IP bytes. The
/// device counts `overhead` bytes per packet in addition to IP.
pub(super) fn offered(policy: &PolicyReading, overhead: i32) -> Vec<OfferedClass> {
    // Rows of filters are not queues.
    let queues = policy.classes.iter().filter(|class| class.number("queue").is_some());
    queues.filter_map(|class| offered_class(class, overhead)).collect()
}

fn offered_class(class: &ClassReading, overhead: i32) -> Option<OfferedClass> {
    let traffic =
        |packets: &str, bytes: &str| Some(Traffic::new(class.number(packets)?, class.number(bytes)? as f64));
    // Some devices do not count queued packets. The sum of sent and dropped packets replaces them, where
    // dropped packets have the mean size of sent packets.
    let counted = traffic("packets", "bytes").or_else(|| {
        let sent = traffic("sent_packets", "sent_bytes")?;
        let dropped = class.number("queue_drops").unwrap_or(0);
        let bytes = dropped as f64 * sent.bytes / sent.packets.max(1) as f64;
        Some(sent + Traffic::new(dropped, bytes))
    })?;
    let rate = class.number("offered_bps").zip(class.number("offered_pps"));
    let ip = |(bps, pps): (u64, u64)| (bps as f64 - 8.0 * f64::from(overhead) * pps as f64).max(0.0);
    let bytes = counted.with_overhead(-overhead).bytes.max(0.0);
    let mean = bytes / counted.packets.max(1) as f64;
    Some(OfferedClass {
        path: class.path.clone(),
        traffic: Traffic { bytes, ..counted },
        dropped: class.number("queue_drops").map(|packets| Traffic::new(packets, mean * packets as f64)),
        rate_bps: rate.map(ip),
        dropped_of_rate: None,
    })
}
