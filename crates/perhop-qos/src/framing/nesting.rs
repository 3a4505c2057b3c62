//! [`check`]: checks that each header, and the framing, may carry the header inside it.

use super::esp::EspMode;
use super::header::{Header, L2tpVersion};
use super::ip_version::IpVersion;
use super::wire::Framing;
use crate::error::ConfigError;

/// The type of content that a header is for the enclosing header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// An IP packet. The version is known if a header of the scenario contains the packet.
    Packet(Option<IpVersion>),
    /// A packet with MPLS labels.
    Labeled,
    /// A frame with a VLAN tag. Only an Ethernet header can announce it.
    Tagged,
    /// A PPPoE session. Only an Ethernet header can announce it.
    Session,
    /// A multilink header. Only a PPP protocol number can announce it.
    Multilink,
    /// A packet with a PPP protocol number.
    PointToPoint,
    /// An Ethernet frame.
    Frame,
    /// An Ethernet frame in the form that AAL5 carries.
    BridgedFrame,
    /// A frame relay frame.
    FrameRelay,
}

impl Unit {
    fn from_header(header: Header) -> Unit {
        match header {
            Header::Vlan(_) => Unit::Tagged,
            Header::Mpls(_) => Unit::Labeled,
            Header::Gre(gre) => Unit::Packet(Some(gre.over)),
            Header::IpIp(tunnel) => Unit::Packet(Some(tunnel.over)),
            Header::Esp(esp) => Unit::Packet(Some(esp.over)),
            Header::Vxlan(vxlan) => Unit::Packet(Some(vxlan.over)),
            Header::L2tp(l2tp) => Unit::Packet(Some(l2tp.over)),
            Header::Mlppp(_) => Unit::Multilink,
            Header::Pppoe => Unit::Session,
            Header::Ppp => Unit::PointToPoint,
            Header::FrameRelay => Unit::FrameRelay,
            Header::Ethernet => Unit::Frame,
            Header::Bridged => Unit::BridgedFrame,
        }
    }
    /// Whether an `EtherType` can announce this content.
    fn has_ether_type(self) -> bool {
        matches!(self, Unit::Packet(_) | Unit::Labeled | Unit::Tagged | Unit::Session)
    }
    /// Whether a PPP protocol number can announce this content.
    fn has_ppp_number(self) -> bool {
        matches!(self, Unit::Packet(_) | Unit::Labeled | Unit::Multilink)
    }
    fn is_carried_by(self, header: Header) -> bool {
        match header {
            Header::Vlan(_) | Header::Vxlan(_) | Header::Ethernet | Header::Bridged => self.has_ether_type(),
            // RFC 4385: only pseudowires have a control word.
            Header::Mpls(mpls) if mpls.control_word => self == Unit::Frame,
            Header::Mpls(_) | Header::Gre(_) => {
                matches!(self, Unit::Packet(_) | Unit::Labeled | Unit::Frame)
            }
            Header::IpIp(_) | Header::FrameRelay => matches!(self, Unit::Packet(_)),
            Header::Esp(esp) => match self {
                Unit::Packet(Some(version)) => esp.mode == EspMode::Tunnel || esp.over == version,
                Unit::Packet(None) => true,
                _ => false,
            },
            Header::L2tp(l2tp) => match l2tp.version {
                L2tpVersion::V2 => self.has_ppp_number(),
                L2tpVersion::V3 => matches!(self, Unit::Packet(_) | Unit::Frame | Unit::PointToPoint),
            },
            Header::Mlppp(_) => matches!(self, Unit::Packet(_) | Unit::Labeled),
            Header::Pppoe | Header::Ppp => self.has_ppp_number(),
        }
    }
    fn is_carried_on(self, framing: Framing) -> bool {
        match framing {
            Framing::Raw => {
                matches!(self, Unit::Labeled | Unit::PointToPoint | Unit::Frame | Unit::FrameRelay)
            }
            Framing::EthernetHeader | Framing::EthernetFrame | Framing::EthernetWire => self.has_ether_type(),
            Framing::Ppp => self.has_ppp_number(),
            Framing::Hdlc => self == Unit::Labeled,
            Framing::Aal5Mux => matches!(self, Unit::Labeled | Unit::PointToPoint | Unit::BridgedFrame),
            Framing::Aal5Snap => matches!(self, Unit::Labeled | Unit::BridgedFrame),
        }
    }
    /// A permitted position of the header, for error messages.
    fn help(self) -> &'static str {
        match self {
            Unit::Packet(_) | Unit::Labeled => "list the headers from the IP packet outwards",
            Unit::Tagged | Unit::Session => {
                "VLAN tags and PPPoE need Ethernet around them: `framing: ethernet-frame`, or `ethernet` or \
                 `vxlan` as a later header"
            }
            Unit::Multilink => {
                "`mlppp` needs PPP around it: `framing: ppp`, or `pppoe`, `ppp` or `l2tp` as a later header"
            }
            Unit::PointToPoint => {
                "`ppp` fits only `framing: aal5-mux` or `raw`, or `l2tp` of version v3 as the next header"
            }
            Unit::Frame => {
                "`ethernet` fits only inside `mpls`, `gre` or `l2tp` of version v3, or on `framing: raw`"
            }
            Unit::BridgedFrame => "`bridged` fits only `framing: aal5-snap` or `aal5-mux`",
            Unit::FrameRelay => "`frame-relay` fits only `framing: raw`, as the last header",
        }
    }
}

/// Checks that each of `headers` may carry the header before it in the list, and that `framing` may carry the
/// last header.
pub(super) fn check(headers: &[Header], framing: Framing) -> Result<(), ConfigError> {
    let mut inside = Unit::Packet(None);
    let mut name = "an IP packet";
    for (index, header) in headers.iter().enumerate() {
        if !inside.is_carried_by(*header) {
            return Err(refused(inside, name, header.name(), *header).within(index));
        }
        (inside, name) = (Unit::from_header(*header), header.name());
    }
    if matches!(inside, Unit::Packet(_)) || inside.is_carried_on(framing) {
        return Ok(());
    }
    let message = format!("`{name}` cannot be directly on framing `{framing}`");
    Err(ConfigError::new("", message).help(inside.help()).within(headers.len() - 1))
}

fn refused(inside: Unit, name: &str, around: &str, header: Header) -> ConfigError {
    match (inside, header) {
        (Unit::Packet(Some(_)), Header::Esp(_)) => {
            let message = format!("`over` differs from the IP version of the header before, `{name}`");
            ConfigError::new("esp.over", message)
                .help("in transport mode ESP uses the outer IP header of that tunnel: write its version")
        }
        (_, Header::Mpls(mpls)) if mpls.control_word => {
            ConfigError::new("mpls.control-word", "only a pseudowire has a control word")
                .help("write `ethernet` before `mpls`, or remove it")
        }
        _ => ConfigError::new("", format!("`{around}` cannot carry `{name}`")).help(inside.help()),
    }
}
