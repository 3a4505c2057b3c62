//! [`Level`], [`ClassRates`]: the rates of classes, and the loads for which they hold.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use serde::Serialize;

/// The traffic of classes with strict priority. All other classes send as much as they may.
#[derive(Clone, Copy, Debug)]
pub struct PriorityLoad {
    /// The part of its limit that a class sends.
    pub of_limit: f64,
    /// The fraction of the rate that classes without a limit send together; `None` for the whole remaining
    /// rate.
    pub without_limit: Option<f64>,
}

impl PriorityLoad {
    /// The load of classes that send as much as they may.
    pub const FULL: PriorityLoad = PriorityLoad { of_limit: 1.0, without_limit: None };
    /// The load of classes with a limit that send as much as they may. Classes without a limit are silent.
    pub(super) const BOUNDED: PriorityLoad = PriorityLoad { of_limit: 1.0, without_limit: Some(0.0) };
}

/// The times at which a limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Always.
    Always,
    /// The limit applies while other classes wait. Excess packets then have no priority, or are dropped.
    UnderCongestion,
}

/// The classes of one scheduler with their rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Level<'a> {
    /// The scheduler and the configuration of the classes.
    pub queueing: &'a QueueingConfig,
    /// The bits per second that they share while all are busy.
    pub rate: Option<f64>,
    /// The bits per second at which they are served while all are busy. An enclosing policer does not count.
    pub service: Option<f64>,
    /// The rates of each class, in order.
    pub classes: Vec<ClassRates<'a>>,
}

/// The rates of one class, in bits per second.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRates<'a> {
    /// The class.
    pub class: &'a ClassConfig,
    /// The name of its queue in results: the names of its classes from the outermost inward, joined by `/`.
    pub path: String,
    /// Whether the class or an enclosing class has strict priority.
    pub has_priority: bool,
    /// The guarantee as configured, even if the line is too slow for it.
    pub written: Option<f64>,
    /// The rate that the class gets for any traffic of the others, while classes with priority and without a
    /// limit are silent. `None` if nothing is promised or the line is not known.
    pub promised: Option<f64>,
    /// The rate that the class gets while every class sends as much as it may.
    pub while_busy: Option<f64>,
    /// The rate at which its queue empties while every class sends as much as it may.
    pub service: Option<f64>,
    /// The minimum of its own policer, shaper, cap and ceiling; `None` if it has none.
    pub limit: Option<f64>,
    /// The times at which `limit` applies.
    pub holds: Holds,
    /// The maximum rate of the class. It is the minimum of its limit, the limits of enclosing classes and of
    /// all packets, and the line.
    pub maximum: Option<f64>,
    /// Whether these rates are an approximation. This is so if the promises to the queues of HTB exceed the
    /// rate of HTB, so that turns decide.
    pub is_approximate: bool,
    /// Its part of the rest among the classes of its scheduler, 0 to 1; `None` if the scheduler does not
    /// share by bytes.
    pub excess: Option<f64>,
    /// The inner classes.
    pub inner: Option<Level<'a>>,
}

impl<'a> Level<'a> {
    /// Returns the classes that have a queue, in the order of results.
    pub fn leaves(&self) -> Vec<&ClassRates<'a>> {
        let mut found = Vec::new();
        for class in &self.classes {
            match &class.inner {
                Some(inner) => found.extend(inner.leaves()),
                None => found.push(class),
            }
        }
        found
    }
}
