//! All rules. The page of each is the file of its name in `rules/`.

use crate::rule::{Rule, Severity};

macro_rules! rules {
    ($($name:ident = $id:literal $severity:ident;)*) => {
        $(
            #[doc = concat!("`", $id, "`: see `rules/", $id, ".md`.")]
            pub static $name: Rule = Rule {
                id: $id,
                severity: Severity::$severity,
                page: include_str!(concat!("../rules/", $id, ".md")),
            };
        )*
        /// All rules, in the order in which they are listed.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    CLASS_MAP_UNDEFINED = "class-map-undefined" Error;
    POLICY_MAP_UNDEFINED = "policy-map-undefined" Error;
    ACCESS_LIST_UNDEFINED = "access-list-undefined" Error;
    OBJECT_GROUP_UNDEFINED = "object-group-undefined" Error;
    TABLE_MAP_UNDEFINED = "table-map-undefined" Error;
    INTERFACE_UNDEFINED = "interface-undefined" Error;
    CLASS_MAP_UNUSED = "class-map-unused" Note;
    POLICY_MAP_UNUSED = "policy-map-unused" Note;
    CLASS_MAP_NESTING = "class-map-nesting" Error;
    CLASS_MAP_EMPTY = "class-map-empty" Warning;
    CLASS_CONTRADICTORY = "class-contradictory" Warning;
    CLASS_SHADOWED = "class-shadowed" Warning;
    CLASS_WITHOUT_TRAFFIC = "class-without-traffic" Note;
    CLASSES_OVERLAP = "classes-overlap" Note;
    CLASS_MAP_REDEFINED = "class-map-redefined" Warning;
    CLASS_DEFAULT_DEFINED = "class-default-defined" Error;
    CRITERION_NOT_MODELLED = "criterion-not-modelled" Warning;
    VLAN_MATCH_WITHOUT_VLAN = "vlan-match-without-vlan" Warning;
    COS_MATCH_ON_OUTPUT = "cos-match-on-output" Warning;
    COS_MATCH_UNTAGGED = "cos-match-untagged" Warning;
    CLASSIFICATION_BEHIND_ENCRYPTION = "classification-behind-encryption" Warning;
    CONDITIONS_TOO_COMPLEX = "conditions-too-complex" Note;
    RESERVED_ABOVE_LIMIT = "reserved-above-limit" Error;
    PROMISED_ABOVE_RATE = "promised-above-rate" Error;
    BANDWIDTH_UNITS_MIXED = "bandwidth-units-mixed" Error;
    BANDWIDTH_INSIDE_QUEUES = "bandwidth-inside-queues" Error;
    BANDWIDTH_UNKNOWN = "bandwidth-unknown" Warning;
    CLASS_STARVES = "class-starves" Warning;
    PRIORITY_UNBOUNDED = "priority-unbounded" Warning;
    PRIORITY_ABOVE_THIRD = "priority-above-third" Note;
    SHAPE_ABOVE_INTERFACE = "shape-above-interface" Warning;
    NESTED_PERCENT = "nested-percent" Note;
    WIRE_OVERBOOKED = "wire-overbooked" Warning;
    PRIORITY_WITH_BANDWIDTH = "priority-with-bandwidth" Error;
    PRIORITY_IN_CLASS_DEFAULT = "priority-in-class-default" Error;
    PRIORITY_LEVEL = "priority-level" Error;
    PRIORITY_WITH_WRED = "priority-with-wred" Error;
    PRIORITY_WITH_FAIR_QUEUE = "priority-with-fair-queue" Error;
    POLICE_PEAK_BELOW_COMMITTED = "police-peak-below-committed" Error;
    POLICE_BURST_BELOW_PACKET = "police-burst-below-packet" Warning;
    POLICE_BURST_SMALL = "police-burst-small" Note;
    RATE_LIMIT_EXTENDED_BURST = "rate-limit-extended-burst" Error;
    RATE_LIMIT_BESIDE_POLICY = "rate-limit-beside-policy" Warning;
    EXCEED_REORDERS = "exceed-reorders" Warning;
    SHAPE_BURST_RANGE = "shape-burst-range" Error;
    WRED_THRESHOLDS_CROSSED = "wred-thresholds-crossed" Error;
    WRED_UNITS_MIXED = "wred-units-mixed" Error;
    WRED_WITHOUT_QUEUE = "wred-without-queue" Error;
    WRED_MAX_ABOVE_LIMIT = "wred-max-above-limit" Warning;
    WRED_PRECEDENCE_ORDER = "wred-precedence-order" Warning;
    WRED_AVERAGE_SLOW = "wred-average-slow" Note;
    RED_UNGUARDED = "red-unguarded" Warning;
    QUEUE_DELAY = "queue-delay" Note;
    QUEUE_LIMIT_WITHOUT_QUEUE = "queue-limit-without-queue" Error;
    VALUE_LIMIT_IGNORED = "value-limit-ignored" Warning;
    RING_DELAY = "ring-delay" Warning;
    DSCP_AND_PRECEDENCE_SET = "dscp-and-precedence-set" Error;
    MARK_IN_WRONG_DIRECTION = "mark-in-wrong-direction" Warning;
    MARKED_THEN_CLASSIFIED = "marked-then-classified" Warning;
    MARK_UNUSUAL = "mark-unusual" Note;
    MARK_NEVER_MATCHED = "mark-never-matched" Note;
    NQB_MAY_GET_PRIORITY = "nqb-may-get-priority" Note;
    NQB_GETS_PRIORITY = "nqb-gets-priority" Warning;
    NQB_REMARKED = "nqb-remarked" Warning;
    ACCESS_ENTRY_SHADOWED = "access-entry-shadowed" Warning;
    ACCESS_ENTRY_REPEATED = "access-entry-repeated" Error;
    ACCESS_LIST_KIND = "access-list-kind" Error;
    OBJECT_GROUP_TOO_LARGE = "object-group-too-large" Warning;
    ADDRESS_REPEATED = "address-repeated" Error;
    SECOND_POLICY = "second-policy" Error;
    QUEUEING_ON_INPUT = "queueing-on-input" Error;
    QUEUEING_ON_SUBINTERFACE = "queueing-on-subinterface" Error;
    POLICY_TOO_DEEP = "policy-too-deep" Error;
    TOO_MANY_CLASSES = "too-many-classes" Error;
    POLICY_SHARED_BY_SUBINTERFACES = "policy-shared-by-subinterfaces" Warning;
    CIRCUIT_NOT_ATM = "circuit-not-atm" Error;
    CIRCUIT_RATES_CROSSED = "circuit-rates-crossed" Error;
    CIRCUIT_WITHOUT_RATE = "circuit-without-rate" Error;
    HEADERS_UNUSABLE = "headers-unusable" Warning;
    INTERLEAVE_WITHOUT_PRIORITY = "interleave-without-priority" Warning;
    FRAGMENTS_ON_FAST_LINK = "fragments-on-fast-link" Warning;
    COMMAND_UNKNOWN = "command-unknown" Warning;
    COMMAND_NOT_MODELLED = "command-not-modelled" Warning;
    LITTLE_RECOGNIZED = "little-recognized" Warning;
    PLATFORM_NOT_SUPPORTED = "platform-not-supported" Error;
    PLATFORM_WITHOUT_EFFECT = "platform-without-effect" Note;
    SCENARIO_INVALID = "scenario-invalid" Error;
    SCENARIO_DOUBTFUL = "scenario-doubtful" Warning;
    TC_COMMAND_REFUSED = "tc-command-refused" Error;
    TC_RATE_IN_BYTES = "tc-rate-in-bytes" Warning;
    TC_LONG_PACKETS_DROPPED = "tc-long-packets-dropped" Warning;
    TC_UNCLASSIFIED_DROPPED = "tc-unclassified-dropped" Warning;
    TC_UNCLASSIFIED_DIRECT = "tc-unclassified-direct" Warning;
    TC_FILTER_WITHOUT_CLASS = "tc-filter-without-class" Warning;
    TC_FILTER_ORDER = "tc-filter-order" Note;
    TC_ECN_BITS_MATCHED = "tc-ecn-bits-matched" Warning;
    TC_OPTION_OVERRIDDEN = "tc-option-overridden" Warning;
    TC_PRIORITY_BY_TOS = "tc-priority-by-tos" Note;
    TC_POLICE_WITHOUT_ACTION = "tc-police-without-action" Warning;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_differ_and_pages_are_complete() {
        let names: BTreeSet<&str> = ALL.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), ALL.len());
        for rule in ALL {
            assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
            assert!(rule.page.starts_with(&format!("# {}\n\n", rule.id)), "{}", rule.id);
            for part in ["Why", "Source", "Remedy"] {
                assert!(rule.page.contains(&format!("\n## {part}\n\n")), "{}: {part}", rule.id);
            }
        }
    }
}
