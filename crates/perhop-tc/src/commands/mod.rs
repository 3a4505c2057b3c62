//! `tc qdisc`, `tc class` and `tc filter` with add, change, replace, link and delete.

mod class;
mod filter;
mod head;
mod qdisc;

pub(crate) use class::{add_class, class};
pub(crate) use filter::filter;
pub(crate) use qdisc::qdisc;
