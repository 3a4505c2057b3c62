//! The maximum length of packets on a path, which limits TCP segments and requires fragments of datagrams.

use std::net::IpAddr;

use perhop_net::Direction;
use perhop_qos::packet::{Address, Packet, Protocol};
use perhop_scenario::routing::LinkId;

use super::Builder;
use crate::flow::Template;

/// TCP header without options, and headers of IPv4 and IPv6, bytes (RFC 9293 §3.1, RFC 791 §3.1, RFC 8200
/// §3).
const TCP_HEADER: u32 = 20;
const IPV4_HEADER: u32 = 20;
const IPV6_HEADER: u32 = 40;

impl Builder<'_> {
    /// Returns the length of the longest IP packet, bytes, of a connection whose packets take the path
    /// `forth` in one direction and `back` in the other. Returns `None` if no MTU and no adjusted MSS limits
    /// it.
    ///
    /// Both ends know the path MTU from the start, as after path MTU discovery (RFC 1191 §6.3), and use the
    /// smallest MSS that an interface on the path writes into the SYN of either end.
    pub(super) fn longest_segment_packet(
        &self,
        forth: &[LinkId],
        back: &[LinkId],
        address: IpAddr,
    ) -> Option<u32> {
        let links = || forth.iter().chain(back).copied();
        let mtus = links().map(|link| self.directions[link.index()].mtu);
        let mtu = mtus.filter(|mtu| *mtu != Direction::UNLIMITED).min().map(u32::from);
        let headers = TCP_HEADER + if address.is_ipv4() { IPV4_HEADER } else { IPV6_HEADER };
        let interfaces = links().flat_map(|link| self.scenario.links[link.index() / 2].interfaces.values());
        let adjusted = interfaces.filter_map(|interface| interface.adjust_mss).min();
        let adjusted = adjusted.map(|mss| mss.as_bytes() as u32 + headers);
        mtu.into_iter().chain(adjusted).min()
    }

    /// Adds paths for the fragments of datagrams of flows that permit fragmentation, if an interface has an
    /// MTU. Routers do not fragment IPv6 (RFC 8200 §5), and TCP does not permit fragmentation (RFC 1191
    /// §6.4).
    pub(super) fn add_fragments(&mut self) {
        let is_limited = |direction: &Direction| direction.mtu != Direction::UNLIMITED;
        self.hosts.fragments.number_from(self.hosts.templates.len());
        if !self.directions.iter().any(is_limited) {
            return;
        }
        for flow in 0..self.hosts.templates.len() {
            let Template(template) = self.hosts.templates[flow];
            let is_ipv4 = matches!(Address::to_ip(template.source), IpAddr::V4(_));
            if is_ipv4 && template.protocol != Protocol::TCP && self.hosts.fragments.is_allowed(flow) {
                let number = self.hosts.templates.len();
                self.hosts.fragments.allow(flow, number);
                let links: Vec<LinkId> = self.hosts.path(flow).collect();
                let first = self.hosts.flow_paths[flow];
                // Only the first fragment of a datagram has ports.
                self.add_flow_path(first, Packet { source_port: 0, destination_port: 0, ..template }, &links);
            }
        }
    }
}
