//! The headers between IP packets and the framing of a port's wire: tags, tunnels, encryption, sessions.

use perhop_device::Wire;
use perhop_lint::Diagnostic;
use perhop_qos::framing::{
    Esp, EspCipher, EspIntegrity, EspMode, GreTunnel, Header, HeaderStack, IpTunnel, IpVersion, Multilink,
    VlanTag,
};

use super::multilink::{is_bundle, multilink};
use crate::ast::{At, CellEncapsulation, Interface, LinkEncapsulation, Pvc, TransformSet, Tunnel};
use crate::convert::context::Context;
use crate::rules;

impl Context<'_> {
    /// Returns the headers of packets that leave via `interface`, from the IP packet outwards.
    pub(in crate::convert) fn header_stack(&mut self, interface: &Interface, wire: &Wire) -> HeaderStack {
        let mut headers = Vec::new();
        if let Some(tunnel) = &interface.tunnel {
            headers.extend(self.tunnel_headers(tunnel));
            let unknown = self.unknown_protection(tunnel).map(|missing| without_cipher(interface, &missing));
            self.found.extend(unknown);
        }
        let below = self.configuration.underlay(interface);
        let line = below.unwrap_or(interface);
        let around = line.parent.as_ref().and_then(|name| self.configuration.interfaces.get(name));
        let multilink = is_bundle(line).then(|| multilink(line, self.configuration));
        headers.extend(link_headers(line, around, multilink));
        self.stack_on(interface, &headers, wire)
    }

    /// Returns the stack of `headers` on the framing of `wire`; empty if headers and framing are
    /// incompatible.
    pub(in crate::convert) fn stack_on(
        &mut self,
        interface: &Interface,
        headers: &[Header],
        wire: &Wire,
    ) -> HeaderStack {
        let stack = HeaderStack::new(headers).unwrap_or(HeaderStack::EMPTY);
        match stack.check(wire.framing.unwrap_or_default()) {
            Ok(()) => stack,
            Err(error) => {
                self.found.push(Diagnostic::new(
                    &rules::HEADERS_UNUSABLE,
                    interface.line,
                    format!("the headers of {}: {}", interface.name, error.message),
                    "perhop counts no header of this interface: packets are longer in the router",
                ));
                HeaderStack::EMPTY
            }
        }
    }

    /// Returns the headers that a tunnel adds, from the packet outwards.
    pub(in crate::convert) fn tunnel_headers(&self, tunnel: &Tunnel) -> Vec<Header> {
        let mode = tunnel.mode.as_ref().map_or("gre ip", |mode| mode.value.as_str());
        let over = if mode.contains("ipv6") { IpVersion::Ipv6 } else { IpVersion::Ipv4 };
        let esp = tunnel.protection.as_ref().and_then(|profile| self.protection(&profile.value));
        let carrier = match mode.split(' ').next() {
            Some("gre" | "dmvpn") => Some(Header::Gre(GreTunnel {
                key: tunnel.key.is_some(),
                checksum: tunnel.checksum.is_some(),
                sequence: tunnel.sequence.is_some(),
                over,
            })),
            Some("ipip" | "ipv6ip") => Some(Header::IpIp(IpTunnel { over: IpVersion::Ipv4 })),
            // A virtual tunnel interface uses only ESP in tunnel mode.
            Some("ipsec") => None,
            _ => Some(Header::IpIp(IpTunnel { over })),
        };
        let is_alone = carrier.is_none();
        let esp = esp.map(|esp| if is_alone { Esp { mode: EspMode::Tunnel, ..esp } } else { esp });
        carrier.into_iter().chain(esp.map(Header::Esp)).collect()
    }

    /// Returns the encryption of the first transform set of an IPsec profile.
    fn protection(&self, profile: &str) -> Option<Esp> {
        let profile = self.configuration.ipsec_profiles.get(profile)?;
        let set = self.configuration.transform_sets.get(profile.transform_sets.first()?)?;
        esp(set)
    }

    /// Returns the name of the missing profile or transform set if the configuration does not define the
    /// ciphers of a tunnel, and the line that protects the tunnel.
    pub(in crate::convert) fn unknown_protection(&self, tunnel: &Tunnel) -> Option<At<String>> {
        let protection = tunnel.protection.as_ref()?;
        let name = &protection.value;
        let missing = match self.configuration.ipsec_profiles.get(name) {
            None => format!("ipsec profile {name}"),
            Some(profile) => match profile.transform_sets.first() {
                None => format!("a transform set of ipsec profile {name}"),
                Some(set) if self.configuration.transform_sets.get(set).is_none() => {
                    format!("transform set {set}")
                }
                Some(_) => return None,
            },
        };
        Some(At::new(protection.line, missing))
    }
}

/// Returns the finding for a tunnel that encrypts with unknown ciphers.
fn without_cipher(interface: &Interface, missing: &At<String>) -> Diagnostic {
    Diagnostic::new(
        &rules::HEADERS_UNUSABLE,
        missing.line,
        format!("the encryption of {}: {} is not defined", interface.name, missing.value),
        "perhop counts no byte of the encryption: packets are longer in the router",
    )
}

/// Returns the ESP parameters of a transform set; `None` if the set has no ESP.
fn esp(set: &TransformSet) -> Option<Esp> {
    let words = || set.transforms.split_ascii_whitespace();
    let cipher = words().find_map(|word| match word {
        "esp-3des" | "esp-des" => Some(EspCipher::TripleDes),
        "esp-aes" => Some(EspCipher::AesCbc),
        "esp-gcm" | "esp-gmac" => Some(EspCipher::AesGcm),
        "esp-null" => Some(EspCipher::Null),
        _ => None,
    })?;
    let integrity = words().find_map(|word| match word {
        "esp-md5-hmac" => Some(EspIntegrity::Md5),
        "esp-sha-hmac" => Some(EspIntegrity::Sha1),
        "esp-sha256-hmac" => Some(EspIntegrity::Sha256),
        "esp-sha384-hmac" => Some(EspIntegrity::Sha384),
        "esp-sha512-hmac" => Some(EspIntegrity::Sha512),
        _ => None,
    });
    let mode = if set.transport.is_some() { EspMode::Transport } else { EspMode::Tunnel };
    let integrity = integrity.unwrap_or_default();
    Some(Esp { cipher, integrity, mode, nat_t: false, over: IpVersion::Ipv4 })
}

/// Returns the headers of packets in a circuit: PPPoE in a bridged Ethernet frame (RFC 2516 in RFC 2684 §5.2:
/// 6 + 2 and 14 + 2 bytes), or PPP (RFC 2364: 2 bytes).
pub(in crate::convert) fn circuit_headers(interface: &Interface, pvc: &Pvc) -> Vec<Header> {
    if pvc.pppoe.or(interface.pppoe).is_some() {
        return vec![Header::Pppoe, Header::Bridged];
    }
    match pvc.encapsulation.map(|encapsulation| encapsulation.value) {
        Some(CellEncapsulation::MuxPpp) => vec![Header::Ppp],
        _ => Vec::new(),
    }
}

/// Returns the headers that a link adds. The inner tag is before the outer tag.
fn link_headers(
    interface: &Interface,
    around: Option<&Interface>,
    multilink: Option<Multilink>,
) -> Vec<Header> {
    let mut headers = Vec::new();
    let of_line = interface.encapsulation.or(around.and_then(|around| around.encapsulation));
    let encapsulation = of_line.map(|encapsulation| encapsulation.value);
    if encapsulation == Some(LinkEncapsulation::FrameRelay) {
        headers.push(Header::FrameRelay);
    }
    if interface.pppoe.is_some() {
        headers.push(Header::Pppoe);
    }
    headers.extend(multilink.map(Header::Mlppp));
    if let Some(LinkEncapsulation::Dot1q(id)) = encapsulation
        && interface.native_vlan.is_none()
    {
        headers.extend(interface.second_vlan.map(|inner| Header::Vlan(VlanTag { id: inner.value })));
        headers.push(Header::Vlan(VlanTag { id }));
    }
    headers
}
