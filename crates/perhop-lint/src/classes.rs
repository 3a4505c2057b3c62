//! Rules for classes without packets: a class matches no packet, or all or some of its packets belong to
//! earlier classes.

use perhop_analysis::{PacketSpace, Set, TooComplex};
use perhop_qos::policy::{ClassConfig, QueueingConfig};

use crate::finding::{Finding, Place, Subject};
use crate::rules;

pub(crate) fn check(subject: &Subject, queueing: &QueueingConfig, found: &mut Vec<Finding>) {
    let mut space = PacketSpace::new(subject.interfaces);
    let mut walk = Walk { space: &mut space, found };
    if walk.level(queueing, Set::ALL, &mut Vec::new()).is_err() {
        found.push(Finding::new(
            &rules::CONDITIONS_TOO_COMPLEX,
            Place::Policy,
            TooComplex.to_string(),
            "perhop runs the policy, but does not check whether a class hides a later class",
        ));
    }
}

struct Walk<'a> {
    space: &'a mut PacketSpace,
    found: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    fn level(
        &mut self,
        queueing: &QueueingConfig,
        arriving: Set,
        path: &mut Vec<usize>,
    ) -> Result<(), TooComplex> {
        let mut earlier: Vec<(&ClassConfig, Set)> = Vec::new();
        let mut left = arriving;
        for (index, class) in queueing.classes.iter().enumerate() {
            let matches = match &class.matches {
                Some(condition) => self.space.taken_by(condition)?,
                None => Set::ALL,
            };
            path.push(index);
            let place = Place::Class(path.clone());
            let takes = self.space.and(left, matches)?;
            if self.space.witness(matches)?.is_none() {
                self.found.push(Finding::new(
                    &rules::CLASS_CONTRADICTORY,
                    place,
                    format!("class {} matches no packet", class.name),
                    "the criteria of the class exclude each other",
                ));
            } else if takes == Set::NONE {
                let example = self
                    .space
                    .witness(matches)?
                    .map_or_else(String::new, |packet| format!(", for example {packet}"));
                self.found.push(Finding::new(
                    &rules::CLASS_SHADOWED,
                    place,
                    format!(
                        "no packet reaches class {}: earlier classes match all packets that the class \
                         matches{example}",
                        class.name
                    ),
                    "a packet belongs to the first class that matches; put the narrower class first",
                ));
            } else if class.matches.is_some() {
                self.overlaps(class, matches, takes, &earlier, &place)?;
            }
            if let Some(inner) = &class.queueing {
                self.level(inner, takes, path)?;
            }
            path.pop();
            left = self.space.minus(left, matches)?;
            earlier.push((class, matches));
        }
        Ok(())
    }

    /// Reports an earlier class that matches some packets of `class`, if neither class matches all packets of
    /// the other.
    fn overlaps(
        &mut self,
        class: &ClassConfig,
        matches: Set,
        takes: Set,
        earlier: &[(&ClassConfig, Set)],
        place: &Place,
    ) -> Result<(), TooComplex> {
        if takes == matches {
            return Ok(());
        }
        for (other, set) in earlier {
            let both = self.space.and(matches, *set)?;
            let Some(witness) = self.space.witness(both)? else { continue };
            if both != *set {
                self.found.push(Finding::new(
                    &rules::CLASSES_OVERLAP,
                    place.clone(),
                    format!("classes {} and {} both match {witness}", other.name, class.name),
                    format!("the packet belongs to {0}, because {0} is before {1}", other.name, class.name),
                ));
                return Ok(());
            }
        }
        Ok(())
    }
}
