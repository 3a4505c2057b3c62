//! Conversion of `rate-limit` lines to limiters.

use perhop_device::intent::Limiter;

use super::condition::of_rate_limit;
use super::marks::action;
use crate::ast::{Direction, Interface, RateLimit, RateLimitMatch};
use crate::convert::context::Context;

impl Context<'_> {
    /// Returns the limiters of `interface` in one direction, in order.
    pub(in crate::convert) fn limiters(&self, interface: &Interface, direction: Direction) -> Vec<Limiter> {
        let limits = interface.rate_limits.iter().filter(|limit| limit.direction == direction);
        let limiter = |limit: &RateLimit| Limiter {
            name: format!("rate-limit {}", target(limit)),
            line: limit.line,
            condition: of_rate_limit(self.configuration, &limit.matches),
            rate: limit.rate,
            burst: limit.burst,
            extended_burst: limit.extended_burst,
            conform: action(self.configuration, &limit.conform),
            exceed: action(self.configuration, &limit.exceed),
        };
        limits.map(limiter).collect()
    }
}

fn target(limit: &RateLimit) -> String {
    match &limit.matches {
        RateLimitMatch::All => "all".to_owned(),
        RateLimitMatch::AccessGroup(name) => format!("access-group {name}"),
        RateLimitMatch::RateLimitList(name) => format!("access-group rate-limit {name}"),
        RateLimitMatch::Dscp(dscp) => format!("dscp {dscp}"),
        RateLimitMatch::QosGroup(group) => format!("qos-group {group}"),
    }
}
