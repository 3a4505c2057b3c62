//! [`queue_descriptions`]: the description of each queue in a scenario, as text. Drawings, the playground
//! and live views share it.

use perhop_qos::buffer::{
    BufferConfig, DualPi2Config, DualPi2Law, EcnConfig, MredConfig, NativeMarking, SharedMemoryConfig,
};
use perhop_qos::cake::CakeConfig;
use perhop_qos::classifier::OneOrMany;
use perhop_qos::packet::Dscp;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::{CoupledQueues, FairQueueingConfig, LowLatencyEcn, PrecedenceSource};
use perhop_qos::units::{QueueSize, Time};
use serde::Serialize;

use crate::Scenario;

/// The description of one queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueDescription {
    /// Name of the port in results.
    pub port: String,
    /// Name of the queue in results.
    pub queue: String,
    /// Queue limit, packets; `None` if the queue has no limit or a limit in bytes.
    pub limit_packets: Option<u64>,
    /// The buffer manager with its limit, then its parameters and thresholds.
    pub lines: Vec<DescriptionLine>,
}

/// A line of a description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DescriptionLine {
    /// The text.
    pub text: String,
    /// The drop precedence that the line describes, if any.
    pub precedence: Option<usize>,
}

impl From<String> for DescriptionLine {
    fn from(text: String) -> DescriptionLine {
        DescriptionLine { text, precedence: None }
    }
}

/// Returns the description of every queue, in the order of the scenario's links. `scenario` must be resolved:
/// its router configurations are converted to policies.
pub fn queue_descriptions(scenario: &Scenario) -> Vec<QueueDescription> {
    let mut found = Vec::new();
    for link in &scenario.links {
        let [a, b] = &link.between;
        for (from, to) in [(a, b), (b, a)] {
            let policy = link.interfaces.get(from).and_then(|interface| interface.output.as_ref());
            let queueing = policy.and_then(|name| scenario.policies.get(name)?.queueing.as_ref());
            let port = format!("{from}->{to}");
            match queueing {
                Some(queueing) => collect(queueing, &port, "", &mut found),
                None => found.push(described(&ClassConfig::default(), port, "fifo".to_owned())),
            }
        }
    }
    found
}

fn collect(queueing: &QueueingConfig, port: &str, prefix: &str, found: &mut Vec<QueueDescription>) {
    for class in &queueing.classes {
        let name = format!("{prefix}{}", class.name);
        match (&class.queueing, &class.buffer) {
            (Some(inner), _) => collect(inner, port, &format!("{name}/"), found),
            (None, Some(BufferConfig::Cake(cake))) => {
                let tins = cake.queue_names(&name).into_iter();
                found.extend(tins.map(|tin| described(class, port.to_owned(), tin)));
            }
            (None, _) => found.push(described(class, port.to_owned(), name)),
        }
    }
}

fn described(class: &ClassConfig, port: String, queue: String) -> QueueDescription {
    let limits = [class.fair_queueing.as_ref().map(|fair| fair.limit), limit_of(class)];
    let packets = limits.into_iter().flatten().filter_map(|limit| match limit {
        QueueSize::Packets(packets) if packets < FairQueueingConfig::NO_LIMIT => Some(packets),
        _ => None,
    });
    QueueDescription { port, queue, limit_packets: packets.min(), lines: lines_of(class) }
}

/// Returns the limit of a class's buffer manager; `None` if the queue is limited only by the algorithm of the
/// buffer manager.
fn limit_of(class: &ClassConfig) -> Option<QueueSize> {
    match class.buffer.as_ref() {
        None if class.fair_queueing.is_some() => None,
        None => Some(QueueSize::Packets(64)),
        Some(BufferConfig::TailDrop(config)) => Some(config.limit),
        Some(BufferConfig::FillProfile(config)) => Some(config.limit),
        Some(BufferConfig::WeightedTailDrop(config)) => {
            config.limits.iter().max_by_key(|limit| limit.count()).copied()
        }
        Some(BufferConfig::Codel(config)) => Some(config.limit),
        Some(BufferConfig::FqCodel(config)) => Some(config.limit),
        Some(BufferConfig::Pie(config)) => Some(config.limit),
        Some(BufferConfig::FqPie(config)) => Some(config.limit),
        Some(BufferConfig::DualPi2(config)) => config.fixed_limit(),
        Some(BufferConfig::Cake(_)) => None,
        Some(family) => family.mred().and_then(|config| config.limit),
    }
}

fn lines_of(class: &ClassConfig) -> Vec<DescriptionLine> {
    let mut lines = class.fair_queueing.as_ref().map(fair_queueing).unwrap_or_default();
    let most = at_most(limit_of(class));
    match class.buffer.as_ref() {
        None if class.fair_queueing.is_some() => {}
        None | Some(BufferConfig::TailDrop(_)) => lines.push(format!("tail drop, {most}").into()),
        Some(BufferConfig::WeightedTailDrop(config)) => {
            lines.push("weighted tail drop, at most".to_owned().into());
            let limits = config.limits.iter().enumerate();
            lines.extend(limits.map(|(number, limit)| DescriptionLine {
                text: format!("{}: {}", label(&class.precedence, number), spaced(limit)),
                precedence: Some(number),
            }));
        }
        Some(BufferConfig::FillProfile(config)) => {
            lines.push(format!("drops by fill level, {most}").into());
            let profiles = config.precedences.iter().enumerate();
            lines.extend(profiles.map(|(number, steps)| DescriptionLine {
                text: format!("{}: {} steps", label(&class.precedence, number), steps.len()),
                precedence: Some(number),
            }));
        }
        Some(BufferConfig::Codel(config)) => {
            lines.push(format!("CoDel ({}), {most}", word(&config.law)).into());
            lines.push(target_and_interval(config.target, config.interval));
        }
        Some(BufferConfig::FqCodel(config)) => {
            lines.push(format!("FQ-CoDel ({}), {most}", word(&config.law)).into());
            lines.push(target_and_interval(config.target, config.interval));
        }
        Some(BufferConfig::Pie(config)) => {
            lines.push(format!("PIE ({}), {most}", word(&config.law)).into());
            lines.push(format!("steers towards {}", spaced(&config.target)).into());
            if config.ecn != EcnConfig::Ignore {
                lines.push("marks ECN-capable packets".to_owned().into());
            }
        }
        Some(BufferConfig::FqPie(config)) => {
            lines.push(format!("FQ-PIE ({}), {most}", word(&config.law)).into());
            lines.push(format!("steers towards {}", spaced(&config.target)).into());
        }
        Some(BufferConfig::DualPi2(config)) => lines.extend(dualpi2(config)),
        Some(BufferConfig::Cake(config)) => lines.extend(cake(config)),
        Some(BufferConfig::SharedMemory(config)) => lines.extend(shared_memory(config, &class.precedence)),
        Some(family) => {
            if let Some(config) = family.mred() {
                lines.extend(early_detection(&word(family), config, &class.precedence));
            }
        }
    }
    lines.extend(
        class.pause.map(|pause| format!("priority flow control, priority {}", pause.priority).into()),
    );
    lines
}

fn fair_queueing(config: &FairQueueingConfig) -> Vec<DescriptionLine> {
    let (flows, weights) = (word(&config.flows), word(&config.weights));
    let first = format!("fair queueing queues {}, flows {flows}, weights {weights}", config.queues);
    let limits = [(config.flow_limit, " of a flow"), (config.limit, " in all")];
    let limited = limits.into_iter().filter(|(limit, _)| limit.count() < FairQueueingConfig::NO_LIMIT);
    let limited: Vec<String> =
        limited.map(|(limit, scope)| format!("at most {}{scope}", spaced(&limit))).collect();
    [first, limited.join(", ")].into_iter().filter(|line| !line.is_empty()).map(Into::into).collect()
}

/// Returns lines about RED, WRED and related algorithms, with the thresholds of each drop precedence.
fn early_detection(kind: &str, config: &MredConfig, source: &PrecedenceSource) -> Vec<DescriptionLine> {
    let name = match kind {
        "mred" => {
            let averages = config.averages.as_ref().map_or_else(|| "single".to_owned(), word);
            format!("RED family, {averages} averages")
        }
        _ => kind.to_uppercase(),
    };
    let law = config.law.as_ref().map(|law| format!(" ({})", word(law))).unwrap_or_default();
    let limit = config.limit.map(|limit| format!(", {}", at_most(Some(limit)))).unwrap_or_default();
    let mut lines: Vec<DescriptionLine> = vec![format!("{name}{law}{limit}").into()];
    // Loading has built the policies, so the thresholds are valid.
    let curves = config.drop_curves().unwrap_or_default();
    lines.extend(curves.iter().enumerate().filter_map(|(number, curve)| {
        let (&(low, _), &(high, probability)) = (curve.shared.get(1)?, curve.shared.get(2)?);
        let (divisor, unit) = match curve.unit {
            QueueSize::Bytes(_) => (1024.0, "KiB"),
            QueueSize::Packets(_) => (1.0, "packets"),
        };
        let range = format!("{} to {} {unit}", short(low / divisor), short(high / divisor));
        let text = format!("{}: {range}, up to {} %", label(source, number), short(100.0 * probability));
        Some(DescriptionLine { text, precedence: Some(number) })
    }));
    lines
}

/// Returns lines about the units that a queue can use in the shared memory of its port.
fn shared_memory(config: &SharedMemoryConfig, source: &PrecedenceSource) -> Vec<DescriptionLine> {
    let own = format!("shared memory, {} units reserved", config.reserved);
    let limit = config.limit.map(|limit| format!("at most {limit} shared units"));
    let alpha = config.alpha.map(|alpha| format!("fewer shared units than {alpha} × the free units"));
    let limits = [limit, alpha].into_iter().flatten().map(Into::into);
    let thresholds = config.thresholds.iter().enumerate().map(|(number, units)| DescriptionLine {
        text: format!("{}: at most {units} units", label(source, number)),
        precedence: Some(number),
    });
    [own.into()].into_iter().chain(limits).chain(thresholds).collect()
}

fn dualpi2(config: &DualPi2Config) -> Vec<DescriptionLine> {
    let law = word(&config.law);
    let most = config.fixed_limit().map_or_else(|| "250 ms of its rate".to_owned(), |limit| spaced(&limit));
    let target = config.target.map_or_else(|| "15 ms".to_owned(), |target| spaced(&target));
    if config.queues == CoupledQueues::One {
        let second = format!("steers towards {target}; ECT(1) and CE marked more");
        return vec![format!("PI2 ({law}), at most {most}").into(), second.into()];
    }
    let native = match (config.native, config.law) {
        (Some(NativeMarking::Step(step)), _) => format!("step {}", spaced(&step)),
        (Some(NativeMarking::Ramp(ramp)), _) => {
            format!("ramp from {}, width {}", spaced(&ramp.from), spaced(&ramp.width))
        }
        (None, DualPi2Law::Linux) => "step 1 ms".to_owned(),
        (None, DualPi2Law::Rfc) => "ramp from 800 us, width 400 us".to_owned(),
    };
    let chosen = &config.low_latency;
    let fields =
        if chosen.ecn == LowLatencyEcn::AnyEct { &["ECT(0)", "ECT(1)", "CE"][..] } else { &["ECT(1)", "CE"] };
    let mut taken: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
    taken.extend(chosen.dscp.iter().flat_map(|OneOrMany(codepoints)| codepoints).map(Dscp::to_string));
    vec![
        format!("DualPI2 ({law}), at most {most}").into(),
        format!("classic queue: steers towards {target}").into(),
        format!("low latency ({}): {native}", taken.join(", ")).into(),
    ]
}

fn cake(config: &CakeConfig) -> [DescriptionLine; 3] {
    let shaped = config.bandwidth.map(|rate| format!("shaped to {}", spaced(&rate)));
    [
        format!("CAKE, {}", shaped.unwrap_or_else(|| "not shaped".to_owned())).into(),
        format!("{}, {}", word(&config.tins), word(&config.isolation)).into(),
        format!("round trips of {}", spaced(&config.rtt)).into(),
    ]
}

fn target_and_interval(target: Time, interval: Time) -> DescriptionLine {
    format!("target {}, interval {}", spaced(&target), spaced(&interval)).into()
}

/// Returns a limit as text. A limit that no queue can reach is shown as no limit.
fn at_most(limit: Option<QueueSize>) -> String {
    match limit {
        Some(QueueSize::Packets(count)) if count >= FairQueueingConfig::NO_LIMIT => "no limit".to_owned(),
        Some(limit) => format!("at most {}", spaced(&limit)),
        None => "no limit".to_owned(),
    }
}

/// Returns the codepoints of a drop precedence if they are listed, otherwise its number.
fn label(source: &PrecedenceSource, number: usize) -> String {
    match source {
        PrecedenceSource::ByDscp(lists) if number < lists.len() => {
            let OneOrMany(codepoints) = &lists[number];
            codepoints.iter().map(Dscp::to_string).collect::<Vec<_>>().join(" ")
        }
        _ => number.to_string(),
    }
}

/// Returns the name of `choice` in scenario files.
fn word(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(serde_json::Value::Object(map)) => {
            map.into_iter().next().map(|(name, _)| name).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Returns a quantity with a space before its unit: `5 ms`.
fn spaced(quantity: &impl ToString) -> String {
    let text = quantity.to_string();
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    format!("{number} {}", unit.trim())
}

/// Formats a number with at most four decimals.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described_class(class: &str) -> (Option<u64>, Vec<String>) {
        let class: ClassConfig = serde_json::from_str(class).unwrap();
        let found = described(&class, String::new(), String::new());
        (found.limit_packets, found.lines.into_iter().map(|line| line.text).collect())
    }

    #[test]
    fn a_limit_that_no_queue_reaches_is_not_a_limit() {
        let (limit, lines) = described_class(
            r#"{"name": "x", "fair-queueing": {"flow-limit": "1000000 packets", "limit": "1000000 packets"},
                "buffer": {"wred": {"precedences": [
                    {"min": "20 packets", "max": "40 packets", "max-probability": 0.1},
                    {"min": "10 packets", "max": "40 packets", "max-probability": 0.1}]}},
                "precedence": {"by-dscp": ["af31", ["af32", "af33"]]}}"#,
        );
        assert_eq!(limit, None);
        assert_eq!(
            lines,
            [
                "fair queueing queues 256, flows exact, weights by-precedence",
                "WRED",
                "af31: 20 to 40 packets, up to 10 %",
                "af32 af33: 10 to 40 packets, up to 10 %",
            ]
        );
    }

    #[test]
    fn the_lowest_limit_of_a_queue_is_its_limit() {
        let fair = r#"{"name": "x", "fair-queueing": {"flow-limit": "16 packets", "limit": "4096 packets"}}"#;
        let (limit, lines) = described_class(fair);
        assert_eq!(
            (limit, lines[1].as_str()),
            (Some(4096), "at most 16 packets of a flow, at most 4096 packets in all")
        );
        assert_eq!(
            described_class(r#"{"name": "x"}"#),
            (Some(64), vec!["tail drop, at most 64 packets".into()])
        );
        let bytes = r#"{"name": "x", "buffer": {"tail-drop": {"limit": "30kB"}}}"#;
        assert_eq!(described_class(bytes), (None, vec!["tail drop, at most 30 kB".into()]));
    }
}
