//! [`Options`]: the options of a command with their values.

use std::collections::BTreeMap;

use perhop_qos::Time;

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    None,
    /// Bits per second.
    Rate(u64),
    /// A fraction of the device's speed.
    Part(f64),
    Bytes(u64),
    Time(Time),
    Number(u64),
    Signed(i64),
    Fraction(f64),
    Pair(u64, u64),
    Numbers(Vec<u64>),
    Word(String),
    Curve(Curve),
}

/// A service curve: initial rate in bits per second, its duration, and the later rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    pub(crate) first: u64,
    pub(crate) lasts: Time,
    pub(crate) then: u64,
}

/// The options of a command, with the last value of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    values: BTreeMap<&'static str, Value>,
    order: Vec<&'static str>,
}

impl Options {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.values.get(name)? {
            Value::Number(number) | Value::Bytes(number) => Some(*number),
            _ => None,
        }
    }
    pub(crate) fn rate(&self, name: &str) -> Option<u64> {
        match self.values.get(name)? {
            Value::Rate(bits) => Some(*bits),
            _ => None,
        }
    }
    pub(crate) fn time(&self, name: &str) -> Option<Time> {
        match self.values.get(name)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }
    pub(crate) fn fraction(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            Value::Fraction(value) | Value::Part(value) => Some(*value),
            _ => None,
        }
    }
    /// Returns the names in the order of the command.
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.order
    }
    /// Returns the flag of `flags` that is last in the command.
    pub(crate) fn last(&self, flags: &[&str]) -> Option<&'static str> {
        self.order.iter().rev().find(|name| flags.contains(name)).copied()
    }
    pub(crate) fn set(&mut self, name: &'static str, value: Value) {
        self.order.retain(|known| *known != name);
        self.order.push(name);
        self.values.insert(name, value);
    }
    /// Applies the options of a `change` command. Options that the command does not mention keep their
    /// values.
    pub(crate) fn changed_by(&mut self, others: Options) {
        for name in others.order {
            if let Some(value) = others.values.get(name) {
                self.set(name, value.clone());
            }
        }
    }
}
