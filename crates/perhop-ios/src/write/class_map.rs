//! [`ClassMaps`]: writing of conditions as class-maps and access lists.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::Missing;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};
use perhop_qos::packet::Protocol;

use super::access_list::{self, Kind, MOST_ENTRIES};
use super::criteria::{Key, independent, keys, parts, text};
use super::words::{codepoint, name};

const HIGHEST_GROUP: u8 = 99;

/// The class-maps and access lists of some conditions, without duplicates.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassMaps {
    defined: Vec<(String, ClassMap)>,
    lists: Vec<(String, Vec<String>)>,
    by_content: BTreeMap<String, String>,
    numbered: Vec<String>,
    has_families: bool,
    /// Interfaces that conditions name.
    pub(super) interfaces: BTreeSet<String>,
}

/// The combination and the lines of a class-map.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ClassMap {
    combination: &'static str,
    lines: Vec<String>,
}

impl ClassMaps {
    /// Returns the access lists and class-maps as lines of a configuration.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        if self.has_families && !self.lists.iter().any(|(list, _)| list.starts_with("ipv6 ")) {
            // perhop distinguishes the address families only if the configuration uses IPv6, so an IPv6 list
            // is added.
            lines.extend(["ipv6 access-list ANY-IPV6", " permit ipv6 any any", "!"].map(str::to_owned));
        }
        let mut add = |head: String, inside: &[String]| {
            lines.push(head);
            lines.extend(inside.iter().map(|line| format!(" {line}")));
            lines.push("!".to_owned());
        };
        for (list, entries) in &self.lists {
            add(list.clone(), entries);
        }
        if let Some((first, others)) = self.numbered.split_first() {
            lines.push(first.clone());
            lines.extend_from_slice(others);
            lines.push("!".to_owned());
        }
        let mut add = |head: String, inside: &[String]| {
            lines.push(head);
            lines.extend(inside.iter().map(|line| format!(" {line}")));
            lines.push("!".to_owned());
        };
        for (name, class_map) in &self.defined {
            add(format!("class-map {} {name}", class_map.combination), &class_map.lines);
        }
        lines
    }

    /// Returns the name of the class-map of a class with this condition: `wanted`, with a number if another
    /// class-map has this name.
    ///
    /// # Errors
    /// No class-map can match such packets.
    pub(super) fn define(&mut self, wanted: &str, condition: &MatchConfig) -> Result<String, Missing> {
        let wanted = name(wanted);
        let class_map = self.class_map(&wanted, condition)?;
        for number in 1..MOST_ENTRIES {
            let free = numbered(&wanted, number);
            match self.defined.iter().find(|(known, _)| *known == free) {
                None => {
                    self.defined.push((free.clone(), class_map));
                    return Ok(free);
                }
                Some((_, known)) if *known == class_map => return Ok(free),
                Some(_) => {}
            }
        }
        Err(Missing::new("too many classes of one name", wanted))
    }

    /// Adds an access list with this condition, for `rate-limit`.
    ///
    /// # Errors
    /// No access list entry can express the condition.
    pub(super) fn add_access_list(&mut self, condition: &MatchConfig, list: &str) -> Result<(), Missing> {
        if let Some(OneOrMany(precedences)) = &condition.precedence
            && keys(condition) == [Key::Precedence]
        {
            let mask = precedences.iter().fold(0_u32, |mask, precedence| mask | 1 << precedence.value());
            self.numbered.push(format!("access-list {list} mask {mask:02x}"));
            return Ok(());
        }
        let Some((Kind::Ipv4, entries)) = access_list::of_condition(condition) else {
            let construct = format!("match {}", text(condition));
            return Err(Missing::new(construct, "rate-limit requires an IPv4 access list"));
        };
        let head = format!("{} {list}", Kind::Ipv4.command());
        self.lists.retain(|(known, _)| *known != head);
        self.lists.push((head, entries));
        Ok(())
    }

    fn class_map(&mut self, name: &str, condition: &MatchConfig) -> Result<ClassMap, Missing> {
        let parts = parts(condition);
        let is_listed = parts.iter().all(|(key, _)| key.is_of_list());
        if parts.is_empty() {
            return Ok(ClassMap { combination: "match-any", lines: vec!["match any".to_owned()] });
        }
        if parts.len() > 1 && !is_listed {
            let conditions: Vec<MatchConfig> = parts.into_iter().map(|(_, condition)| condition).collect();
            return Ok(ClassMap { combination: "match-all", lines: self.statements(name, &conditions)? });
        }
        if let Some(all) = &condition.all {
            return match independent(all).as_slice() {
                [only] => self.class_map(name, only),
                others => Ok(ClassMap { combination: "match-all", lines: self.statements(name, others)? }),
            };
        }
        if let Some(any) = condition.any.as_ref().filter(|_| access_list::of_condition(condition).is_none()) {
            return Ok(ClassMap { combination: "match-any", lines: self.statements(name, any)? });
        }
        let lines = self.simple(name, condition)?;
        let combination = if lines.len() > 1 { "match-any" } else { "match-all" };
        Ok(ClassMap { combination, lines: lines.into_iter().map(|line| format!("match {line}")).collect() })
    }

    /// Returns one `match` line for each of some conditions.
    fn statements(&mut self, name: &str, conditions: &[MatchConfig]) -> Result<Vec<String>, Missing> {
        let mut found = Vec::new();
        for (number, condition) in (1..).zip(conditions) {
            let (negated, inner) = match &condition.not {
                Some(inner) if keys(condition) == [Key::Not] => ("not ", inner.as_ref()),
                _ => ("", condition),
            };
            let called = format!("{name}-{number}");
            let lines = if is_compound(inner) { Vec::new() } else { self.simple(&called, inner)? };
            found.push(match lines.as_slice() {
                [line] => format!("match {negated}{line}"),
                _ => format!("match {negated}class-map {}", self.inner(&called, inner)?),
            });
        }
        Ok(found)
    }

    /// Returns the class-map of a nested condition.
    fn inner(&mut self, name: &str, condition: &MatchConfig) -> Result<String, Missing> {
        let content = text(condition);
        if let Some(known) = self.by_content.get(&content) {
            return Ok(known.clone());
        }
        let defined = self.define(name, condition)?;
        self.by_content.insert(content, defined.clone());
        Ok(defined)
    }

    /// Returns the words after `match` for a condition without nested class-maps. A packet matches the
    /// condition if it matches one of the results.
    fn simple(&mut self, name: &str, condition: &MatchConfig) -> Result<Vec<String>, Missing> {
        let keys = keys(condition);
        let [key] = keys.as_slice() else { return self.by_list(name, condition) };
        if key.is_address() || *key == Key::Any {
            return self.by_list(name, condition);
        }
        if let Some(lines) = of_values(condition) {
            return Ok(lines);
        }
        if let Some(OneOrMany(labels)) = &condition.label {
            return labels.iter().map(|label| Ok(format!("qos-group {}", group(*label)?))).collect();
        }
        if let Some(OneOrMany(ranges)) = &condition.length {
            let least = |low: u16| if low == 0 { String::new() } else { format!("min {low} ") };
            let line = |low, high| format!("packet length {}max {high}", least(low));
            return Ok(ranges.iter().map(|range| line(range.first(), range.last())).collect());
        }
        if let Some(OneOrMany(names)) = &condition.input {
            let is_name = |letter: char| letter.is_alphanumeric() || "_/.:-".contains(letter);
            if !names.iter().all(|name| !name.is_empty() && name.chars().all(is_name)) {
                let construct = format!("match input {}", names.join(", "));
                return Err(Missing::new(construct, "no router has an interface of this name"));
            }
            self.interfaces.extend(names.iter().cloned());
            return Ok(names.iter().map(|name| format!("input-interface {name}")).collect());
        }
        match &condition.not {
            Some(not) => Ok(vec![format!("not class-map {}", self.inner(&format!("{name}-but"), not)?)]),
            None => Err(Missing::new(format!("match {}", text(condition)), "IOS has no such criterion")),
        }
    }

    fn by_list(&mut self, name: &str, condition: &MatchConfig) -> Result<Vec<String>, Missing> {
        let keys = keys(condition);
        if let Some(OneOrMany(prefixes)) = &condition.source
            && let [prefix] = prefixes.as_slice()
            && keys == [Key::Source]
            && Prefix::length(prefix) == 0
        {
            self.has_families = true;
            let word = if prefix.address().is_ipv4() { "ip" } else { "ipv6" };
            return Ok(vec![format!("protocol {word}")]);
        }
        if let Some(OneOrMany(protocols)) = &condition.protocol
            && let [protocol @ (Protocol::TCP | Protocol::UDP | Protocol::ICMP)] = protocols.as_slice()
            && keys == [Key::Protocol]
        {
            return Ok(vec![format!("protocol {protocol}")]);
        }
        let (kind, entries) = access_list::of_condition(condition).ok_or_else(|| {
            Missing::new(format!("match {}", text(condition)), "access lists cannot express it")
        })?;
        let content = format!("{} {}", kind.command(), entries.join("\n"));
        if !self.by_content.contains_key(&content) {
            let free = self.free_list(kind, name)?;
            self.lists.push((format!("{} {free}", kind.command()), entries));
            self.by_content.insert(content.clone(), free);
        }
        Ok(vec![format!("access-group name {}", self.by_content[&content])])
    }

    fn free_list(&self, kind: Kind, name: &str) -> Result<String, Missing> {
        let is_known = |free: &String| {
            self.lists.iter().any(|(list, _)| list.split_whitespace().next_back() == Some(free))
        };
        let free = (1..MOST_ENTRIES).map(|number| numbered(name, number)).find(|free| !is_known(free));
        free.ok_or_else(|| {
            Missing::new("too many access lists of one name", format!("{} {name}", kind.command()))
        })
    }
}

fn numbered(name: &str, number: usize) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}-{number}") }
}

fn group(label: u8) -> Result<u8, Missing> {
    if label <= HIGHEST_GROUP {
        return Ok(label);
    }
    let missing =
        Missing::new(format!("match label {label}"), format!("the highest qos-group is {HIGHEST_GROUP}"));
    Err(missing.instead("write a lower label"))
}

/// Returns the lines of a condition on the values of one field; `None` for other conditions. A line can have
/// 4 or 8 values: Cisco IOS command reference, "match ip dscp", "match precedence", "match cos", "match mpls
/// experimental topmost".
fn of_values(condition: &MatchConfig) -> Option<Vec<String>> {
    fn words<T>(list: &OneOrMany<T>, word: impl Fn(&T) -> String) -> Vec<String> {
        list.0.iter().map(word).collect()
    }
    let MatchConfig { dscp, precedence, cos, mpls_exp, color, .. } = condition;
    let (command, values, most) = if let Some(list) = dscp {
        ("dscp", words(list, |dscp| codepoint(*dscp)), 8)
    } else if let Some(list) = precedence {
        ("precedence", words(list, ToString::to_string), 4)
    } else if let Some(list) = cos {
        ("cos", words(list, ToString::to_string), 4)
    } else if let Some(list) = mpls_exp {
        ("mpls experimental topmost", words(list, ToString::to_string), 8)
    } else if let Some(list) = color {
        ("discard-class", words(list, |color| color.index().to_string()), 8)
    } else {
        return None;
    };
    Some(values.chunks(most).map(|chunk| format!("{command} {}", chunk.join(" "))).collect())
}

fn is_compound(condition: &MatchConfig) -> bool {
    if condition.any.is_some() {
        return access_list::of_condition(condition).is_none();
    }
    let keys = keys(condition);
    condition.all.is_some()
        || condition.not.is_some()
        || (keys.len() > 1 && !keys.iter().all(|key| key.is_of_list()))
}
