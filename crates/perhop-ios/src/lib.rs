//! Cisco IOS running-configurations: parsing, and conversion to the policies of the routers' interfaces.
//!
//! ```text
//! text → parse → Configuration (syntax tree, a state for every line, diagnostics)
//!      → convert → Intent → lower, by the rules of a profile → Router (policies, links to the lines)
//! ```
//!
//! [`parse`] never fails and never panics. Every line has one of the five [`LineState`]s, so no line is
//! ignored silently. A [`Diagnostic`] describes a fault and the reaction of the router.
//!
//! Only this crate depends on the IOS language. Its results use the terms of RFC 2475 and 3290.
//!
//! Read in this order: [`LineState`] and [`Diagnostic`]; the syntax tree in [`ast`]; the tables of commands
//! in `syntax`, one file per block, and the `parser` that uses them; `check`, which resolves names;
//! [`convert()`], which converts policies to Intent and lowers them with `perhop_device`.

mod added;
mod assumption;
pub mod ast;
mod check;
pub mod convert;
mod front_end;
mod grammar;
mod mls;
mod mode;
mod named_policies;
mod nexus;
mod object_group;
mod parser;
pub mod platform;
mod platform_lines;
mod relations;
pub mod rule_rows;
mod rules;
mod show;
mod silicon_one;
mod switch;
mod syntax;
mod tables;
mod uadp;
mod words;
mod write;

pub use assumption::{Assumptions, parse_assuming};
pub use ast::Configuration;
pub use check::Dependencies;
pub use convert::convert;
pub use front_end::Ios;
pub use grammar::Grammar;
pub use parser::{is_configuration, parse};
pub use perhop_lint::{Diagnostic, Fix, Line, LineState, Severity};
pub use platform::{Dialect, Platform, Profile, Recognition};
pub use syntax::{CommandReference, commands, commands_of_ios_xr, commands_of_nx_os, interface_name};
