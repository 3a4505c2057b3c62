//! The rules of this language.

use perhop_lint::declare_rules;

declare_rules! {
    JUNOS_VALUE_INVALID = "junos-value-invalid" Error;
    JUNOS_UNDEFINED = "junos-undefined" Error;
    JUNOS_SEVERAL_DEVICES = "junos-several-devices" Warning;
    JUNOS_GROUPS_CUT = "junos-groups-cut" Warning;
    JUNOS_RATES_ABOVE_PORT = "junos-rates-above-port" Warning;
    JUNOS_BURST_SMALL = "junos-burst-small" Note;
    JUNOS_RATE_ASSUMED = "junos-rate-assumed" Note;
    JUNOS_CLASS_WITHOUT_SCHEDULER = "junos-class-without-scheduler" Warning;
    JUNOS_RATES_CROSSED = "junos-rates-crossed" Warning;
    JUNOS_FILTER_DISCARDS_REST = "junos-filter-discards-rest" Warning;
    JUNOS_WITHOUT_EFFECT = "junos-without-effect" Warning;
    JUNOS_CLASS_NOT_REWRITTEN = "junos-class-not-rewritten" Note;
    JUNOS_DROP_PROFILE_UNREACHED = "junos-drop-profile-unreached" Note;
    JUNOS_UNUSED = "junos-unused" Note;
}
