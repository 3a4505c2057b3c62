//! The rules by which queues use the memory, with their evidence.

use perhop_device::{EvidenceKind, MemoryOptions, PlatformRule, RuleValue};

use super::model::{Chip, Model};

use crate::rule_rows::{row, words};

const GUIDE: &str = "Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide, 7.x and 10.x";
const UCSC: &str = "J. Warner, Packet Buffers, people.ucsc.edu/~warner/Bufs/cisco-3064";
const OUTPUT: &str = "show policy-map and show class-map of NX-OS 10.3 in microsoft/arc-switch";

/// Returns the rules that apply to `model`.
pub(super) fn rows(model: &Model, has_dynamic_sharing: bool, options: &MemoryOptions) -> Vec<PlatformRule> {
    use EvidenceKind::{Documented, Inferred, Printed, Recalled};
    let of_chip = if model.chip == Chip::TridentPlus { UCSC } else { GUIDE };
    let (unit, certainty) = model.chip.unit_bytes();
    let factors: Vec<String> =
        model.chip.factors().iter().map(|parts| (f64::from(*parts) / 1024.0).to_string()).collect();
    let mut found = vec![
        row("unit", "size of a unit of memory, bytes", number(unit), certainty, of_chip),
        words("factors", "queue-limit dynamic 0 to 10", &factors.join(", "), Recalled, GUIDE),
        words("dynamic", "limit of a queue", "its factor times the free memory", Recalled, GUIDE),
        words("classes", "queue of a packet", "its qos-group", Printed, OUTPUT),
        words(
            "scheduler",
            "queues without priority",
            "share the rate that priority leaves, by weight",
            Documented,
            GUIDE,
        ),
        words(
            "without-share",
            "remaining percent 0",
            "the rate that the other queues leave",
            Recalled,
            GUIDE,
        ),
        words(
            "random-detect",
            "limit of a queue with random-detect",
            "the limit while all other queues are empty",
            Inferred,
            GUIDE,
        ),
        words(
            "pool",
            "ports that share the memory",
            "the ports of a module, or pool-ports neighbors",
            Inferred,
            GUIDE,
        ),
    ];
    if let Some((factor, certainty)) = model.chip.default_factor() {
        found.push(row(
            "default-factor",
            "number of a class without queue-limit",
            number(factor.into()),
            certainty,
            of_chip,
        ));
    }
    let known = model.chip.shared_units(has_dynamic_sharing);
    let by_user = options.shared_units.map(|units| (units, Inferred, "the user"));
    let shared = by_user.or_else(|| known.map(|(units, certainty)| (units, certainty, of_chip)));
    if let Some((units, certainty, source)) = shared {
        found.push(row("shared-units", "units that all queues share", number(units), certainty, source));
    }
    found
}

fn number(value: u64) -> RuleValue {
    RuleValue::Number(i64::try_from(value).unwrap_or(i64::MAX))
}
