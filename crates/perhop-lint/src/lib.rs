//! Rules for configurations and policies.
//!
//! [`rules`] is the catalog. Each [`Rule`] has a stable name, a [`Severity`] and a page with its description,
//! reason, source and remedy. Each finding and each diagnostic names its rule.
//!
//! Front ends of all languages report a file in the same form: a [`LineState`] for each [`Line`], and
//! [`Diagnostic`]s.
//!
//! [`check`] applies the vendor-neutral rules to the policy of one interface.

mod bursts;
mod classes;
pub mod diagnostic;
mod finding;
mod leaf;
pub mod line;
mod line_text;
mod nearest;
pub mod needed_burst;
mod nesting;
mod nqb;
mod picture;
mod policers;
mod queues;
mod rule;
pub mod rules;
mod sharing;
mod traffic;
mod wred;

pub use diagnostic::{Diagnostic, Fix};
pub use finding::{Finding, Place, Subject};
pub use line::{Line, LineState};
pub use line_text::{FileText, LineText};
pub use nearest::{near, nearest};
pub use nesting::{MOST_LEVELS, nested_too_deeply};
pub use nqb::{all_nqb, check_nqb, names_nqb, rewrites_nqb};
pub use picture::{changes_order, picture, pictured};
pub use rule::{Rule, Severity};
pub use traffic::check_traffic;

/// Applies all rules that need only the policy of an interface.
pub fn check(subject: &Subject) -> Vec<Finding> {
    let mut found = check_sharing(subject);
    if let Some(queueing) = &subject.policy.queueing {
        classes::check(subject, queueing, &mut found);
    }
    found
}

/// Applies the rules for rates, queues and policers of an interface. In addition, [`check`] analyzes the
/// packets of each class.
pub fn check_sharing(subject: &Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    policers::check(subject, &mut found);
    sharing::check(subject, &mut found);
    found
}
