//! Statements of `[edit interfaces]` that perhop does not read: without effect on packets, or not modeled.

use crate::context::{Context, Word};
use crate::hierarchy_parts::SPREAD;

const BRIDGING: &str = "forwarding in VLANs";
const BROADCAST: &str = "packets to the whole subnet";
const DIALED: &str = "lines that are dialed on demand";
const DYNAMIC: &str = "an address that is assigned dynamically";
const ENCAPSULATION: &str = "the header and the forwarding of this encapsulation";
const POLICED_BYTES: &str = "bytes that policers count";
const MANY_TAGS: &str = "the tags of several VLANs";
const PAIRS: &str = "pairs of logical tunnels";
const SEGMENT: &str = "the device that forwards for a multihomed segment";
const SUBSCRIBERS: &str = "interfaces of subscribers";
const TAGS: &str = "changes of tags";
const UNTAGGED: &str = "frames without a tag";

/// Options of an interface without effect on packets.
pub(crate) const PORT_OPTIONS: [&str; 43] = [
    "accounting-profile",
    "anchor-point",
    "apply-groups",
    "apply-groups-except",
    "auto-mdix",
    "cellular-options",
    "clocking",
    "container-options",
    "damping",
    "dsl-options",
    "external-model",
    "fabric-options",
    "family",
    "forward-and-send-to-re",
    "forward-only",
    "forwarding-class-accounting",
    "gratuitous-arp-reply",
    "hold-time",
    "if-exclude-alias",
    "interface-mib",
    "keepalives",
    "l2vpn-id",
    "lmi",
    "load-balancing-options",
    "logical-tunnel-options",
    "lsq-failure-options",
    "mac",
    "media-type",
    "modem-options",
    "multicast-router-interface",
    "no-auto-mdix",
    "no-gratuitous-arp-reply",
    "no-gratuitous-arp-request",
    "no-keepalives",
    "no-traps",
    "optics-options",
    "otn-options",
    "ppp-options",
    "promiscuous-mode",
    "services-options",
    "snmp",
    "switch-options",
    "traps",
];

/// Options of an interface that change the treatment of packets.
pub(crate) const PORT_NOT_MODELED: [(&str, &str); 9] = [
    ("auto-configure", SUBSCRIBERS),
    ("dialer-options", DIALED),
    ("esi", SEGMENT),
    ("native-vlan-id", UNTAGGED),
    ("no-native-vlan-insert", UNTAGGED),
    ("passive-monitor-mode", "ports that do not forward"),
    ("port-mirror-instance", "copies of packets that load another port"),
    ("redundancy-options", "the active port of a pair"),
    ("unidirectional", "ports of one direction"),
];

/// Options of Ethernet without effect on packets.
pub(crate) const ETHERNET_OPTIONS: [&str; 16] = [
    "asynchronous-notification",
    "auto-negotiation",
    "bfd-liveness-detection",
    "fec",
    "ignore-l3-incompletes",
    "lacp",
    "link-speed",
    "logical-interface-fpc-redundancy",
    "mac-mode",
    "minimum-bandwidth",
    "minimum-links",
    "no-auto-negotiation",
    "no-flow-control",
    "no-loopback",
    "speed-auto",
    "system-priority",
];

/// Options of Ethernet that change the treatment of packets.
pub(crate) const ETHERNET_NOT_MODELED: [(&str, &str); 9] = [
    ("ethernet-switch-profile", "policers of frames, and tags that they need"),
    ("link-protection", "bundles with one active link"),
    ("load-balance", SPREAD),
    ("loopback", "ports that return packets"),
    ("mc-ae", "bundles of two devices"),
    ("redundancy-group", "the active node of a cluster"),
    ("redundant-parent", "the links of redundant interfaces"),
    ("source-address-filter", "frames that the filter of source addresses drops"),
    ("source-filtering", "frames that the filter of source addresses drops"),
];

/// Options of a unit without effect on packets.
pub(crate) const UNIT_OPTIONS: [&str; 21] = [
    "account-layer2-overhead",
    "accounting-profile",
    "apply-groups",
    "apply-groups-except",
    "arp-resp",
    "bandwidth",
    "dlci",
    "keepalives",
    "load-balancing-options",
    "mac",
    "multipoint",
    "no-auto-negotiation",
    "no-traps",
    "point-to-point",
    "ppp-options",
    "proxy-arp",
    "statistics",
    "traps",
    "virtual-gateway-accept-data",
    "virtual-gateway-v4-mac",
    "virtual-gateway-v6-mac",
];

/// Options of a unit that change the treatment of packets.
pub(crate) const UNIT_NOT_MODELED: [(&str, &str); 21] = [
    ("demux-options", SUBSCRIBERS),
    ("demux-source", SUBSCRIBERS),
    ("dialer-options", DIALED),
    ("encapsulation", ENCAPSULATION),
    ("esi", SEGMENT),
    ("inner-vlan-id-swap-ranges", TAGS),
    ("input-vlan-map", TAGS),
    ("interface-mode", BRIDGING),
    ("native-inner-vlan-id", UNTAGGED),
    ("output-vlan-map", TAGS),
    ("peer-interface", PAIRS),
    ("peer-unit", PAIRS),
    ("policer-overhead", POLICED_BYTES),
    ("pppoe-options", "the header of PPPoE"),
    ("service-domain", "services such as address translation"),
    ("swap-by-poppush", TAGS),
    ("targeted-broadcast", BROADCAST),
    ("tunnel", "tunnels"),
    ("vlan-id-list", MANY_TAGS),
    ("vlan-id-range", MANY_TAGS),
    ("vlan-map", TAGS),
];

/// Options of a family of a unit without effect on packets.
pub(crate) const FAMILY_OPTIONS: [&str; 16] = [
    "accounting",
    "apply-groups",
    "apply-groups-except",
    "arp-prefix-limit",
    "dad-disable",
    "keep-address-and-control",
    "nd6-max-cache",
    "nd6-stale-time",
    "ndp-proxy",
    "no-dad-disable",
    "no-neighbor-learn",
    "no-redirects",
    "no-redirects-ipv6",
    "primary",
    "receive-ttl-exceeded",
    "sampling",
];

/// Options of a family of a unit that change the treatment of packets.
pub(crate) const FAMILY_NOT_MODELED: [(&str, &str); 13] = [
    ("destination-udp-port", "tunnels"),
    ("dhcp", DYNAMIC),
    ("dhcp-client", DYNAMIC),
    ("dhcpv6-client", DYNAMIC),
    ("mac-validate", "packets that the check of source addresses drops"),
    ("mtu", "the MTU of a family"),
    ("negotiate-address", DYNAMIC),
    ("rpf-check", "packets that the reverse path check drops"),
    ("service", "services such as address translation"),
    ("simple-filter", "filters of queueing cards"),
    ("targeted-broadcast", BROADCAST),
    ("tcp-mss", "TCP segments that hosts shorten, because the device lowers their MSS option"),
    ("unnumbered-address", "the address of another interface"),
];

/// Returns the behavior that perhop lacks for an option of a table.
pub(crate) fn lacking(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, note)| *note)
}

/// Marks an option of an interface that perhop does not read.
pub(crate) fn mark_port_option(context: &mut Context, word: &Word) {
    let value = context.tree.last_value(word.node).map(|node| context.tree.word(node).to_owned());
    let note = match (word.text.as_str(), value.as_deref()) {
        (
            "atm-options"
            | "mlfr-uni-nni-bundle-options"
            | "multiservice-options"
            | "input-traffic-control-profile"
            | "radio-router",
            _,
        ) => "bundles, ATM and services",
        ("receive-bucket" | "transmit-bucket", _) => "packets that a bucket of the wire drops",
        // This value only permits a different encapsulation for each unit.
        ("encapsulation", Some("flexible-ethernet-services")) => return context.irrelevant(word.node, ""),
        ("encapsulation", _) => ENCAPSULATION,
        ("link-mode", Some("half-duplex")) => "half duplex",
        ("link-mode", _) => return context.irrelevant(word.node, ""),
        (
            "e1-options" | "e3-options" | "serial-options" | "sonet-options" | "t1-options" | "t3-options",
            _,
        ) => return mark_line_options(context, word),
        (name, _) if PORT_OPTIONS.contains(&name) => return context.irrelevant(word.node, ""),
        (name, _) => match lacking(&PORT_NOT_MODELED, name) {
            Some(note) => note,
            None => return,
        },
    };
    context.not_modeled(word.node, note);
}

/// Marks the options of a serial line.
fn mark_line_options(context: &mut Context, word: &Word) {
    context.irrelevant(word.node, "");
    for option in context.keywords(word.node) {
        let note = match option.text.as_str() {
            "timeslots" | "compatibility-mode" | "clock-rate" => "lines that are slower than their kind",
            "fcs" => "the length of the check sequence",
            "loopback" => "ports that return packets",
            "aps" => "the active line of a pair",
            _ => continue,
        };
        context.not_modeled(option.node, note);
    }
}
