//! [`Leaf`]: a class with a queue, the input of the rules for queues and drop curves.

use perhop_qos::policy::ClassConfig;
use perhop_qos::{QueueSize, Rate};

use crate::finding::{Place, Subject};

/// A class with a queue.
pub(crate) struct Leaf<'a> {
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) class: &'a ClassConfig,
    /// Name of the queue in results.
    pub(crate) path: &'a str,
    pub(crate) place: Place,
    /// Rate that the class gets regardless of the load of other classes, bits per second.
    pub(crate) sure: Option<Rate>,
    pub(crate) has_priority: bool,
    /// The limit of the queues of its level.
    pub(crate) limit: Option<QueueSize>,
}
