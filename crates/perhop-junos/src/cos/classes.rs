//! Forwarding classes and loss priorities.

use perhop_qos::Color;

use crate::context::Context;
use crate::families::Family;
use crate::tree::NodeId;
use crate::values::number;

/// A forwarding class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForwardingClass {
    pub(crate) name: String,
    pub(crate) queue: u8,
    /// The line that defines the class; 0 for a built-in class.
    pub(crate) line: usize,
    /// Whether the class is lossless: the device pauses the sender instead of dropping packets.
    pub(crate) is_lossless: bool,
    /// Whether hierarchical policers limit its packets by their premium level.
    pub(crate) is_premium: bool,
}

/// The forwarding classes of a device, sorted by queue. The label of a class is its index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    all: Vec<ForwardingClass>,
    family: Family,
}

/// The number of classes that labels can distinguish. Junos has at most 16 classes.
pub(crate) const MOST_CLASSES: usize = 32;

/// The roles of the built-in classes: places in [`ROLES`].
pub(crate) const BEST_EFFORT: u8 = 0;
pub(crate) const EXPEDITED: u8 = 1;
pub(crate) const ASSURED: u8 = 2;
pub(crate) const NETWORK_CONTROL: u8 = 3;
/// The names of the built-in classes by role.
const ROLES: [&str; 4] = ["best-effort", "expedited-forwarding", "assured-forwarding", "network-control"];

/// The lossless built-in classes of QFX.
const LOSSLESS: [&str; 2] = ["fcoe", "no-loss"];

impl Classes {
    /// Returns the built-in classes.
    pub(crate) fn defaults(family: Family) -> Classes {
        let class = |(name, queue): &(&str, u8)| ForwardingClass {
            name: (*name).to_owned(),
            queue: *queue,
            line: 0,
            is_lossless: LOSSLESS.contains(name),
            is_premium: false,
        };
        Classes { all: family.rules().classes.iter().map(class).collect(), family }.sorted()
    }

    /// Returns the family whose defaults apply.
    pub(crate) fn family(&self) -> Family {
        self.family
    }

    fn sorted(mut self) -> Classes {
        self.all.sort_by_key(|class| class.queue);
        self
    }

    /// Iterates over the classes by queue.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ForwardingClass> {
        self.all.iter()
    }

    /// Returns the label of a class.
    pub(crate) fn label(&self, name: &str) -> Option<u8> {
        self.all.iter().position(|class| class.name == name).and_then(|place| u8::try_from(place).ok())
    }

    /// Returns the label of the built-in class with a role. If the configuration has renamed this class,
    /// returns the label of a class on its default queue.
    pub(crate) fn label_of_role(&self, role: u8) -> Option<u8> {
        let name = ROLES[usize::from(role)];
        let built_in = self.family.rules().classes.iter().find(|(known, _)| *known == name);
        let by_queue = || self.of_queue(built_in?.1).first().map(|(label, _)| *label);
        self.label(name).or_else(by_queue)
    }

    /// Returns the class with a label.
    pub(crate) fn at(&self, label: u8) -> Option<&ForwardingClass> {
        self.all.get(usize::from(label))
    }

    /// Returns the queues with classes.
    pub(crate) fn queues(&self) -> Vec<u8> {
        let mut queues: Vec<u8> = self.all.iter().map(|class| class.queue).collect();
        queues.dedup();
        queues
    }

    /// Returns the labels and names of the classes of a queue.
    pub(crate) fn of_queue(&self, queue: u8) -> Vec<(u8, &ForwardingClass)> {
        let numbered = self.all.iter().enumerate().filter(|(_, class)| class.queue == queue);
        numbered.map(|(label, class)| (label as u8, class)).collect()
    }

    /// Returns the labels of the premium classes.
    pub(crate) fn premium(&self) -> Vec<u8> {
        let numbered = self.all.iter().enumerate().filter(|(_, class)| class.is_premium);
        numbered.map(|(label, _)| label as u8).collect()
    }

    fn make_premium(&mut self, name: &str) {
        self.all.iter_mut().filter(|class| class.name == name).for_each(|class| class.is_premium = true);
    }

    /// Assigns a class to a queue. A configured class replaces the built-in classes of its queue.
    fn put(&mut self, name: &str, queue: u8, line: usize) {
        self.all.retain(|class| class.name != name && !(class.queue == queue && class.line == 0));
        self.all.push(ForwardingClass {
            name: name.to_owned(),
            queue,
            line,
            is_lossless: false,
            is_premium: false,
        });
    }
}

/// A loss priority (PLP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LossPriority {
    #[default]
    Low,
    MediumLow,
    MediumHigh,
    High,
}

impl LossPriority {
    pub(crate) const ALL: [LossPriority; 4] =
        [LossPriority::Low, LossPriority::MediumLow, LossPriority::MediumHigh, LossPriority::High];

    pub(crate) fn named(word: &str) -> Option<LossPriority> {
        Some(match word {
            "low" => LossPriority::Low,
            "medium-low" => LossPriority::MediumLow,
            "medium-high" => LossPriority::MediumHigh,
            "high" => LossPriority::High,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        ["low", "medium-low", "medium-high", "high"][self as usize]
    }

    pub(crate) fn color(self) -> Color {
        Color::new(self as usize)
    }
}

pub(super) fn read(context: &mut Context, cos: NodeId, family: Family) -> Classes {
    let mut classes = Classes::defaults(family);
    let Some(node) = context.tree.child(cos, "forwarding-classes") else { return classes };
    context.modeled(node);
    let queues = u64::from(family.rules().queues);
    for queue in context.items(node, "queue") {
        let Some(number) = number(&queue.text).filter(|queue| *queue < queues) else {
            context.invalid(&queue, "queue");
            continue;
        };
        for name in context.names(queue.node) {
            classes.put(&name.text, number as u8, name.line);
            if attributes(context, name.node) == Policing::Premium {
                classes.make_premium(&name.text);
            }
        }
    }
    for class in context.items(node, "class") {
        let policing = attributes(context, class.node);
        let parse = |text: &str| number(text).filter(|queue| *queue < queues);
        if let Some(queue) = context.parsed(class.node, "queue-num", parse) {
            classes.put(&class.text, queue.value as u8, class.line);
        }
        let value =
            context.tree.child(class.node, "queue-num").and_then(|node| context.tree.last_value(node));
        let places: Vec<NodeId> = [Some(class.node), value].into_iter().flatten().collect();
        let has_pause = places.into_iter().any(|node| context.tree.child(node, "no-loss").is_some());
        if let Some(own) = classes.all.iter_mut().find(|own| own.name == class.text) {
            own.is_lossless |= has_pause;
        }
        if policing == Policing::Premium {
            classes.make_premium(&class.text);
        }
    }
    if classes.all.len() > MOST_CLASSES {
        let message = format!("{} forwarding classes are more than a device supports", classes.all.len());
        context.found(&crate::rules::JUNOS_VALUE_INVALID, node, message, "the commit fails");
        classes.all.truncate(MOST_CLASSES);
    }
    classes.sorted()
}

/// The level of a class in hierarchical policers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Policing {
    #[default]
    Normal,
    Premium,
}

/// Reads the attributes of a class.
fn attributes(context: &mut Context, class: NodeId) -> Policing {
    let mut policing = Policing::default();
    for word in context.keywords(class) {
        match word.text.as_str() {
            "priority" => context.not_modeled(word.node, "priorities of the fabric between line cards"),
            "policing-priority" => {
                let parse = |text: &str| match text {
                    "premium" => Some(Policing::Premium),
                    "normal" => Some(Policing::Normal),
                    _ => None,
                };
                let written = context.parsed(class, "policing-priority", parse);
                policing = written.map_or(policing, |at| at.value);
            }
            "no-loss" | "pfc-priority" => context.not_modeled(word.node, "priority flow control"),
            "restricted-queue" => context.not_modeled(word.node, "ports with four queues"),
            "spu-priority" => context.not_modeled(word.node, "priorities of services processors"),
            _ => {}
        }
        // In braces the attributes follow each other: `queue-num 4 no-loss policing-priority premium`.
        policing = policing.max(attributes(context, word.node));
    }
    policing
}
