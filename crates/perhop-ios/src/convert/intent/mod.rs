//! Conversion of policies, class-maps and `rate-limit` lines to [`Intent`](perhop_device::intent).

pub(super) mod condition;
mod limiters;
mod marks;
mod match_lines;
pub(super) mod plain_queue;
mod policy;
mod printing;
