//! [`Queue`]: the properties by which queues of two policies are compared, without their names.

use std::collections::BTreeMap;

use perhop_analysis::rates::{ClassRates, Given, Holds, rates};
use perhop_analysis::{Field, PacketSpace, Set, TooComplex};
use perhop_qos::buffer::{BufferConfig, MemoryConfig};
use perhop_qos::classifier::OneOrMany;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::{Color, Dscp, Rate};
use serde_json::{Map, Value, json};

use super::values::{are_close, only_queue, same_value};

/// Schedulers that share the whole rate in proportion to one number.
const PROPORTIONAL: [SchedulerConfig; 5] = [
    SchedulerConfig::Scfq,
    SchedulerConfig::Wfq,
    SchedulerConfig::Wf2qPlus,
    SchedulerConfig::Drr,
    SchedulerConfig::Wrr,
];
/// Schedulers in which a share limits the rate or the burst of a class, even without siblings.
const LIMITING: [SchedulerConfig; 4] =
    [SchedulerConfig::Cbq, SchedulerConfig::Hfsc, SchedulerConfig::Htb, SchedulerConfig::GuaranteeExcess];
/// The keys of shares that determine only the rates of the classes.
const PROPORTIONS: [&str; 4] = ["weight", "bandwidth", "quantum", "fraction"];

/// The classes of one scheduler, in the order in which packets are compared with them.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) classes: Vec<Class>,
}

/// A class with the packets that match its condition.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) takes: Set,
    pub(super) content: ClassContent,
}

/// The classes inside a class, or its queues.
#[derive(Clone, Debug)]
pub(super) enum ClassContent {
    Level(Level),
    /// For each row of thresholds: the index of the queue, the index of the row, and the packets of the row.
    Queues(Vec<(usize, usize, Set)>),
}

/// A queue.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub(super) name: String,
    /// The schedulers on the path to the queue that choose among several classes.
    schedulers: Vec<SchedulerConfig>,
    /// The share of the class in each scheduler, without the keys in [`PROPORTIONS`].
    pub(super) shares: Vec<Value>,
    /// The limits of rate and memory of the enclosing classes.
    pub(super) limits: Value,
    /// The buffer, without its thresholds by drop precedence.
    pub(super) buffer: Value,
    /// The rows of thresholds.
    pub(super) rows: Vec<Value>,
    pub(super) guarantee: Guarantee,
    /// The numbers of enclosing classes that limit several queues together.
    pub(super) limited_by: Vec<usize>,
}

/// The rates of a queue, in bits per second.
#[derive(Clone, Debug, Default)]
pub(super) struct Guarantee {
    pub(super) has_priority: bool,
    pub(super) promised: Option<f64>,
    while_busy: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) excess: Option<f64>,
    always: bool,
}

impl Guarantee {
    fn of_class(rates: &ClassRates) -> Guarantee {
        Guarantee {
            has_priority: rates.has_priority,
            promised: rates.promised,
            while_busy: rates.while_busy,
            maximum: rates.maximum,
            excess: rates.excess,
            always: rates.limit.is_some() && rates.holds == Holds::Always,
        }
    }

    fn is_equal(&self, other: &Guarantee) -> bool {
        let same = |first: Option<f64>, second: Option<f64>| match (first, second) {
            (Some(first), Some(second)) => are_close(first, second),
            (first, second) => first.is_none() && second.is_none(),
        };
        self.has_priority == other.has_priority
            && self.always == other.always
            && same(self.promised, other.promised)
            && same(self.while_busy, other.while_busy)
            && same(self.maximum, other.maximum)
    }
}

/// Whether the rates of queues are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarantees {
    Compared,
    Ignored,
}

/// The comparison of two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sameness {
    Same,
    /// The guarantees are equal, but the kinds of the schedulers differ.
    OtherScheduler,
    Different,
}

impl Queue {
    /// Compares two queues without their rows of thresholds.
    pub(super) fn compare(&self, other: &Queue, guarantees: Guarantees) -> Sameness {
        let is_same = same_value(&self.limits, &other.limits)
            && same_value(&self.buffer, &other.buffer)
            && (guarantees == Guarantees::Ignored || self.guarantee.is_equal(&other.guarantee));
        if !is_same {
            return Sameness::Different;
        }
        if guarantees == Guarantees::Ignored {
            return Sameness::Same;
        }
        if self.schedulers != other.schedulers {
            // Unknown rates are not compared.
            let is_known =
                self.guarantee.maximum.is_some() || self.schedulers.is_empty() && other.schedulers.is_empty();
            return if is_known { Sameness::OtherScheduler } else { Sameness::Different };
        }
        // A queue without other queues gets the whole excess.
        let is_alone = self.schedulers.is_empty();
        let excess = match (self.guarantee.excess, other.guarantee.excess) {
            (Some(first), Some(second)) => are_close(first, second),
            (first, second) => first.is_none() == second.is_none(),
        };
        let shares = self.shares.len() == other.shares.len()
            && self.shares.iter().zip(&other.shares).all(|(one, other)| same_value(one, other));
        if (excess || is_alone) && shares { Sameness::Same } else { Sameness::Different }
    }

    /// Returns the kinds of schedulers on the path to the queue, as text.
    pub(super) fn kinds(&self) -> String {
        let names: Vec<String> = self
            .schedulers
            .iter()
            .map(|scheduler| json!(scheduler).as_str().unwrap_or("?").to_owned())
            .collect();
        if names.is_empty() { "one queue".to_owned() } else { names.join(" > ") }
    }
}

/// The properties that a class inherits from its enclosing classes.
#[derive(Clone, Debug, Default)]
struct Around {
    name: String,
    schedulers: Vec<SchedulerConfig>,
    shares: Vec<Value>,
    limits: Vec<Value>,
    limited_by: Vec<usize>,
}

/// The state that the levels of a policy share.
struct Making<'a> {
    rates: BTreeMap<String, Guarantee>,
    limiters: usize,
    queues: &'a mut Vec<Queue>,
}

/// Returns the classes of a policy, and adds its queues.
pub(super) fn level_of(
    space: &mut PacketSpace,
    policy: &PolicyConfig,
    line: Option<Rate>,
    queues: &mut Vec<Queue>,
) -> Result<Level, TooComplex> {
    let whole =
        PolicyConfig { queueing: Some(policy.queueing.clone().unwrap_or_else(only_queue)), ..policy.clone() };
    let none = BTreeMap::new();
    let level = rates(&whole, Given { line, limits: &none });
    let leaves = level.iter().flat_map(perhop_analysis::rates::Level::leaves);
    let rates = leaves.map(|rates| (rates.path.clone(), Guarantee::of_class(rates))).collect();
    let mut making = Making { rates, limiters: 0, queues };
    let mut around = Around::default();
    if policy.overhead != 0 {
        around.limits.push(json!({ "overhead": policy.overhead }));
    }
    match &whole.queueing {
        Some(queueing) => making.level(space, queueing, &around),
        None => Ok(Level::default()),
    }
}

impl Making<'_> {
    fn level(
        &mut self,
        space: &mut PacketSpace,
        queueing: &QueueingConfig,
        around: &Around,
    ) -> Result<Level, TooComplex> {
        let mut around = around.clone();
        if let Some(limit) = &queueing.limit {
            self.limit(&mut around, json!({ "limit of all queues": limit }));
        }
        if let Some(memory) = &queueing.memory {
            // The name of a pool is not compared, because it has no meaning outside its node.
            let memory = MemoryConfig { pool: None, ..memory.clone() };
            self.limit(&mut around, json!({ "memory of all queues": memory }));
        }
        let mut classes = Vec::new();
        for (rank, class) in ranked(queueing) {
            let takes = match &class.matches {
                Some(condition) => space.taken_by(condition)?,
                None => Set::ALL,
            };
            let mut own = around.clone();
            let prefix = if own.name.is_empty() { String::new() } else { format!("{}/", own.name) };
            own.name = format!("{prefix}{}", class.name);
            // A single class gets the whole rate, except with schedulers whose shares are limits.
            if queueing.classes.len() > 1 || LIMITING.contains(&queueing.scheduler) {
                own.schedulers.push(queueing.scheduler);
                own.shares.push(share(queueing, class, rank));
            }
            for (key, limit) in [("shape", json!(class.shape)), ("police", json!(class.police))] {
                if !limit.is_null() {
                    self.limit(&mut own, json!({ key: limit }));
                }
            }
            let content = match &class.queueing {
                Some(inner) => ClassContent::Level(self.level(space, inner, &own)?),
                None => ClassContent::Queues(self.queues_of(space, class, &own)?),
            };
            classes.push(Class { takes, content });
        }
        Ok(Level { classes })
    }

    fn limit(&mut self, around: &mut Around, limit: Value) {
        around.limits.push(limit);
        around.limited_by.push(self.limiters);
        self.limiters += 1;
    }

    /// Adds the queues of a class: one queue, or the tins of CAKE.
    fn queues_of(
        &mut self,
        space: &mut PacketSpace,
        class: &ClassConfig,
        around: &Around,
    ) -> Result<Vec<(usize, usize, Set)>, TooComplex> {
        let guarantee = self.rates.get(&around.name).cloned().unwrap_or_default();
        let (buffer, rows) = buffer_of(space, class)?;
        let mut add = |name: String, buffer: Value, rows: Vec<Value>| {
            self.queues.push(Queue {
                name,
                schedulers: around.schedulers.clone(),
                shares: around.shares.clone(),
                limits: json!(around.limits),
                buffer,
                rows,
                guarantee: guarantee.clone(),
                limited_by: around.limited_by.clone(),
            });
            self.queues.len() - 1
        };
        if let Some(BufferConfig::Cake(cake)) = &class.buffer
            && cake.queue_names(&class.name).len() > 1
        {
            let mut found = Vec::new();
            for (tin, name) in cake.queue_names(&around.name).into_iter().enumerate() {
                let codepoints = cake.tins.codepoints(tin).map(|dscp| dscp.value().into());
                let packets = space.is_one_of(Field::Dscp, codepoints)?;
                let queue = add(name, json!({ "cake": buffer, "tin": tin }), vec![Value::Null]);
                found.push((queue, 0, packets));
            }
            return Ok(found);
        }
        let (values, sets): (Vec<Value>, Vec<Set>) = rows.into_iter().unzip();
        let queue = add(around.name.clone(), buffer, values);
        Ok(sets.into_iter().enumerate().map(|(row, packets)| (queue, row, packets)).collect())
    }
}

/// Returns the classes with their ranks by priority in a scheduler.
fn ranked(queueing: &QueueingConfig) -> Vec<(usize, &ClassConfig)> {
    let level = |index: usize, class: &ClassConfig| class.share.level.map_or(index, usize::from);
    let levels: Vec<usize> =
        queueing.classes.iter().enumerate().map(|(index, class)| level(index, class)).collect();
    let rank = |own: usize| levels.iter().filter(|other| **other < own).count();
    queueing.classes.iter().zip(&levels).map(|(class, own)| (rank(*own), class)).collect()
}

/// Returns the properties of the share of a class, without the properties that the comparison of its rate
/// covers.
fn share(queueing: &QueueingConfig, class: &ClassConfig, rank: usize) -> Value {
    let mut share = match json!(class.share) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if PROPORTIONAL.contains(&queueing.scheduler) {
        share.retain(|key, _| !PROPORTIONS.contains(&key.as_str()));
    }
    if queueing.scheduler == SchedulerConfig::ThreeParameter {
        share.shift_remove("weight");
    }
    if queueing.scheduler == SchedulerConfig::Priority {
        share.insert("level".to_owned(), json!(rank));
    }
    json!({
        "share": share,
        "link-sharing": queueing.link_sharing,
        "rate-to-quantum": queueing.rate_to_quantum,
    })
}

/// Returns the buffer of a class, and its rows of thresholds with the packets of each.
fn buffer_of(space: &mut PacketSpace, class: &ClassConfig) -> Result<(Value, Vec<(Value, Set)>), TooComplex> {
    let default = json!({ "tail-drop": { "limit": "64 packets" } });
    let mut buffer = match (&class.buffer, &class.fair_queueing) {
        (Some(buffer), _) => json!(buffer),
        (None, Some(_)) => Value::Null,
        (None, None) => default,
    };
    let whole = |buffer: Value| {
        let mut whole = json!({ "buffer": buffer, "fair-queueing": class.fair_queueing });
        if class.pause.is_some() {
            whole["pause"] = json!(class.pause);
        }
        whole
    };
    let by_precedence = match &class.buffer {
        Some(BufferConfig::Red(_) | BufferConfig::Wred(_)) => {
            // If all precedences share one average, a packet depends only on the thresholds of its own
            // precedence.
            let body = buffer.as_object_mut().and_then(|kinds| kinds.values_mut().next());
            let rows = body.and_then(|body| body.as_object_mut()?.shift_remove("precedences"));
            rows.and_then(|rows| rows.as_array().cloned()).filter(|rows| !rows.is_empty())
        }
        Some(
            BufferConfig::WeightedTailDrop(_)
            | BufferConfig::FillProfile(_)
            | BufferConfig::RioC(_)
            | BufferConfig::RioDc(_)
            | BufferConfig::Mred(_),
        ) => Some((0..Color::COUNT).map(|precedence| json!(precedence)).collect()),
        Some(BufferConfig::SharedMemory(config)) if !config.thresholds.is_empty() => {
            Some((0..Color::COUNT).map(|precedence| json!(precedence)).collect())
        }
        _ => None,
    };
    let Some(rows) = by_precedence else { return Ok((whole(buffer), vec![(Value::Null, Set::ALL)])) };
    let mut found: Vec<(Value, Vec<Set>)> = Vec::new();
    for precedence in 0..Color::COUNT {
        let packets = of_precedence(space, &class.precedence, precedence)?;
        let row = rows.get(precedence).or(rows.last()).cloned().unwrap_or_default();
        match found.iter_mut().find(|(known, _)| *known == row) {
            Some((_, sets)) => sets.push(packets),
            None => found.push((row, vec![packets])),
        }
    }
    let rows: Result<_, TooComplex> =
        found.into_iter().map(|(row, sets)| Ok((row, space.any(sets)?))).collect();
    Ok((whole(buffer), rows?))
}

/// Returns the packets with a drop precedence.
fn of_precedence(
    space: &mut PacketSpace,
    source: &PrecedenceSource,
    precedence: usize,
) -> Result<Set, TooComplex> {
    let of_codepoint = |space: &mut PacketSpace, of: &dyn Fn(Dscp) -> usize| {
        let codepoints = (0..64).filter_map(Dscp::new).filter(|dscp| of(*dscp) == precedence);
        space.is_one_of(Field::Dscp, codepoints.map(|dscp| dscp.value().into()))
    };
    match source {
        PrecedenceSource::Color => space.equals(Field::Color, precedence as u128),
        PrecedenceSource::Cos => {
            let tagged = space.equals(Field::HasCos, 1)?;
            let value = space.equals(Field::Cos, precedence as u128)?;
            let own = space.and(tagged, value)?;
            if precedence > 0 {
                return Ok(own);
            }
            let untagged = space.minus(Set::ALL, tagged)?;
            space.or(own, untagged)
        }
        PrecedenceSource::Dscp => of_codepoint(space, &|dscp| dscp.color().index()),
        PrecedenceSource::IpPrecedence => of_codepoint(space, &|dscp| dscp.precedence().value().into()),
        PrecedenceSource::ByDscp(lists) => of_codepoint(space, &|dscp| {
            let place = lists.iter().position(|OneOrMany(own)| own.contains(&dscp));
            place.unwrap_or(lists.len().saturating_sub(1))
        }),
    }
}
