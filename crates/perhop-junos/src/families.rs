//! Families of devices: the queueing rules of each as data, with certainty and source.

use perhop_device::{EvidenceKind, PlatformRule, RuleValue};

/// A family of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Mx,
    Srx,
    Ptx,
    Acx,
    Ex,
    Qfx,
    MSeries,
}

/// The share of a queue whose scheduler has no transmit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingRate {
    /// No guarantee: only the excess.
    Zero,
    /// An equal part of the rate that the other queues leave.
    EqualPart,
}

/// The order of queues beyond their guarantees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExcessOrder {
    /// Two levels: `excess-priority`, by default high for strict-high and high queues, low for the others.
    TwoLevels,
    /// The priority of the queue.
    Priority,
    /// One level for all queues.
    OneLevel,
    /// The priorities of the queues. Higher priorities preempt lower ones, without guarantees; low queues
    /// share by weight.
    Preemptive,
}

/// The delay buffer of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DelayBuffer {
    /// Microseconds of ports with 1 Gb/s or more.
    pub(crate) fast_us: u64,
    /// Microseconds of slower ports.
    pub(crate) slow_us: u64,
    /// The bytes of a queue without a buffer, for ports with at least this rate in bits per second.
    pub(crate) least_bytes: &'static [(u64, u64)],
    /// Limit on the bytes of a queue with `buffer-size`, if there is one.
    pub(crate) most_bytes: Option<u64>,
}

impl DelayBuffer {
    /// Returns the bytes of a queue without a buffer on a port of `rate` bits per second.
    pub(crate) fn least(&self, rate: u64) -> u64 {
        let fits = self.least_bytes.iter().rev().find(|(from, _)| *from <= rate);
        fits.map_or(0, |(_, bytes)| *bytes)
    }
}

/// The queueing rules of a family.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) classes: &'static [(&'static str, u8)],
    pub(crate) missing_rate: MissingRate,
    pub(crate) excess_order: ExcessOrder,
    /// Bytes that the scheduler counts for an untagged packet in addition to its IP bytes.
    pub(crate) overhead: u16,
    pub(crate) delay_buffer: DelayBuffer,
    /// Milliseconds of the rate that a shaper may send at once.
    pub(crate) shaper_burst_ms: u64,
}

const ROUTER_CLASSES: [(&str, u8); 4] =
    [("best-effort", 0), ("expedited-forwarding", 1), ("assured-forwarding", 2), ("network-control", 3)];
const BRANCH_CLASSES: [(&str, u8); 4] =
    [("best-effort", 0), ("assured-forwarding", 1), ("expedited-forwarding", 5), ("network-control", 7)];

const MX: Rules = Rules {
    classes: &ROUTER_CLASSES,
    missing_rate: MissingRate::Zero,
    excess_order: ExcessOrder::TwoLevels,
    overhead: 38,
    // TechLibrary hw-cos-trio-scheduler-delay-buffering: 4 KB to 256 MB.
    delay_buffer: DelayBuffer {
        fast_us: 100_000,
        slow_us: 500_000,
        least_bytes: &[(0, 32_768)],
        most_bytes: Some(256 << 20),
    },
    shaper_burst_ms: 100,
};

const SRX: Rules = Rules {
    classes: &BRANCH_CLASSES,
    missing_rate: MissingRate::EqualPart,
    excess_order: ExcessOrder::Priority,
    overhead: 38,
    delay_buffer: DelayBuffer {
        fast_us: 100_000,
        slow_us: 100_000,
        least_bytes: &[(0, 9192)],
        most_bytes: None,
    },
    shaper_burst_ms: 100,
};

/// ACX7000: only the dedicated part of the buffers.
const ACX: Rules = Rules {
    classes: &ROUTER_CLASSES,
    missing_rate: MissingRate::EqualPart,
    excess_order: ExcessOrder::Preemptive,
    overhead: 38,
    delay_buffer: DelayBuffer {
        fast_us: 100,
        slow_us: 100,
        least_bytes: &[(0, 2048), (25_000_000_000, 4096), (100_000_000_000, 8192)],
        most_bytes: None,
    },
    shaper_burst_ms: 100,
};

/// Express chips of the fourth generation and older.
const PTX: Rules = Rules {
    classes: &ROUTER_CLASSES,
    missing_rate: MissingRate::Zero,
    excess_order: ExcessOrder::OneLevel,
    overhead: 38,
    delay_buffer: DelayBuffer {
        fast_us: 25_000,
        slow_us: 25_000,
        least_bytes: &[(0, 32_768)],
        most_bytes: None,
    },
    shaper_burst_ms: 100,
};

impl Family {
    pub(crate) const ALL: [Family; 7] =
        [Family::Mx, Family::Srx, Family::Ptx, Family::Acx, Family::Ex, Family::Qfx, Family::MSeries];

    pub(crate) const NAMES: [&str; 7] =
        ["junos-mx", "junos-srx", "junos-ptx", "junos-acx", "junos-ex", "junos-qfx", "junos-m"];

    pub(crate) fn name(self) -> &'static str {
        Family::NAMES[self as usize]
    }

    pub(crate) fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Returns the name of the devices for messages.
    pub(crate) fn devices(self) -> &'static str {
        match self {
            Family::Mx => "Junos on the MX series",
            Family::Srx => "Junos on the SRX series",
            Family::Ptx => "Junos on the PTX series",
            Family::Acx => "Junos on the ACX7000 series",
            Family::Ex => "Junos on the EX series",
            Family::Qfx => "Junos on the QFX series",
            Family::MSeries => "Junos on the M and T series",
        }
    }

    /// Whether perhop models the queueing of the family.
    pub(crate) fn is_modeled(self) -> bool {
        matches!(self, Family::Mx | Family::Srx | Family::Ptx | Family::Acx)
    }

    /// Returns the parts of a family that perhop does not model.
    pub(crate) fn lacks(self) -> &'static str {
        match self {
            Family::Mx | Family::Srx | Family::Ptx | Family::Acx => "",
            Family::Ex | Family::Qfx => {
                "shared memory with dynamic thresholds and the deficit round robin of switches"
            }
            Family::MSeries => "the four priority levels of I-chips and IQ PICs",
        }
    }

    pub(crate) fn rules(self) -> &'static Rules {
        match self {
            Family::Srx | Family::Ex => &SRX,
            Family::Ptx => &PTX,
            Family::Acx => &ACX,
            Family::Mx | Family::Qfx | Family::MSeries => &MX,
        }
    }

    /// Returns the rules for `perhop explain platform`; none for a family that perhop does not model.
    pub(crate) fn rows(self) -> Vec<PlatformRule> {
        if !self.is_modeled() {
            return Vec::new();
        }
        let rules = self.rules();
        let mut rows = vec![self.classes_row(), self.excess_row(), self.missing_row()];
        rows.extend(self.buffer_rows());
        rows.push(row(
            "shaper-burst",
            "the burst of a shaper without `burst-size`, ms of its rate",
            RuleValue::Number(rules.shaper_burst_ms.cast_signed()),
            match self {
                Family::Mx => {
                    (EvidenceKind::Documented, "TechLibrary cos-burst-size-trio: 100 ms of the rate")
                }
                _ => (EvidenceKind::Inferred, "no document of this family found; the value of MX"),
            },
        ));
        rows.extend(common_rows());
        rows
    }

    fn classes_row(self) -> PlatformRule {
        let words: Vec<String> =
            self.rules().classes.iter().map(|(name, queue)| format!("{name} {queue}")).collect();
        let source = match self {
            Family::Mx | Family::Ptx | Family::Acx => "Junos CoS User Guide, Default Forwarding Classes",
            _ => "TechLibrary cos-scheduler-default-security-setting",
        };
        row(
            "forwarding-classes",
            "the built-in forwarding classes and their queues",
            RuleValue::Word(words.join(", ")),
            (EvidenceKind::Documented, source),
        )
    }

    fn excess_row(self) -> PlatformRule {
        let (word, source) = match self.rules().excess_order {
            ExcessOrder::TwoLevels => (
                "excess-priority",
                "TechLibrary hw-cos-trio-scheduling-hierarchical: GH, GM, GL, then EH and EL by weight; default \
                 EH for strict-high and high, EL for others",
            ),
            ExcessOrder::OneLevel => (
                "one",
                "TechLibrary cos-excess-rate-ptx-configuring: guarantees, then one level in the ratio of \
                 excess-rate, else of transmit-rate",
            ),
            ExcessOrder::Preemptive => (
                "preemptive",
                "Juniper JVD, low latency queueing: priorities in order up to their shaping rates; low queues by \
                 transmit-rate of the rest",
            ),
            ExcessOrder::Priority => (
                "priority",
                "TechLibrary cos-transmission-scheduling-security-overview: negative credit by priority, then \
                 by transmit-rate",
            ),
        };
        row(
            "excess-order",
            "the order of queues beyond their guarantee",
            RuleValue::Word(word.to_owned()),
            (EvidenceKind::Documented, source),
        )
    }

    fn missing_row(self) -> PlatformRule {
        let word = match self.rules().missing_rate {
            MissingRate::Zero => "zero",
            MissingRate::EqualPart => "equal-part",
        };
        let evidence = match self {
            Family::Mx => (
                EvidenceKind::Printed,
                "MX960 23.2R2: weight 1 and no guarantee for a queue without scheduler",
            ),
            Family::Srx => {
                (EvidenceKind::Documented, "TechLibrary cos-configuring-delay-buffer-size: 25 % each of four")
            }
            _ => (EvidenceKind::Inferred, "no document of this family found"),
        };
        row(
            "missing-transmit-rate",
            "the guarantee of a scheduler without `transmit-rate`",
            RuleValue::Word(word.to_owned()),
            evidence,
        )
    }

    fn buffer_rows(self) -> Vec<PlatformRule> {
        let buffer = self.rules().delay_buffer;
        let (evidence, least) = match self {
            Family::Mx => (
                (EvidenceKind::Documented, "TechLibrary hw-cos-trio-scheduler-delay-buffering"),
                (EvidenceKind::Printed, "MX960 23.2R2: 32 768 bytes for a queue without scheduler"),
            ),
            Family::Acx => (
                (
                    EvidenceKind::Documented,
                    "Juniper JVD, low latency queueing, table 15: 1250 KB dedicated at 100 Gb/s; the shared part \
                     is not modeled",
                ),
                (EvidenceKind::Documented, "Juniper JVD, low latency queueing, table 16: at 10 Gb/s"),
            ),
            Family::Ptx => (
                (
                    EvidenceKind::Documented,
                    "Juniper techpost, Wholistic Design Approach for MPLS Backbone CoS: 25 ms",
                ),
                (EvidenceKind::Inferred, "no PTX document found; the value of MX"),
            ),
            _ => (
                (EvidenceKind::Recalled, "default delay buffer without q-pic-large-buffer"),
                (EvidenceKind::Documented, "TechLibrary cos-configuring-delay-buffer-size: 9192 bytes"),
            ),
        };
        vec![
            row(
                "delay-buffer-fast",
                "the delay buffer of ports with 1 Gb/s or more, us",
                RuleValue::Number(buffer.fast_us.cast_signed()),
                evidence,
            ),
            row(
                "delay-buffer-slow",
                "the delay buffer of slower ports, us",
                RuleValue::Number(buffer.slow_us.cast_signed()),
                evidence,
            ),
            row(
                "least-buffer",
                "the smallest buffer of a queue, bytes",
                RuleValue::Number(buffer.least(0).cast_signed()),
                least,
            ),
            row(
                "counted-bytes",
                "bytes that schedulers count for an untagged packet beyond its IP bytes",
                RuleValue::Number(i64::from(self.rules().overhead)),
                match self {
                    Family::Mx => (
                        EvidenceKind::Documented,
                        "TechLibrary egress-shaping-overhead-edit-chassis: 24, after the 14 of the frame",
                    ),
                    _ => (EvidenceKind::Inferred, "no document of this family found; the bytes of the wire"),
                },
            ),
        ]
    }
}

/// Rules of all modeled families.
fn common_rows() -> Vec<PlatformRule> {
    vec![
        row(
            "default-schedulers",
            "the schedulers of a port without a scheduler map",
            RuleValue::Word("best-effort 95 %, network-control 5 %".to_owned()),
            (EvidenceKind::Documented, "Junos CoS User Guide, Default Schedulers"),
        ),
        row(
            "default-classifier",
            "the classifier of a unit without a configured classifier",
            RuleValue::Word("ipprec-compatibility".to_owned()),
            (EvidenceKind::Documented, "TechLibrary default-ip-prec-compatibility"),
        ),
        row(
            "red-average",
            "the queue length that drop profiles compare",
            RuleValue::Word("instantaneous".to_owned()),
            (EvidenceKind::Inferred, "the averaging constant is not published"),
        ),
        row(
            "policer-conforming",
            "the loss priority of packets within a policer's rate",
            RuleValue::Word("low".to_owned()),
            (EvidenceKind::Documented, "TechLibrary burst-size-limit-edit-firewall-policer"),
        ),
        row(
            "rate-limit-burst",
            "the burst of `transmit-rate … rate-limit`, ms of its rate",
            RuleValue::Number(5),
            (EvidenceKind::Inferred, "the burst is not published; the value recommended for policers"),
        ),
    ]
}

fn row(
    rule: &str,
    meaning: &'static str,
    value: RuleValue,
    (certainty, source): (EvidenceKind, &str),
) -> PlatformRule {
    PlatformRule { rule: rule.to_owned(), meaning, value, certainty, source: source.to_owned(), note: None }
}
