//! [`Level`], [`ClassRates`]: the rates of classes, and the loads for which these rates are computed.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use serde::Serialize;

/// The traffic of classes with strict priority. All other classes send at their maximum rate.
#[derive(Clone, Copy, Debug)]
pub struct PriorityLoad {
    /// The load of a class with a limit, as a fraction of this limit.
    pub of_limit: f64,
    /// The load of all classes without a limit together, as a fraction of the rate; `None` for the whole
    /// remaining rate.
    pub without_limit: Option<f64>,
}

impl PriorityLoad {
    /// The load of classes that send at their maximum rate.
    pub const FULL: PriorityLoad = PriorityLoad { of_limit: 1.0, without_limit: None };
    /// The load at which classes with a limit send at this limit, and classes without a limit send nothing.
    pub(super) const BOUNDED: PriorityLoad = PriorityLoad { of_limit: 1.0, without_limit: Some(0.0) };
}

/// The condition under which a limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The limit always applies.
    Always,
    /// The limit applies while packets of other classes wait. Packets above the limit then have no priority
    /// or are dropped.
    UnderCongestion,
}

/// The classes of one scheduler with their rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Level<'a> {
    /// The scheduler and the configuration of the classes.
    pub queueing: &'a QueueingConfig,
    /// The rate that the classes share while all classes are backlogged, bits per second.
    pub rate: Option<f64>,
    /// The rate at which the classes are served while all classes are backlogged, bits per second. Policers
    /// of enclosing classes do not count.
    pub service: Option<f64>,
    /// The rates of each class, in order.
    pub classes: Vec<ClassRates<'a>>,
}

/// The rates of one class, in bits per second.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRates<'a> {
    /// The class.
    pub class: &'a ClassConfig,
    /// The name of the queue in results: the names of the classes from the outermost inward, joined by `/`.
    pub path: String,
    /// Whether the class or an enclosing class has strict priority.
    pub has_priority: bool,
    /// The configured guarantee, even if the line is too slow for it.
    pub written: Option<f64>,
    /// The guaranteed rate of the class for any traffic of other classes, while classes with priority and
    /// without a limit send nothing. `None` if the class has no guarantee or the line rate is unknown.
    pub promised: Option<f64>,
    /// The rate of the class while all classes send at their maximum rate.
    pub while_busy: Option<f64>,
    /// The rate at which the queue of the class empties while all classes send at their maximum rate.
    pub service: Option<f64>,
    /// The lowest rate of the class's own policer, shaper, cap and ceiling; `None` without such a limit.
    pub limit: Option<f64>,
    /// The condition under which `limit` applies.
    pub holds: Holds,
    /// The maximum rate of the class: the minimum of its limit, the limits of enclosing classes, the limits
    /// of all packets, and the line rate.
    pub maximum: Option<f64>,
    /// Whether these rates are an approximation. They are if the guarantees of the queues of HTB exceed the
    /// rate of HTB, because the rates then depend on the turns of the classes.
    pub is_approximate: bool,
    /// The share of the class in the excess among the classes of its scheduler, 0 to 1; `None` if the
    /// scheduler does not share the excess by bytes.
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
