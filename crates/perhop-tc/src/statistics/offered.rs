//! The offered traffic of classes, from the counters of `tc -s class show`, otherwise of `tc -s qdisc show`.

use perhop_device::show::{ClassReading, OfferedClass, PolicyReading, Traffic};

use super::reading::ROOT;

/// The prefix of the name of a discipline in a class.
const QDISC: &str = "qdisc ";

/// Returns the classes of a device that have no inner classes, with sent and dropped traffic. The bytes of
/// dropped packets follow from the mean size of sent packets. A device counts `overhead` bytes per packet in
/// addition to IP.
pub(super) fn offered(policy: &PolicyReading, overhead: i32) -> Vec<OfferedClass> {
    let (disciplines, classes): (Vec<&ClassReading>, Vec<&ClassReading>) =
        policy.classes.iter().partition(|class| class.path[0] == ROOT);
    let is_around = |class: &&ClassReading| {
        classes.iter().any(|other| other.path.len() > class.path.len() && other.path.starts_with(&class.path))
    };
    let leaves: Vec<&ClassReading> = classes.iter().filter(|class| !is_around(class)).copied().collect();
    let is_counted = |class: &&ClassReading| class.number("sent_packets").is_some();
    if leaves.iter().any(is_counted) {
        let counted = leaves.into_iter().filter(is_counted);
        return counted.map(|class| offered_class(class.path.clone(), class, overhead)).collect();
    }
    // The disciplines of the classes have the counters. For a device without classes, the root has the
    // counters.
    let of_classes = disciplines.iter().filter_map(|discipline| {
        let class = discipline.path.get(1)?.strip_prefix(QDISC)?;
        Some(offered_class(vec![class.to_owned()], discipline, overhead))
    });
    let found: Vec<OfferedClass> = of_classes.collect();
    if found.is_empty() {
        let root =
            disciplines.iter().filter(|discipline| discipline.path.len() == 1 && is_counted(discipline));
        return root.map(|qdisc| offered_class(Vec::new(), qdisc, overhead)).collect();
    }
    found
}

fn offered_class(path: Vec<String>, class: &ClassReading, overhead: i32) -> OfferedClass {
    let number = |name: &str| class.number(name).unwrap_or(0);
    // Packets that wait do not count as offered, because other packets waited when the counting began.
    let sent = Traffic::new(number("sent_packets"), number("sent_bytes") as f64);
    let packets = number("queue_drops");
    let dropped = Traffic::new(packets, packets as f64 * sent.bytes / sent.packets.max(1) as f64);
    let all = sent + dropped;
    let traffic = Traffic { bytes: all.with_overhead(-overhead).bytes.max(0.0), ..all };
    OfferedClass {
        path,
        traffic,
        dropped: Some(dropped.with_overhead(-overhead)),
        rate_bps: None,
        dropped_of_rate: None,
    }
}
