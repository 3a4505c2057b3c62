//! Policies, class-maps and `rate-limit` lines of a configuration as [`Intent`](perhop_device::intent).

pub(super) mod condition;
mod limiters;
mod marks;
mod match_lines;
pub(super) mod plain_queue;
mod policy;
mod printing;
