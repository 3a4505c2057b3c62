//! Commands of the block `interface` of IOS XR.

use std::net::Ipv4Addr;

use crate::ast::{
    At, Direction, Family, Interface, InterfaceAddress, LinkEncapsulation, PacketFilter, Rank,
    ServicePolicies,
};
use crate::rules;
use crate::syntax::command::{
    Command, irrelevant, irrelevant_block, modelled, not_modelled, not_modelled_block, noted, recorded,
};
use crate::syntax::interface::{prefix_length, speed, tags, vrf};
use crate::syntax::interface_link::ipv6_address;
use crate::syntax::irrelevant::SPREAD;
use crate::syntax::numbers::address;
use crate::syntax::queueing::other_type;
use crate::words::{Finding, Reader, Reading};

/// Bytes of the Ethernet header, which `mtu` includes. Cisco, "Interface and Hardware Component Command
/// Reference for Cisco ASR 9000", mtu.
const ETHERNET: u64 = 14;
const FILTER: &str = "packets that the list denies are dropped here";
const BRIDGED: &str = "the port changes VLAN tags and bridges frames";
pub(super) const LAYER_2: &str = "the port bridges frames: perhop applies the policies, but forwards by IP \
                                  address";

pub(super) const COMMANDS: &[Command<Interface>] = &[
    modelled("service-policy", service_policy),
    modelled("encapsulation", encapsulation),
    modelled("ipv4 address", ipv4_address),
    modelled("ipv6 address", ipv6_address),
    recorded("ipv4 access-group", FILTER, |interface, reader| filter(interface, Family::Ipv4, reader)),
    recorded("ipv6 access-group", FILTER, |interface, reader| filter(interface, Family::Ipv6, reader)),
    modelled("bundle id", |interface, reader| {
        let line = reader.line;
        let number = if reader.negated() { None } else { Some(reader.number("a bundle", 1..=65535)?) };
        interface.channel_group = number.map(|number| At::new(line, number));
        Ok(Finding::modelled(
            "the interface is a member of a bundle; the rate of the bundle includes its rate",
        ))
    }),
    modelled("mtu", |interface, reader| {
        let line = reader.line;
        let mtu = if reader.negated() { None } else { Some(reader.number("bytes", 64..=65535)?) };
        reader.end()?;
        interface.mtu = mtu.map(|mtu| At::new(line, mtu.saturating_sub(ETHERNET).max(64)));
        Ok(Finding::MODELLED)
    }),
    modelled("ipv4 mtu", |interface, reader| {
        let line = reader.line;
        let mtu = if reader.negated() { None } else { Some(reader.number("bytes", 68..=65535)?) };
        reader.end()?;
        interface.ip_mtu = mtu.map(|mtu| At::new(line, mtu));
        Ok(Finding::MODELLED)
    }),
    modelled("shutdown", |interface, reader| {
        interface.shutdown = (!reader.negated()).then(|| At::new(reader.line, ()));
        Ok(Finding::MODELLED)
    }),
    modelled("speed", speed),
    modelled("vrf", vrf),
    noted("description", |interface, reader| {
        interface.description = (!reader.negated()).then(|| reader.rest().join(" "));
    }),
    noted("bandwidth", |interface, reader| {
        interface.routing.kilobits = reader.maybe_number().filter(|_| !reader.negated());
    }),
    noted("load-interval", |interface, reader| {
        let seconds = reader.maybe_number().filter(|_| !reader.negated());
        interface.load_interval = seconds.map(|seconds| At::new(reader.line, seconds));
    }),
    recorded("l2transport", LAYER_2, |_, reader| {
        // The block contains commands of the interface, for example policies.
        reader.opens = Some(reader.mode).filter(|_| !reader.negated());
        Ok(())
    }),
    not_modelled(
        "bundle maximum-active",
        "only this many members of the bundle carry packets; perhop adds the rates of all members",
    ),
    not_modelled("ethernet-services access-group", FILTER),
    not_modelled("flow-control", "the neighbor pauses the port"),
    not_modelled("ipv4 bgp", "the BGP route of a packet sets its qos-group and codepoint"),
    not_modelled("ipv6 bgp", "the BGP route of a packet sets its qos-group and codepoint"),
    not_modelled("ipv6 mtu", "the device fragments longer packets"),
    not_modelled("loopback", "in loopback the port returns its packets to the router"),
    not_modelled(
        "macsec",
        "the MACsec header makes frames longer: write `headers` at the link of a scenario",
    ),
    not_modelled("rewrite", BRIDGED),
    not_modelled("bundle load-balancing", SPREAD),
    not_modelled("duplex half", "in half duplex both directions share the rate of the wire"),
    not_modelled(
        "ipv4 directed-broadcast",
        "the router forwards packets to the broadcast address of the subnet",
    ),
    not_modelled("ipv4 tcp-mss-adjust", "hosts send shorter TCP segments"),
    not_modelled("ipv6 tcp-mss-adjust", "hosts send shorter TCP segments"),
    not_modelled("mpls mtu", "longer packets with labels are fragmented or dropped"),
    not_modelled("ipv4 verify", "packets from unexpected sources are dropped"),
    not_modelled("ipv6 verify", "packets from unexpected sources are dropped"),
    not_modelled("ipv4 unnumbered", "the interface uses the address of another interface"),
    not_modelled("tunnel", "the interface adds headers of a tunnel"),
    not_modelled("destination", "packets take the path of a traffic-engineering tunnel"),
    not_modelled("priority-flow-control", "the neighbor pauses the port"),
    not_modelled("storm-control", "the port drops frames above a rate"),
    not_modelled_block("pseudowire", BRIDGED),
    irrelevant_block("frequency"),
    irrelevant_block("ptp"),
    irrelevant_block("ethernet"),
    irrelevant("arp"),
    irrelevant("autonegotiation"),
    irrelevant("bfd"),
    irrelevant("bundle"),
    irrelevant("carrier-delay"),
    irrelevant("cdp"),
    irrelevant("dampening"),
    irrelevant("duplex"),
    irrelevant("fec"),
    irrelevant("flow"),
    irrelevant("host-routing"),
    irrelevant("ipv4"),
    irrelevant("ipv6"),
    irrelevant("l2protocol"),
    irrelevant("lacp"),
    irrelevant("lldp"),
    irrelevant("logging"),
    irrelevant("mac-address"),
    irrelevant("macsec-service"),
    irrelevant("monitor-session"),
    irrelevant("mpls"),
    irrelevant("negotiation"),
    irrelevant("performance-measurement"),
    irrelevant("point-to-point"),
    irrelevant("propagate"),
    irrelevant("proxy-arp"),
    irrelevant("snmp"),
    irrelevant("statistics"),
    irrelevant("transceiver"),
];

/// Reads `service-policy input|output NAME [shared-policy-instance INSTANCE]`.
fn service_policy(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.eat("type") && reader.keyword(&["qos"]).is_none() {
        return Ok(other_type(reader.peek()));
    }
    let direction = reader.one_of(&["input", "output"])?;
    let policies = &mut interface.service_policies;
    let name = reader.next().map(str::to_owned);
    if reader.negated() {
        remove(policies, direction, name.as_deref());
        return Ok(Finding::MODELLED);
    }
    let name = name.ok_or_else(|| Finding::not_recognized("the policy-map's name is missing"))?;
    let mut finding = Finding::MODELLED;
    match reader.keyword(&["shared-policy-instance", "account", "subscriber-parent", "merge"]) {
        Some("shared-policy-instance") => {
            reader.word("an instance")?;
            finding = Finding::not_modelled(
                "the sub-interfaces share one instance of the policy; perhop gives each one its own",
            );
        }
        Some(other) => {
            while reader.next().is_some() {}
            finding = Finding::not_modelled(format!("`{other}` of an attached policy"));
        }
        None => {}
    }
    reader.end()?;
    let at = At::new(reader.line, name);
    let is_other = |known: &Option<At<String>>| known.as_ref().is_some_and(|known| known.value != at.value);
    match direction {
        "input" if is_other(&policies.input) => reader.report(
            &rules::SECOND_POLICY,
            "an input policy is already attached",
            "the router refuses the second policy: the first remains",
        ),
        "input" => policies.input = Some(at),
        _ if is_other(&policies.output) && is_other(&policies.second_output) => reader.report(
            &rules::SECOND_POLICY,
            "two output policies are already attached",
            "the router refuses the third policy: the first two remain",
        ),
        // One of the two output policies queues, and the other policy marks. Source: Cisco, xrdocs.io,
        // converged interconnect network guide.
        _ if is_other(&policies.output) => policies.second_output = Some(at),
        _ => policies.output = Some(at),
    }
    Ok(finding)
}

/// Removes the policy `name`, or without a name all policies of `direction`.
fn remove(policies: &mut ServicePolicies, direction: &str, name: Option<&str>) {
    let is_kept = |at: &At<String>| name.is_some_and(|name| name != at.value);
    if direction == "input" {
        policies.input = policies.input.take().filter(is_kept);
    } else {
        let all = [policies.output.take(), policies.second_output.take()];
        let mut kept = all.into_iter().flatten().filter(is_kept);
        (policies.output, policies.second_output) = (kept.next(), kept.next());
    }
}

/// Reads `encapsulation dot1q 10 [second-dot1q 20]`.
fn encapsulation(interface: &mut Interface, reader: &mut Reader) -> Reading {
    if reader.negated() {
        (interface.encapsulation, interface.second_vlan, interface.native_vlan) = (None, None, None);
        return Ok(Finding::MODELLED);
    }
    let line = reader.line;
    match reader.keyword(&["dot1q", "dot1ad", "untagged", "default"]) {
        Some("dot1q" | "dot1ad") => {
            if reader.keyword(&["vlan"]).is_some()
                || reader.peek().is_none_or(|vlan| vlan.parse::<u16>().is_err())
            {
                return Ok(Finding::not_modelled(
                    "the interface carries several VLANs: perhop does not count their tags",
                ));
            }
            let vlan = tags(interface, reader)?;
            while reader.next().is_some() {}
            interface.encapsulation = Some(At::new(line, LinkEncapsulation::Dot1q(vlan)));
            Ok(Finding::MODELLED)
        }
        Some("untagged") => {
            interface.encapsulation = None;
            Ok(Finding::MODELLED)
        }
        _ => Ok(Finding::not_modelled("perhop does not count the header of this encapsulation")),
    }
}

/// Reads `ipv4 address 192.0.2.1 255.255.255.252 [secondary]`, `ipv4 address 192.0.2.1/30`.
fn ipv4_address(interface: &mut Interface, reader: &mut Reader) -> Reading {
    let addresses = &mut interface.addresses;
    if reader.negated() {
        addresses.clear();
        return Ok(Finding::MODELLED);
    }
    if reader.keyword(&["dhcp"]).is_some() {
        return Ok(Finding::not_modelled("an address assigned dynamically"));
    }
    let with_length = reader.peek().and_then(|word| word.split_once('/')).and_then(|(address, length)| {
        let length = length.parse::<u8>().ok().filter(|length| *length <= 32)?;
        Some((address.parse::<Ipv4Addr>().ok()?, length))
    });
    let (own, prefix_length) = if let Some(parsed) = with_length {
        reader.next();
        parsed
    } else {
        let own = address(reader, "an address")?;
        let mask = address(reader, "a subnet mask")?;
        let length = prefix_length(mask);
        (own, length.ok_or_else(|| Finding::not_recognized(format!("{mask} is not a subnet mask")))?)
    };
    let rank = if reader.eat("secondary") { Rank::Secondary } else { Rank::Primary };
    while reader.next().is_some() {}
    addresses
        .retain(|other| other.address != own && (rank == Rank::Secondary || other.rank == Rank::Secondary));
    addresses.push(InterfaceAddress { line: reader.line, address: own, prefix_length, rank });
    Ok(Finding::MODELLED)
}

/// Reads `ipv4 access-group LIST ingress|egress`.
fn filter(interface: &mut Interface, family: Family, reader: &mut Reader) -> Result<(), Finding> {
    let list = reader.word("an access list")?.to_owned();
    let direction = match reader.one_of(&["ingress", "egress"])? {
        "ingress" => Direction::Input,
        _ => Direction::Output,
    };
    let line = reader.line;
    interface.filters.retain(|filter| (filter.direction, filter.family) != (direction, family));
    if !reader.negated() {
        interface.filters.push(PacketFilter { line, list, direction, family });
    }
    Ok(())
}
