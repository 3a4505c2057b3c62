//! The packets of one family of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_device::intent::Condition;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};

use crate::ast::{Configuration, Family};

/// The packets of `family`. Where a configuration says nothing of IPv6, the router passes IPv4 packets only,
/// and the condition would cost time for nothing.
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
