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
}
