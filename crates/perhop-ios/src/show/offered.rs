//! The offered traffic of classes, from the counters of `show policy-map interface`.

use perhop_device::show::{ClassReading, OfferedClass, PolicyReading, Traffic};

/// Returns the classes of a policy without nested classes. A class counts `overhead` bytes per packet in
/// addition to IP.
pub(super) fn offered(policy: &PolicyReading, overhead: i32) -> Vec<OfferedClass> {
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
        let traffic = Traffic { bytes: counted.with_overhead(-overhead).bytes.max(0.0), ..counted };
        let ip_part = if counted.bytes > 0.0 { traffic.bytes / counted.bytes } else { 1.0 };
        let rate_bps = class.number("offered_bps").map(|bps| bps as f64 * ip_part);
        OfferedClass { path: class.path.clone(), traffic, rate_bps }
    });
    classes.collect()
}
