//! [`Dependencies`]: the interfaces that each line affects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ast::{
    AccessList, ClassMap, Configuration, Criterion, GroupMember, Interface, Marking, ObjectGroup, PolicyMap,
    RateLimitMatch, ServicePolicies,
};
use crate::mode::Mode;

/// The interfaces that each part of a configuration affects. Parts with the same interfaces share one list.
#[derive(Clone, Debug)]
pub struct Dependencies {
    /// The part that each line belongs to.
    owners: Vec<Option<Part>>,
    /// Names of the interfaces that use a part; `None` if there are more than [`MOST_USES`] pairs.
    users: Option<BTreeMap<Part, Arc<[String]>>>,
    /// The names of all interfaces.
    all: Arc<[String]>,
    none: Arc<[String]>,
}

/// Limit on the pairs of an interface and a part that it uses. Above this limit, every part affects every
/// interface.
const MOST_USES: usize = 2_000_000;

/// A named part of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    ClassMap(usize),
    PolicyMap(usize),
    AccessList(usize),
    ObjectGroup(usize),
    TableMap(usize),
    Interface(usize),
    InterfaceRange(usize),
    ControlPlane,
    /// A part that interfaces do not name.
    Other,
}

impl Part {
    fn from_mode(mode: Mode) -> Part {
        match mode {
            Mode::ClassMap(map) => Part::ClassMap(map),
            Mode::PolicyMap(map) | Mode::Class(map, _) | Mode::Police(map, _) => Part::PolicyMap(map),
            Mode::AccessList(list) => Part::AccessList(list),
            Mode::ObjectGroup(group) => Part::ObjectGroup(group),
            Mode::TableMap(map) => Part::TableMap(map),
            Mode::Interface(interface) | Mode::Pvc(interface, _) | Mode::ServiceInstance(interface, _) => {
                Part::Interface(interface)
            }
            Mode::InterfaceRange(range) => Part::InterfaceRange(range),
            Mode::ControlPlane => Part::ControlPlane,
            _ => Part::Other,
        }
    }
}

/// The name in a list of interfaces for packets to the router itself.
const CONTROL_PLANE: &str = "control-plane";

impl Configuration {
    /// Returns the interfaces that each part affects. For example, a fault in a class-map concerns the
    /// interfaces whose policies use the class-map.
    pub fn dependencies(&self) -> Dependencies {
        self.dependencies_within(MOST_USES)
    }

    /// Returns the dependencies. Above `most_uses` pairs of an interface and a part, every part affects every
    /// interface.
    fn dependencies_within(&self, most_uses: usize) -> Dependencies {
        let mut users: BTreeMap<Part, Vec<usize>> = BTreeMap::new();
        let (mut names, mut uses) = (Vec::new(), 0);
        let mut add = |name: &str, first: Part| {
            // Above the limit, only the names of interfaces are collected.
            if uses <= most_uses {
                for part in Parts::needed_by(self, first) {
                    uses += 1;
                    users.entry(part).or_default().push(names.len());
                }
            }
            names.push(name.to_owned());
        };
        for interface in self.interfaces.iter() {
            if let Some(place) = self.interfaces.index(&interface.name) {
                add(&interface.name, Part::Interface(place));
            }
        }
        if self.control_plane.is_some() {
            add(CONTROL_PLANE, Part::ControlPlane);
        }
        let mut lists: BTreeMap<Vec<usize>, Arc<[String]>> = BTreeMap::new();
        let mut shared = |places: Vec<usize>| -> Arc<[String]> {
            let list = || places.iter().map(|place| names[*place].clone()).collect();
            lists.entry(places.clone()).or_insert_with(list).clone()
        };
        let users = (uses <= most_uses)
            .then(|| users.into_iter().map(|(part, places)| (part, shared(places))).collect());
        let owners = self.owners.iter().map(|owner| owner.map(Part::from_mode)).collect();
        Dependencies { owners, users, all: names.into(), none: Arc::default() }
    }
}

impl Dependencies {
    /// Returns the interfaces that `line` affects, and `control-plane` if the line affects the router's own
    /// packets. A line outside of named parts affects all interfaces. A line of an unused class-map, policy
    /// or list affects no interface.
    pub fn used_by(&self, line: usize) -> &Arc<[String]> {
        match (self.owners.get(line.wrapping_sub(1)), &self.users) {
            (None | Some(None), _) | (_, None) => &self.all,
            (Some(Some(part)), Some(users)) => users.get(part).unwrap_or(&self.none),
        }
    }
}

/// The parts that one interface uses, directly or indirectly.
struct Parts<'a> {
    configuration: &'a Configuration,
    all: BTreeSet<Part>,
    /// The parts whose references are still to be followed.
    next: Vec<Part>,
}

impl<'a> Parts<'a> {
    /// Returns `first` and all parts that it uses directly or indirectly.
    fn needed_by(configuration: &'a Configuration, first: Part) -> BTreeSet<Part> {
        let mut parts = Parts { configuration, all: BTreeSet::new(), next: Vec::new() };
        parts.need(Some(first));
        while let Some(part) = parts.next.pop() {
            parts.follow(part);
        }
        parts.all
    }

    fn need(&mut self, part: Option<Part>) {
        self.next.extend(part.filter(|part| self.all.insert(*part)));
    }

    fn follow(&mut self, part: Part) -> Option<()> {
        let configuration = self.configuration;
        match part {
            Part::Interface(place) => {
                let ranges = configuration.interface_ranges.iter().enumerate();
                let own = ranges.filter(|(_, members)| members.binary_search(&place).is_ok());
                own.for_each(|(range, _)| self.need(Some(Part::InterfaceRange(range))));
                self.interface(configuration.interfaces.at(place)?);
            }
            Part::ControlPlane => {
                let plane = configuration.control_plane.as_ref()?;
                self.service_policies(&plane.service_policies);
            }

            Part::PolicyMap(place) => self.policy_map(configuration.policy_maps.at(place)?),
            Part::ClassMap(place) => self.class_map(configuration.class_maps.at(place)?),
            Part::AccessList(place) => self.access_list(configuration.access_lists.at(place)?),
            Part::ObjectGroup(place) => self.object_group(configuration.object_groups.at(place)?),
            Part::InterfaceRange(_) | Part::TableMap(_) | Part::Other => {}
        }
        Some(())
    }

    fn interface(&mut self, interface: &Interface) {
        // A sub-interface inherits policy and rate from its parent.
        let parent = interface.parent.as_ref().and_then(|parent| self.configuration.interfaces.index(parent));
        self.need(parent.map(Part::Interface));
        self.service_policies(&interface.service_policies);
        interface.pvcs.iter().for_each(|pvc| self.service_policies(&pvc.service_policies));
        for instance in &interface.service_instances {
            self.service_policies(&instance.service_policies);
        }
        interface.peer_policies.iter().for_each(|peer| self.named_policy(&peer.policy));
        interface.filters.iter().for_each(|filter| self.named_list(&filter.list));
        for limit in &interface.rate_limits {
            if let RateLimitMatch::AccessGroup(list) = &limit.matches {
                self.named_list(list);
            }
        }
    }

    fn service_policies(&mut self, policies: &ServicePolicies) {
        let named = [&policies.input, &policies.output, &policies.second_output, &policies.queuing_input];
        for policy in named.into_iter().flatten() {
            self.named_policy(&policy.value);
        }
    }

    fn policy_map(&mut self, policy: &PolicyMap) {
        for class in &policy.classes {
            self.named_class(&class.name);
            let police = class.police.iter().map(|police| &police.value);
            for named in police.flat_map(|police| police.conform_class.iter().chain(&police.exceed_class)) {
                self.named_class(&named.value);
            }
            for mark in &class.marks {
                if let Marking::Copy { table: Some(table), .. } = &mark.value {
                    self.need(self.configuration.table_maps.index(table).map(Part::TableMap));
                }
            }
            class.service_policy.iter().for_each(|inside| self.named_policy(&inside.value));
        }
    }

    fn class_map(&mut self, map: &ClassMap) {
        for statement in &map.statements {
            match &statement.criterion {
                Criterion::AccessGroup(list) => self.named_list(list),
                Criterion::ClassMap(inner) => self.named_class(inner),
                _ => {}
            }
        }
    }

    fn access_list(&mut self, list: &AccessList) {
        for entry in &list.entries {
            let groups = [&entry.source_group, &entry.destination_group, &entry.service_group];
            groups.into_iter().flatten().for_each(|group| self.named_group(group));
        }
    }

    fn object_group(&mut self, group: &ObjectGroup) {
        for member in &group.members {
            if let GroupMember::Group(inner) = &member.value {
                self.named_group(inner);
            }
        }
    }

    fn named_policy(&mut self, name: &str) {
        self.need(self.configuration.policy_maps.index(name).map(Part::PolicyMap));
    }
    fn named_class(&mut self, name: &str) {
        self.need(self.configuration.class_maps.index(name).map(Part::ClassMap));
    }
    fn named_list(&mut self, name: &str) {
        self.need(self.configuration.access_lists.index(name).map(Part::AccessList));
    }
    fn named_group(&mut self, name: &str) {
        self.need(self.configuration.object_groups.index(name).map(Part::ObjectGroup));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::parse;

    #[test]
    fn a_line_matters_to_the_interfaces_that_come_to_it_by_names() {
        let text = "hostname edge\n\
                    ip access-list extended deep\n permit ip object-group hosts any\n\
                    object-group network hosts\n host 10.0.0.1\n\
                    class-map inner\n match access-group name deep\n\
                    class-map outer\n match class-map inner\n\
                    class-map alone\n match access-group 199\n\
                    policy-map child\n class outer\n  bandwidth 10\n\
                    policy-map parent\n class class-default\n  service-policy child\n\
                    interface GigabitEthernet0/0\n service-policy output parent\n\
                    interface GigabitEthernet0/0.5\n encapsulation dot1q 5\n\
                    interface GigabitEthernet0/1\n rate-limit input access-group 101 8000 1500 2000 \
                    conform-action transmit exceed-action drop\n\
                    control-plane\n service-policy input child\n\
                    access-list 101 permit ip any any\n";
        let configuration = parse(text);
        let dependencies = configuration.dependencies();
        let used_by = |line: &str| {
            let number = text.lines().position(|other| other.trim() == line).unwrap() + 1;
            dependencies.used_by(number).join(" ")
        };
        let all = "GigabitEthernet0/0 GigabitEthernet0/0.5 GigabitEthernet0/1 control-plane";
        assert_eq!(used_by("hostname edge"), all);
        for shared in
            ["host 10.0.0.1", "match access-group name deep", "match class-map inner", "bandwidth 10"]
        {
            assert_eq!(used_by(shared), "GigabitEthernet0/0 GigabitEthernet0/0.5 control-plane", "{shared}");
        }
        assert_eq!(used_by("service-policy child"), "GigabitEthernet0/0 GigabitEthernet0/0.5");
        assert_eq!(used_by("match access-group 199"), "");
        assert_eq!(used_by("access-list 101 permit ip any any"), "GigabitEthernet0/1");
        assert_eq!(used_by("encapsulation dot1q 5"), "GigabitEthernet0/0.5");
    }

    #[test]
    fn lines_that_matter_to_the_same_interfaces_share_one_list() {
        let maps = |n: usize| format!("class-map c{n}\n match dscp {n}\n");
        let maps: String = (0..50).map(maps).collect();
        let classes = |n: usize| format!(" class c{n}\n  bandwidth 10\n");
        let classes: String = (0..50).map(classes).collect();
        let interface = |n: usize| format!("interface Serial{n}/0\n service-policy output p\n");
        let interfaces: String = (0..50).map(interface).collect();
        let configuration = parse(&format!("{maps}policy-map p\n{classes}{interfaces}"));
        let dependencies = configuration.dependencies();
        let lists: BTreeSet<*const String> =
            (1..=200).map(|line| dependencies.used_by(line).as_ptr()).collect();
        assert_eq!((dependencies.used_by(1).len(), lists.len()), (50, 1));
    }

    /// Each of ten interfaces needs itself, a policy and ten class-maps, which are 120 pairs.
    #[test]
    fn beyond_the_limit_every_line_matters_to_every_interface() {
        let maps = |n: usize| format!("class-map c{n}\n match dscp 1\n");
        let maps: String = (0..10).map(maps).collect();
        let classes = |n: usize| format!(" class c{n}\n  bandwidth 10\n");
        let classes: String = (0..10).map(classes).collect();
        let interface = |n: usize| format!("interface Serial{n}/0\n service-policy output p\n");
        let interfaces: String = (0..10).map(interface).collect();
        let text = format!("{maps}policy-map p\n{classes}{interfaces}class-map alone\n match dscp 1\n");
        let configuration = parse(&text);
        let last = text.lines().count();
        for (most_uses, concerned) in [(120, 0), (119, 10)] {
            let dependencies = configuration.dependencies_within(most_uses);
            assert_eq!(dependencies.used_by(last).len(), concerned, "{most_uses} uses");
        }
    }
}
