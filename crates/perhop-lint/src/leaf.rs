//! [`Leaf`]: a class with a queue, as the rules of queues and drop curves look at it.

use perhop_qos::policy::ClassConfig;
use perhop_qos::{QueueSize, Rate};

use crate::finding::{Place, Subject};

/// A class with a queue.
pub(crate) struct Leaf<'a> {
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) class: &'a ClassConfig,
    /// The name of its queue in results.
    pub(crate) path: &'a str,
    pub(crate) place: Place,
    /// Bits per second that it gets regardless of what the others send.
    pub(crate) sure: Option<Rate>,
    pub(crate) has_priority: bool,
    /// The limit of the queues of its level.
    pub(crate) limit: Option<QueueSize>,
}
