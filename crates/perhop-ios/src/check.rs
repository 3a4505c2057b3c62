//! What names what: classes, policies and access lists that are not there.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{At, CLASS_DEFAULT, Configuration, Criterion, Interface, InterfaceAddress, RateLimitMatch};
use crate::diagnostic::Diagnostic;
use crate::line::LineState;

/// Adds what is wrong between the parts of `configuration`, and puts its diagnostics in order.
pub(crate) fn check(configuration: &mut Configuration) {
    let mut found = Vec::new();
    access_groups(configuration, &mut found);
    classes(configuration, &mut found);
    policies(configuration, &mut found);
    addresses(configuration, &mut found);
    add(configuration, found);
}

/// Adds `found`, the lines that they are about becoming suspicious.
pub(crate) fn add(configuration: &mut Configuration, found: Vec<Diagnostic>) {
    for diagnostic in &found {
        if let Some(line) = configuration.lines.get_mut(diagnostic.line.wrapping_sub(1)) {
            line.state = LineState::Suspicious;
        }
    }
    configuration.diagnostics.extend(found);
    configuration.diagnostics.sort();
}

fn undefined_list(line: usize, name: &str) -> Diagnostic {
    Diagnostic::error(
        line,
        format!("access list {name} is not defined"),
        "the router accepts the line; until the list has an entry, no packet matches",
    )
}

fn access_groups(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for map in configuration.class_maps.iter() {
        if map.statements.is_empty() {
            found.push(Diagnostic::warning(
                map.line,
                format!("class-map {} has no criterion", map.name),
                "the router accepts it; no packet matches",
            ));
        }
        for statement in &map.statements {
            match &statement.criterion {
                Criterion::AccessGroup(name) if configuration.access_lists.get(name).is_none() => {
                    found.push(undefined_list(statement.line, name));
                }
                Criterion::InputInterface(name) if configuration.interfaces.get(name).is_none() => {
                    found.push(Diagnostic::error(
                        statement.line,
                        format!("there is no interface {name}"),
                        "the router refuses the line, or waits for the interface: no packet matches",
                    ));
                }
                Criterion::ClassMap(name) if configuration.class_maps.get(name).is_none() => {
                    found.push(Diagnostic::error(
                        statement.line,
                        format!("class-map {name} is not defined"),
                        "the router refuses the line: the class-map lacks this criterion",
                    ));
                }
                _ => {}
            }
        }
    }
    for limit in configuration.interfaces.iter().flat_map(|interface| &interface.rate_limits) {
        let missing = match &limit.matches {
            RateLimitMatch::AccessGroup(name) => {
                configuration.access_lists.get(name).is_none().then_some(name)
            }
            RateLimitMatch::RateLimitList(name) => {
                configuration.rate_limit_lists.get(name).is_none().then_some(name)
            }
            _ => None,
        };
        found.extend(missing.map(|name| undefined_list(limit.line, name)));
    }
}

fn classes(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for policy in configuration.policy_maps.iter() {
        for class in &policy.classes {
            if class.name != CLASS_DEFAULT && configuration.class_maps.get(&class.name).is_none() {
                found.push(Diagnostic::error(
                    class.line,
                    format!("class-map {} is not defined", class.name),
                    "the router refuses the line and those below it: the policy lacks this class",
                ));
            }
        }
    }
}

fn policies(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let undefined = |policy: &'_ Option<At<String>>, found: &mut Vec<Diagnostic>| {
        if let Some(At { line, value }) = policy
            && configuration.policy_maps.get(value).is_none()
        {
            found.push(Diagnostic::error(
                *line,
                format!("policy-map {value} is not defined"),
                "the router refuses the line: no policy applies here",
            ));
        }
    };
    for interface in configuration.interfaces.iter() {
        let circuits = interface.pvcs.iter().map(|pvc| &pvc.service_policies);
        for policies in std::iter::once(&interface.service_policies).chain(circuits) {
            undefined(&policies.input, found);
            undefined(&policies.output, found);
        }
    }
    for class in configuration.policy_maps.iter().flat_map(|policy| &policy.classes) {
        undefined(&class.service_policy, found);
    }
}

/// Takes away the addresses that another interface has already: the router refuses them, unless an interface
/// is shut down or the two are in different tables of routes.
fn addresses(configuration: &mut Configuration, found: &mut Vec<Diagnostic>) {
    let up = configuration.interfaces.iter().filter(|interface| interface.shutdown.is_none());
    let mut given: Vec<(&Interface, InterfaceAddress)> = up
        .flat_map(|interface| interface.addresses.iter().map(move |address| (interface, *address)))
        .collect();
    // As the router reads them: the first line keeps its address.
    given.sort_by_key(|(_, address)| address.line);
    let mut owners = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for (interface, address) in given {
        let owner = *owners.entry((&interface.vrf, address.address)).or_insert((interface, address.line));
        if owner.0.name != interface.name {
            let (of, line) = (&owner.0.name, owner.1);
            found.push(Diagnostic::error(
                address.line,
                format!("{} is already the address of {of} (line {line})", address.address),
                "the router refuses the line: the interface lacks this address",
            ));
            refused.insert(address.line);
        }
    }
    for interface in configuration.interfaces.iter_mut() {
        interface.addresses.retain(|address| !refused.contains(&address.line));
    }
}
