//! [`Site`]: a subnet with hosts, which send and receive traffic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_qos::classifier::Prefix;
use serde::Serialize;

use super::walk::Remarks;
use super::{PortId, Snapshot, carries_packets};
use crate::forwarding::addresses;

/// A subnet without another device, or a host that the user names.
#[derive(Clone, Debug, Serialize)]
pub struct Site {
    /// The name of the host, or the names of the device and the subnet.
    pub name: String,
    /// The name of the device to which the site is connected.
    pub device: String,
    /// The name of the interface behind which the site is.
    pub interface: String,
    /// The subnet; `None` for a host.
    pub subnet: Option<String>,
    /// The address of the host; for a subnet, an address in it that the interface does not have.
    pub address: IpAddr,
    /// The port on which packets of the site arrive.
    #[serde(skip)]
    pub(crate) id: Option<PortId>,
}

impl Snapshot<'_> {
    /// Returns the sites: the hosts that the user names, otherwise the subnets that contain no other device.
    ///
    /// Tunnels are not sites, because they have no hosts. Subnets with at most four addresses (`/30` to
    /// `/32`) are not sites, because they have no room for hosts.
    pub fn sites(&self) -> Vec<Site> {
        if !self.written.hosts.is_empty() {
            return self.hosts();
        }
        let mut found = Vec::new();
        for (device, member) in self.devices.iter().enumerate() {
            let router = self.router(device);
            for (port, own) in router.ports.iter().enumerate() {
                let id = PortId { device, port };
                let is_site = carries_packets(router, own)
                    && self.link_of(id).is_none()
                    && own.forwarding.tunnel.is_none();
                for address in addresses(own).filter(|_| is_site) {
                    let bits = if address.address.is_ipv4() { 32 } else { 128 };
                    if bits - address.prefix_length <= 2 {
                        continue;
                    }
                    let Some(subnet) = address.subnet() else { continue };
                    found.push(Site {
                        name: format!("{} {subnet}", member.name),
                        device: member.name.clone(),
                        interface: own.name.clone(),
                        subnet: Some(subnet.to_string()),
                        address: neighbor_of(subnet, address.address),
                        id: Some(id),
                    });
                }
            }
        }
        found
    }

    fn hosts(&self) -> Vec<Site> {
        let site = |(name, address): (&String, &IpAddr)| {
            let id = *self.ports_near(*address).first()?;
            let (_, first) = self.first_device(*address, &mut Remarks::default()).ok()?;
            Some(Site {
                name: name.clone(),
                device: self.devices[id.device].name.clone(),
                interface: self.port(id).name.clone(),
                subnet: None,
                address: *address,
                id: first,
            })
        };
        self.written.hosts.iter().filter_map(site).collect()
    }
}

/// Returns the lowest host address of a subnet, except `own`. The subnet has at least eight addresses.
fn neighbor_of(subnet: Prefix, own: IpAddr) -> IpAddr {
    let after = |offset: u8| match subnet.network() {
        IpAddr::V4(network) => IpAddr::from(Ipv4Addr::from_bits(network.to_bits() + u32::from(offset))),
        IpAddr::V6(network) => IpAddr::from(Ipv6Addr::from_bits(network.to_bits() + u128::from(offset))),
    };
    if after(1) == own { after(2) } else { after(1) }
}
