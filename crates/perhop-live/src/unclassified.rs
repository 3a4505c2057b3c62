//! The warning about a direction on which many frames bypass the port, because the policy does not apply to
//! these frames.

use perhop_qos::conditioner::Count;

use crate::forwarder::Kind;
use crate::report::DirectionReport;

/// There is a warning about a direction if the frames that bypass the port exceed this fraction of its bytes
/// or of its configured rate.
const SHARE: f64 = 0.01;
/// The rate, bits per second, below which such frames do not cause a warning, even on a link without other
/// traffic. Frames of ARP and spanning tree have lower rates, for example 60 bytes every two seconds.
const HOUSEKEEPING: f64 = 10_000.0;
/// The maximum number of kinds that a warning names.
const NAMED: usize = 3;

/// Names of common Ethernet types (IEEE 802 numbers, IANA).
const NAMES: [(u16, &str); 14] = [
    (0x0806, "ARP"),
    (0x8035, "RARP"),
    (0x8137, "IPX"),
    (0x8809, "slow protocols"),
    (0x8847, "MPLS"),
    (0x8848, "MPLS"),
    (0x8863, "PPPoE discovery"),
    (0x8864, "PPPoE session"),
    (0x888e, "IEEE 802.1X"),
    (0x88cc, "LLDP"),
    (0x88e5, "MACsec"),
    (0x88e7, "IEEE 802.1ah"),
    (0x88f7, "PTP"),
    (0x9000, "loopback"),
];

impl Kind {
    /// Name in results.
    pub(crate) fn name(self) -> String {
        match self {
            Kind::Type(number) => match NAMES.iter().find(|(known, _)| *known == number) {
                Some((_, name)) => format!("{name} (0x{number:04x})"),
                None => format!("0x{number:04x}"),
            },
            Kind::Llc => "LLC".to_owned(),
            Kind::Other => "others".to_owned(),
        }
    }
}

/// The warning about `direction`, whose counters cover `seconds`; `None` if few frames bypassed the port.
pub(crate) fn warning(direction: &DirectionReport, seconds: f64) -> Option<String> {
    let passed: u64 = direction.passed.values().map(|count| count.bytes).sum();
    let sent: u64 = direction.queues.iter().map(|queue| queue.sent.bytes).sum();
    let share = passed as f64 / ((passed + sent) as f64).max(1.0);
    let rate = passed as f64 * 8.0 / seconds.max(f64::MIN_POSITIVE);
    let of_rate = rate / direction.rate.as_bits_per_second() as f64;
    if of_rate <= SHARE && (share <= SHARE || rate <= HOUSEKEEPING) {
        return None;
    }
    let mut kinds: Vec<(&String, &Count)> = direction.passed.iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(count.bytes));
    let mut names: Vec<&str> = kinds.iter().take(NAMED).map(|(name, _)| name.as_str()).collect();
    if kinds.len() > NAMED {
        names.push("and others");
    }
    Some(format!(
        "{:.1} % of the bytes of {}, {} at a rate of {}, bypassed the policy: frames without an IP packet \
         ({})",
        share * 100.0,
        direction.name,
        bits_per_second(rate),
        bits_per_second(direction.rate.as_bits_per_second() as f64),
        names.join(", ")
    ))
}

/// Formats a rate.
fn bits_per_second(rate: f64) -> String {
    let units = [(1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")];
    let (unit, name) = units.into_iter().find(|(unit, _)| rate >= *unit).unwrap_or((1.0, "b/s"));
    format!("{:.1} {name}", rate / unit)
}

#[cfg(test)]
mod tests {
    use perhop_qos::units::Rate;

    use super::*;

    fn direction(rate: u64, passed: &[(u16, u64)]) -> DirectionReport {
        let text = r#"{"name": "in->out", "queues": [{"queue": "fifo", "precedence": 0,
            "arrived": {"packets": 0, "bytes": 0}, "sent": {"packets": 1000, "bytes": 1000000},
            "marked": {"packets": 0, "bytes": 0}, "dropped": {}}], "unqueued": {}, "beyond": {},
            "output": [], "input": [], "backlog": 0, "in-flight": 0}"#;
        let mut direction: DirectionReport = serde_json::from_str(text).expect("well-formed");
        direction.rate = Rate::from_bits_per_second(rate);
        let count = |bytes| Count { packets: bytes / 100, bytes };
        direction.passed =
            passed.iter().map(|(kind, bytes)| (Kind::Type(*kind).name(), count(*bytes))).collect();
        direction
    }

    #[test]
    fn more_than_a_hundredth_of_the_bytes_raises_a_warning_with_the_kinds() {
        assert_eq!(warning(&direction(1_000_000_000, &[(0x8864, 10_000)]), 1.0), None);
        let text = warning(&direction(1_000_000_000, &[(0x8864, 200_000), (0x1234, 50_000)]), 1.0);
        let text = text.expect("a fifth of the bytes");
        assert!(text.contains("20.0 % of the bytes of in->out, 2.0 Mb/s at a rate of 1.0 Gb/s"), "{text}");
        assert!(text.ends_with("(PPPoE session (0x8864), 0x1234)"), "{text}");
    }
    #[test]
    fn more_than_a_hundredth_of_the_rate_raises_a_warning() {
        // 9,000 bytes in 10 s are less than 1 % of the million bytes. The rate, 7.2 kb/s, is more than 1 % of
        // 500 kb/s and less than 1 % of 1 Mb/s.
        assert!(warning(&direction(500_000, &[(0x8847, 9_000)]), 10.0).is_some());
        assert_eq!(warning(&direction(1_000_000, &[(0x8847, 9_000)]), 10.0), None);
    }
    #[test]
    fn keepalives_of_an_idle_line_raise_no_warning() {
        let mut idle = direction(1_000_000, &[(0x0806, 3_000)]);
        idle.queues.clear();
        assert_eq!(warning(&idle, 100.0), None);
    }
}
