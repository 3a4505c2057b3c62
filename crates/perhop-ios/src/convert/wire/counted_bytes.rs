//! [`counted_bytes_of`]: the bytes that the router counts per packet in addition to the IP packet.

use perhop_device::CountedBytes;
use perhop_device::profile::{CountedLength, ProfileRules};

use perhop_qos::framing::{Header, HeaderStack};

use super::circuit::Circuit;
use crate::ast::{Account, Configuration, Hardware, Interface, LinkEncapsulation};

/// The Ethernet header without frame check sequence, bytes.
const ETHERNET: i32 = 14;
/// One 802.1Q tag, bytes.
const TAG: i32 = 4;
/// The frame check sequence, the preamble and the inter-frame gap of an Ethernet frame, bytes.
const AROUND_FRAME: i32 = 4 + 20;
/// A PPP, HDLC or frame relay header without frame check sequence and flag, bytes.
const SERIAL: i32 = 4;

/// Returns the overhead according to the profile's [`CountedLength`]. Classes of a tunnel count the headers
/// of the tunnel. Queues also count the frame of the physical interface below, and the encryption in the
/// `headers` of the wire, with the mean padding.
pub(in crate::convert) fn counted_bytes_of(
    interface: &Interface,
    circuit: &Circuit,
    headers: &HeaderStack,
    configuration: &Configuration,
    rules: &ProfileRules,
) -> CountedBytes {
    if *rules.counted_length == CountedLength::IpPacket || circuit.pvc.is_some() {
        return CountedBytes::default();
    }
    let account = user_defined(circuit, interface, configuration);
    let whole = *rules.counted_length == CountedLength::WholeFrame;
    let link = link(interface) + if whole { AROUND_FRAME } else { 0 };
    match &interface.tunnel {
        Some(tunnel) => {
            let mode = tunnel.mode.as_ref().map_or("gre ip", |mode| mode.value.as_str());
            let optional = [tunnel.key.is_some(), tunnel.checksum.is_some(), tunnel.sequence.is_some()];
            let gre = 4 + optional.map(|is_there| if is_there { 4 } else { 0 }).iter().sum::<i32>();
            let outer = if mode.contains("ipv6") { 40 } else { 20 };
            let classes = if mode.starts_with("gre") { outer + gre } else { outer };
            // Queues count packets with all headers. Source: a hub with IOS 15.7 (HQF) also counted ESP.
            let esp = headers.headers().iter().find_map(|header| match header {
                Header::Esp(esp) => Some(*esp),
                _ => None,
            });
            let encryption = esp.map_or(0, |esp| esp.mean_added() as i32);
            // A tunnel with only ESP has one outer IP header, which is part of the ESP overhead.
            let carrier = if mode.starts_with("ipsec") && esp.is_some() { 0 } else { classes };
            CountedBytes { classes, queues: carrier + encryption + ETHERNET + account }
        }
        None => CountedBytes { classes: link, queues: link + account },
    }
}

/// Returns the overhead in the counters that the router prints. Meters and schedulers can count whole frames,
/// but counters do not. Source: xrdocs.io, "Y.1564 Service Activation Testing on NCS: Part2". There, meters
/// count 1524 bytes per frame and counters print 1502; perhop prints 1500.
pub(in crate::convert) fn printed_bytes(counted: CountedBytes, rules: &ProfileRules) -> CountedBytes {
    if *rules.counted_length != CountedLength::WholeFrame {
        return counted;
    }
    CountedBytes { classes: counted.classes - AROUND_FRAME, queues: counted.queues - AROUND_FRAME }
}

/// Returns the bytes of the link header that packets of an interface have.
fn link(interface: &Interface) -> i32 {
    let encapsulation = interface.encapsulation.map(|encapsulation| encapsulation.value);
    match (interface.hardware, encapsulation) {
        (Hardware::Ethernet, Some(LinkEncapsulation::Dot1q(_))) if interface.native_vlan.is_none() => {
            ETHERNET + TAG * (1 + i32::from(interface.second_vlan.is_some()))
        }
        (Hardware::Ethernet | Hardware::Virtual, _) => ETHERNET,
        (Hardware::Serial | Hardware::PacketOverSonet, _) => SERIAL,
        _ => 0,
    }
}

/// Returns N of `account user-defined N` in the output policy.
fn user_defined(circuit: &Circuit, interface: &Interface, configuration: &Configuration) -> i32 {
    let own = circuit.policies.unwrap_or(&interface.service_policies).output.as_ref();
    let name = circuit.peer.map(|peer| peer.policy.as_str()).or(own.map(|at| at.value.as_str()));
    let policy = name.and_then(|name| configuration.policy_maps.get(name));
    let bytes = policy.into_iter().flat_map(|policy| &policy.classes).find_map(|class| {
        match class.account.as_ref()?.value {
            Account::UserDefined { bytes, .. } => i32::try_from(bytes).ok(),
            Account::Encapsulation(_) => None,
        }
    });
    bytes.unwrap_or(0).clamp(-64, 63)
}
