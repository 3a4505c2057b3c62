//! Conversion of filters with actions at the hooks of `clsact` and `ingress` to conditioners.

use perhop_device::intent::{ClassId, Policy};
use perhop_qos::action::{Action as Step, CopyConfig, CopyDefault, CopyField, Value};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::meter::{ColorMode, MeterConfig, PacketRateConfig, TokenBucketConfig, TwoRateTcmConfig};
use perhop_qos::policy::PolicyConfig;
use perhop_qos::units::PacketRate;
use perhop_qos::{ByteSize, Color, Dscp, QueueSize, Rate};

use super::classes::{Rule, any, is_empty, joined};
use super::demands;
use crate::log::Log;
use crate::model::{Action, Control, Device, Family, Filter, HOOK_INGRESS, Police, Qdisc};
use crate::options::Options;

/// The treatment of the packets of a filter: the meter, and the steps for each color.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Treatment {
    pub(super) meter: Option<MeterConfig>,
    /// The numbers of its policers. Treatments with the same number share a policer.
    shared: Vec<u64>,
    pub(super) green: Vec<Step>,
    pub(super) yellow: Vec<Step>,
    pub(super) red: Vec<Step>,
}

impl Treatment {
    /// Whether it shares a policer with `other`.
    pub(super) fn shares(&self, other: &Treatment) -> bool {
        self.shared.iter().any(|index| other.shared.contains(index))
    }
}

/// The converted filters of a hook: as a policy of perhop, and as classes for the writers of configurations.
#[derive(Debug, Default)]
pub(super) struct Hook {
    /// The conditioners, and the overhead.
    pub(super) config: PolicyConfig,
    /// A class for each conditioner.
    pub(super) intent: Option<Policy>,
}

/// Converts the filters at a hook of a device, with `overhead` bytes per packet in addition to IP.
pub(super) fn at_hook(device: &Device, hook: u32, overhead: i32, log: &mut Log) -> Hook {
    let Some(hooks) = device.hooks() else { return Hook::default() };
    let mut stages: Vec<(Treatment, Vec<Rule>, Vec<usize>)> = Vec::new();
    let mut counted = None;
    for filter in hooks.filters_at(hook).into_iter().filter(|filter| filter.chain == 0) {
        let Some(rule) = Rule::new(&filter.condition, 0) else { continue };
        let line = filter.line();
        let Some(treatment) = treatment(hooks, filter, log) else { continue };
        for action in &filter.actions {
            if let Action::Police(police) = action {
                let more = police.options.number("overhead").unwrap_or(0) as i32;
                if *counted.get_or_insert(more) != more {
                    log.not_modelled(
                        line,
                        "in perhop all policers of one direction have the same `overhead`",
                    );
                }
            }
        }
        let is_metered = treatment.meter.is_some();
        match stages.last_mut() {
            // Filters are merged into one stage only if they have no policer or the same policer number.
            // Otherwise, each filter has its own policer.
            Some((last, rules, lines))
                if *last == treatment && (!is_metered || !treatment.shared.is_empty()) =>
            {
                rules.push(rule);
                lines.extend(&filter.lines);
            }
            _ => {
                if stages.iter().any(|(known, ..)| known.shares(&treatment)) {
                    log.not_modelled(
                        line,
                        "several filters share this policer, and a filter with another treatment is between \
                         them: perhop gives each of them its own policer",
                    );
                }
                stages.push((treatment, vec![rule], filter.lines.clone()));
            }
        }
    }
    let (mut conditioners, mut classes) = (Vec::new(), Vec::new());
    for (treatment, rules, lines) in stages {
        if conditioners.last().is_some_and(takes_all) {
            break;
        }
        let line = lines.first().copied().unwrap_or(hooks.line);
        let stage = stage(treatment, rules, line);
        classes.push(demands::of_stage(&stage, ClassId(classes.len()), line));
        conditioners.push(stage);
    }
    if conditioners.is_empty() {
        return Hook::default();
    }
    let name = if hook == HOOK_INGRESS { "ingress" } else { "egress" };
    let overhead = overhead + counted.unwrap_or(0);
    Hook {
        config: PolicyConfig { conditioners, overhead, ..PolicyConfig::default() },
        intent: Some(Policy { name: name.to_owned(), line: hooks.line, queues: false, classes }),
    }
}

/// Whether no packet continues after this stage.
fn takes_all(stage: &ConditionerConfig) -> bool {
    let goes_on = |steps: &[Step]| steps.last() == Some(&Step::Continue);
    let lists = [&stage.green, &stage.yellow, &stage.red, &stage.actions];
    stage.matches.is_none() && !lists.into_iter().any(|steps| goes_on(steps))
}

fn stage(treatment: Treatment, rules: Vec<Rule>, line: usize) -> ConditionerConfig {
    let conditions: Option<Vec<MatchConfig>> = joined(rules).iter().map(Rule::condition).collect();
    conditioner(treatment, conditions.and_then(any), name_by_line(line))
}

/// Returns the name of a conditioner from the line of its filter.
pub(super) fn name_by_line(line: usize) -> String {
    format!("line {line}")
}

/// Returns the conditioner of the packets that match `matches`.
pub(super) fn conditioner(
    treatment: Treatment,
    matches: Option<MatchConfig>,
    name: String,
) -> ConditionerConfig {
    let matches = matches.filter(|matches| !is_empty(matches));
    let Treatment { meter, green, yellow, red, .. } = treatment;
    let name = Some(name);
    match meter {
        Some(meter) => ConditionerConfig {
            name,
            matches,
            meter: Some(meter),
            green,
            yellow,
            red,
            ..ConditionerConfig::default()
        },
        None => ConditionerConfig { name, matches, actions: green, ..ConditionerConfig::default() },
    }
}

/// Returns the treatment of a filter. Reports parts that perhop does not model, and omits them.
pub(super) fn treatment(hooks: &Qdisc, filter: &Filter, log: &mut Log) -> Option<Treatment> {
    let line = filter.line();
    let mut green = Vec::new();
    let mut policers: Vec<&Police> = Vec::new();
    let mut end = Control::Pass;
    for action in &filter.actions {
        match action {
            Action::Unseen => return None,
            Action::Label(label) => green.push(Step::Label(*label)),
            Action::Mark { value, mask } => green.push(mark(*value, *mask, line, log)),
            Action::Nothing | Action::End(Control::Pipe) => {}
            Action::End(control) => {
                end = *control;
                break;
            }
            Action::Police(police) => {
                if !green.is_empty() {
                    log.not_modelled(line, "perhop sets the marks after the policer, not before it");
                }
                policers.push(police);
                if police.conform != Control::Pipe {
                    end = police.conform;
                    break;
                }
            }
        }
    }
    let ended = |mut steps: Vec<Step>, control: Control, log: &mut Log| {
        match control {
            Control::Pass | Control::Pipe => steps.push(Step::Transmit),
            // `reclassify` results in a drop: Linux classifies the packet again up to MAX_REC_LOOP times, and
            // then drops it.
            Control::Drop | Control::Reclassify => steps = vec![Step::Drop],
            Control::Continue => steps.push(Step::Continue),
            Control::Goto(chain) => {
                let others = chain_of(hooks, filter, chain, log)?;
                steps.extend(others);
            }
        }
        Some(steps)
    };
    let green = ended(green, end, log)?;
    let mut exceed = Vec::new();
    for police in &policers {
        exceed.push(ended(Vec::new(), police.exceed, log)?);
    }
    let meter = match policers.as_slice() {
        [] => None,
        [police] => Some(one_bucket(&police.options, line, log)?),
        [first, second] => Some(two_buckets(&first.options, &second.options, line, log)?),
        _ => {
            log.not_modelled(
                line,
                "the filter has more than two policers in sequence; perhop models at most two",
            );
            return None;
        }
    };
    let shared = policers.iter().filter_map(|police| police.index).collect();
    let mut exceed = exceed.into_iter();
    let red = exceed.next().unwrap_or_default();
    let yellow = exceed.next().unwrap_or_default();
    Some(Treatment { meter, shared, green, yellow, red })
}

/// Returns the steps of a chain for the packets of `filter`. The chain must consist of a single filter that
/// matches all packets.
fn chain_of(hooks: &Qdisc, filter: &Filter, chain: u32, log: &mut Log) -> Option<Vec<Step>> {
    let family = filter.condition.family;
    let takes = |filter: &&&Filter| {
        let condition = &filter.condition;
        filter.chain == chain
            && (condition.family == family || condition.family == Family::Any || family == Family::Any)
            && !condition.is_never
    };
    let all = hooks.filters_at(filter.parent);
    let found = all.iter().find(takes);
    let Some(only) =
        found.filter(|filter| !filter.condition.is_unseen && is_empty(&filter.condition.matches))
    else {
        log.not_modelled(
            filter.line(),
            format!("chain {chain} does not begin with a filter that matches all packets"),
        );
        return None;
    };
    let mut steps = Vec::new();
    for action in &only.actions {
        match action {
            Action::Nothing | Action::End(Control::Pipe) => {}
            Action::Label(label) => steps.push(Step::Label(*label)),
            Action::Mark { value, mask } => steps.push(mark(*value, *mask, only.line(), log)),
            Action::End(Control::Pass) => break,
            Action::End(Control::Drop) => return Some(vec![Step::Drop]),
            Action::End(_) | Action::Police(_) | Action::Unseen => {
                log.not_modelled(
                    filter.line(),
                    format!("chain {chain} polices or continues to another chain"),
                );
                return None;
            }
        }
    }
    steps.push(Step::Transmit);
    Some(steps)
}

/// Returns the step for a write to the type of service.
fn mark(value: u8, mask: u8, line: usize, log: &mut Log) -> Step {
    if mask & 3 != 0 {
        log.not_modelled(
            line,
            "the command overwrites the ECN bits, but perhop keeps them: write retain 0xfc",
        );
    }
    let written = |dscp: u8| (dscp & !(mask >> 2)) | (value & mask) >> 2;
    if let (0xfc, Some(dscp)) = (mask & 0xfc, Dscp::new(value >> 2)) {
        Step::Mark(dscp)
    } else {
        let map = (0..64).map(|dscp: u8| (Value::from(dscp), Value::from(written(dscp)))).collect();
        let (from, to) = (CopyField::Dscp, CopyField::Dscp);
        Step::Copy(CopyConfig { from, to, map, default: CopyDefault::Copy })
    }
}

fn bucket(options: &Options, line: usize, log: &mut Log) -> Option<(Rate, ByteSize)> {
    let rate = options.rate("rate").filter(|rate| *rate > 0)?;
    let burst = options.number("burst").filter(|burst| *burst > 0)?;
    // Without `mtu`, the limit is 255 cells of 8 bytes (`act_police.c`), which no frame of 1514 bytes
    // exceeds.
    if let Some(mtu) = options.number("mtu").filter(|mtu| *mtu < 1514) {
        log.not_modelled(
            line,
            format!(
                "`mtu {mtu}`: in Linux, longer packets always exceed the policer; in perhop, they do not"
            ),
        );
    }
    Some((Rate::from_bits_per_second(rate), ByteSize::from_bytes(burst)))
}

fn one_bucket(options: &Options, line: usize, log: &mut Log) -> Option<MeterConfig> {
    if let Some(rate) = options.number("pkts_rate") {
        let burst = QueueSize::Packets(options.number("pkts_burst").unwrap_or(1));
        let rate = PacketRate::from_packets_per_second(rate);
        return Some(MeterConfig::PacketRate(PacketRateConfig { rate, burst, excess: Color::RED }));
    }
    let Some((rate, burst)) = bucket(options, line, log) else {
        log.not_modelled(line, "the policer has only an index: write its rate and burst");
        return None;
    };
    Some(MeterConfig::TokenBucket(TokenBucketConfig { rate, burst, excess: Color::RED }))
}

/// Returns a meter of RFC 2698, in which packets above the peak rate use no tokens of the committed bucket.
fn two_buckets(peak: &Options, committed: &Options, line: usize, log: &mut Log) -> Option<MeterConfig> {
    let (Some((pir, pbs)), Some((cir, cbs))) = (bucket(peak, line, log), bucket(committed, line, log)) else {
        log.not_modelled(
            line,
            "one of the two policers in sequence counts packets; perhop needs a rate in bytes for both",
        );
        return None;
    };
    if pir < cir {
        log.not_modelled(
            line,
            "the second of the two policers has the higher rate, so the first one always acts before it",
        );
        return None;
    }
    Some(MeterConfig::TwoRateTcm(TwoRateTcmConfig { cir, cbs, pir, pbs, mode: ColorMode::default() }))
}
