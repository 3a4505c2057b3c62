//! [`compare`]: compares the counters of a device with the counters of a run, class by class.

use serde::Serialize;
use serde_json::Value;

use super::measured::{Part, measured};
use super::reading::{ClassReading, PolicyReading};
use crate::intent::Direction;

/// The configured numbers that are compared: key, words for messages, unit, and the meaning of a missing
/// number.
const CONFIGURED: [(&str, &str, &str, Missing); 26] = [
    ("limit_packets", "queue limit", "packets", Missing::NotPrinted),
    ("limit_bytes", "queue limit", "bytes", Missing::NotPrinted),
    ("limit_us", "queue limit", "us", Missing::NotPrinted),
    ("limit_ms", "queue limit", "ms", Missing::NotPrinted),
    ("flow_limit_packets", "queue limit of a flow", "packets", Missing::Different),
    ("shape_cir_bps", "shape cir", "b/s", Missing::Different),
    ("shape_bc_bits", "shape bc", "bits", Missing::Different),
    ("shape_be_bits", "shape be", "bits", Missing::Different),
    ("shape_target_bps", "target shape rate", "b/s", Missing::Different),
    ("bandwidth_percent", "bandwidth", "%", Missing::NotPrinted),
    ("bandwidth_kbps", "bandwidth", "kb/s", Missing::Different),
    ("remaining_percent", "bandwidth remaining", "%", Missing::Different),
    ("remaining_ratio", "bandwidth remaining ratio", "", Missing::Different),
    ("priority_percent", "priority", "%", Missing::NotPrinted),
    ("priority_kbps", "priority", "kb/s", Missing::Different),
    ("priority_burst_bytes", "priority burst", "bytes", Missing::Different),
    ("priority_level", "priority level", "", Missing::NotPrinted),
    ("police_percent", "police", "%", Missing::NotPrinted),
    ("police_cir_bps", "police cir", "b/s", Missing::Different),
    ("police_bc_bytes", "police bc", "bytes", Missing::Different),
    ("police_pir_bps", "police pir", "b/s", Missing::Different),
    ("police_be_bytes", "police be", "bytes", Missing::Different),
    ("exponent", "WRED exponent", "", Missing::NotPrinted),
    ("rate_bps", "rate", "b/s", Missing::Different),
    ("ceiling_bps", "ceiling", "b/s", Missing::Different),
    ("quantum_bytes", "quantum", "bytes", Missing::NotPrinted),
];
/// The rounding of printed rates, bits per second: devices print whole kilobits.
const ROUNDING_BPS: f64 = 1000.0;

/// The meaning of a configured number that one side lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// The device has another configuration.
    Different,
    /// The device does not always print the number.
    NotPrinted,
}

/// The tolerances for differences between measured numbers. Smaller differences do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// The tolerance for rates and packet sizes, percent of the value of the device.
    pub percent: f64,
    /// The tolerance for shares, percentage points.
    pub points: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Agrees,
    Differs,
    NotComparable,
}

/// The values of one quantity of a class, printed by the device and by the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Row {
    class: String,
    quantity: String,
    unit: &'static str,
    kind: Part,
    router: Value,
    simulated: Value,
    /// The largest difference that counts as equal, in `unit`.
    tolerance: f64,
    verdict: Verdict,
}

/// The comparison of a policy of the device with the same policy of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct ComparedPolicy {
    interface: String,
    side: Direction,
    policy: String,
    agrees: bool,
    only_router: Vec<String>,
    only_simulated: Vec<String>,
    rows: Vec<Row>,
}

/// The number of rows with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Figures {
    agrees: usize,
    differs: usize,
    not_comparable: usize,
}

/// The number of rows by part and verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Parts {
    configured: Figures,
    load: Figures,
    behavior: Figures,
}

/// The comparison of the policies in the output of a device with the policies of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    schema_version: u32,
    agrees: bool,
    figures: Figures,
    /// The number of rows by part and verdict.
    parts: Parts,
    /// Policies of the device that the run does not have.
    missing: Vec<String>,
    policies: Vec<ComparedPolicy>,
}

/// Compares the policies of a device with the policies of a run. The function searches the policy at the
/// interface of the same name, and then at any interface.
pub fn compare(router: &[PolicyReading], run: &[PolicyReading], tolerances: Tolerances) -> Comparison {
    let (mut policies, mut missing) = (Vec::new(), Vec::new());
    for policy in router {
        let same =
            || run.iter().filter(|reading| (reading.side, &reading.name) == (policy.side, &policy.name));
        let at = same().find(|reading| reading.interface.eq_ignore_ascii_case(&policy.interface));
        match at.or_else(|| same().next()) {
            Some(found) => policies.push(compared(policy, found, tolerances)),
            None => missing.push(place(policy)),
        }
    }
    let rows = || policies.iter().flat_map(|policy: &ComparedPolicy| &policy.rows);
    let figures = |is_meant: &dyn Fn(Part) -> bool| {
        let count = |verdict| rows().filter(|row| row.verdict == verdict && is_meant(row.kind)).count();
        Figures {
            agrees: count(Verdict::Agrees),
            differs: count(Verdict::Differs),
            not_comparable: count(Verdict::NotComparable),
        }
    };
    let of_part = |part: Part| figures(&|kind| kind == part);
    Comparison {
        schema_version: 1,
        agrees: missing.is_empty() && policies.iter().all(|policy| policy.agrees),
        figures: figures(&|_| true),
        parts: Parts {
            configured: of_part(Part::Configured),
            load: of_part(Part::Load),
            behavior: of_part(Part::Behavior),
        },
        missing,
        policies,
    }
}

fn place(policy: &PolicyReading) -> String {
    let side = match policy.side {
        Direction::Input => "input",
        Direction::Output => "output",
    };
    format!("{} {side} {}", policy.interface, policy.name)
}

fn compared(router: &PolicyReading, run: &PolicyReading, tolerances: Tolerances) -> ComparedPolicy {
    let mut rows = Vec::new();
    for class in &router.classes {
        if let Some(other) = run.classes.iter().rfind(|candidate| candidate.path == class.path) {
            add_configured(class, other, &mut rows);
            add_early_drops(class, other, &mut rows);
            add_measured((router, class), (run, other), tolerances, &mut rows);
        }
    }
    let only = |policy: &PolicyReading, other: &PolicyReading| -> Vec<String> {
        let is_there = |class: &&ClassReading| !other.classes.iter().any(|own| own.path == class.path);
        policy.classes.iter().filter(is_there).map(ClassReading::name).collect()
    };
    let (only_router, only_simulated) = (only(router, run), only(run, router));
    let is_whole = only_router.is_empty() && only_simulated.is_empty();
    ComparedPolicy {
        interface: router.interface.clone(),
        side: router.side,
        policy: router.name.clone(),
        agrees: is_whole && rows.iter().all(|row| row.verdict != Verdict::Differs),
        only_router,
        only_simulated,
        rows,
    }
}

fn add_configured(router: &ClassReading, run: &ClassReading, rows: &mut Vec<Row>) {
    for (key, words, unit, missing) in CONFIGURED {
        let values = (router.number(key), run.number(key));
        if values != (None, None) {
            rows.push(exact(router, words.to_owned(), unit, values, missing));
        }
    }
}

fn exact(
    class: &ClassReading,
    quantity: String,
    unit: &'static str,
    (router, simulated): (Option<u64>, Option<u64>),
    missing: Missing,
) -> Row {
    let is_partial = router.is_none() || simulated.is_none();
    let verdict = match missing {
        Missing::NotPrinted if is_partial => Verdict::NotComparable,
        _ if router == simulated => Verdict::Agrees,
        _ => Verdict::Differs,
    };
    Row {
        class: class.name(),
        quantity,
        unit,
        kind: Part::Configured,
        router: router.into(),
        simulated: simulated.into(),
        tolerance: 0.0,
        verdict,
    }
}

fn add_early_drops(router: &ClassReading, run: &ClassReading, rows: &mut Vec<Row>) {
    for early_drop in &router.early_drops {
        let Some(other) = run.early_drops.iter().find(|other| other.value == early_drop.value) else {
            continue;
        };
        for (words, pair) in [
            ("minimum", (early_drop.min, other.min)),
            ("maximum", (early_drop.max, other.max)),
            ("mark denominator", (early_drop.mark_denominator, other.mark_denominator)),
        ] {
            let words = format!("WRED {} {words}", early_drop.value);
            rows.push(exact(router, words, "", (Some(pair.0), Some(pair.1)), Missing::Different));
        }
    }
}

fn add_measured(
    (policy, class): (&PolicyReading, &ClassReading),
    (run, other): (&PolicyReading, &ClassReading),
    tolerances: Tolerances,
    rows: &mut Vec<Row>,
) {
    let simulated = measured(run, other);
    for value in measured(policy, class) {
        let is_same =
            |other: &&super::measured::Measured| (&other.words, other.unit) == (&value.words, value.unit);
        let Some(other) = simulated.iter().find(is_same) else { continue };
        let tolerance = if value.unit == "%" {
            tolerances.points
        } else {
            let rounding = if value.unit == "b/s" { ROUNDING_BPS } else { 0.0 };
            (tolerances.percent / 100.0 * value.value).max(rounding)
        };
        let is_near = (other.value - value.value).abs() <= tolerance;
        rows.push(Row {
            class: class.name(),
            quantity: value.words,
            unit: value.unit,
            kind: value.part,
            router: value.value.into(),
            simulated: other.value.into(),
            tolerance,
            verdict: if is_near { Verdict::Agrees } else { Verdict::Differs },
        });
    }
}
