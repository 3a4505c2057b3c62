//! What a router does with marks by itself, and what it refuses to set.

use perhop_device::Wire;
use perhop_device::intent::{Class, Condition, Field, Fields, Policy, matched_fields};
use perhop_device::lower::Markings;
use perhop_lint::Diagnostic;

use crate::ast::{Direction, Interface};
use crate::convert::context::Context;
use crate::rules;

/// Which VLAN tag packets have on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::convert) enum Tag {
    /// None.
    Untagged,
    /// One that the configuration does not tell: other VLANs of the port have tags.
    Unknown,
    /// One by which a service instance takes frames; packets have it where the link's `headers` say so.
    OfInstance,
    /// One, on the only such port of the router.
    Only,
    /// One. Packets that leave may have come with another, whose class of service the new one does not have.
    OneOfSeveral,
}

impl Context<'_> {
    /// The tag of packets of `interface` on `wire`.
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

    /// Says what `policy` sets where the router does not, and what it asks for that is not there yet.
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
                        format!("the router sets it in {other} policies only: nothing is written here"),
                    ));
                }
            }
            if tells_by_cos(class) {
                self.found.extend(without_class_of_service(class, direction, tag));
            }
            let by_vlan = class.matches.lines.iter().any(|line| line.starts_with("vlan"));
            if by_vlan && *class.visible() == Condition::Never && tag == Tag::Untagged {
                self.found.push(Diagnostic::new(
                    &rules::VLAN_MATCH_WITHOUT_VLAN,
                    class.line,
                    format!("class {} tells packets by VLAN on a port without VLANs", class.name),
                    "no packet matches",
                ));
            }
            if let Some(inner) = class.children() {
                self.misplaced(inner, markings, tag);
            }
        }
    }
}

fn tells_by_cos(class: &Class) -> bool {
    matched_fields(class.visible()).contain(Fields::COS)
}

/// What to say of a class that tells packets by a class of service that they do not have.
fn without_class_of_service(class: &Class, direction: Direction, tag: Tag) -> Option<Diagnostic> {
    let name = &class.name;
    match (direction, tag) {
        (Direction::Output, _) => Some(Diagnostic::new(
            &rules::COS_MATCH_ON_OUTPUT,
            class.line,
            format!("class {name} tells packets by CoS in an output policy"),
            "the router writes a new tag: its CoS is 0 until a policy sets another; match it where packets \
             come in",
        )),
        (Direction::Input, Tag::Untagged | Tag::OfInstance) => Some(Diagnostic::new(
            &rules::COS_MATCH_UNTAGGED,
            class.line,
            format!("class {name} tells packets by CoS, and they come without a VLAN tag"),
            "untagged packets have no CoS; where they come with a tag, say so: `headers: [vlan]` of the link",
        )),
        (Direction::Input, _) => None,
    }
}
