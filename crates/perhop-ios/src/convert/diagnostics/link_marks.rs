//! Reports conditions on marks that packets do not have yet, and marks that the router cannot set.

use perhop_device::Wire;
use perhop_device::intent::{Class, Condition, Field, Fields, Policy, matched_fields};
use perhop_device::lower::Markings;
use perhop_lint::Diagnostic;

use crate::ast::{Direction, Interface};
use crate::convert::context::Context;
use crate::rules;

/// The VLAN tag of packets on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::convert) enum Tag {
    /// No tag.
    Untagged,
    /// It is unknown whether packets have a tag: other VLANs of the port have tags.
    Unknown,
    /// The tag by which a service instance selects frames. Packets have this tag if the `headers` of the link
    /// contain it.
    OfInstance,
    /// A tag, on the only port of the router with tags.
    Only,
    /// A tag, on one of several ports with tags. A packet may have arrived with another tag, whose class of
    /// service the router does not copy.
    OneOfSeveral,
}

impl Context<'_> {
    /// Returns the tag of packets of `interface` on `wire`.
    pub(in crate::convert) fn tag(&self, interface: &Interface, wire: &Wire) -> Tag {
        match wire.headers.encapsulation().tag {
            true if self.tagged > 1 && self.is_router() => Tag::OneOfSeveral,
            true => Tag::Only,
            false if !interface.service_instances.is_empty() => Tag::OfInstance,
            false if interface.parent.is_some() => Tag::Unknown,
            false if self.configuration.parts_of(&interface.name) > 0 => Tag::Unknown,
            false => Tag::Untagged,
        }
    }

    /// Reports marks that the router does not set in this direction, and conditions on marks that packets do
    /// not have yet.
    pub(in crate::convert) fn misplaced(&mut self, policy: &Policy, markings: Markings, tag: Tag) {
        if !self.is_router() {
            return;
        }
        let direction = markings.direction;
        let (side, other) = match direction {
            Direction::Input => ("input", "output"),
            Direction::Output => ("output", "input"),
        };
        for class in &policy.classes {
            for (field, what) in [(Field::Cos, "CoS"), (Field::ExpOfNewLabels, "EXP of new labels")] {
                if class.sets(field) && !markings.writes(field) {
                    self.found.push(Diagnostic::new(
                        &rules::MARK_IN_WRONG_DIRECTION,
                        class.line,
                        format!("class {} sets the {what} in an {side} policy", class.name),
                        format!(
                            "the router sets this mark only in {other} policies, so the line has no effect"
                        ),
                    ));
                }
            }
            if matches_by_cos(class) {
                self.found.extend(without_class_of_service(class, direction, tag));
            }
            let by_vlan = class.matches.lines.iter().any(|line| line.starts_with("vlan"));
            if by_vlan && *class.visible() == Condition::Never && tag == Tag::Untagged {
                self.found.push(Diagnostic::new(
                    &rules::VLAN_MATCH_WITHOUT_VLAN,
                    class.line,
                    format!("class {} matches by VLAN on a port without VLANs", class.name),
                    "no packet matches",
                ));
            }
            if let Some(inner) = class.children() {
                self.misplaced(inner, markings, tag);
            }
        }
    }
}

fn matches_by_cos(class: &Class) -> bool {
    matched_fields(class.visible()).intersects(Fields::COS)
}

/// Reports a class that matches a class of service that its packets do not have.
fn without_class_of_service(class: &Class, direction: Direction, tag: Tag) -> Option<Diagnostic> {
    let name = &class.name;
    match (direction, tag) {
        // Frames of service instances keep their tag, or get a new one with the same class of service.
        (Direction::Output, Tag::OfInstance) => None,
        (Direction::Output, _) => Some(Diagnostic::new(
            &rules::COS_MATCH_ON_OUTPUT,
            class.line,
            format!("class {name} matches by CoS in an output policy"),
            "the router writes a new tag, whose CoS is 0 unless a policy sets another; match CoS on input",
        )),
        (Direction::Input, Tag::Untagged | Tag::OfInstance) => Some(Diagnostic::new(
            &rules::COS_MATCH_UNTAGGED,
            class.line,
            format!("class {name} matches by CoS, but packets arrive without a VLAN tag"),
            "untagged packets have no CoS; if the link has tags, write `headers: [vlan]` at the link",
        )),
        (Direction::Input, _) => None,
    }
}
