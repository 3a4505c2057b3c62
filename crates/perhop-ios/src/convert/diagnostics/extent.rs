//! Limits on the levels and classes of a policy, including nested policies.

use perhop_lint::Diagnostic;

use crate::ast::PolicyMap;
use crate::convert::context::{Context, MOST_CLASSES};
use crate::rules;

/// The limit that a policy exceeds.
enum Excess {
    /// Too many levels, at this line.
    Level(usize),
    Classes,
}

impl Context<'_> {
    /// Whether `policy`, which `line` attaches, is within the router's limit on levels and the remaining
    /// number of classes. Subtracts the classes of the policy from this number.
    pub(in crate::convert) fn is_of_extent(&mut self, policy: &PolicyMap, line: usize) -> bool {
        let mut left = self.classes_left;
        let most_levels = *self.platform.rules().policy_levels;
        let refusal = self.take(policy, 0, &mut left).err().map(|excess| match excess {
            Excess::Level(inner) => Diagnostic::new(
                &rules::POLICY_TOO_DEEP,
                line,
                format!(
                    "policy {} nests more than {most_levels} levels of policies (line {inner})",
                    policy.name
                ),
                "the router refuses the line: no policy applies here",
            ),
            Excess::Classes => Diagnostic::new(
                &rules::TOO_MANY_CLASSES,
                line,
                format!(
                    "the attached policies, up to policy {}, have more than {MOST_CLASSES} classes in total",
                    policy.name
                ),
                "routers have a few thousand queues; perhop applies no policy here",
            ),
        });
        let fits = refusal.is_none();
        if fits {
            self.classes_left = left;
        }
        self.found.extend(refusal);
        fits
    }

    fn take(&self, policy: &PolicyMap, depth: usize, left: &mut usize) -> Result<(), Excess> {
        for class in &policy.classes {
            *left = left.checked_sub(1).ok_or(Excess::Classes)?;
            let Some(at) = &class.service_policy else { continue };
            let Some(inner) = self.configuration.policy_maps.get(&at.value) else { continue };
            if !self.may_nest(depth) {
                return Err(Excess::Level(at.line));
            }
            self.take(inner, depth + 1, left)?;
        }
        Ok(())
    }
}
