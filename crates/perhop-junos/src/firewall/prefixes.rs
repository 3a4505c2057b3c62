//! Prefix lists.

use std::collections::BTreeMap;

use perhop_qos::classifier::Prefix;

use crate::context::Context;
use crate::tree::NodeId;

/// The prefixes of each prefix list.
pub(crate) type PrefixLists = BTreeMap<String, Vec<Prefix>>;

/// Reads the prefix lists of `[edit policy-options]`.
pub(super) fn prefix_lists(context: &mut Context) -> PrefixLists {
    let mut found = PrefixLists::new();
    let Some(options) = context.tree.child(NodeId::ROOT, "policy-options") else { return found };
    for list in context.items(options, "prefix-list") {
        let mut prefixes = Vec::new();
        for word in context.keywords(list.node) {
            if word.text == "apply-path" {
                context.not_modeled(word.node, "prefixes out of other statements");
            } else if let Some(prefix) = prefix(&word.text) {
                context.modeled(word.node);
                prefixes.push(prefix);
            } else if !word.text.starts_with("apply-groups") {
                context.invalid(&word, "prefix-list");
            }
        }
        found.insert(list.text, prefixes);
    }
    found
}

/// Parses a prefix; clears the host bits, as Junos does.
pub(crate) fn prefix(text: &str) -> Option<Prefix> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address: std::net::IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let prefix_length = length.unwrap_or(most);
    perhop_device::InterfaceAddress { line: 0, address, prefix_length }.subnet()
}
