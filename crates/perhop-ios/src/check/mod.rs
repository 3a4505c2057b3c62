//! Checks across the parts of a configuration.
//!
//! `nesting`: class-maps inside class-maps. `names`: undefined classes, policies and lists. `class_maps`:
//! criteria that no packet matches. `labels`: groups that no policy sets. `links`: the bandwidth of bundles
//! and channels. `marks`: partly modeled marks. `queue_limits`: queues that are too short. `value_limits`:
//! queue limits without effect. `unused`: unused maps. `usual_marks`: unusual codepoints. `drop_profiles`:
//! thresholds for absent codepoints. `wildcards`: masks in access lists. `references`: undefined route-maps,
//! prefix lists and profiles. `dependencies`: the interfaces that a line affects.

mod class_maps;
mod dependencies;
mod drop_profiles;
mod labels;
mod links;
mod marks;
mod named_blocks;
mod names;
mod nesting;
mod queue_limits;
mod references;
mod unused;
mod usual_marks;
mod value_limits;
mod wildcards;

use std::collections::{BTreeMap, BTreeSet};

use perhop_lint::{Diagnostic, LineState, Severity};

use crate::ast::{Configuration, Family, Interface, InterfaceAddress};
use crate::grammar::Grammar;
use crate::{nexus, rules};

pub use dependencies::Dependencies;
pub(crate) use links::rate;
pub(crate) use names::undefined_class;
pub(crate) use unused::on_interfaces;
pub(crate) use value_limits::limits_queues;

/// Runs all checks, and sorts the diagnostics of `configuration`.
pub(crate) fn check(configuration: &mut Configuration) {
    let mut found = Vec::new();
    configuration.speaks_ipv6 = speaks_ipv6(configuration);
    nesting::check(configuration, &mut found);
    marks::check(configuration);
    named_blocks::check(configuration);
    names::check(configuration, &mut found);
    references::check(configuration, &mut found);
    class_maps::check(configuration, &mut found);
    links::check(configuration, &mut found);
    queue_limits::check(configuration, &mut found);
    value_limits::check(configuration, &mut found);
    drop_profiles::check(configuration, &mut found);
    wildcards::check(configuration, &mut found);
    labels::check(configuration, &mut found);
    unused::check(configuration, &mut found);
    usual_marks::check(configuration, &mut found);
    found.extend(nexus::speed_assumed(configuration));
    found.extend(nexus::thresholds_assumed(configuration));
    addresses(configuration, &mut found);
    add(configuration, found);
}

/// Adds the diagnostics `found`, and marks their lines as suspicious.
pub(crate) fn add(configuration: &mut Configuration, mut found: Vec<Diagnostic>) {
    for diagnostic in found.iter().filter(|found| found.severity != Severity::Note) {
        if let Some(line) = configuration.lines.get_mut(diagnostic.line.wrapping_sub(1)) {
            line.state = LineState::Suspicious;
        }
    }
    // On NX-OS, a finding without a line concerns a predefined class or policy and is omitted. On other
    // systems, such a finding concerns an assumption of the user and is kept.
    found.retain(|diagnostic| diagnostic.line > 0 || configuration.grammar != Grammar::NxOs);
    configuration.diagnostics.extend(found);
    configuration.diagnostics.sort();
}

/// Removes addresses that another interface already has, because the router refuses them. Interfaces that are
/// shut down or in different routing tables may have equal addresses.
fn addresses(configuration: &mut Configuration, found: &mut Vec<Diagnostic>) {
    let up = configuration.interfaces.iter().filter(|interface| interface.shutdown.is_none());
    let mut given: Vec<(&Interface, InterfaceAddress)> = up
        .flat_map(|interface| interface.addresses.iter().map(move |address| (interface, *address)))
        .collect();
    // If two addresses are equal, the first address in the file is kept.
    given.sort_by_key(|(_, address)| address.line);
    let mut owners = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for (interface, address) in given {
        let owner = *owners
            .entry((interface.vrf.as_ref().map(|vrf| &vrf.value), address.address))
            .or_insert((interface, address.line));
        if owner.0.name != interface.name {
            let (of, line) = (&owner.0.name, owner.1);
            found.push(Diagnostic::new(
                &rules::ADDRESS_REPEATED,
                address.line,
                format!("{} is already the address of {of} (line {line})", address.address),
                "the router refuses the line, so the interface does not have this address",
            ));
            refused.insert(address.line);
        }
    }
    for interface in configuration.interfaces.iter_mut() {
        interface.addresses.retain(|address| !refused.contains(&address.line));
    }
}

/// Whether any line concerns IPv6.
fn speaks_ipv6(configuration: &Configuration) -> bool {
    use crate::ast::AclKind;
    let of_map =
        |map: &crate::ast::ClassMap| map.statements.iter().any(|statement| statement.family == Family::Ipv6);
    configuration.interfaces.iter().any(|interface| !interface.addresses6.is_empty())
        || configuration.access_lists.iter().any(|list| list.kind == AclKind::Ipv6)
        || configuration.class_maps.iter().any(of_map)
}
