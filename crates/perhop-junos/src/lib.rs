//! Junos class of service: reading of configurations in braces and in `set` lines, and conversion to
//! policies.
//!
//! ```text
//! text → read → Tree (statements, a word per node) → groups → readers of the hierarchies, which mark nodes
//!      → lower, by the rules of a family → Router { ports };  marks → a state for every line
//! ```
//!
//! Both notations build the same tree. A statement of `class-of-service`, `firewall` or `interfaces` is not
//! recognized unless a reader marks it. perhop refuses a text whose family, or chip of a switch, is unknown.
//!
//! Reading order: `tokens`, `read` and `tree`; `groups`; `context`; `cos`, `firewall` and `interfaces`;
//! `families`; `lower`; `accounting`; `show`; `write`.

mod accounting;
mod added;
mod around;
mod check;
mod context;
mod cos;
mod families;
mod firewall;
mod front_end;
mod groups;
mod hierarchies;
mod hierarchy_parts;
mod interface_options;
mod interfaces;
mod labels;
mod lower;
mod read;
mod recognition;
mod routing;
pub mod rules;
mod set_blocks;
mod set_lines;
mod show;
mod tokens;
mod tree;
mod unit_filters;
mod values;
mod wildcard;
mod words;
mod write;

pub use front_end::Junos;
