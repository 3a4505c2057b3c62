//! The rules of a family for `perhop explain --platform`, with certainty and source.

use perhop_device::{EvidenceKind, PlatformRule, RuleValue};

use super::values::{ExcessOrder, Levels, MissingRate, Weights};
use super::{Chip, Family};

/// A kind of evidence and its source.
type Evidence = (EvidenceKind, &'static str);

/// The evidence for a value that no document of the family contains.
const OF_OTHERS: Evidence = (EvidenceKind::Inferred, "no document of this family found; the value of MX");
const PRIORITIES: &str = "TechLibrary schedulers-priority-platforms-cos-config-guide";
const PACKET_BUFFER: &str = "Juniper techpost, QFX5K Series Switches Packet Buffer Architecture";
const DEFAULTS_OF_QFX: &str = "TechLibrary cos-qfx-series-default-settings-understanding";

impl Family {
    /// Returns the rules of the family; none for a family that perhop does not model.
    pub(crate) fn rows(self) -> Vec<PlatformRule> {
        if !self.is_modeled() {
            return Vec::new();
        }
        let mut rows = vec![self.classes_row(), self.default_row(), self.classifier_row(), self.levels_row()];
        rows.extend([self.excess_row(), self.weights_row(), self.missing_row(), self.counted_row()]);
        match self.rules().chip {
            Some(chip) => rows.extend(chip_rows(chip).into_iter().chain(common_chip_rows())),
            None => rows.extend(self.buffer_rows()),
        }
        rows.push(row(
            "shaper-burst",
            "the burst of a shaper without `burst-size`, ms of its rate",
            RuleValue::Number(self.rules().shaper_burst_ms.cast_signed()),
            match self {
                Family::Mx => {
                    (EvidenceKind::Documented, "TechLibrary cos-burst-size-trio: 100 ms of the rate")
                }
                Family::Iqe => (
                    EvidenceKind::Documented,
                    "TechLibrary cos-burst-size-configuration-understanding: 10 ms on IQ2 and IQ2E",
                ),
                _ => OF_OTHERS,
            },
        ));
        rows.extend(common_rows());
        rows.push(self.marks_row());
        rows
    }

    fn marks_row(self) -> PlatformRule {
        let evidence = if self.is_qfx() {
            let source = "TechLibrary cos-schedulers-explicit-congestion-notification-configuring: also for \
                          packets that are not ECN-capable, which it drops; \
                          cos-drop-profiles-qfx-series-cli has tail drop for them";
            (EvidenceKind::Documented, source)
        } else {
            (EvidenceKind::Recalled, "no document of routers was readable; the rule of QFX")
        };
        let meaning = "what `explicit-congestion-notification` marks";
        row(
            "ecn-marks",
            meaning,
            RuleValue::Word("all early drops of ECN-capable packets".to_owned()),
            evidence,
        )
    }

    fn classes_row(self) -> PlatformRule {
        let words: Vec<String> =
            self.rules().classes.iter().map(|(name, queue)| format!("{name} {queue}")).collect();
        let source = match self {
            Family::Ex => "TechLibrary cos-ex-series-schedulers-understanding; printed by an EX2200, 12.3",
            Family::Srx => "TechLibrary cos-scheduler-default-security-setting",
            _ if self.is_qfx() => DEFAULTS_OF_QFX,
            _ => "Junos CoS User Guide, Default Forwarding Classes",
        };
        let value = RuleValue::Word(words.join(", "));
        let meaning = "the built-in forwarding classes and their queues";
        row("forwarding-classes", meaning, value, (EvidenceKind::Documented, source))
    }

    fn default_row(self) -> PlatformRule {
        let name = |queue: u8| {
            let class = self.rules().classes.iter().find(|(_, known)| *known == queue);
            class.map_or("", |(name, _)| *name)
        };
        let words: Vec<String> = self
            .rules()
            .default_percents
            .iter()
            .map(|(queue, percent)| format!("{} {percent} %", name(*queue)))
            .collect();
        let evidence = if self.is_qfx() {
            (EvidenceKind::Recalled, "QFX5100; the table of the default schedulers was not readable")
        } else {
            (EvidenceKind::Documented, "Junos CoS User Guide, Default Schedulers")
        };
        let meaning = "the schedulers of a port without a scheduler map";
        row("default-schedulers", meaning, RuleValue::Word(words.join(", ")), evidence)
    }

    fn classifier_row(self) -> PlatformRule {
        let (word, evidence) = match self {
            Family::Ex => (
                "dscp-default: network-control from DSCP 48 on",
                (EvidenceKind::Printed, "EX2200, 12.3: show class-of-service"),
            ),
            _ if self.is_switch() => (
                "dscp-default: network-control from DSCP 48 on",
                (EvidenceKind::Recalled, "no table of QFX was readable"),
            ),
            _ => (
                "ipprec-compatibility",
                (EvidenceKind::Documented, "TechLibrary default-ip-prec-compatibility"),
            ),
        };
        let meaning = "the classifier of a unit for which none is configured";
        row("default-classifier", meaning, RuleValue::Word(word.to_owned()), evidence)
    }

    fn levels_row(self) -> PlatformRule {
        let word = match self.rules().levels {
            Levels::Own => "one for each priority".to_owned(),
            Levels::Pairs => "strict-high and high, both medium ones, low".to_owned(),
            Levels::Table(levels) => {
                let levels = levels.map(|level| level.to_string());
                format!("strict-high to low: {}", levels.join(" "))
            }
        };
        let source = match self {
            Family::Mx => "TechLibrary hw-cos-trio-scheduling-hierarchical: GH, GM, GL",
            Family::Iqe => "TechLibrary iqe-pics-traffic-calculations: plain round robin within guarantees",
            Family::Acx => "Juniper JVD, low latency queueing",
            Family::Ptx => "Juniper techpost, Wholistic Design Approach for MPLS Backbone CoS",
            Family::Srx => "TechLibrary cos-transmission-scheduling-security-overview",
            _ if self.is_switch() => "TechLibrary priority-cos-ex-series: strict-high and low only",
            _ => PRIORITIES,
        };
        let meaning = "the levels of priorities within the guarantees, 0 first";
        row("priority-levels", meaning, RuleValue::Word(word), (EvidenceKind::Documented, source))
    }

    fn excess_row(self) -> PlatformRule {
        let (word, source) = match self.rules().excess_order {
            ExcessOrder::TwoLevels if self == Family::Iqe => {
                ("excess-priority", "TechLibrary iqe-pics-traffic-calculations: two levels, high and low")
            }
            ExcessOrder::TwoLevels => (
                "excess-priority",
                "TechLibrary hw-cos-trio-scheduling-hierarchical: GH, GM, GL, then EH and EL by weight; default \
                 EH for strict-high and high, EL for others",
            ),
            ExcessOrder::OneLevel if self.is_switch() => {
                ("one", "TechLibrary priority-cos-ex-series: low queues by (shaped) deficit round robin")
            }
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
            ExcessOrder::Priority if self == Family::Srx => (
                "priority",
                "TechLibrary cos-transmission-scheduling-security-overview: queues with negative credit by \
                 priority, then by transmit-rate",
            ),
            ExcessOrder::Priority => (
                "priority",
                "TechLibrary priority-scheduling-overview: lower levels wait while a higher one has credit; the \
                 rest by transmit-rate within a level",
            ),
            ExcessOrder::PriorityAlone => ("priority-alone", PRIORITIES),
        };
        let meaning = "the order of queues beyond their guarantee";
        row("excess-order", meaning, RuleValue::Word(word.to_owned()), (EvidenceKind::Documented, source))
    }

    fn weights_row(self) -> PlatformRule {
        let (word, evidence) = match self.rules().weights {
            Weights::Parts => (
                "excess rates, else transmit rates; at least 1/125",
                match self {
                    Family::Mx => (EvidenceKind::Printed, "MX960 23.2R2: weights 118, 6 and 1"),
                    _ => OF_OTHERS,
                },
            ),
            Weights::TransmitRates => (
                "transmit rates",
                (EvidenceKind::Documented, "TechLibrary priority-scheduling-overview, and that of SRX"),
            ),
            Weights::WholeParts => (
                "whole parts of 127: excess rates, else transmit rates, else shaping rates",
                (
                    EvidenceKind::Documented,
                    "Junos 9.3, examples of excess bandwidth sharing on the IQE PIC, table 78: of shaping rates; \
                     of transmit rates inferred",
                ),
            ),
        };
        let meaning = "the weights of queues beyond their guarantees";
        row("excess-weights", meaning, RuleValue::Word(word.to_owned()), evidence)
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
            Family::Iqe => (
                EvidenceKind::Documented,
                "Junos 9.3, examples of excess bandwidth sharing on the IQE PIC: 25 % each of four",
            ),
            _ => (EvidenceKind::Inferred, "no document of this family found"),
        };
        let meaning = "the guarantee of a scheduler without `transmit-rate`";
        row("missing-transmit-rate", meaning, RuleValue::Word(word.to_owned()), evidence)
    }

    fn counted_row(self) -> PlatformRule {
        let evidence = match self {
            Family::Mx => (
                EvidenceKind::Documented,
                "TechLibrary egress-shaping-overhead-edit-chassis: 24, after the 14 of the frame",
            ),
            Family::MSeries | Family::M120 | Family::TSeries | Family::Iqe | Family::JSeries => (
                EvidenceKind::Inferred,
                "TechLibrary egress-shaping-overhead-edit-chassis: no layer 1 by default on other cards than MPC",
            ),
            _ if self.is_switch() => (
                EvidenceKind::Inferred,
                "Juniper techpost about microbursts: queue counters of QFX5k have frames without preamble",
            ),
            _ => (EvidenceKind::Inferred, "no document of this family found; the bytes of the wire"),
        };
        let meaning = "bytes that schedulers count for an untagged packet in addition to its IP bytes";
        row("counted-bytes", meaning, RuleValue::Number(i64::from(self.rules().overhead)), evidence)
    }

    fn buffer_rows(self) -> Vec<PlatformRule> {
        if !self.rules().has_known_buffers {
            return vec![row(
                "buffers",
                "the packet memory of queues",
                RuleValue::Word("not published: perhop computes rates, but cannot simulate runs".to_owned()),
                (EvidenceKind::Inferred, "no document found"),
            )];
        }
        let buffer = self.rules().delay_buffer;
        let (evidence, least) = self.buffer_evidence();
        let number = |number: u64| RuleValue::Number(number.cast_signed());
        vec![
            row(
                "delay-buffer-fast",
                "the delay buffer of ports with 1 Gb/s or more, us",
                number(buffer.fast_us),
                evidence,
            ),
            row(
                "delay-buffer-slow",
                "the delay buffer of slower ports, us",
                number(buffer.slow_us),
                evidence,
            ),
            row("least-buffer", "the smallest buffer of a queue, bytes", number(buffer.least(0)), least),
        ]
    }

    /// Returns the evidence for the size of the delay buffer, and for the smallest buffer.
    fn buffer_evidence(self) -> (Evidence, Evidence) {
        match self {
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
            Family::Srx => (
                (EvidenceKind::Recalled, "default delay buffer without q-pic-large-buffer"),
                (EvidenceKind::Documented, "TechLibrary cos-configuring-delay-buffer-size: 9192 bytes"),
            ),
            Family::JSeries => {
                ((EvidenceKind::Inferred, "no document found; the value of M series"), OF_LEAST)
            }
            _ => ((EvidenceKind::Recalled, "200 ms on M series, 100 ms on M320 and T series"), OF_LEAST),
        }
    }
}

const OF_LEAST: Evidence = (EvidenceKind::Inferred, "no document of this family found; the value of SRX");

/// The memory of a chip and the shares of its pools.
fn chip_rows(chip: &Chip) -> Vec<PlatformRule> {
    let documented = (EvidenceKind::Documented, PACKET_BUFFER);
    let number = |number: u32| RuleValue::Number(number.into());
    let parts = format!(
        "lossy {}, lossless {}, multicast {}",
        chip.lossy_percent, chip.lossless_percent, chip.multicast_percent
    );
    vec![
        row("cell", "the size of a cell, bytes", number(chip.cell_bytes), documented),
        row(
            "metadata",
            "bytes of the first cell that carry no packet",
            number(chip.metadata_bytes),
            documented,
        ),
        row(
            "shared-memory",
            "the shared memory of departing packets, KB",
            number(chip.shared_kilobytes),
            documented,
        ),
        row(
            "memories",
            "parts of the memory, of which packets between two ports use one",
            number(chip.memories),
            documented,
        ),
        row(
            "partitions",
            "percent of the shared memory without `buffer-partition`",
            RuleValue::Word(parts),
            (EvidenceKind::Inferred, "the ratio of the pools in the table of the same article"),
        ),
        row(
            "dynamic-threshold",
            "the index of the threshold of queues that drop; 7 is a factor of 1, and each further index \
             doubles the factor",
            number(Chip::LOSSY_INDEX.into()),
            documented,
        ),
    ]
}

/// Rules of all QFX chips alike.
fn common_chip_rows() -> [PlatformRule; 3] {
    [
        row(
            "profile-memory",
            "the memory of which fill levels of drop profiles are percentages",
            RuleValue::Word("that of the queue while all others are empty".to_owned()),
            (
                EvidenceKind::Inferred,
                "TechLibrary cos-drop-profiles-qfx-series-cli: the memory of the queue; the chips store cells",
            ),
        ),
        row(
            "profile-end",
            "the drop probability from the last fill level of a drop profile on, percent",
            RuleValue::Number(100),
            (EvidenceKind::Documented, "TechLibrary fill-level-edit-class-of-service"),
        ),
        row(
            "dedicated-memory",
            "cells that are reserved for one queue and that no other queue can use",
            RuleValue::Number(0),
            (EvidenceKind::Inferred, "published for one port rate of one product only: left out"),
        ),
    ]
}

/// Rules of all modeled families.
fn common_rows() -> Vec<PlatformRule> {
    vec![
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
            "policer-instance",
            "the uses of a policer in filters that share a bucket by default",
            RuleValue::Word("none: each term, unit, family and direction has a bucket of its own".to_owned()),
            (
                EvidenceKind::Documented,
                "TechLibrary policer-filter-specific-overview; a filter without `interface-specific` uses the same \
                 buckets for all units of a line card; perhop does not model this",
            ),
        ),
        row(
            "hierarchical-policer",
            "the packets that the aggregate level drops",
            RuleValue::Word("all but premium ones, which use its tokens with a debt".to_owned()),
            (
                EvidenceKind::Documented,
                "TechLibrary subscriber-management-hierarchical-policer-overview; the debt is inferred from \
                 its example of 2 and 8 of 10 Mb/s",
            ),
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
