//! The rules of this language.

use perhop_lint::declare_rules;

declare_rules! {
    TC_COMMAND_REFUSED = "tc-command-refused" Error;
    TC_RATE_IN_BYTES = "tc-rate-in-bytes" Warning;
    TC_LONG_PACKETS_DROPPED = "tc-long-packets-dropped" Warning;
    TC_TBF_BURST_SMALL = "tc-tbf-burst-small" Note;
    TC_UNCLASSIFIED_DROPPED = "tc-unclassified-dropped" Warning;
    TC_UNCLASSIFIED_DIRECT = "tc-unclassified-direct" Warning;
    TC_HTB_PRIO = "tc-htb-prio" Note;
    TC_HTB_QUANTUM = "tc-htb-quantum" Note;
    TC_FILTER_WITHOUT_CLASS = "tc-filter-without-class" Warning;
    TC_MARK_NEVER_SET = "tc-mark-never-set" Note;
    TC_FILTER_ORDER = "tc-filter-order" Note;
    TC_ECN_BITS_MATCHED = "tc-ecn-bits-matched" Warning;
    TC_OPTION_OVERRIDDEN = "tc-option-overridden" Warning;
    TC_PRIORITY_BY_TOS = "tc-priority-by-tos" Note;
    TC_POLICE_BURST_OFFLOAD = "tc-police-burst-offload" Warning;
    TC_POLICE_BURST_GRO = "tc-police-burst-gro" Note;
    TC_POLICE_WITHOUT_ACTION = "tc-police-without-action" Warning;
}
