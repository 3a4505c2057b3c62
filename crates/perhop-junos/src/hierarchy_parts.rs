//! Parts of hierarchies other than class of service, filters and interfaces that affect packets.

const BRIDGING: &str = "forwarding in VLANs";
const ENCRYPTION: &str = "encryption";
const FLOW_ROUTES: &str = "flow routes, which filter packets";
const LABELS: &str = "labels make packets longer and hide the DS field";
const MAC_LIMITS: &str = "frames above a number of MAC addresses";
const POLICIES: &str = "packets that security policies reject";
const PSEUDOWIRES: &str = "frames in pseudowires";
const SERVICES: &str = "packets that security services drop";
const SOURCES: &str = "packets from unexpected sources";
const STORMS: &str = "storm control";
const TAGS: &str = "changes of tags";
const TUNNELS: &str = "tunnels";
const VOICE: &str = "the class of voice VLANs";

/// The choice among the next hops of a route or the links of a bundle.
pub(crate) const SPREAD: &str = "the next hop or link that a flow takes";

/// Parts of otherwise irrelevant hierarchies, and the behavior that perhop lacks; `*` is any word. The
/// statements are those of Juniper's CLI reference.
pub(crate) const NOT_MODELED: &[(&[&str], &str)] = &[
    (&["applications"], POLICIES),
    (&["dynamic-profiles"], "dynamic profiles"),
    (&["logical-systems"], "logical systems"),
    (&["routing-instances"], "forwarding in routing instances"),
    (&["tenants"], "tenant systems"),
    (&["bridge-domains", "*", "bridge-options"], MAC_LIMITS),
    (&["bridge-domains", "*", "forwarding-options", "filter"], "filters of VLANs and bridge domains"),
    (&["bridge-domains", "*", "interface"], BRIDGING),
    (&["bridge-domains", "*", "routing-interface"], BRIDGING),
    (&["bridge-domains", "*", "vlan-id"], BRIDGING),
    (&["bridge-domains", "*", "vlan-id-list"], BRIDGING),
    (&["bridge-domains", "*", "vlan-tags"], BRIDGING),
    (&["bridge-domains", "*", "vxlan"], "the header of VXLAN"),
    (&["vlans", "*", "dot1q-tunneling"], TAGS),
    (&["vlans", "*", "filter"], "filters of VLANs and bridge domains"),
    (&["vlans", "*", "forwarding-options", "dhcp-security", "ip-source-guard"], SOURCES),
    (&["vlans", "*", "forwarding-options", "filter"], "filters of VLANs and bridge domains"),
    (&["vlans", "*", "interface"], BRIDGING),
    (&["vlans", "*", "l3-interface"], BRIDGING),
    (&["vlans", "*", "switch-options"], MAC_LIMITS),
    (&["vlans", "*", "vlan-id"], BRIDGING),
    (&["vlans", "*", "vlan-id-list"], BRIDGING),
    (&["vlans", "*", "vlan-range"], BRIDGING),
    (&["vlans", "*", "vlan-tags"], BRIDGING),
    (&["vlans", "*", "vxlan"], "the header of VXLAN"),
    (&["ethernet-switching-options", "dot1q-tunneling"], TAGS),
    (&["ethernet-switching-options", "secure-access-port"], "frames that checks of the port drop"),
    (&["ethernet-switching-options", "storm-control"], STORMS),
    (&["ethernet-switching-options", "voip"], VOICE),
    (&["switch-options", "interface"], MAC_LIMITS),
    (&["switch-options", "interface-mac-limit"], MAC_LIMITS),
    (&["switch-options", "voip"], VOICE),
    (&["forwarding-options", "cut-through"], "frames that leave before they have arrived whole"),
    (&["forwarding-options", "enhanced-hash-key"], SPREAD),
    (&["forwarding-options", "family"], "filters of whole routing tables"),
    (&["forwarding-options", "hash-key"], SPREAD),
    (&["forwarding-options", "load-balance"], SPREAD),
    (&["forwarding-options", "multicast-replication"], "copies of multicast packets"),
    (&["forwarding-options", "rpf-loose-mode-discard"], "packets that the reverse path check drops"),
    (&["forwarding-options", "storm-control"], STORMS),
    (&["forwarding-options", "storm-control-profiles"], STORMS),
    (&["forwarding-options", "vxlan-routing", "overlay-ecmp"], SPREAD),
    (&["forwarding-options", "vxlan-tos-copy-filter"], "the codepoints of packets in VXLAN tunnels"),
    (&["protocols", "bgp", "family", "*", "flow"], FLOW_ROUTES),
    (&["protocols", "bgp", "group", "*", "family", "*", "flow"], FLOW_ROUTES),
    (&["protocols", "bgp", "group", "*", "neighbor", "*", "family", "*", "flow"], FLOW_ROUTES),
    (&["protocols", "connections"], PSEUDOWIRES),
    (&["protocols", "dcbx"], "priority flow control"),
    (&["protocols", "dot1x", "authenticator", "interface"], "frames of hosts that are not authenticated"),
    (&["protocols", "isis", "source-packet-routing"], LABELS),
    (&["protocols", "l2circuit"], PSEUDOWIRES),
    (&["protocols", "ldp", "explicit-null"], LABELS),
    (&["protocols", "ldp", "interface"], LABELS),
    (&["protocols", "mpls", "container-label-switched-path"], LABELS),
    (&["protocols", "mpls", "explicit-null"], LABELS),
    (&["protocols", "mpls", "interface"], LABELS),
    (&["protocols", "mpls", "ipv6-tunneling"], LABELS),
    (&["protocols", "mpls", "label-switched-path"], LABELS),
    (&["protocols", "mpls", "no-decrement-ttl"], "the time to live of labeled packets"),
    (&["protocols", "mpls", "no-propagate-ttl"], "the time to live of labeled packets"),
    (&["protocols", "mpls", "path"], LABELS),
    (&["protocols", "mpls", "static-label-switched-path"], LABELS),
    (&["protocols", "ospf", "source-packet-routing"], LABELS),
    (&["protocols", "rsvp", "interface"], LABELS),
    (&["protocols", "source-packet-routing"], LABELS),
    (&["security", "address-book"], POLICIES),
    (&["security", "advance-policy-based-routing"], "next hops by application"),
    (&["security", "alg"], "sessions"),
    (&["security", "application-firewall"], POLICIES),
    (&["security", "firewall-authentication"], POLICIES),
    (&["security", "flow"], "sessions"),
    (&["security", "forwarding-options"], "packets without sessions"),
    (&["security", "gprs"], SERVICES),
    (&["security", "group-vpn"], ENCRYPTION),
    (&["security", "idp"], "intrusion detection"),
    (&["security", "ipsec"], ENCRYPTION),
    (&["security", "macsec"], "the header of MACsec"),
    (&["security", "nat"], "address translation"),
    (&["security", "policies"], POLICIES),
    (&["security", "screen"], "packets that screens drop"),
    (&["security", "softwires"], TUNNELS),
    (&["security", "utm"], SERVICES),
    (&["security", "zones"], "packets between security zones"),
    (&["services", "advanced-anti-malware"], SERVICES),
    (&["services", "cos"], "classes and codepoints of services"),
    (&["services", "ids"], "packets that intrusion detection drops"),
    (&["services", "ipsec-vpn"], ENCRYPTION),
    (&["services", "l2tp"], TUNNELS),
    (&["services", "nat"], "address translation"),
    (&["services", "network-slicing"], "hierarchical scheduling"),
    (&["services", "security-intelligence"], SERVICES),
    (&["services", "service-set"], "services such as address translation"),
    (&["services", "softwire"], TUNNELS),
    (&["services", "stateful-firewall"], "packets that stateful firewalls drop"),
    (&["services", "traffic-load-balance"], "next hops by load"),
    (&["services", "web-filter"], SERVICES),
];
