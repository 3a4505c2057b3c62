//! [`Level`]: splits a `set` command that writes several statements at the same level.
//!
//! `set class-of-service schedulers S priority low buffer-size percent 10` sets two statements of one
//! scheduler (Junos CLI User Guide, "Modify the Configuration"). The words alone do not show where a
//! statement ends, so the tables contain the minimum number of values of each statement.

/// The statements of a level with the minimum number of their values.
type Statements = &'static [(&'static str, usize)];

/// Marks a statement that has a level of its own, so that all following words belong to the statement.
const OPEN: usize = usize::MAX;

const SCHEDULER: Statements = &[
    ("transmit-rate", 1),
    ("buffer-size", 1),
    ("buffer-dynamic-threshold", 1),
    ("priority", 1),
    ("excess-priority", 1),
    ("excess-rate", 1),
    ("shaping-rate", 1),
    ("drop-profile-map", 6),
    ("explicit-congestion-notification", 0),
];
const PROFILE: Statements = &[
    ("scheduler-map", 1),
    ("shaping-rate", 1),
    ("guaranteed-rate", 1),
    ("delay-buffer-rate", 1),
    ("excess-rate", 1),
    ("overhead-accounting", 1),
];
const INTERPOLATE: Statements = &[("fill-level", 1), ("drop-probability", 1)];
const THEN: Statements = &[
    ("accept", 0),
    ("discard", 0),
    ("reject", 0),
    ("next", 1),
    ("policer", 1),
    ("three-color-policer", 2),
    ("hierarchical-policer", 1),
    ("forwarding-class", 1),
    ("loss-priority", 1),
    ("dscp", 1),
    ("traffic-class", 1),
    ("count", 1),
    ("log", 0),
    ("syslog", 0),
    ("sample", 0),
    ("port-mirror", 0),
    ("routing-instance", 1),
    ("out-of-profile", 0),
];
const FROM: Statements = &[
    ("source-address", 1),
    ("destination-address", 1),
    ("address", 1),
    ("source-prefix-list", 1),
    ("destination-prefix-list", 1),
    ("prefix-list", 1),
    ("protocol", 1),
    ("next-header", 1),
    ("payload-protocol", 1),
    ("source-port", 1),
    ("destination-port", 1),
    ("port", 1),
    ("dscp", 1),
    ("traffic-class", 1),
    ("precedence", 1),
    ("forwarding-class", 1),
    ("loss-priority", 1),
    ("packet-length", 1),
    ("tcp-flags", 1),
    ("tcp-established", 0),
    ("icmp-type", 1),
    ("icmp-code", 1),
    ("fragment-offset", 1),
    ("is-fragment", 0),
    ("learn-vlan-1p-priority", 1),
    ("user-vlan-1p-priority", 1),
];
const POLICER: Statements = &[
    ("filter-specific", 0),
    ("logical-interface-policer", 0),
    ("physical-interface-policer", 0),
    ("if-exceeding", OPEN),
    ("then", OPEN),
];
const LIMITS: Statements = &[
    ("bandwidth-limit", 1),
    ("bandwidth-percent", 1),
    ("burst-size-limit", 1),
    ("pps-limit", 1),
    ("packet-burst", 1),
];
const THREE_COLOR: Statements = &[
    ("color-aware", 0),
    ("color-blind", 0),
    ("committed-information-rate", 1),
    ("committed-burst-size", 1),
    ("excess-burst-size", 1),
    ("peak-information-rate", 1),
    ("peak-burst-size", 1),
];
const INTERFACE: Statements = &[
    ("description", 1),
    ("disable", 0),
    ("mtu", 1),
    ("speed", 1),
    ("encapsulation", 1),
    ("vlan-tagging", 0),
    ("flexible-vlan-tagging", 0),
    ("stacked-vlan-tagging", 0),
    ("per-unit-scheduler", 0),
    ("shared-scheduler", 0),
    ("hierarchical-scheduler", 0),
    ("unit", OPEN),
];
const UNIT: Statements = &[
    ("description", 1),
    ("disable", 0),
    ("vlan-id", 1),
    ("bandwidth", 1),
    ("encapsulation", 1),
    ("family", OPEN),
];
/// An interface or a unit below `class-of-service`.
const ATTACHED: Statements = &[
    ("scheduler-map", 1),
    ("shaping-rate", 1),
    ("forwarding-class", 1),
    ("input-traffic-control-profile", 1),
    ("output-traffic-control-profile", 1),
    ("output-traffic-control-profile-remaining", 1),
    ("classifiers", OPEN),
    ("rewrite-rules", OPEN),
    ("unit", OPEN),
];

/// Returns the statements of the level at `path`, if a command can write several.
fn statements(path: &[&str]) -> Option<Statements> {
    let is_attached = || path.contains(&"class-of-service");
    Some(match path {
        [.., "schedulers", _] if is_attached() => SCHEDULER,
        [.., "traffic-control-profiles", _] => PROFILE,
        [.., "interpolate"] => INTERPOLATE,
        [.., "term" | "policer", _, "then"] => THEN,
        [.., "term", _, "from"] => FROM,
        [.., "if-exceeding" | "if-exceeding-pps"] => LIMITS,
        [.., "three-color-policer", _, "single-rate" | "two-rate"] => THREE_COLOR,
        ["firewall", .., "policer", _] if !path.contains(&"term") => POLICER,
        [.., "interfaces" | "unit", _] if is_attached() => ATTACHED,
        ["interfaces", _] | ["groups", _, "interfaces", _] => INTERFACE,
        [.., "unit", _] => UNIT,
        _ => return None,
    })
}

/// The place of a word in a command: its level, and the statement before it.
#[derive(Debug, Default)]
pub(crate) struct Level {
    /// The words before the statements, and the statements.
    around: Option<(usize, Statements)>,
    /// The minimum number of values of the current statement, and the number of values so far.
    values: Option<(usize, usize)>,
}

impl Level {
    /// Adds `word` after the words of `path`. If `word` begins the next statement of the level, returns the
    /// number of words before the level.
    pub(crate) fn next(&mut self, path: &[&str], word: &str) -> Option<usize> {
        let least = |known: Statements| {
            known.iter().find(|(statement, _)| *statement == word).map(|(_, least)| *least)
        };
        if let Some((length, known)) = self.around
            && self.values.is_some_and(|(needed, found)| found >= needed)
            && let Some(needed) = least(known)
        {
            self.values = Some((needed, 0));
            return Some(length);
        }
        match statements(path) {
            Some(known) => {
                self.around = Some((path.len(), known));
                self.values = least(known).map(|needed| (needed, 0));
            }
            None => {
                if let Some((_, found)) = &mut self.values {
                    *found += 1;
                }
            }
        }
        None
    }

    /// Treats a list in brackets as all values of its statement.
    pub(crate) fn close_list(&mut self) {
        if let Some((needed, found)) = &mut self.values
            && *needed != OPEN
        {
            *found = *needed;
        }
    }
}
