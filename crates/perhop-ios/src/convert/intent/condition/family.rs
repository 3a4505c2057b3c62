//! Conditions for one address family.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_device::intent::Condition;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};

use crate::ast::{Configuration, Family};

/// Returns the condition for packets of `family`. If the configuration does not use IPv6, all packets are
/// IPv4, and the condition is omitted to save time.
pub(super) fn of_family(configuration: &Configuration, family: Family) -> Condition {
    let all = |address: IpAddr| {
        let all = Prefix::new(address, 0).ok().map(OneOrMany::from);
        Condition::when(MatchConfig { source: all, ..MatchConfig::default() })
    };
    match family {
        Family::Ipv4 if configuration.speaks_ipv6 => all(Ipv4Addr::UNSPECIFIED.into()),
        Family::Any | Family::Ipv4 => Condition::Always,
        Family::Ipv6 => all(Ipv6Addr::UNSPECIFIED.into()),
    }
}
