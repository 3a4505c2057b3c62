//! [`demands`]: the demands of a class (marks, rates, limits) by kind, for comparison between devices.

use std::collections::BTreeMap;
use std::fmt;

use perhop_device::intent::{
    Action, Class, Field, Guarantee, Mark, Meter, Police, Policy, PriorityRate, Then, TrafficRate, Written,
};
use perhop_qos::Rate;

/// The minimum factor by which two numbers must differ to contradict each other.
const UNEQUAL: u64 = 2;

/// Minimum difference, percentage points, between two shares of a link that contradict each other. A smaller
/// difference is a choice of the site, unless one share is [`SMALL_PART`] times the other.
const POINTS: u64 = 10;
const SMALL_PART: u64 = 5;

/// The sum of all shares, percent.
const WHOLE: u64 = 100;

/// The kind of guarantees, and the kinds of marks that other devices read.
pub(super) const GUARANTEE: &str = "guarantee";
pub(super) const CODEPOINT: &str = "codepoint";
pub(super) const LABELS: &str = "traffic class of labels";

/// The origin or destination of the packets to which a policy applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Packets {
    /// Packets that the device forwards.
    Forwarded,
    /// Packets to the device itself.
    ToDevice,
}

/// A demand of a class.
pub(super) struct Demand {
    /// The line of the demand.
    pub(super) line: usize,
    pub(super) value: Value,
    /// Whether the demand is a policer that drops packets.
    pub(super) drops: bool,
}

/// The value of a demand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Amount(u64, Unit),
    /// A mark, or words for a priority or a policer without a rate limit.
    Words(String),
}

/// The unit of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    BitsPerSecond,
    PacketsPerSecond,
    Percent,
    PercentOfRest,
    Ratio,
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Amount(bits, Unit::BitsPerSecond) => {
                write!(formatter, "{}", Rate::from_bits_per_second(*bits))
            }
            Value::Amount(packets, Unit::PacketsPerSecond) => write!(formatter, "{packets} packets/s"),
            Value::Amount(percent, Unit::Percent) => write!(formatter, "{percent} %"),
            Value::Amount(percent, Unit::PercentOfRest) => write!(formatter, "{percent} % of the rest"),
            Value::Amount(ratio, Unit::Ratio) => write!(formatter, "ratio {ratio}"),
            Value::Words(words) => formatter.write_str(words),
        }
    }
}

impl From<TrafficRate> for Value {
    fn from(rate: TrafficRate) -> Value {
        match rate {
            TrafficRate::BitsPerSecond(bits) => Value::Amount(bits, Unit::BitsPerSecond),
            TrafficRate::Percent(percent) => Value::Amount(percent, Unit::Percent),
        }
    }
}

impl Demand {
    /// Whether the value contradicts the usual value: it is a different word, or a number that differs by the
    /// factor [`UNEQUAL`]. The rule does not compare absolute rates of forwarded packets, because they depend
    /// on the circuit. A policer with a higher rate drops fewer packets, so it does not contradict the
    /// others.
    pub(super) fn contradicts(&self, usual: &Value, packets: Packets) -> bool {
        match (&self.value, usual) {
            (Value::Amount(_, Unit::BitsPerSecond | Unit::PacketsPerSecond), Value::Amount(..))
                if packets == Packets::Forwarded =>
            {
                false
            }
            (
                Value::Amount(own, Unit::Percent | Unit::PercentOfRest),
                Value::Amount(usual, Unit::Percent | Unit::PercentOfRest),
            ) if own.abs_diff(*usual) < POINTS && own.max(usual) < &(SMALL_PART * own.min(usual)) => false,
            (Value::Amount(own, unit), Value::Amount(usual, other)) => {
                unit == other && (own * UNEQUAL <= *usual || *own >= usual * UNEQUAL && !self.drops)
            }
            (own, usual) => own != usual,
        }
    }
}

/// Returns the demands of a class by kind.
pub(super) fn demands(class: &Class) -> BTreeMap<&'static str, Demand> {
    let mut found = BTreeMap::new();
    let mut add = |kind, line, value| found.insert(kind, Demand { line, value, drops: false });
    if let Some(at) = &class.priority {
        let (line, value) = match at.value.rate {
            // The policer of a priority class has the same effect as a rate of the priority.
            PriorityRate::Unlimited => class.police.as_ref().map_or_else(
                || (at.line, Value::Words("without a limit".to_owned())),
                |police| (police.line, policed(&police.value).0),
            ),
            PriorityRate::Kilobits(kilobits) => {
                (at.line, Value::Amount(1000 * kilobits, Unit::BitsPerSecond))
            }
            PriorityRate::Percent(percent) => (at.line, Value::Amount(percent, Unit::Percent)),
        };
        add("priority", line, value);
    }
    if let Some(at) = &class.guarantee {
        let value = match at.value {
            Guarantee::Kilobits(kilobits) => Value::Amount(1000 * kilobits, Unit::BitsPerSecond),
            Guarantee::BitsPerSecond(bits) => Value::Amount(bits, Unit::BitsPerSecond),
            Guarantee::Percent(percent) => Value::Amount(percent, Unit::Percent),
            Guarantee::RemainingPercent(percent) => Value::Amount(percent, Unit::PercentOfRest),
            Guarantee::RemainingRatio(ratio) => Value::Amount(ratio, Unit::Ratio),
        };
        add(GUARANTEE, at.line, value);
    }
    if let Some(at) = &class.shape {
        add("shaper", at.line, at.value.rate.into());
    }
    for mark in &class.marks {
        if let Some((kind, value)) = mark_words(&mark.value) {
            add(kind, mark.line, Value::Words(value));
        }
    }
    if let Some(at) = &class.police {
        let (value, drops) = policed(&at.value);
        found.insert("policer", Demand { line: at.line, value, drops });
    }
    found
}

/// Returns the guarantee of a class if it is a percentage.
pub(super) fn shares(class: &Class) -> impl Iterator<Item = (Unit, u64)> + use<> {
    let guarantee = demands(class).remove(GUARANTEE).map(|demand| demand.value);
    guarantee.into_iter().filter_map(|value| match value {
        Value::Amount(share, unit @ (Unit::Percent | Unit::PercentOfRest)) => Some((unit, share)),
        _ => None,
    })
}

/// Whether a class without a share gets the rate that the shares of its policy leave, and this rate is at
/// least the share of one of `others`.
pub(super) fn gets_rest<'c>(
    policy: &Policy,
    class: &Class,
    mut others: impl Iterator<Item = &'c Class>,
) -> bool {
    let rest = |unit: Unit| {
        let percent = |class: &Class| match class.priority.as_ref().map(|at| at.value.rate) {
            Some(PriorityRate::Percent(percent)) if unit == Unit::Percent => percent,
            _ => 0,
        };
        let guaranteed = policy.classes.iter().flat_map(shares).filter(|(own, _)| *own == unit);
        let sum: u64 = guaranteed.map(|(_, share)| share).sum();
        WHOLE.saturating_sub(sum + policy.classes.iter().map(percent).sum::<u64>())
    };
    class.takes_rest
        && class.guarantee.is_none()
        && others.any(|other| shares(other).any(|(unit, share)| share <= rest(unit)))
}

fn drops(actions: &[Action]) -> bool {
    actions.iter().any(|action| action.then == Then::Drop)
}

/// Returns the rate above which a policer drops packets, and whether it drops any packets. A policer that
/// only marks packets has no such rate.
fn policed(police: &Police) -> (Value, bool) {
    if drops(&police.conform) {
        return (Value::Words("that drops all".to_owned()), true);
    }
    // A policer without an exceed action drops these packets.
    if !police.exceed.is_empty() && !drops(&police.exceed) {
        return (Value::Words("that drops nothing".to_owned()), false);
    }
    let value = match police.meter {
        Meter::Bytes { rate, .. } => rate.into(),
        Meter::Packets { rate, .. } => Value::Amount(rate, Unit::PacketsPerSecond),
    };
    (value, true)
}

/// Returns the field that a mark writes, and its value. `set dscp` and `set precedence` write the same field.
pub(super) fn mark_words(mark: &Mark) -> Option<(&'static str, String)> {
    let kind = match mark.field()? {
        Field::Dscp | Field::Precedence => CODEPOINT,
        Field::Cos => "class of service",
        Field::ExpOfNewLabels | Field::ExpOfTopLabel => LABELS,
        _ => return None,
    };
    let value = match &mark.written {
        Written::Dscp(dscp) => dscp.to_string(),
        Written::Precedence(precedence) => format!("precedence {precedence:?}"),
        Written::Number(_, number) => format!("({number})"),
        _ => return None,
    };
    Some((kind, value))
}
