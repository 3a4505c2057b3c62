//! [`IosClassLines`]: the class of a packet, and the lines that select this class.

use perhop_device::intent::{Condition, VisibleHeader};
use perhop_device::{ClassLines, MatchedLines};
use perhop_qos::Packet;

use super::intent::condition::{of_class, of_entry, of_statement};
use super::wire::Tags;
use crate::ast::{CLASS_DEFAULT, ClassMap, Configuration, Criterion, Polarity};
use crate::platform::most_policy_levels;

/// The configuration for lookups of the classes of packets.
pub(crate) struct IosClassLines(pub(crate) Configuration);

impl ClassLines for IosClassLines {
    fn matched(
        &self,
        policy: &str,
        interfaces: &[String],
        packet: &Packet,
        visible: VisibleHeader,
    ) -> Vec<MatchedLines> {
        let lookup = PacketLookup { configuration: &self.0, interfaces, packet, visible };
        matched_lines(policy, &lookup)
    }
}

fn matched_lines(policy: &str, lookup: &PacketLookup) -> Vec<MatchedLines> {
    let configuration = lookup.configuration;
    let mut found = Vec::new();
    let most_levels = most_policy_levels();
    let mut next = Some(policy);
    while let Some(policy) = next.take().and_then(|name| configuration.policy_maps.get(name)) {
        let is_own = |name: &str| {
            let condition = of_class(configuration, name, Tags::default());
            condition.is_some_and(|condition| lookup.matches(&condition))
        };
        let class = policy.classes.iter().find(|class| is_own(&class.name));
        let name = class.map_or(CLASS_DEFAULT, |class| &class.name);
        let map = configuration.class_maps.get(name);
        found.push(MatchedLines {
            policy: policy.name.clone(),
            class: name.to_owned(),
            line: class.map(|class| class.line),
            criteria: map.map_or_else(Vec::new, |map| lookup.criteria(map)),
        });
        let inner = class.and_then(|class| class.service_policy.as_ref()).map(|at| at.value.as_str());
        next = inner.filter(|_| found.len() < most_levels);
    }
    found
}

/// The inputs of the lookup for one packet.
struct PacketLookup<'a> {
    configuration: &'a Configuration,
    interfaces: &'a [String],
    packet: &'a Packet,
    visible: VisibleHeader,
}

impl PacketLookup<'_> {
    fn matches(&self, condition: &Condition) -> bool {
        condition.seen(self.visible).matches(self.interfaces, self.packet)
    }

    /// Returns the lines of `map` that match the packet, and the lines that match in the access lists and
    /// class-maps that these lines name.
    fn criteria(&self, map: &ClassMap) -> Vec<usize> {
        let mut lines = Vec::new();
        for statement in &map.statements {
            let is_met = self.matches(&of_statement(self.configuration, statement));
            if is_met != (statement.polarity == Polarity::Is) {
                continue;
            }
            lines.push(statement.line);
            match &statement.criterion {
                Criterion::AccessGroup(list) if is_met => {
                    let entries = self.configuration.access_lists.get(list).map(|list| &list.entries);
                    let entry_matches =
                        |entry: &&crate::ast::AclEntry| self.matches(&of_entry(self.configuration, entry));
                    lines.extend(entries.into_iter().flatten().find(entry_matches).map(|entry| entry.line));
                }
                Criterion::ClassMap(inner) if is_met => {
                    let inner = self.configuration.class_maps.get(inner);
                    lines.extend(inner.into_iter().flat_map(|map| self.criteria(map)));
                }
                _ => {}
            }
        }
        lines
    }
}
