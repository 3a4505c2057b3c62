//! Cisco IOS running-configurations: text in, the policies that the routers' interfaces carry out.
//!
//! ```text
//! text → parse → Configuration (syntax tree, a state for every line, diagnostics)
//!      → convert → Intent → lower, by the rules of a profile → Router (policies, links to the lines)
//! ```
//!
//! [`parse`] never fails and never panics. Every line ends in one of the five [`LineState`]s, so that
//! nothing is ignored in silence. What cannot be right carries a [`Diagnostic`] that says what the
//! router itself would do.
//!
//! This is the only crate that speaks the router's language; what it hands on speaks RFC 2475 and 3290.
//!
//! Reading order: [`LineState`] and [`Diagnostic`]; the syntax tree in [`ast`]; the tables of commands
//! in `syntax`, one file per block, and the `parser` that walks them; `check`, which looks at names;
//! [`convert()`], which maps policies to Intent and has `perhop_device` lower them.

mod assumption;
pub mod ast;
mod check;
pub mod convert;
mod front_end;
mod mode;
mod named_policies;
mod object_group;
mod parser;
pub mod platform;
mod relations;
pub mod rules;
mod show;
mod syntax;
mod words;
mod write;

pub use assumption::{Assumptions, parse_assuming};
pub use ast::Configuration;
pub use check::Dependencies;
pub use convert::convert;
pub use front_end::Ios;
pub use parser::{is_configuration, parse};
pub use perhop_lint::{Diagnostic, Fix, Line, LineState, Severity};
pub use platform::{Dialect, Platform, Profile, Recognition};
pub use syntax::{CommandReference, commands, interface_name};
