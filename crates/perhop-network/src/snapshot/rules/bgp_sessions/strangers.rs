//! BGP neighbors whose address no device of the snapshot has.

use std::net::IpAddr;

use perhop_device::Port;

use super::super::{NetworkFinding, PortId, Snapshot};
use super::process::{End, Process};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// The minimum prefix length of a link between two devices.
const OF_LINKS: u8 = 30;
/// Lines of ports whose subnet is not written in the configuration.
const DYNAMIC: &[&str] = &["ip address dhcp", "ip address negotiated", "ip unnumbered", "unnumbered-address"];

/// Reports a neighbor whose address is in the subnet of a link between two devices, if neither device has the
/// address. Also reports an external neighbor whose address is on no link of the device (RFC 4271 §5.1.3:
/// external neighbors share a subnet).
pub(super) fn check(
    snapshot: &Snapshot,
    (device, process): (usize, &Process),
    end: &End,
    address: IpAddr,
    found: &mut Vec<NetworkFinding>,
) {
    let End { line, number, is_far, .. } = process.settings(end);
    let is_external = number.is_some_and(|(_, number)| number != process.number);
    let mut known = snapshot.router(device).ports.iter().flat_map(addresses);
    let is_dynamic = snapshot.devices[device]
        .device
        .numbered_lines()
        .any(|(_, text)| DYNAMIC.iter().any(|start| text.trim_start().starts_with(start)));
    let is_whole = !is_dynamic && !has_unread_address(snapshot, device);
    if is_external && !is_far && is_whole && !known.any(|own| own.is_neighbor(address)) {
        let message = format!("no subnet of the device contains the external neighbor {address}");
        report(snapshot, device, line, message, found);
        return;
    }
    let router = snapshot.router(device);
    let is_near = |port: &Port| {
        let mut own = addresses(port);
        own.any(|own| own.prefix_length >= OF_LINKS && own.is_neighbor(address))
    };
    let port = router.ports.iter().position(|port| carries_packets(router, port) && is_near(port));
    let Some(link) = port.and_then(|port| snapshot.link_of(PortId { device, port })) else { return };
    let Some(far) = link.ends.iter().find(|end| end.id.device != device) else { return };
    let message = format!("no device has {address}: {} is the other end of the link", far.device);
    report(snapshot, device, line, message, found);
}

/// Whether a line contains an address with a prefix length that no port has. The platform that perhop assumes
/// for a device may have addresses in another form.
fn has_unread_address(snapshot: &Snapshot, device: usize) -> bool {
    let has = |address: IpAddr| {
        snapshot.router(device).ports.iter().flat_map(addresses).any(|own| own.address == address)
    };
    snapshot.devices[device].device.numbered_lines().any(|(_, text)| {
        let mut words = text.split_whitespace();
        let (first, second, third) = (words.next(), words.next(), words.next());
        let address = third.and_then(|text| text.split_once('/')).and_then(|(text, _)| text.parse().ok());
        matches!((first, second), (Some("ip" | "ipv4"), Some("address")))
            && address.is_some_and(|own| !has(own))
    })
}

fn report(snapshot: &Snapshot, device: usize, line: usize, message: String, found: &mut Vec<NetworkFinding>) {
    let effect = "the routers have no session and exchange no routes".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_SESSION_DIFFERS, line, (message, effect)));
}
