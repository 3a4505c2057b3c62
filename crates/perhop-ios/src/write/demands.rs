//! Writing of Intent as policy-maps. The result has the commands of the router's original configuration.

use perhop_device::intent::{
    Action, Children, Class, Condition, Field, Guarantee, Mark, Meter, Police, Policy, Priority,
    PriorityRate, Shape, Table, TableDefault, Then, TrafficRate, Translation, Written,
};
use perhop_device::{Missing, ShapeKind};
use perhop_qos::classifier::MatchConfig;

use super::class::CLASS_DEFAULT;
use super::demanded_queue::queue_lines;
use super::policy_map::PolicyMaps;
use super::words::{codepoint, name};

impl PolicyMaps {
    /// Adds a policy of Intent. Returns the name of its policy-map.
    ///
    /// # Errors
    /// IOS has no command for a demand.
    pub(super) fn add_demands(&mut self, called: &str, policy: &Policy) -> Result<String, Missing> {
        let called = name(called);
        let maps = self.demands_of_policy(&called, policy)?;
        self.add_lines(maps.concat());
        Ok(called)
    }

    /// Returns the lines of a policy-map; the lines of nested policy-maps come first.
    fn demands_of_policy(&mut self, called: &str, policy: &Policy) -> Result<Vec<Vec<String>>, Missing> {
        let mut lines = vec![format!("policy-map {called}")];
        let mut maps = Vec::new();
        for class in &policy.classes {
            // A class without a line is omitted: the router adds class-default to a queueing policy.
            if class.line == 0 {
                continue;
            }
            let mut own = self.demands_of_class(class)?;
            match &class.children {
                Children::None => {}
                Children::Undefined => {
                    return Err(Missing::new("service-policy", "its policy does not exist"));
                }
                Children::Policy(inner) => {
                    let child = format!("{called}-{}", name(&class.name));
                    maps.extend(self.demands_of_policy(&child, inner)?);
                    own.push(format!("service-policy {child}"));
                }
            }
            lines.push(format!(" class {}", self.class_map_of(class)?));
            lines.extend(own.into_iter().map(|line| format!("  {line}")));
        }
        lines.push("!".to_owned());
        maps.push(lines);
        Ok(maps)
    }

    fn class_map_of(&mut self, class: &Class) -> Result<String, Missing> {
        match &class.condition {
            _ if class.takes_rest => Ok(CLASS_DEFAULT.to_owned()),
            Condition::Always => self.class_maps.define(&class.name, &MatchConfig::default()),
            Condition::Never => Err(Missing::new(format!("class {}", class.name), "no packet matches it")),
            Condition::When(config) => self.class_maps.define(&class.name, config),
        }
    }

    fn demands_of_class(&mut self, class: &Class) -> Result<Vec<String>, Missing> {
        let mut lines = Vec::new();
        lines.extend(class.priority.map(|at| priority(at.value)));
        if let Some(at) = class.guarantee {
            lines.push(guarantee(at.value)?);
        }
        lines.extend(class.shape.map(|at| shape(at.value)));
        if let Some(at) = &class.police {
            lines.extend(self.police(&at.value)?);
        }
        lines.extend(queue_lines(class)?);
        for at in &class.marks {
            lines.push(format!("set {}", self.setting(&at.value)?));
        }
        if class.then == Then::Drop {
            lines.push("drop".to_owned());
        }
        Ok(lines)
    }

    fn police(&mut self, police: &Police) -> Result<Vec<String>, Missing> {
        if police.aware.is_some() {
            return Err(Missing::new(
                "a color-aware policer",
                "the names of its class-maps would be different",
            ));
        }
        let mut lines = vec![meter(police.meter)];
        let colors = [("conform", &police.conform), ("exceed", &police.exceed), ("violate", &police.violate)];
        for (word, actions) in colors {
            for action in actions {
                lines.push(format!("  {word}-action {}", self.action(action)?));
            }
        }
        Ok(lines)
    }

    fn action(&mut self, action: &Action) -> Result<String, Missing> {
        let Some(mark) = &action.mark else {
            return match action.then {
                Then::Transmit => Ok("transmit".to_owned()),
                Then::Drop => Ok("drop".to_owned()),
                Then::Continue => {
                    Err(Missing::new("continue", "IOS sends a packet after the policer of its class"))
                }
            };
        };
        super::actions::of_policer(&self.setting(mark)?)
    }

    /// Returns the words after `set` for a mark.
    fn setting(&mut self, mark: &Mark) -> Result<String, Missing> {
        Ok(match &mark.written {
            Written::Precedence(precedence) => format!("precedence {precedence}"),
            Written::Dscp(dscp) => format!("dscp {}", codepoint(*dscp)),
            Written::ForwardingClass(group) => format!("qos-group {group}"),
            Written::Number(field, value) => format!("{} {value}", field_words(*field)?),
            Written::Copy { to, from, by } => {
                let words = format!("{} {}", field_words(*to)?, field_words(*from)?);
                match by {
                    Translation::Direct => words,
                    Translation::Table(table) => format!("{words} table {}", self.tables.add(entries(table))),
                    Translation::Undefined => return Err(Missing::new(words, "its table does not exist")),
                }
            }
            Written::NotModeled => {
                return Err(Missing::new(
                    format!("set {}", mark.printed),
                    "packets in perhop do not have this field",
                ));
            }
        })
    }
}

fn entries(table: &Table) -> Vec<String> {
    let default = match table.default {
        TableDefault::Copy => "copy".to_owned(),
        TableDefault::Ignore => "ignore".to_owned(),
        TableDefault::Value(value) => value.to_string(),
    };
    let entries = table.entries.iter().map(|(from, to)| format!("map from {from} to {to}"));
    entries.chain([format!("default {default}")]).collect()
}

fn field_words(field: Field) -> Result<&'static str, Missing> {
    Ok(match field {
        Field::Precedence => "precedence",
        Field::Dscp => "dscp",
        Field::Cos => "cos",
        Field::ExpOfNewLabels => "mpls experimental imposition",
        Field::ExpOfTopLabel => "mpls experimental topmost",
        Field::ForwardingClass => "qos-group",
        Field::DropPrecedence => "discard-class",
        Field::TunnelHeader => return Err(without_field("DSCP of a tunnel header")),
        Field::CosInner => return Err(without_field("CoS of an inner tag")),
        Field::TrafficClass => return Err(without_field("traffic class of the switch")),
    })
}

fn without_field(name: &str) -> Missing {
    Missing::new(format!("set {name}"), "packets in perhop do not have this field")
}

fn priority(priority: Priority) -> String {
    let level = if priority.level == 1 { String::new() } else { format!(" level {}", priority.level) };
    let burst = priority.burst.map(|bytes| format!(" {bytes}")).unwrap_or_default();
    let rate = match priority.rate {
        PriorityRate::Unlimited => String::new(),
        PriorityRate::Kilobits(kilobits) => format!(" {kilobits}{burst}"),
        PriorityRate::Percent(percent) => format!(" percent {percent}{burst}"),
    };
    format!("priority{level}{rate}")
}

fn guarantee(guarantee: Guarantee) -> Result<String, Missing> {
    Ok(match guarantee {
        Guarantee::Kilobits(kilobits) => format!("bandwidth {kilobits}"),
        Guarantee::BitsPerSecond(bits) => {
            return Err(Missing::new(
                format!("a rate of {bits} b/s"),
                "IOS accepts only whole kilobits per second",
            ));
        }
        Guarantee::Percent(percent) => format!("bandwidth percent {percent}"),
        Guarantee::RemainingPercent(percent) => format!("bandwidth remaining percent {percent}"),
        Guarantee::RemainingRatio(ratio) => format!("bandwidth remaining ratio {ratio}"),
    })
}

/// Returns a rate, and the unit of its bursts.
fn rate_words(rate: TrafficRate) -> (String, &'static str) {
    match rate {
        TrafficRate::BitsPerSecond(bits) => (bits.to_string(), ""),
        TrafficRate::Percent(percent) => (format!("percent {percent}"), " ms"),
    }
}

fn shape(shape: Shape) -> String {
    let form = match shape.kind {
        ShapeKind::Average => "average",
        ShapeKind::Peak => "peak",
    };
    let (rate, unit) = rate_words(shape.rate);
    let bursts = [shape.burst, shape.excess_burst].into_iter().flatten();
    let bursts: Vec<String> = bursts.map(|burst| format!(" {burst}{unit}")).collect();
    format!("shape {form} {rate}{}", bursts.concat())
}

fn meter(meter: Meter) -> String {
    match meter {
        Meter::Packets { rate, burst } => {
            let burst = burst.map(|packets| format!(" burst {packets} packets")).unwrap_or_default();
            format!("police rate {rate} pps{burst}")
        }
        Meter::Bytes { rate, burst, peak, excess_burst } => {
            let (rate, unit) = rate_words(rate);
            let with_unit = |word: &str, burst: Option<u64>| {
                burst.map(|burst| format!(" {word} {burst}{unit}")).unwrap_or_default()
            };
            let peak = peak.map(|peak| format!(" pir {}", rate_words(peak).0)).unwrap_or_default();
            format!("police cir {rate}{}{peak}{}", with_unit("bc", burst), with_unit("be", excess_burst))
        }
    }
}
