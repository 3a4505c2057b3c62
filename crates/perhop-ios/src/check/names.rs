//! Checks for undefined names. The finding is at the line that uses the name. It is a warning if the router
//! accepts the line and the behavior of the router is known, otherwise an error.

use std::collections::BTreeMap;

use perhop_lint::{Diagnostic, MOST_LEVELS, near, nested_too_deeply};

use super::unused::of_map_classes;
use crate::ast::{
    AclEntry, At, CLASS_DEFAULT, Configuration, Criterion, GroupMember, Marking, PolicyClass, PolicyType,
    RateLimitMatch, Statement,
};
use crate::object_group::{Addresses, MOST};
use crate::rules;

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for map in configuration.class_maps.iter() {
        found.extend(map.statements.iter().filter_map(|statement| criterion(configuration, statement)));
    }
    rate_limits(configuration, found);
    for policy in configuration.policy_maps.iter() {
        let kind = configuration.nx_os.policy_type(&policy.name);
        policy.classes.iter().for_each(|class| of_class(configuration, kind, class, found));
    }
    attachments(configuration, found);
    object_groups(configuration, found);
}

fn class_maps(configuration: &Configuration) -> impl Iterator<Item = &str> {
    configuration.class_maps.iter().map(|map| map.name.as_str())
}

fn undefined_list(configuration: &Configuration, line: usize, name: &str) -> Diagnostic {
    let lists = configuration.access_lists.iter().map(|list| list.name.as_str());
    Diagnostic::new(
        &rules::ACCESS_LIST_UNDEFINED,
        line,
        format!("access list {name} is not defined"),
        "the router accepts the line; until the list has an entry, no packet matches",
    )
    .suggesting(near(name, lists))
}

fn criterion(configuration: &Configuration, statement: &Statement) -> Option<Diagnostic> {
    match &statement.criterion {
        Criterion::AccessGroup(name) if configuration.access_lists.get(name).is_none() => {
            Some(undefined_list(configuration, statement.line, name))
        }
        Criterion::InputInterface(name) if configuration.interfaces.get(name).is_none() => {
            Some(Diagnostic::new(
                &rules::INTERFACE_UNDEFINED,
                statement.line,
                format!("there is no interface {name}"),
                "the router refuses the line, or accepts it and waits for the interface; no packet matches",
            ))
        }
        Criterion::ClassMap(name) if configuration.class_maps.get(name).is_none() => Some(
            Diagnostic::new(
                &rules::CLASS_MAP_UNDEFINED,
                statement.line,
                format!("class-map {name} is not defined"),
                "the router refuses the line, so the class-map has no such criterion",
            )
            .suggesting(near(name, class_maps(configuration))),
        ),
        _ => None,
    }
}

fn rate_limits(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
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
        found.extend(missing.map(|name| undefined_list(configuration, limit.line, name)));
    }
}

/// Returns the undefined class that a diagnostic is about.
pub(crate) fn undefined_class(diagnostic: &Diagnostic) -> Option<&str> {
    let is_meant = diagnostic.rule.id == rules::CLASS_MAP_UNDEFINED.id;
    let message = is_meant.then_some(diagnostic.message.as_str())?;
    message.strip_prefix("class-map ")?.strip_suffix(" is not defined")
}

/// Returns the diagnostic for a class without a class-map.
fn undefined_class_of(configuration: &Configuration, kind: PolicyType, class: &PolicyClass) -> Diagnostic {
    let message = format!("class-map {} is not defined", class.name);
    let found = |effect| Diagnostic::new(&rules::CLASS_MAP_UNDEFINED, class.line, message, effect);
    if kind == PolicyType::Queuing {
        // A similar name is another queue, often one that the policy has already.
        return found("the switch refuses the line: its queuing classes are predefined, such as c-out-q1");
    }
    found("the router refuses the line and the lines of its block, so the policy has no such class")
        .suggesting(near(&class.name, class_maps(configuration)))
}

fn of_class(
    configuration: &Configuration,
    kind: PolicyType,
    class: &PolicyClass,
    found: &mut Vec<Diagnostic>,
) {
    let known = |name: &str| name == CLASS_DEFAULT || configuration.class_maps.get(name).is_some();
    if !known(&class.name) {
        found.push(undefined_class_of(configuration, kind, class));
    }
    let police = class.police.iter().map(|police| &police.value);
    for At { line, value } in
        police.clone().flat_map(|police| police.conform_class.iter().chain(&police.exceed_class))
    {
        if !known(value) {
            found.push(Diagnostic::new(
                &rules::CLASS_MAP_UNDEFINED,
                *line,
                format!("class-map {value} is not defined"),
                "the router refuses the line: the policer ignores colors",
            ));
        }
    }
    let of_police = police.flat_map(|police| [&police.conform, &police.exceed, &police.violate]).flatten();
    let actions = of_police.filter_map(|action| action.marking.as_ref());
    let policed = class.police.as_ref().map_or(class.line, |police| police.line);
    let marks = class.marks.iter().map(|mark| (mark.line, &mark.value));
    for (line, marking) in marks.chain(actions.map(|marking| (policed, marking))) {
        if let Marking::Copy { table: Some(table), .. } = marking
            && configuration.table_maps.get(table).is_none()
        {
            found.push(Diagnostic::new(
                &rules::TABLE_MAP_UNDEFINED,
                line,
                format!("table-map {table} is not defined"),
                "the router refuses the line: the mark is not set",
            ));
        }
    }
    undefined_policy(configuration, class.service_policy.as_ref(), found);
}

fn undefined_policy(configuration: &Configuration, policy: Option<&At<String>>, found: &mut Vec<Diagnostic>) {
    if let Some(At { line, value }) = policy
        && configuration.policy_maps.get(value).is_none()
    {
        found.push(
            Diagnostic::new(
                &rules::POLICY_MAP_UNDEFINED,
                *line,
                format!("policy-map {value} is not defined"),
                "the router refuses the line: no policy applies here",
            )
            .suggesting(near(value, configuration.policy_maps.iter().map(|policy| policy.name.as_str()))),
        );
    }
}

fn attachments(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let plane = configuration.control_plane.iter().map(|plane| &plane.service_policies);
    let of_interfaces = configuration.interfaces.iter().flat_map(|interface| {
        let circuits = interface.pvcs.iter().map(|pvc| &pvc.service_policies);
        let instances = interface.service_instances.iter().map(|instance| &instance.service_policies);
        std::iter::once(&interface.service_policies).chain(circuits).chain(instances)
    });
    for policies in of_interfaces.chain(plane) {
        undefined_policy(configuration, policies.input.as_ref(), found);
        undefined_policy(configuration, policies.output.as_ref(), found);
        undefined_policy(configuration, policies.second_output.as_ref(), found);
    }
    for (line, name) in of_map_classes(configuration) {
        undefined_policy(configuration, Some(&At::new(line, name.to_owned())), found);
    }
    for policy in configuration.interfaces.iter().flat_map(|interface| &interface.peer_policies) {
        undefined_policy(configuration, Some(&At::new(policy.line, policy.policy.clone())), found);
    }
}

/// Reports object groups that are undefined, of the wrong kind, or too large.
fn object_groups(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let (mut sizes, mut depths) = (BTreeMap::new(), BTreeMap::new());
    for entry in configuration.access_lists.iter().flat_map(|list| &list.entries) {
        let AclEntry { line, source_group, destination_group, service_group, .. } = entry;
        let groups = [source_group, destination_group, service_group];
        for name in groups.into_iter().flatten() {
            if configuration.object_groups.get(name).is_none() {
                found.push(undefined_group(*line, name));
            }
            let is_deep = depths.entry(name).or_insert_with(|| configuration.is_nested_too_deeply(name));
            if *is_deep {
                found.push(Diagnostic::new(
                    &rules::OBJECT_GROUP_TOO_LARGE,
                    *line,
                    nested_too_deeply(&format!("the groups inside object group {name}")),
                    format!("the router follows all levels of groups; perhop follows at most {MOST_LEVELS}"),
                ));
            }
        }
        for name in [source_group, destination_group].into_iter().flatten() {
            let too_many =
                *sizes.entry(name).or_insert_with(|| configuration.addresses_of(name) == Addresses::TooMany);
            if too_many {
                found.push(Diagnostic::new(
                    &rules::OBJECT_GROUP_TOO_LARGE,
                    *line,
                    format!("object group {name} expands to more than {MOST} prefixes"),
                    "the router matches all these prefixes; in perhop no packet matches this entry",
                ));
            }
        }
    }
    for member in configuration.object_groups.iter().flat_map(|group| &group.members) {
        if let GroupMember::Group(name) = &member.value
            && configuration.object_groups.get(name).is_none()
        {
            found.push(undefined_group(member.line, name));
        }
    }
}

fn undefined_group(line: usize, name: &str) -> Diagnostic {
    Diagnostic::new(
        &rules::OBJECT_GROUP_UNDEFINED,
        line,
        format!("object group {name} is not defined"),
        "the router refuses the line, so no packet matches this entry",
    )
}
