//! The rules by which a UADP chip divides the memory of a port among its queues.
//!
//! Sources: Cisco TAC document 200594 "Catalyst 3850: troubleshooting output drops" (default split, hard and
//! soft parts, ceiling of 400 %), the `EasyQoS` guide (ratios, multiplier, thresholds), and the outputs of
//! `show platform hardware fed … qos queue config` of four switches in genieparser, which confirm the
//! fractions.

use perhop_device::{DefaultQueue, DropThreshold, LineLeftOut, QueueMemory};
use perhop_qos::Dscp;

use super::model::Chip;
use super::policy::{PercentLimit, QueueClass};

/// The ceiling of a queue without thresholds, percent of the queue's own memory.
const CEILING: u64 = 400;
/// The share of control packets in the memory of a port without a policy, percent.
const CONTROL_PART: u64 = 40;
/// The lower thresholds of a queue without `queue-limit`, in 64ths of the highest threshold: 80 and 90 %,
/// truncated.
const DEFAULT_THRESHOLDS: [u64; 2] = [51, 57];
/// The codepoints of the queue for control packets if the port has no policy: class selectors 4, 6 and 7.
const CONTROL_CODEPOINTS: [u8; 3] = [32, 48, 56];
/// The weights that the switch prints for the two queues of a port without a policy. Their meaning is not
/// documented. perhop uses them as shares of 40 and 60 %.
const DEFAULT_WEIGHTS: [u32; 2] = [50, 75];
/// The number of steps of a threshold in the chip.
const THRESHOLD_PARTS: u64 = 64;
/// The maximum number of queues of a port.
const MOST_QUEUES: usize = 8;
/// The maximum number of priority levels of a port.
const MOST_LEVELS: u8 = 2;
/// The maximum number of queues with random drops at a port (certainty: recalled).
const MOST_RANDOM: usize = 4;

/// Returns the used shared memory of a port above which the limits of its queues decrease: 0.9 of the sum of
/// the soft parts.
pub(super) fn soft_start(soft: u64) -> u64 {
    soft * 9 / 10
}

/// Returns the used shared memory of a port at which the limits of its queues reach their minimum: 1.2 times
/// the sum of the soft parts.
pub(super) fn soft_end(soft: u64) -> u64 {
    soft * 6 / 5
}

/// The memory of a port, and the settings that determine its division among the queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    /// The size of the memory, units.
    pub(super) units: u64,
    /// The factor of the soft parts, percent.
    pub(super) multiplier_percent: u64,
    /// The chip.
    pub(super) chip: Chip,
}

/// The memory that a queue can use in addition to its reserved memory.
#[derive(Clone, Copy)]
struct Soft {
    /// Units before the multiplier.
    unscaled: u64,
    /// Units after the multiplier.
    scaled: u64,
}

impl Split {
    /// Returns the default queues: control packets, and all other packets.
    pub(super) fn default_queues(self, assumed: &mut Vec<String>) -> Vec<QueueMemory> {
        assumed.push(
            "the queue `control` is for packets with DSCP cs4, cs6 and cs7, and for packets that the switch \
             itself sends"
                .to_owned(),
        );
        let control = self.units * CONTROL_PART / 100;
        let parts = [(control, control), (self.units - control, 0)];
        let codepoints = CONTROL_CODEPOINTS.into_iter().filter_map(Dscp::new).collect();
        let defaults = [
            DefaultQueue { name: "control", codepoints },
            DefaultQueue { name: "others", codepoints: Vec::new() },
        ];
        let queues = parts.into_iter().zip(defaults).enumerate();
        let queues = queues.map(|(number, ((part, hard), default))| {
            let soft = self.soft(part, CEILING);
            QueueMemory {
                number: u8::try_from(number).expect("two"),
                class: default.name.to_owned(),
                line: None,
                default: Some(default),
                priority_level: None,
                weight: Some(DEFAULT_WEIGHTS[number]),
                hard: Some(hard),
                soft: Some(soft.scaled),
                srr: None,
                dynamic_factor: None,
                port_soft_min: self.port_soft_min(soft),
                global_soft_min: self.global_soft_min(soft, hard),
                thresholds: thresholds(hard + soft.scaled, CEILING, &[]),
            }
        });
        queues.collect()
    }

    /// Returns the queues of a policy's classes.
    pub(super) fn for_classes(self, classes: &[QueueClass], assumed: &mut Vec<String>) -> Vec<QueueMemory> {
        let written: u64 = classes.iter().filter_map(|class| class.ratio).sum();
        let open = classes.iter().filter(|class| class.ratio.is_none()).count() as u64;
        if open > 0 && open < classes.len() as u64 {
            assumed.push("classes without queue-buffers ratio share the remaining memory equally".to_owned());
        }
        let rest = 100_u64.saturating_sub(written);
        let queues = classes.iter().enumerate().map(|(number, class)| {
            let part = match class.ratio {
                Some(ratio) => self.units * ratio / 100,
                None => self.units * rest / (100 * open),
            };
            self.for_class(u8::try_from(number).unwrap_or(u8::MAX), class, part)
        });
        queues.collect()
    }

    fn for_class(self, number: u8, class: &QueueClass, part: u64) -> QueueMemory {
        let limits = merged(&class.limits);
        // The third value is the ceiling of the queue.
        let ceiling = if limits.len() >= 3 { limits[2].percent } else { CEILING };
        let hard = if class.level.is_some() { part } else { 0 };
        // The first priority level has only reserved memory.
        let soft = match class.level {
            Some(1) => Soft { unscaled: 0, scaled: 0 },
            _ => self.soft(part, ceiling),
        };
        QueueMemory {
            number,
            class: class.name.clone(),
            line: Some(class.line),
            default: None,
            priority_level: class.level,
            weight: None,
            hard: Some(hard),
            soft: Some(soft.scaled),
            srr: None,
            dynamic_factor: None,
            port_soft_min: self.port_soft_min(soft),
            global_soft_min: self.global_soft_min(soft, hard),
            thresholds: thresholds(hard + soft.scaled, ceiling, &limits),
        }
    }

    fn soft(self, part: u64, ceiling: u64) -> Soft {
        let unscaled = part * ceiling / 100;
        Soft { unscaled, scaled: part * ceiling * self.multiplier_percent / 10_000 }
    }

    /// Returns the minimum of the soft part, which applies when the port has used its shared memory. It is a
    /// fraction of the soft part before the multiplier. Source of the fractions: outputs of switches, with
    /// two thirds on UADP 1, 19/32 on a 9300, and 17/32 on a 9400.
    fn port_soft_min(self, soft: Soft) -> Option<u64> {
        match self.chip {
            Chip::Uadp1 => Some(soft.unscaled * 2 / 3),
            Chip::Uadp2 => Some(soft.unscaled * 19 / 32),
            Chip::Uadp2Xl => Some(soft.unscaled * 17 / 32),
            Chip::Uadp2Mini | Chip::Uadp3 => None,
        }
    }

    /// Returns the minimum of the soft part, which applies when the memory of the chip is full: a quarter for
    /// a queue without reserved memory, otherwise 0.
    fn global_soft_min(self, soft: Soft, hard: u64) -> Option<u64> {
        match self.chip {
            Chip::Uadp2Mini | Chip::Uadp3 => None,
            _ if hard > 0 => Some(0),
            _ => Some(soft.unscaled / 4),
        }
    }
}

/// Returns the reason why the switch refuses the classes of a policy, with the line of the class. A port has
/// eight queues, two of them with priority (2P6Q3T), three thresholds per queue, and ratios of at most 100 %
/// in total (Cisco `EasyQoS` guide for Catalyst 3850 and 9000). The limit of one class per priority level is
/// recalled.
pub(super) fn refused(classes: &[QueueClass]) -> Option<LineLeftOut> {
    let refusal = |line, text| Some(LineLeftOut { line, text });
    let written: u64 = classes.iter().filter_map(|class| class.ratio).sum();
    if written > 100 {
        let last = classes.iter().filter(|class| class.ratio.is_some()).map(|class| class.line).max()?;
        return refusal(last, format!("the ratios sum to {written} % (certainty of the rule: recalled)"));
    }
    if let Some(class) = classes.iter().find(|class| merged(&class.limits).len() > 3) {
        return refusal(class.line, format!("class {} has more than three thresholds", class.name));
    }
    if let Some([first, second]) =
        classes.windows(2).find(|pair| pair[0].level.is_some() && pair[0].level == pair[1].level)
    {
        let level = first.level.unwrap_or_default();
        let text = format!(
            "classes {} and {} have priority level {level} (certainty of the rule: recalled)",
            first.name, second.name
        );
        return refusal(first.line.max(second.line), text);
    }
    let above = |class: &&QueueClass| class.level.is_some_and(|level| level > MOST_LEVELS);
    if let Some(class) = classes.iter().find(above) {
        let level = class.level.unwrap_or_default();
        return refusal(class.line, format!("class {} has priority level {level}, not 1 or 2", class.name));
    }
    let random: Vec<(&QueueClass, usize)> =
        classes.iter().filter_map(|class| Some((class, class.random_detect?))).collect();
    if let Some((class, line)) = random.iter().find(|(class, _)| !class.limits.is_empty()) {
        let text = format!(
            "class {} has random-detect and queue-limit (certainty of the rule: recalled)",
            class.name
        );
        return refusal(*line, text);
    }
    if let Some((_, line)) = random.get(MOST_RANDOM) {
        let text = format!(
            "{} classes have random-detect, at most {MOST_RANDOM} may (certainty of the rule: recalled)",
            random.len()
        );
        return refusal(*line, text);
    }
    let last = classes.iter().map(|class| class.line).max().filter(|_| classes.len() > MOST_QUEUES)?;
    refusal(last, format!("{} classes need queues, but a port has {MOST_QUEUES}", classes.len()))
}

/// Merges thresholds with the same percentage, and returns them in ascending order.
fn merged(limits: &[PercentLimit]) -> Vec<PercentLimit> {
    let mut found: Vec<PercentLimit> = Vec::new();
    for limit in limits {
        match found.iter_mut().find(|other| other.percent == limit.percent) {
            Some(other) => other.packets.extend(limit.packets.iter().copied()),
            None => found.push(limit.clone()),
        }
    }
    found.sort_by_key(|limit| limit.percent);
    found
}

/// Returns the three thresholds of a queue with a limit of `most` units at a ceiling of `ceiling` percent.
fn thresholds(most: u64, ceiling: u64, limits: &[PercentLimit]) -> Vec<DropThreshold> {
    let of_parts = |parts: u64| most * parts / THRESHOLD_PARTS;
    let unused = |parts: u64| DropThreshold {
        units: Some(of_parts(parts)),
        percent: None,
        packets: Vec::new(),
        line: None,
    };
    let written = limits.iter().take(3).map(|limit| DropThreshold {
        units: Some(of_parts(limit.percent * THRESHOLD_PARTS / ceiling.max(1))),
        percent: None,
        packets: limit.packets.clone(),
        line: Some(limit.line),
    });
    match limits.len() {
        0 => DEFAULT_THRESHOLDS.into_iter().chain([THRESHOLD_PARTS]).map(unused).collect(),
        1 | 2 => written.chain([unused(THRESHOLD_PARTS)]).collect(),
        _ => written.collect(),
    }
}
