//! [`Context`]: the inputs and the findings of a conversion.

use perhop_device::lower::{Labels, Markings, Target, Writer};
use perhop_lint::Diagnostic;

use super::wire::Tags;
use crate::ast::{Configuration, Direction, LabelUse};
use crate::grammar::Grammar;
use crate::platform::{Platform, Recognition};

/// Limit on the classes of all attached policies, nested ones included. Each class may use the same policy
/// again, so the number grows exponentially with the level. A port has at most a few thousand queues (ASR
/// 1000: 4000 per interface).
pub(super) const MOST_CLASSES: usize = 50_000;

/// The inputs of the conversion, and its findings.
pub(super) struct Context<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) platform: &'a Platform,
    /// The kind of device, if the configuration shows it.
    pub(super) writer: Writer,
    /// The number of interfaces with a VLAN tag.
    pub(super) tagged: usize,
    pub(super) found: Vec<Diagnostic>,
    /// Number of classes that further policies may have, nested ones included.
    pub(super) classes_left: usize,
    /// [`Configuration::set_comparisons`].
    pub(super) set_comparisons: u64,
}

impl<'a> Context<'a> {
    pub(super) fn new(configuration: &'a Configuration, platform: &'a Platform) -> Context<'a> {
        let is_router = Recognition::from_configuration(configuration).dialect.is_supported();
        Context {
            configuration,
            platform,
            tagged: configuration
                .interfaces
                .iter()
                .filter(|interface| Tags::of_interface(interface).outer.is_some())
                .count(),
            writer: if is_router { Writer::Router } else { Writer::Switch },
            found: Vec::new(),
            classes_left: MOST_CLASSES,
            set_comparisons: 0,
        }
    }

    /// Whether the device is a router, not a switch.
    pub(super) fn is_router(&self) -> bool {
        self.writer == Writer::Router
    }

    /// Returns the target platform for lowering.
    pub(super) fn target(&self) -> Target<'a> {
        Target {
            rules: self.platform.rules(),
            queue_limit: self.platform.queue_limit,
            drop_spacing: self.platform.drop_spacing,
        }
    }

    /// Returns the fields that the device sets on one side of a port.
    pub(super) fn markings(&self, direction: Direction) -> Markings {
        let marks = self.configuration.marks;
        Markings {
            direction,
            writer: self.writer,
            resets_drop_precedence: direction == Direction::Input && marks.discard_class,
            // IOS XR classifies output by groups and marks the labels that it has pushed.
            writes_pushed_labels: direction == Direction::Output
                && self.configuration.grammar == Grammar::IosXr,
            label_is_taken: marks.label == LabelUse::GroupOfBoth,
        }
    }

    /// Returns the first label for classes.
    pub(super) fn first_label(&self) -> Labels {
        if self.configuration.marks.labels { Labels::AboveGroups } else { Labels::FromOne }
    }

    /// Whether a policy at `depth` may have nested policies; a policy attached to an interface has depth 0.
    pub(super) fn may_nest(&self, depth: usize) -> bool {
        depth + 1 < *self.platform.rules().policy_levels
    }
}
