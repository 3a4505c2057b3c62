//! [`Leaf`]: a class with a queue, to which the rules for queues and drop curves apply.

use perhop_qos::policy::ClassConfig;
use perhop_qos::{QueueSize, Rate};

use crate::finding::{Place, Subject};

/// A class with a queue.
pub(crate) struct Leaf<'a> {
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) class: &'a ClassConfig,
    /// The name of the queue in results.
    pub(crate) path: &'a str,
    pub(crate) place: Place,
    /// The rate of the class regardless of the load of other classes, bits per second.
    pub(crate) sure: Option<Rate>,
    pub(crate) has_priority: bool,
    /// The limit that the queues of the level share.
    pub(crate) limit: Option<QueueSize>,
}
