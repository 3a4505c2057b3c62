//! [`ForwardingClasses`]: the forwarding classes of the written device and their queues.

use std::collections::BTreeMap;

/// The maximum number of queues of a port.
pub(super) const MOST_QUEUES: usize = 8;
/// The class of packets that have no other class, on queue 0.
pub(super) const DEFAULT: &str = "best-effort";
/// The longest name of a class.
const MOST_LETTERS: usize = 60;

/// The classes of a device.
#[derive(Clone, Debug)]
pub(super) struct ForwardingClasses {
    queues: BTreeMap<String, usize>,
    /// The names of the classes that represent labels.
    pub(super) labels: BTreeMap<u8, String>,
}

impl ForwardingClasses {
    /// Creates the set with the default class.
    pub(super) fn new() -> ForwardingClasses {
        ForwardingClasses {
            queues: BTreeMap::from([(DEFAULT.to_owned(), 0)]),
            labels: BTreeMap::from([(0, DEFAULT.to_owned())]),
        }
    }

    /// Returns the classes with their queues, by queue.
    pub(super) fn by_queue(&self) -> Vec<(&str, usize)> {
        let mut all: Vec<(&str, usize)> =
            self.queues.iter().map(|(name, queue)| (name.as_str(), *queue)).collect();
        all.sort_by_key(|(name, queue)| (*queue, *name));
        all
    }

    /// Returns the queue of the class `name`. A new class gets a free queue; `None` if no queue is free.
    pub(super) fn queue(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.queues.get(name) {
            return Some(*known);
        }
        let free = (0..MOST_QUEUES).find(|queue| !self.queues.values().any(|known| known == queue))?;
        self.queues.insert(name.to_owned(), free);
        Some(free)
    }

    /// Adds a further class to a queue, and returns its name.
    pub(super) fn variant(&mut self, name: &str, queue: usize) -> String {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = numbered.take(256).find(|queue| !self.queues.contains_key(queue));
        let free = free.unwrap_or_else(|| name.to_owned());
        self.queues.insert(free.clone(), queue);
        free
    }

    /// Returns the class of a label.
    pub(super) fn of_label(&mut self, label: u8) -> String {
        if let Some(known) = self.labels.get(&label) {
            return known.clone();
        }
        let name = format!("group-{label}");
        self.queues.entry(name.clone()).or_insert(0);
        self.labels.insert(label, name.clone());
        name
    }

    /// Represents a label by a class with a separate name.
    pub(super) fn name_label(&mut self, label: u8, name: &str, queue: usize) {
        self.queues.insert(name.to_owned(), queue);
        self.labels.insert(label, name.to_owned());
    }
}

/// Returns a name that Junos accepts.
pub(super) fn plain_name(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = text.chars().map(|c| if is_plain(c) { c } else { '-' }).take(MOST_LETTERS).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("class-{name}") }
}
