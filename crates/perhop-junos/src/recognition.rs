//! Recognition of the language and of the family of a device.

use perhop_device::Evidence;

use crate::families::Family;
use crate::tree::{NodeId, Tree};

/// Hierarchies that only Junos writes with braces.
const STRONG: [&str; 6] =
    ["class-of-service", "policy-options", "routing-options", "groups", "chassis", "forwarding-options"];
/// Names of interfaces of Junos begin with these.
const INTERFACES: [&str; 14] = [
    "ge-",
    "xe-",
    "et-",
    "fe-",
    "so-",
    "ae",
    "lo0",
    "irb",
    "reth",
    "fxp",
    "em0",
    "st0",
    "interface-range",
    "t1-",
];

/// Returns the lines that show that a text is a Junos configuration, the clearest first.
pub(crate) fn evidence(text: &str) -> Vec<Evidence> {
    let mut found = Vec::new();
    let mut above = "";
    let mut has_end = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        // A line such as `unit 0 { family inet; }` also ends a statement.
        has_end |= trimmed.trim_end_matches([' ', '}']).ends_with(';');
        if let Some(says) = sign(trimmed, above) {
            found.push(Evidence { line: index + 1, text: trimmed.to_owned(), says: says.to_owned() });
            if found.len() >= 3 && has_end {
                break;
            }
        }
        if !trimmed.is_empty() {
            above = trimmed;
        }
    }
    // In the notation with braces, statements end with semicolons. Other languages with braces lack
    // semicolons.
    found.retain(|evidence| evidence.text.starts_with("set ") || has_end || is_command(&evidence.text));
    found
}

fn is_command(text: &str) -> bool {
    ["delete ", "deactivate ", "activate "].iter().any(|command| text.starts_with(command))
}

fn sign<'t>(line: &'t str, above: &'t str) -> Option<&'static str> {
    let line = line.strip_prefix("replace: ").or_else(|| line.strip_prefix("inactive: ")).unwrap_or(line);
    let words: Vec<&str> = line.split_whitespace().take(3).collect();
    let is_interface = |name: &str| INTERFACES.iter().any(|prefix| name.starts_with(prefix));
    let is_firewall = |word: &str| {
        matches!(word, "family" | "policer" | "filter" | "three-color-policer" | "hierarchical-policer")
    };
    match words.as_slice() {
        ["set" | "delete" | "deactivate", first, second @ ..] => {
            let second = second.first().copied().unwrap_or_default();
            let is_junos = STRONG.contains(first)
                || *first == "interfaces" && is_interface(second)
                || *first == "firewall" && is_firewall(second);
            is_junos.then_some("a command in the hierarchy of Junos")
        }
        [first, "{", ..] if STRONG.contains(first) => Some("a hierarchy of Junos"),
        [first, "{", ..] if above == "interfaces {" && is_interface(first) => Some("an interface of Junos"),
        [first, ..] if above == "firewall {" && is_firewall(first) => Some("a filter or policer of Junos"),
        _ => None,
    }
}

/// The family of a device, with evidence.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecognizedFamily {
    /// The family, if the text determines it.
    pub(crate) certain: Option<Family>,
    /// The possible families, the likely ones first.
    pub(crate) likely: Vec<Family>,
    pub(crate) because: Vec<Evidence>,
}

/// Returns the family that the statements show.
pub(crate) fn family(tree: &Tree) -> RecognizedFamily {
    let mut signs = Signs { tree, found: Vec::new() };
    signs.security();
    signs.chassis();
    signs.class_of_service();
    signs.switching();
    signs.version();
    signs.hostname();
    signs.interfaces();
    let certain = signs.found.iter().find(|sign| sign.is_certain).map(|sign| sign.families[0]);
    let because = |sign: &Sign| Evidence {
        line: tree.line(sign.node),
        text: tree.path(sign.node).join(" "),
        says: sign.says.to_owned(),
    };
    let mut likely: Vec<Family> = Vec::new();
    for family in signs.found.iter().flat_map(|sign| &sign.families) {
        if !likely.contains(family) {
            likely.push(*family);
        }
    }
    let shown =
        signs.found.iter().filter(|sign| certain.is_none_or(|family| sign.families.contains(&family)));
    RecognizedFamily { certain, likely, because: shown.map(because).collect() }
}

struct Sign {
    node: NodeId,
    says: &'static str,
    families: Vec<Family>,
    is_certain: bool,
}

struct Signs<'t> {
    tree: &'t Tree,
    found: Vec<Sign>,
}

impl Signs<'_> {
    fn add(&mut self, node: Option<NodeId>, families: &[Family], is_certain: bool, says: &'static str) {
        if let Some(node) = node {
            self.found.push(Sign { node, says, families: families.to_vec(), is_certain });
        }
    }

    fn at(&self, path: &[&str]) -> Option<NodeId> {
        self.tree.at(NodeId::ROOT, path)
    }

    fn interface(&self, fits: impl Fn(&str) -> bool) -> Option<NodeId> {
        let interfaces = self.at(&["interfaces"])?;
        self.tree.children(interfaces).into_iter().find(|node| fits(self.tree.word(*node)))
    }

    fn security(&mut self) {
        for part in ["zones", "policies"] {
            self.add(self.at(&["security", part]), &[Family::Srx], true, "security zones of SRX");
        }
        self.add(self.interface(|name| name.starts_with("reth")), &[Family::Srx], true, "a cluster of SRX");
    }

    fn chassis(&mut self) {
        // PTX and ACX7000 also have this statement, but their interfaces are all called `et`.
        let node = self.at(&["chassis", "network-services"]);
        let is_router = self.interface(|name| name.starts_with("ge-") || name.starts_with("xe-")).is_some();
        let is_other =
            self.named_family().is_some_and(|(_, family)| family != Family::Mx) || self.is_evolved();
        let families = [Family::Mx, Family::Ptx, Family::Acx];
        self.add(node, &families, is_router && !is_other, "network services of routers");
        for node in self.tree.children(self.at(&["chassis", "fpc"]).unwrap_or(NodeId::ROOT)) {
            let mode = self.tree.child(node, "flexible-queuing-mode");
            self.add(mode, &[Family::Mx], true, "queueing of MPCs");
        }
    }

    /// Adds the evidence of priorities that only ACX7000 has, and of sets and buffers that only switches
    /// have.
    fn class_of_service(&mut self) {
        for scheduler in
            self.tree.children(self.at(&["class-of-service", "schedulers"]).unwrap_or(NodeId::ROOT))
        {
            for priority in ["low-latency", "low-high", "low-medium"] {
                let node = self.tree.at(scheduler, &["priority", priority]);
                self.add(node, &[Family::Acx], true, "a priority of ACX7000");
            }
        }
        for part in ["forwarding-class-sets", "shared-buffer", "dedicated-buffer", "multi-destination"] {
            let node = self.at(&["class-of-service", part]);
            self.add(node, &[Family::Qfx, Family::Ex], false, "class of service of switches");
        }
    }

    fn switching(&mut self) {
        for part in ["ethernet-switching-options", "virtual-chassis"] {
            self.add(self.at(&[part]), &[Family::Ex, Family::Qfx], false, "an option of switches");
        }
        self.add(self.at(&["vlans"]), &[Family::Ex, Family::Qfx, Family::Acx], false, "VLANs of switches");
    }

    fn is_evolved(&self) -> bool {
        let version = self.at(&["version"]).and_then(|node| self.tree.last_value(node));
        version.is_some_and(|value| self.tree.word(value).ends_with("-EVO"))
    }

    fn version(&mut self) {
        if self.is_evolved() {
            let node = self.at(&["version"]);
            self.add(node, &[Family::Ptx, Family::Acx, Family::Qfx], false, "Junos Evolved");
        }
    }

    /// Adds the family in the name of the device, which is only a hint.
    fn hostname(&mut self) {
        if let Some((node, family)) = self.named_family() {
            self.add(Some(node), &[family], false, "the name of the device");
        }
    }

    /// Returns the family that the name of the device contains.
    fn named_family(&self) -> Option<(NodeId, Family)> {
        let node = self.at(&["system", "host-name"])?;
        let name = self.tree.last_value(node).map(|value| self.tree.word(value).to_lowercase());
        let name = name.unwrap_or_default();
        let families = [
            ("ex4600", Family::Qfx5100),
            ("srx", Family::Srx),
            ("ptx", Family::Ptx),
            ("acx", Family::Acx),
            ("qfx", Family::Qfx),
            ("mx", Family::Mx),
            ("ex", Family::Ex),
        ];
        let chips = Family::Qfx.chips().into_iter();
        let chips = chips.map(|chip| (chip.name().trim_start_matches("junos-"), chip));

        let is_product = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
        let family = chips.chain(families).find(|(word, _)| {
            name.match_indices(word).any(|(at, _)| {
                name[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()) || is_product(word)
            })
        });
        family.map(|(_, family)| (node, family))
    }

    fn interfaces(&mut self) {
        let node = self.interface(|name| ["so-", "t3-"].iter().any(|prefix| name.starts_with(prefix)));
        self.add(node, &[Family::MSeries, Family::Mx], false, "an interface of older routers");
        let node = self.interface(|name| name.starts_with("ge-") || name.starts_with("xe-"));
        self.add(node, &[Family::Mx, Family::Srx], false, "an interface of routers");
    }
}
