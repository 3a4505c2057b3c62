//! [`Form`]: a set of blocks with the same lines. [`Deviation`]: a line in which a block differs from its
//! peers.

use std::collections::BTreeMap;

use super::block::{Block, INTERFACE, PART, PROCESS};
use super::words::Entry;

/// The minimum number of other blocks that must agree. It is larger for interfaces, because interfaces with
/// different tasks can look similar. Blocks with the same name have the same task.
pub(super) const OTHER_INTERFACES: usize = 3;
pub(super) const OTHER_NAMESAKES: usize = 2;

/// Commands of interfaces that determine marks, queues, tunnels and neighbors.
const OF_PACKETS: &[&str] = &[
    "auto qos ",
    "channel-group ",
    "crypto map ",
    "dialer pool ",
    "encapsulation ",
    "ip access-group ",
    "ip mtu ",
    "no ip next-hop-self ",
    "no ip split-horizon ",
    "ip nat ",
    "ip nhrp ",
    "ip ospf authentication",
    "ip ospf message-digest-key ",
    "ip ospf network ",
    "ip policy ",
    "ip router isis",
    "ip tcp adjust-mss ",
    "isis authentication ",
    "isis circuit-type ",
    "isis network ",
    "mls qos trust",
    "mpls ip",
    "mtu ",
    "ppp authentication ",
    "pppoe ",
    "pppoe-client ",
    "priority-queue ",
    "qos pre-classify",
    "service-policy ",
    "srr-queue ",
    "switchport voice ",
    "trust ",
    "tunnel key ",
    "tunnel mode ",
    "tunnel protection ",
    "tunnel source ",
];
/// Commands with a key, number or address that must be equal at both ends of a link or session.
const OF_NEIGHBORS: &[&str] = &[
    "encapsulation ",
    "ip authentication ",
    "ip helper-address ",
    "ip nhrp authentication ",
    "ip nhrp network-id ",
    "ip ospf authentication",
    "ip ospf message-digest-key ",
    "isis authentication ",
    "isis password ",
    "tunnel key ",
];
/// Words of lines about a neighbor that affect the session or its routes.
const OF_SESSIONS: &[&str] = &[
    "activate",
    "as-override",
    "next-hop-self",
    "password",
    "prefix-list",
    "remote-as",
    "route-map",
    "route-reflector-client",
    "send-community",
    "update-source",
];
/// Commands of processes without which neighbors receive no routes.
const OF_ROUTES: &[&str] = &["eigrp stub", "no passive-interface ", "redistribute "];
/// Commands of HSRP, VRRP and GLBP groups, and words that assign different roles to the routers of a group.
const OF_GROUPS: &[&str] = &["glbp ", "standby ", "vrrp "];
const OF_ROLES: &[&str] = &["decrement", "preempt", "priority", "timers", "track"];
/// The beginning of the path of a prefix list. A prefix list may match a range of prefixes in one entry or in
/// several.
const ROUTES: &str = "ip prefix-list ";
/// The first words of entries of access lists.
const OF_LISTS: &[&str] = &["deny", "permit"];
/// Words before values that a site may choose: addresses, rates, weights, queue lengths and preferences. Also
/// contains the words before route targets, because another rule compares route targets.
const CHOSEN: &[&str] = &[
    "address",
    "bandwidth",
    "bandwidth-limit",
    "buffer-size",
    "burst-size-limit",
    "cost",
    "delay",
    "fair-queue",
    "local-preference",
    "metric",
    "police",
    "preference",
    "priority",
    "queue-limit",
    "random-detect",
    "route-target",
    "shape",
    "shaping-rate",
    "transmit-rate",
    "vrf-target",
    "weight",
];
/// Words of lines and paths about the management of a device.
const OF_MANAGEMENT: &[&str] = &[
    "aaa",
    "contact",
    "host-name",
    "location",
    "logging",
    "login",
    "ntp",
    "radius",
    "services",
    "snmp",
    "snmp-server",
    "syslog",
    "system",
    "tacacs",
    "time-zone",
    "trap-group",
    "user",
    "version",
];

/// An interface at the end of a link: the device and the first line of the interface.
pub(crate) type End = (usize, usize);

/// A line in which a block differs from its peers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deviation {
    pub(crate) device: usize,
    pub(crate) line: usize,
    pub(crate) kind: DeviationKind,
    pub(crate) message: String,
}

/// The kind of a [`Deviation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeviationKind {
    /// A line that determines marks, queues, access lists or neighbors, and that is equal in all peers.
    Decisive,
    /// The block lacks a line that all peers have.
    Missing,
    /// The block has a value or a line that differs from all peers.
    Unusual,
}

impl DeviationKind {
    /// Returns `Decisive` if the value of a line is not a choice of the site, otherwise this kind.
    pub(super) fn in_block(self, block: &Block, text: &str) -> DeviationKind {
        let is_session = block.is_part() && block.path.ends_with("neighbor #");
        if is_session && OF_SESSIONS.contains(&text.split(' ').next().unwrap_or_default()) {
            return DeviationKind::Decisive;
        }
        if block.path.starts_with(PROCESS) && !block.is_part() {
            return self.of_neighbors(text).of_passed_routes(text);
        }
        let is_alike = block.is_of_interface() || block.has_name() && !block.path.starts_with(ROUTES);
        let is_free = is_chosen(text) || is_managed(&block.path) || is_managed(text);
        let is_part = block.is_container() && !block.sets_service(text);
        if is_alike && !is_free && !is_part { DeviationKind::Decisive } else { self }
    }

    /// Returns `Unusual` for a decisive line, otherwise this kind.
    pub(super) fn weakened(self) -> DeviationKind {
        if self == DeviationKind::Decisive { DeviationKind::Unusual } else { self }
    }

    /// Returns `Decisive` if a line sets a key or number that must be equal at both ends, otherwise this
    /// kind.
    pub(super) fn of_neighbors(self, text: &str) -> DeviationKind {
        let is_needed = OF_NEIGHBORS.iter().any(|start| text.starts_with(start))
            || text.starts_with("neighbor ") && text.split(' ').any(|word| OF_SESSIONS.contains(&word));
        if is_needed { DeviationKind::Decisive } else { self }
    }

    /// Returns `Decisive` if neighbors receive no routes without the line, otherwise this kind.
    pub(super) fn of_passed_routes(self, text: &str) -> DeviationKind {
        if OF_ROUTES.iter().any(|start| text.starts_with(start)) { DeviationKind::Decisive } else { self }
    }

    /// Returns `Decisive` if both lines are entries of access lists, otherwise this kind.
    pub(super) fn of_entries(self, entries: [&Entry; 2]) -> DeviationKind {
        let are_entries = entries.iter().all(|entry| OF_LISTS.contains(&entry.command()));
        if are_entries { DeviationKind::Decisive } else { self }
    }

    /// Returns `Decisive` if the missing line determines the treatment of packets or is an entry of an access
    /// list, otherwise this kind.
    pub(super) fn of_missing(self, block: &Block, text: &str) -> DeviationKind {
        // Neighbors with different roles can look similar.
        if block.is_part() {
            return self.of_passed_routes(text);
        }
        let has = |command: &str| block.entries.iter().any(|entry| entry.command() == command);
        let is_area = text.starts_with("ip ospf ") && text.contains(" area ");
        let is_lost = is_area || OF_PACKETS.iter().any(|start| text.starts_with(start));
        let is_lost = is_lost && !has("shutdown");
        let kind = if block.is_of_interface() && !is_lost { self } else { self.in_block(block, text) };
        kind.of_passed_routes(text)
    }
}

/// Whether a line contains a number that a site may choose. Switch ports with the same task have the same
/// queues, so lines about them contain none.
fn is_chosen(text: &str) -> bool {
    if text.starts_with("srr-queue ") {
        return false;
    }
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let mut behind = text.split(' ').skip_while(|word| !CHOSEN.contains(word)).skip(1);
    behind.any(is_number) || is_of_role(text)
}

/// Whether a line assigns a router its role in an HSRP, VRRP or GLBP group.
pub(super) fn is_of_role(text: &str) -> bool {
    let is_group = OF_GROUPS.iter().any(|start| text.starts_with(start));
    is_group && text.split(' ').any(|word| OF_ROLES.contains(&word))
}

/// Whether a path or a line is about the management of a device.
fn is_managed(text: &str) -> bool {
    text.split(' ').any(|word| OF_MANAGEMENT.contains(&word))
}

/// A set of blocks whose lines have the same shapes.
pub(super) struct Form<'b> {
    pub(super) shapes: Vec<&'b str>,
    pub(super) blocks: Vec<&'b Block>,
}

impl Form<'_> {
    /// Returns the number of shapes that this form has and `other` lacks.
    pub(super) fn more_than(&self, other: &Form) -> usize {
        self.shapes.iter().filter(|shape| !other.has(shape)).count()
    }

    pub(super) fn has(&self, shape: &str) -> bool {
        self.shapes.binary_search(&shape).is_ok()
    }
}

/// Groups blocks by the shapes of their lines.
pub(super) fn forms<'b>(group: impl IntoIterator<Item = &'b Block>) -> Vec<Form<'b>> {
    let mut found: BTreeMap<Vec<&str>, Vec<&Block>> = BTreeMap::new();
    for block in group {
        let mut shapes: Vec<&str> = block.shapes().collect();
        shapes.dedup();
        found.entry(shapes).or_default().push(block);
    }
    found.into_iter().map(|(shapes, blocks)| Form { shapes, blocks }).collect()
}

impl Block {
    /// Returns the minimum number of other blocks that must agree.
    pub(super) fn least_others(&self) -> usize {
        if self.has_name() { OTHER_NAMESAKES } else { OTHER_INTERFACES }
    }

    /// Whether the block is an interface or a part of an interface.
    pub(super) fn is_of_interface(&self) -> bool {
        self.path.starts_with(INTERFACE)
    }

    /// Whether the block is inside the block of an interface.
    pub(super) fn is_inside_interface(&self) -> bool {
        self.is_of_interface() && self.path.contains('/')
    }

    /// Whether the block is a container such as `interfaces {`, which a device has once. The contents of a
    /// container depend on the task of the device, so they are not compared.
    fn is_container(&self) -> bool {
        let is_value = |letter: char| letter.is_ascii_digit() || letter.is_ascii_uppercase();
        self.path.ends_with('{') && !self.path.contains(is_value)
    }

    /// Whether a line in a block of class of service is a setting, and not the first line of a nested block.
    /// Excludes the queues of classes, because `network-map-differs` compares them.
    fn sets_service(&self, text: &str) -> bool {
        let has_own_rule = self.path.contains("forwarding-classes");
        self.path.starts_with("class-of-service {")
            && self.path.contains('/')
            && !has_own_rule
            && !text.ends_with('{')
    }

    /// Whether the block consists of the lines about one object ([`PART`]).
    pub(super) fn is_part(&self) -> bool {
        self.path.contains(PART)
    }

    /// Whether all blocks with this path have the same name. The number of a routing process is not a name,
    /// because each site chooses it.
    pub(super) fn has_name(&self) -> bool {
        !self.is_of_interface() && !self.path.starts_with("router ") && !self.path.contains('#')
    }

    /// Returns the text of the first line.
    pub(super) fn title(&self) -> &str {
        self.header.text()
    }
}
