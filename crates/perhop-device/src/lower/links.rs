//! [`Links`]: the parts of a lowered policy, with their classes and lines.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::intent::{Class, ClassId, Policy};

/// The path to a class in a `QueueingConfig`: an index for each level.
pub type QueuePath = Vec<usize>;

/// A class of Intent and the elements of the policy that implement it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassLinks {
    /// The class.
    pub class: ClassId,
    /// The class whose nested policy contains this class; `None` for the outermost policy.
    pub parent: Option<ClassId>,
    /// The line that opens the class; 0 for a class that the text does not mention.
    pub line: usize,
    /// The lines of the class and of its features, in order.
    pub lines: Vec<usize>,
    /// The index of the conditioner that marks and polices the packets of the class.
    pub conditioner: Option<usize>,
    /// The queue of the class; `None` if the packets wait in the queue of another class or of inner classes.
    pub queue: Option<QueuePath>,
    /// The node of the class in the scheduler: its queue, or the node that contains the queues of inner
    /// classes.
    pub node: Option<QueuePath>,
    /// The scheduler node with the shaper of the class.
    pub shaper: Option<QueuePath>,
}

/// The links of all classes of a policy, outer classes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The links of each class, by [`ClassId`].
    pub classes: Vec<ClassLinks>,
    /// The limiters in front of the policy.
    pub limiters: Vec<LimiterLinks>,
}

/// A limiter, with its line and its conditioner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LimiterLinks {
    /// The line of the limiter.
    pub line: usize,
    /// The index of the conditioner that implements the limiter.
    pub conditioner: usize,
}

/// The classes and lines of the two policies of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortLinks {
    /// The links of arriving packets.
    pub input: Links,
    /// The links of departing packets.
    pub output: Links,
}

impl PortLinks {
    /// Whether neither policy has a limiter.
    pub fn has_no_limiter(&self) -> bool {
        self.input.limiters.is_empty() && self.output.limiters.is_empty()
    }
}

/// Serializes only the limiters. The links of classes are not serialized, because the serialized policies
/// identify each class by its name.
impl Serialize for PortLinks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sides = serializer.serialize_struct("PortLinks", 2)?;
        sides.serialize_field("input", &self.input.limiters)?;
        sides.serialize_field("output", &self.output.limiters)?;
        sides.end()
    }
}

impl Links {
    /// Returns the classes of `policies` without links to elements. The numbers of classes continue from one
    /// policy to the next.
    pub fn new<'a>(policies: impl IntoIterator<Item = &'a Policy>) -> Links {
        let mut classes = Vec::new();
        for policy in policies {
            add(policy, None, &mut classes);
        }
        Links { classes, limiters: Vec::new() }
    }

    /// Returns the links of a class.
    pub fn of_class(&self, class: ClassId) -> Option<&ClassLinks> {
        self.classes.get(class.0)
    }

    /// Returns the class whose packets the conditioner at `index` marks and polices.
    pub fn class_of_conditioner(&self, index: usize) -> Option<&ClassLinks> {
        self.classes.iter().find(|links| links.conditioner == Some(index))
    }

    /// Returns the lines of a conditioner: the lines of its class or of its limiter.
    pub fn lines_of_conditioner(&self, index: usize) -> Vec<usize> {
        let class = self.class_of_conditioner(index).map(|links| links.lines.clone());
        let limiter = || self.limiters.iter().find(|links| links.conditioner == index);
        class.unwrap_or_else(|| limiter().map(|links| links.line).into_iter().collect())
    }

    /// Returns the class whose packets wait in the queue at `path`.
    pub fn class_of_queue(&self, path: &[usize]) -> Option<&ClassLinks> {
        self.classes.iter().find(|links| links.queue.as_deref() == Some(path))
    }

    /// Returns the class whose scheduler node is at `path`.
    pub fn class_of_node(&self, path: &[usize]) -> Option<&ClassLinks> {
        self.classes.iter().find(|links| links.node.as_deref() == Some(path))
    }

    /// Returns the first class of the outermost policy that has queues below `path`.
    pub fn class_around_queues(&self, path: &[usize]) -> Option<&ClassLinks> {
        let is_below = |links: &&ClassLinks| {
            let queue = links.queue.as_ref().filter(|queue| queue.len() > path.len());
            links.parent.is_some() && queue.is_some_and(|queue| queue.starts_with(path))
        };
        self.classes
            .iter()
            .filter(is_below)
            .map(|links| self.outermost(links))
            .min_by_key(|links| links.class)
    }

    /// Returns the classes that have `line` among their lines.
    pub fn classes_at_line(&self, line: usize) -> impl Iterator<Item = &ClassLinks> {
        self.classes.iter().filter(move |links| links.lines.contains(&line))
    }

    fn outermost<'a>(&'a self, links: &'a ClassLinks) -> &'a ClassLinks {
        let parent = links.parent.and_then(|parent| self.of_class(parent));
        parent.map_or(links, |parent| self.outermost(parent))
    }

    /// Returns the mutable links of a class.
    pub fn of_class_mut(&mut self, class: ClassId) -> Option<&mut ClassLinks> {
        self.classes.get_mut(class.0)
    }
}

fn add(policy: &Policy, parent: Option<ClassId>, classes: &mut Vec<ClassLinks>) {
    for class in &policy.classes {
        classes.push(links_of(class, parent));
        if let Some(inner) = class.children() {
            add(inner, Some(class.id), classes);
        }
    }
}

fn links_of(class: &Class, parent: Option<ClassId>) -> ClassLinks {
    ClassLinks { class: class.id, parent, line: class.line, lines: class.lines(), ..ClassLinks::default() }
}
