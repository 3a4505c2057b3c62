//! [`TcWriter`]: the policies of one interface as a shell script of `tc` commands.
//!
//! ```text
//! PolicyConfig → conditioners (filters with actions), tree (classes and their queues), condition (filters)
//! ```

mod cake;
mod classes;
mod codel;
mod condition;
mod conditioners;
mod fair;
mod guarantee_excess;
mod htb;
mod native;
mod policer;
mod proportions;
mod queue;
mod red;
mod script;
mod tree;
mod words;

pub(crate) use script::TcWriter;
