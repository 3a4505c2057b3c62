//! Rules for configurations and policies.
//!
//! [`rules`] is the catalogue: each [`Rule`] has a stable name, a [`Severity`] and a page that says what it
//! finds, why that matters, where it comes from and what to do. Whoever finds something says by which rule.
//!
//! What a reader of configurations says of a file is the same in every language: a [`LineState`] for each
//! [`Line`], and [`Diagnostic`]s.
//!
//! [`check`] asks of the policy of one interface what holds for every policy, however it was written.

mod bursts;
mod classes;
pub mod diagnostic;
mod finding;
mod leaf;
pub mod line;
mod nearest;
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
pub use nearest::{near, nearest};
pub use nesting::{MOST_LEVELS, nested_too_deeply};
pub use nqb::{all_nqb, check_nqb, names_nqb, rewrites_nqb};
pub use picture::{changes_order, picture, pictured};
pub use rule::{Rule, Severity};
pub use traffic::check_traffic;

/// What is wrong or doubtful with the policy of an interface.
pub fn check(subject: &Subject) -> Vec<Finding> {
    let mut found = check_sharing(subject);
    if let Some(queueing) = &subject.policy.queueing {
        classes::check(subject, queueing, &mut found);
    }
    found
}

/// What is wrong or doubtful with the rates, queues and policers of an interface: [`check`] also asks which
/// packets its classes take.
pub fn check_sharing(subject: &Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    policers::check(subject, &mut found);
    sharing::check(subject, &mut found);
    found
}
