//! The rules by which the switch divides the memory, with their evidence.

use perhop_device::{EvidenceKind, MemoryOptions, PlatformRule, RuleValue};

use super::model::{Chip, Model, UNIT_BYTES};

use crate::rule_rows::{row, words};

const TAC: &str = "Cisco TAC 200594, Catalyst 3850: troubleshooting output drops";
const GUIDE: &str = "Cisco EasyQoS guide for Catalyst 3850 and 9000";
const STATS: &str = "GlobalSoftLimit of show platform hardware fed … qos queue stats in genieparser";
const OUTPUTS: &str = "show platform hardware fed … qos queue config in genieparser";

/// Returns the rules that apply to `model`.
pub(super) fn rows(model: &Model, options: &MemoryOptions) -> Vec<PlatformRule> {
    use EvidenceKind::{Documented, Inferred, Printed, Recalled};
    let unit = RuleValue::Number(i64::try_from(UNIT_BYTES).expect("small"));
    let mut found = vec![
        row("unit", "size of a unit of memory, bytes", unit, Documented, "Cisco TAC 218444"),
        words("port-units", "memory of a port", "300 units at 1 Gb/s, 1800 at 10 Gb/s", Documented, TAC),
        words("default-split", "parts without a policy", "40 % for control packets, 60 %", Documented, TAC),
        words("ceiling", "soft part of a queue without thresholds", "400 % of its part", Documented, TAC),
        words("multiplier", "queues that it scales", "all except priority level 1", Documented, GUIDE),
        words("ratio", "part of a class", "its percentage of the port", Documented, GUIDE),
        words("open-ratio", "part of a class without ratio", "equal shares of the rest", Recalled, GUIDE),
        words("hard", "queues with a reserved part", "priority queues", Documented, GUIDE),
        words("level-1", "limit of priority level 1", "its reserved part", Recalled, GUIDE),
        words("thresholds", "lower thresholds by default", "51/64 and 57/64 of the upper", Printed, OUTPUTS),
        words(
            "third-threshold",
            "ceiling of a class with three thresholds",
            "the highest percentage",
            Documented,
            GUIDE,
        ),
        words("percent-limit", "rounding of a percentage", "down to 64ths", Inferred, OUTPUTS),
        words("soft-start", "usage above which limits decrease", "0.9 of all soft parts", Printed, OUTPUTS),
        words("soft-end", "usage at which limits are minimal", "1.2 of all soft parts", Printed, OUTPUTS),
    ];
    let port_minimum = match model.chip {
        Chip::Uadp1 => Some("2/3 before the multiplier"),
        Chip::Uadp2 => Some("19/32 before the multiplier"),
        Chip::Uadp2Xl => Some("17/32 before the multiplier"),
        // No output of these chips is published.
        Chip::Uadp2Mini | Chip::Uadp3 => None,
    };
    found.extend(
        port_minimum.map(|value| words("port-minimum", "smallest soft part", value, Printed, OUTPUTS)),
    );
    found.extend(run_rows(model, options));
    if !matches!(model.chip, Chip::Uadp1) {
        let row = found.iter_mut().find(|row| row.rule == "port-units").expect("it is a row");
        row.value = RuleValue::Word(model.published_units());
        row.certainty = Inferred;
        row.source = format!("Hardmax of queue 0 is 40 %: {OUTPUTS}; 1 Gb/s is recalled");
    }
    found
}

/// Returns the rules that only a simulation uses.
fn run_rows(model: &Model, options: &MemoryOptions) -> Vec<PlatformRule> {
    use EvidenceKind::{Documented, Inferred};
    let (units, certainty) = model.chip.shared_units();
    let shared = |units: u64| RuleValue::Number(i64::try_from(units).unwrap_or(i64::MAX));
    let mut found = vec![
        row("shared-units", "units that the soft parts of all ports share", shared(units), certainty, STATS),
        words("fall", "limit between soft-start and soft-end", "decreases linearly", Inferred, OUTPUTS),
        words("unmarked", "threshold of packets that no line names", "the last threshold", Inferred, OUTPUTS),
        words(
            "default-weights",
            "shares of the two queues without a policy",
            "40 and 60 %",
            Inferred,
            OUTPUTS,
        ),
        words(
            "scheduler",
            "queues without priority",
            "share the rate that priority leaves, by weight",
            Documented,
            GUIDE,
        ),
        words(
            "pool",
            "ports that share the memory",
            "the ports of a module, or pool-ports neighbors",
            Inferred,
            OUTPUTS,
        ),
        words(
            "device",
            "a port that trusts a device",
            "the device is connected",
            Inferred,
            "the configuration",
        ),
        words("random-detect", "base of percentages", "the ceiling of the queue", Inferred, OUTPUTS),
    ];
    if let Some(units) = options.shared_units {
        found[0] = row("shared-units", found[0].meaning, shared(units), Inferred, "the user");
    }
    found
}
