//! The rules by which the queues work, with their evidence.

use perhop_device::EvidenceKind::{Documented, Inferred, Recalled};
use perhop_device::{EvidenceKind, PlatformRule};

use crate::rule_rows::words;

const TAC: &str = "Cisco TAC 116102, Catalyst 3750: egress thresholds";
const REFERENCE_3560: &str = "Cisco, Catalyst 3560 Switch Command Reference (78-16405-05), page 2-253";
const REFERENCE_3750: &str = "Cisco, Catalyst 3750 Switch Command Reference (OL-8552-07), page 2-369";
const GUIDE_2960: &str = "Cisco, Catalyst 2960 Switch Software Configuration Guide";
const GUIDE_3560: &str = "Cisco, Catalyst 3560 Switch Software Configuration Guide (78-16156-01), page 28-53";
const GUIDE_3750: &str = "Cisco, Catalyst 3750 Switch Software Configuration Guide";
const GUIDE_IE: &str = "Cisco, IE 2000 Software Configuration Guide (OL-25866), page 38-31";
const GUIDE_4500: &str = "Cisco, Catalyst 4500 Software Configuration Guide (OL-23818-01), page 37-86";
const NOTES: &str = "show outputs of a Catalyst 3560 in public notes";

/// A rule: its name, its meaning, its value, its certainty and its source.
type Row = (&'static str, &'static str, &'static str, EvidenceKind, &'static str);

/// Rules of arriving packets: marks and maps.
const OF_MARKS: &[Row] = &[
    ("untrusted", "packets of a port without trust", "codepoint 0", Documented, GUIDE_4500),
    (
        "policy-trust",
        "trust of a port with an input policy",
        "the trust of its classes",
        Documented,
        GUIDE_3750,
    ),
    ("class-trust", "packets of a class without trust and set", "codepoint 0", Recalled, GUIDE_3750),
    ("device", "a port that trusts a device", "the device is connected", Inferred, "the configuration"),
    ("cos-dscp", "codepoints of classes of service", "8 × the value", Documented, GUIDE_4500),
    ("output-map", "queues of codepoints", "0-15: 2, 16-31: 3, 40-47: 1, others: 4", Documented, GUIDE_2960),
    ("cos-label", "queue of a port that trusts cos", "by the codepoint of its CoS", Inferred, GUIDE_3750),
    (
        "input-queues",
        "queues in front of the ring",
        "90/10 %, weights 4/4, queue 2: 10 %",
        Documented,
        GUIDE_3560,
    ),
    ("ring", "rate of the ring behind these queues", "16 Gb/s or more", Recalled, "not published"),
];

/// Rules of the queues of a port.
const OF_QUEUES: &[Row] = &[
    ("buffers", "memory of the queues", "25 % each", Documented, GUIDE_2960),
    ("thresholds", "thresholds 1 and 2", "100 %, queue 2: 200 %", Documented, GUIDE_2960),
    ("threshold-3", "threshold 3", "the maximum of the queue", Documented, REFERENCE_3560),
    ("maximum", "maximum length of a queue", "400 %", Documented, GUIDE_2960),
    ("most", "maximum length on a 3750", "400 %, also if more is configured", Documented, REFERENCE_3750),
    ("reserved", "reserved part of a queue", "50 %", Recalled, GUIDE_2960),
    ("admission", "order of checks", "reserved part, maximum, pool, thresholds", Documented, REFERENCE_3560),
    ("unit", "size of a unit of memory, bytes", "256", Recalled, "not published"),
    ("shape", "a queue with shaped weight w", "exactly rate / w", Documented, GUIDE_IE),
    ("default-shape", "shaped weights", "25 0 0 0", Documented, GUIDE_3560),
    ("share", "queues without shaped weight", "share the rest by weight, 25 each", Documented, GUIDE_3750),
    ("expedite", "queue 1 with priority-queue out", "served first, without a limit", Documented, GUIDE_IE),
    ("limit", "srr-queue bandwidth limit", "exactly the percentage", Recalled, NOTES),
    ("pool", "ports that share the memory", "the ports of a module, or pool-ports neighbors", Inferred, TAC),
    (
        "counted",
        "bytes that shares and shapes count",
        "Ethernet header and packet",
        Recalled,
        "not published",
    ),
];

/// Returns the rules of a switch with `mls qos`.
pub(super) fn rows() -> Vec<PlatformRule> {
    let all = OF_MARKS.iter().chain(OF_QUEUES);
    all.map(|(rule, meaning, value, certainty, source)| words(rule, meaning, value, *certainty, source))
        .collect()
}
