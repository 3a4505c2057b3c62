//! Commands of the block `interface` of NX-OS.

use crate::ast::{
    At, Direction, Family, FlowControlMode, Interface, InterfaceAddress, LinkEncapsulation, PacketFilter,
    Rank,
};
use crate::rules;
use crate::syntax::command::{
    Command, irrelevant, modelled, not_modelled, not_modelled_block, noted, recorded,
};
use crate::syntax::interface::{number, speed, tags, vrf};
use crate::syntax::interface_link::{ipv6_address, tunnel};
use crate::syntax::numbers::address;
use crate::words::{Finding, Reader, Reading};

const FILTER: &str = "packets that the list denies are dropped here";
const BRIDGED: &str = "the port bridges frames: perhop applies the policies, but forwards by IP address";
const SHARED: &str =
    "a group of routers shares a virtual address; perhop forwards only to the real addresses of the routers";
const PAUSES: &str = "pause frames delay packets";
const NEGOTIATED: &str = "the neighbor decides by DCBX whether the port uses pause frames; perhop pauses \
                          only at interfaces with `mode on`";

pub(super) const COMMANDS: &[Command<Interface>] = &[
    modelled("service-policy", service_policy),
    modelled("encapsulation", encapsulation),
    modelled("ip address", ip_address),
    modelled("ipv6 address", ipv6_address),
    recorded("ip access-group", FILTER, |interface, reader| filter(interface, Family::Ipv4, reader)),
    recorded("ipv6 traffic-filter", FILTER, |interface, reader| filter(interface, Family::Ipv6, reader)),
    modelled("channel-group", |interface, reader| {
        let line = reader.line;
        let number = if reader.negated() { None } else { Some(reader.number("a bundle", 1..=65535)?) };
        interface.channel_group = number.map(|number| At::new(line, number));
        Ok(Finding::modelled(
            "the interface is a member of a bundle; the rate of the bundle includes its rate",
        ))
    }),
    modelled("mtu", |interface, reader| {
        let line = reader.line;
        let mtu = if reader.negated() { None } else { Some(reader.number("bytes", 68..=9216)?) };
        reader.end()?;
        interface.mtu = mtu.map(|mtu| At::new(line, mtu));
        Ok(Finding::MODELLED)
    }),
    modelled("bandwidth", |interface, reader| {
        if reader.keyword(&["inherit"]).is_some() {
            return Ok(Finding::IRRELEVANT);
        }
        number(&mut interface.bandwidth, reader, "kilobits per second")
    }),
    modelled("shutdown", |interface, reader| {
        reader.keyword(&["force"]);
        reader.end()?;
        interface.shutdown = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(Finding::MODELLED)
    }),
    modelled("speed", speed),
    modelled("tunnel", tunnel),
    modelled("vrf member", vrf),
    noted("description", |interface, reader| {
        interface.description = (!reader.negated()).then(|| reader.rest().join(" "));
    }),
    noted("load-interval", |interface, reader| {
        while reader.keyword(&["counter"]).is_some() {
            reader.next();
        }
        let seconds = reader.maybe_number().filter(|_| !reader.negated());
        interface.load_interval = seconds.map(|seconds| At::new(reader.line, seconds));
    }),
];

pub(super) const OTHERS: &[Command<Interface>] = &[
    not_modelled("switchport", BRIDGED),
    recorded("switchport mode", BRIDGED, |interface, reader| {
        let is_private = reader.rest().first() == Some(&"private-vlan") && !reader.negated();
        interface.private_vlan = is_private.then(|| At::new(reader.line, ()));
        Ok(())
    }),
    irrelevant("switchport description"),
    not_modelled("switchport monitor", "the port sends only copies of packets of other ports"),
    not_modelled("switchport block", "frames to unknown addresses are dropped"),
    not_modelled("switchport port-security", "frames from unexpected addresses are dropped"),
    modelled("priority-flow-control mode", flow_control),
    not_modelled("priority-flow-control", "the switch empties a queue that is paused for too long"),
    not_modelled("flowcontrol", PAUSES),
    irrelevant("flowcontrol receive off"),
    irrelevant("flowcontrol send off"),
    not_modelled("storm-control", "the port drops frames above a rate"),
    not_modelled("qos", "the line changes how the port marks or queues"),
    not_modelled("ip port access-group", FILTER),
    not_modelled("ipv6 port traffic-filter", FILTER),
    not_modelled("mac port access-group", FILTER),
    not_modelled("inherit", "the interface has the commands of a port-profile"),
    not_modelled("ip policy", "a route-map selects the next hop of packets, and may mark them"),
    not_modelled("ipv6 policy", "a route-map selects the next hop of packets, and may mark them"),
    not_modelled("ip verify", "packets from unexpected sources are dropped"),
    not_modelled("ipv6 verify", "packets from unexpected sources are dropped"),
    not_modelled(
        "ip nat",
        "the device translates addresses, and access lists match the translated addresses",
    ),
    not_modelled("ip unnumbered", "the interface uses the address of another interface"),
    not_modelled("ip tcp adjust-mss", "hosts send shorter TCP segments"),
    not_modelled(
        "ip directed-broadcast",
        "the router forwards packets to the broadcast address of the subnet",
    ),
    not_modelled(
        "mpls",
        "MPLS labels make packets longer and hide the DS field: write `headers` at the link of a scenario",
    ),
    not_modelled("macsec", "MACsec headers make packets longer"),
    not_modelled_block("member vni", "VXLAN headers make packets longer"),
    not_modelled_block("hsrp", SHARED),
    irrelevant("hsrp bfd"),
    irrelevant("hsrp delay"),
    irrelevant("hsrp mac-refresh"),
    irrelevant("hsrp use-bia"),
    irrelevant("hsrp version"),
    not_modelled_block("vrrp", SHARED),
    not_modelled_block("vrrpv3", SHARED),
    not_modelled(
        "fabric forwarding",
        "all switches share an anycast address; perhop forwards only to the real addresses of the switches",
    ),
    not_modelled("duplex half", "in half duplex both directions share the rate of the wire"),
    not_modelled(
        "lacp max-bundle",
        "only this many members of the bundle carry packets; perhop adds the rates of all members",
    ),
    not_modelled("rate-mode shared", "ports of a group share one rate"),
    not_modelled_block("service instance", "the device bridges these frames; perhop only routes packets"),
    irrelevant("bfd"),
    irrelevant("beacon"),
    irrelevant("cdp"),
    irrelevant("channel-mode"),
    irrelevant("delay"),
    irrelevant("dot1x"),
    irrelevant("duplex"),
    irrelevant("errdisable"),
    irrelevant("fec"),
    irrelevant("host-reachability"),
    irrelevant("ip arp"),
    irrelevant("ip authentication"),
    irrelevant("ip dhcp"),
    irrelevant("ip distribute-list"),
    irrelevant("ip eigrp"),
    irrelevant("ip flow"),
    irrelevant("ip forward"),
    irrelevant("ip hello-interval"),
    irrelevant("ip igmp"),
    irrelevant("ip local-proxy-arp"),
    irrelevant("ip ospf"),
    irrelevant("ip passive-interface"),
    irrelevant("ip pim"),
    irrelevant("ip port-unreachable"),
    irrelevant("ip proxy-arp"),
    irrelevant("ip redirects"),
    irrelevant("ip rip"),
    irrelevant("ip router"),
    irrelevant("ip unreachables"),
    irrelevant("ipv6 dhcp"),
    irrelevant("ipv6 link-local"),
    irrelevant("ipv6 mld"),
    irrelevant("ipv6 nd"),
    irrelevant("ipv6 ospfv3"),
    irrelevant("ipv6 pim"),
    irrelevant("ipv6 redirects"),
    irrelevant("ipv6 router"),
    irrelevant("ipv6 unreachables"),
    irrelevant("isis"),
    irrelevant("lacp"),
    irrelevant("link"),
    irrelevant("lldp"),
    irrelevant("logging"),
    irrelevant("mac-address"),
    irrelevant("management"),
    irrelevant("medium"),
    irrelevant("negotiate"),
    irrelevant("no-shutdown"),
    irrelevant("ospfv3"),
    irrelevant("port-channel"),
    irrelevant("ptp"),
    irrelevant("rate-mode"),
    irrelevant("snmp"),
    irrelevant("source-interface"),
    irrelevant("spanning-tree"),
    irrelevant("switchport host"),
    irrelevant("udld"),
    irrelevant("vpc"),
];

/// Reads `service-policy [type qos] input|output NAME`, `service-policy type queuing output NAME`.
fn service_policy(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let kind = if reader.eat("type") { reader.one_of(&["qos", "queuing", "network-qos"])? } else { "qos" };
    if kind == "network-qos" {
        reader.report(
            &rules::NETWORK_POLICY_REFUSED,
            "a policy of type network-qos at an interface",
            "the switch refuses the line: such a policy applies to the whole switch; attach it under `system \
             qos`",
        );
        return Ok(Finding::MODELLED);
    }
    let direction = reader.one_of(&["input", "output"])?;
    let name = reader.next().map(str::to_owned);
    reader.keyword(&["no-stats"]);
    reader.end()?;
    let policies = &mut interface.service_policies;
    let place = match (kind, direction) {
        ("queuing", "output") => &mut policies.output,
        ("queuing", _) => &mut policies.queuing_input,
        (_, "input") => &mut policies.input,
        // An output policy of type qos marks and polices before the queueing policy.
        _ => &mut policies.second_output,
    };
    if reader.negated() {
        *place = None;
        return Ok(Finding::MODELLED);
    }
    let name = name.ok_or_else(|| Finding::not_recognized("the policy-map's name is missing"))?;
    if let Some(other) = place.as_ref().filter(|other| other.value != name) {
        let (line, other) = (other.line, other.value.clone());
        reader.report(
            &rules::SECOND_POLICY,
            format!("policy {other} is already attached in this direction (line {line})"),
            "the switch refuses the second policy: the first remains",
        );
        return Ok(Finding::MODELLED);
    }
    *place = Some(At::new(reader.line, name));
    if (kind, direction) == ("queuing", "input") {
        return Ok(Finding::not_modelled(super::system::ARRIVING));
    }
    Ok(Finding::MODELLED)
}

/// Reads `priority-flow-control mode on|off|auto [send-tlv]`.
fn flow_control(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.negated() {
        interface.flow_control = None;
        return Ok(Finding::IRRELEVANT);
    }
    let mode = match reader.one_of(&["on", "off", "auto"])? {
        "on" => FlowControlMode::On,
        "off" => FlowControlMode::Off,
        _ => FlowControlMode::Auto,
    };
    // `send-tlv` only informs the neighbor of the mode.
    reader.keyword(&["send-tlv"]);
    reader.end()?;
    interface.flow_control = Some(At::new(reader.line, mode));
    Ok(match mode {
        FlowControlMode::Auto => Finding::not_modelled(NEGOTIATED),
        FlowControlMode::On | FlowControlMode::Off => Finding::MODELLED,
    })
}

/// Reads `encapsulation dot1q 10`.
fn encapsulation(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.negated() {
        (interface.encapsulation, interface.second_vlan, interface.native_vlan) = (None, None, None);
        return Ok(Finding::MODELLED);
    }
    reader.one_of(&["dot1q"])?;
    let vlan = tags(interface, reader)?;
    reader.end()?;
    interface.encapsulation = Some(At::new(reader.line, LinkEncapsulation::Dot1q(vlan)));
    Ok(Finding::MODELLED)
}

/// Reads `ip address 192.0.2.1/24 [secondary] [tag N]`.
fn ip_address(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let addresses = &mut interface.addresses;
    if reader.negated() && reader.peek().is_none() {
        addresses.clear();
        return Ok(Finding::MODELLED);
    }
    if reader.keyword(&["dhcp"]).is_some() {
        return Ok(Finding::not_modelled("an address assigned dynamically"));
    }
    let with_length = reader.peek().and_then(|word| word.split_once('/')).and_then(|(address, length)| {
        let length = length.parse::<u8>().ok().filter(|length| *length <= 32)?;
        Some((address.parse().ok()?, length))
    });
    let (own, prefix_length) = if let Some(parsed) = with_length {
        reader.next();
        parsed
    } else {
        let own = address(reader, "an address with the length of its prefix")?;
        let mask = address(reader, "a subnet mask")?;
        let length = crate::syntax::interface::prefix_length(mask);
        (own, length.ok_or_else(|| Finding::not_recognized(format!("{mask} is not a subnet mask")))?)
    };
    let rank = if reader.eat("secondary") { Rank::Secondary } else { Rank::Primary };
    if reader.eat("tag") {
        reader.maybe_number();
    }
    reader.end()?;
    addresses
        .retain(|other| other.address != own && (rank == Rank::Secondary || other.rank == Rank::Secondary));
    if !reader.negated() {
        addresses.push(InterfaceAddress { line: reader.line, address: own, prefix_length, rank });
    }
    Ok(Finding::MODELLED)
}

/// Reads `ip access-group LIST in|out`.
fn filter(interface: &mut Interface, family: Family, reader: &mut Reader) -> Result<(), Finding> {
    let list = reader.word("an access list")?.to_owned();
    let direction = match reader.word("in or out")? {
        "in" => Direction::Input,
        "out" => Direction::Output,
        _ => return Err(Finding::not_recognized("expected in or out")),
    };
    let line = reader.line;
    interface.filters.retain(|filter| (filter.direction, filter.family) != (direction, family));
    if !reader.negated() {
        interface.filters.push(PacketFilter { line, list, direction, family });
    }
    Ok(())
}
