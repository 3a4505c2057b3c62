//! The rules of this language, and the vendor-neutral rules that this crate applies.

pub(crate) use perhop_lint::rules::{
    CLASS_CONTRADICTORY, CLASS_SHADOWED, CLASSES_OVERLAP, CONDITIONS_TOO_COMPLEX,
};
use perhop_lint::{Rule, declare_rules};

declare_rules! {
    CLASS_MAP_UNDEFINED = "class-map-undefined" Error;
    POLICY_MAP_UNDEFINED = "policy-map-undefined" Error;
    ACCESS_LIST_UNDEFINED = "access-list-undefined" Warning;
    OBJECT_GROUP_UNDEFINED = "object-group-undefined" Error;
    TABLE_MAP_UNDEFINED = "table-map-undefined" Error;
    INTERFACE_UNDEFINED = "interface-undefined" Error;
    NAME_UNDEFINED = "name-undefined" Warning;
    CLASS_MAP_UNUSED = "class-map-unused" Note;
    POLICY_MAP_UNUSED = "policy-map-unused" Note;
    CLASS_MAP_NESTING = "class-map-nesting" Error;
    CLASS_MAP_EMPTY = "class-map-empty" Warning;
    CLASS_MAP_REDEFINED = "class-map-redefined" Warning;
    CLASS_DEFAULT_DEFINED = "class-default-defined" Error;
    CRITERION_SHADOWED = "criterion-shadowed" Note;
    CRITERION_NOT_MODELLED = "criterion-not-modelled" Warning;
    VLAN_MATCH_WITHOUT_VLAN = "vlan-match-without-vlan" Warning;
    COS_MATCH_ON_OUTPUT = "cos-match-on-output" Warning;
    COS_MATCH_UNTAGGED = "cos-match-untagged" Warning;
    CLASSIFICATION_BEHIND_ENCRYPTION = "classification-behind-encryption" Warning;
    RESERVED_ABOVE_LIMIT = "reserved-above-limit" Error;
    PROMISED_ABOVE_RATE = "promised-above-rate" Error;
    BANDWIDTH_UNITS_MIXED = "bandwidth-units-mixed" Error;
    BANDWIDTH_INSIDE_QUEUES = "bandwidth-inside-queues" Error;
    BANDWIDTH_UNKNOWN = "bandwidth-unknown" Warning;
    NESTED_PERCENT = "nested-percent" Note;
    PRIORITY_WITH_BANDWIDTH = "priority-with-bandwidth" Error;
    PRIORITY_IN_CLASS_DEFAULT = "priority-in-class-default" Error;
    PRIORITY_LEVEL = "priority-level" Error;
    PRIORITY_DROPS_EARLY = "priority-drops-early" Warning;
    PRIORITY_WITH_WRED = "priority-with-wred" Error;
    PRIORITY_WITH_FAIR_QUEUE = "priority-with-fair-queue" Error;
    POLICE_PEAK_BELOW_COMMITTED = "police-peak-below-committed" Error;
    RATE_LIMIT_EXTENDED_BURST = "rate-limit-extended-burst" Error;
    RATE_LIMIT_BESIDE_POLICY = "rate-limit-beside-policy" Warning;
    CONTROL_PLANE_RATE_LOW = "control-plane-rate-low" Warning;
    EXCEED_REORDERS = "exceed-reorders" Warning;
    SHAPE_BURST_RANGE = "shape-burst-range" Error;
    WRED_THRESHOLDS_CROSSED = "wred-thresholds-crossed" Error;
    WRED_CODEPOINT_ABSENT = "wred-codepoint-absent" Warning;
    WRED_UNITS_MIXED = "wred-units-mixed" Error;
    WRED_WITHOUT_QUEUE = "wred-without-queue" Error;
    QUEUE_LIMIT_WITHOUT_QUEUE = "queue-limit-without-queue" Error;
    QUEUE_LIMIT_SMALL = "queue-limit-small" Note;
    HOLD_QUEUE_UNUSED = "hold-queue-unused" Note;
    VALUE_LIMIT_IGNORED = "value-limit-ignored" Warning;
    DSCP_AND_PRECEDENCE_SET = "dscp-and-precedence-set" Error;
    MARK_IN_WRONG_DIRECTION = "mark-in-wrong-direction" Warning;
    MARKED_THEN_CLASSIFIED = "marked-then-classified" Warning;
    MARK_UNUSUAL = "mark-unusual" Note;
    LABEL_NEVER_SET = "label-never-set" Warning;
    MARK_NEVER_MATCHED = "mark-never-matched" Note;
    ACCESS_ENTRY_SHADOWED = "access-entry-shadowed" Warning;
    ACCESS_ENTRY_REPEATED = "access-entry-repeated" Error;
    WILDCARD_IS_MASK = "wildcard-is-mask" Warning;
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
    PLATFORM_WITHOUT_EFFECT = "platform-without-effect" Note;
    PLATFORM_ASSUMED = "platform-assumed" Warning;
    SPEED_ASSUMED = "speed-assumed" Note;
    PAUSE_THRESHOLDS_ASSUMED = "pause-thresholds-assumed" Note;
    OUTPUT_MATCH_REFUSED = "output-match-refused" Error;
    OUTPUT_POLICY_REFUSED = "output-policy-refused" Error;
    OUTPUT_POLICER_REFUSED = "output-policer-refused" Error;
    OUTPUT_CLASSES = "output-classes" Error;
    NETWORK_POLICY_REFUSED = "network-policy-refused" Error;
    QUEUING_CLASS_UNKNOWN = "queuing-class-unknown" Error;
    BANDWIDTH_SUM = "bandwidth-sum" Error;
    PRIVATE_VLAN_QUEUES = "private-vlan-queues" Error;
    PRIORITY_QUEUE_ORDER = "priority-queue-order" Error;
    GROUP_WITH_DSCP = "group-with-dscp" Error;
    INPUT_QUEUES_IGNORED = "input-queues-ignored" Warning;
    BUNDLE_POLICY_COPIED = "bundle-policy-copied" Warning;
    SWITCH_CEILING_LOWERED = "switch-ceiling-lowered" Warning;
    SWITCH_BUFFERS_UNREACHED = "switch-buffers-unreached" Warning;
    SWITCH_PORT_TAKES_POOL = "switch-port-takes-pool" Warning;
    SWITCH_PRIORITY_BURST = "switch-priority-burst" Warning;
    SWITCH_PORTS_UNTRUSTED = "switch-ports-untrusted" Warning;
    SWITCH_QUEUE_SHAPED = "switch-queue-shaped" Warning;
    SWITCH_MEMORY_UNKNOWN = "switch-memory-unknown" Warning;
    MEMORY_COMMAND_REFUSED = "memory-command-refused" Error;
    SWITCH_POLICY_REFUSED = "switch-policy-refused" Error;
}

/// The rules about names, access lists and addresses, which apply to every platform.
pub(crate) static ON_EVERY_PLATFORM: [&Rule; 17] = [
    &CLASS_MAP_UNDEFINED,
    &POLICY_MAP_UNDEFINED,
    &ACCESS_LIST_UNDEFINED,
    &OBJECT_GROUP_UNDEFINED,
    &TABLE_MAP_UNDEFINED,
    &INTERFACE_UNDEFINED,
    &NAME_UNDEFINED,
    &CLASS_MAP_NESTING,
    &CLASS_MAP_EMPTY,
    &CLASS_MAP_REDEFINED,
    &CLASS_CONTRADICTORY,
    &ACCESS_ENTRY_SHADOWED,
    &ACCESS_ENTRY_REPEATED,
    &ACCESS_LIST_KIND,
    &ADDRESS_REPEATED,
    &POLICE_PEAK_BELOW_COMMITTED,
    &CLASS_SHADOWED,
];
