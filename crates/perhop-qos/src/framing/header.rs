//! [`Header`]: one header between an IP packet and the framing of the wire, as written in a scenario.

use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, json_schema};
use serde::de::value::{EnumAccessDeserializer, MapAccessDeserializer, MapDeserializer, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::esp::Esp;
use super::ip_version::{IpVersion, is_default};
use super::multilink::{Cut, Multilink, PPP_PROTOCOL};
use crate::error::ConfigError;

/// The bytes of the destination, the source and the type of an Ethernet header.
const ETHERNET: u64 = 14;
/// The bytes of a UDP header (RFC 768).
const UDP: u64 = 8;

/// A header between an IP packet and the framing of the wire. It is written as a word, or as a word with
/// parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", remote = "Self")]
#[schemars(transform = also_words)]
pub enum Header {
    /// An IEEE 802.1Q tag of 4 bytes. Two tags in a list are QinQ. The first one is the inner tag.
    Vlan(VlanTag),
    /// A stack of MPLS labels: 4 bytes for each label (RFC 3032 §2.1).
    Mpls(MplsLabels),
    /// GRE and the outer IP header: 4 bytes, and more with options (RFC 2784, RFC 2890).
    Gre(GreTunnel),
    /// Only an outer IP header (RFC 2003, RFC 2473, RFC 4213).
    #[serde(rename = "ipip")]
    IpIp(IpTunnel),
    /// IPsec ESP, with the outer IP header in tunnel mode (RFC 4303).
    Esp(Esp),
    /// VXLAN: 8 bytes, a UDP header of 8 bytes, the outer IP header, and an inner Ethernet header of 14 bytes
    /// (RFC 7348 §5).
    Vxlan(VxlanTunnel),
    /// L2TP and the outer IP header. Version 2 is carried over UDP and contains PPP (RFC 2661). Version 3 is
    /// carried over IP (RFC 3931).
    L2tp(L2tpTunnel),
    /// Multilink PPP: a header of 4 or 2 bytes, and 2 bytes of the inner PPP protocol number (RFC 1990 §3).
    /// With `fragment`, it divides long packets.
    Mlppp(Multilink),
    /// PPPoE: 6 bytes, and 2 bytes of the PPP protocol number (RFC 2516 §4).
    Pppoe,
    /// The protocol number of PPP, for a framing without it: 2 bytes. With `aal5-mux` it is PPPoA.
    Ppp,
    /// Frame relay: 4 bytes of address and protocol, 2 bytes of FCS, and one flag (RFC 2427 §3).
    FrameRelay,
    /// The Ethernet header of a frame inside another header, without FCS: 14 bytes.
    Ethernet,
    /// The Ethernet header of a frame in AAL5, without FCS, after 2 bytes of padding (RFC 2684 §5.2 and
    /// §6.2).
    Bridged,
}

/// An IEEE 802.1Q tag. It carries the class of service (CoS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VlanTag {
    /// The number of the VLAN in captures, 1 to 4094. Default: 1.
    #[serde(skip_serializing_if = "is_one")]
    pub id: u16,
}

/// A stack of MPLS labels. They carry the traffic class (EXP) and the time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MplsLabels {
    /// The number of labels, 1 to 8. Default: 1.
    #[serde(skip_serializing_if = "is_one")]
    pub labels: u16,
    /// Whether a pseudowire control word follows the labels (RFC 4385 §3).
    #[serde(skip_serializing_if = "is_default")]
    pub control_word: bool,
}

/// A GRE header and the outer IP header (RFC 2784, RFC 2890).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GreTunnel {
    /// Whether the GRE header has a key.
    #[serde(skip_serializing_if = "is_default")]
    pub key: bool,
    /// Whether the GRE header has a checksum.
    #[serde(skip_serializing_if = "is_default")]
    pub checksum: bool,
    /// Whether the GRE header has a sequence number.
    #[serde(skip_serializing_if = "is_default")]
    pub sequence: bool,
    /// The version of the outer IP header.
    #[serde(skip_serializing_if = "is_default")]
    pub over: IpVersion,
}

/// Only an outer IP header (RFC 2003, RFC 2473, RFC 4213).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct IpTunnel {
    /// The version of the outer IP header.
    #[serde(skip_serializing_if = "is_default")]
    pub over: IpVersion,
}

/// An inner Ethernet header without FCS, VXLAN, UDP and the outer IP header (RFC 7348 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct VxlanTunnel {
    /// The VXLAN network identifier in captures, 0 to 16777215. Default: 1.
    #[serde(skip_serializing_if = "is_one")]
    pub id: u32,
    /// The version of the outer IP header.
    #[serde(skip_serializing_if = "is_default")]
    pub over: IpVersion,
}

/// L2TP and the outer IP header. Version 2 is carried over UDP and contains PPP (RFC 2661). Version 3 is
/// carried over IP (RFC 3931).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct L2tpTunnel {
    /// The version of the protocol.
    #[serde(skip_serializing_if = "is_default")]
    pub version: L2tpVersion,
    /// Whether a header of version 2 has the length field.
    #[serde(skip_serializing_if = "is_default")]
    pub length: bool,
    /// Whether the header has sequence numbers. In version 3 they are in the default layer-2-specific
    /// sublayer.
    #[serde(skip_serializing_if = "is_default")]
    pub sequence: bool,
    /// The length of the cookie of version 3, bytes: 0, 4 or 8.
    #[serde(skip_serializing_if = "is_default")]
    pub cookie: u8,
    /// The version of the outer IP header.
    #[serde(skip_serializing_if = "is_default")]
    pub over: IpVersion,
}

/// The version of L2TP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum L2tpVersion {
    /// Version 2 (RFC 2661). It carries PPP frames.
    #[default]
    V2,
    /// Version 3 (RFC 3931). It carries frames of any kind, or IP packets.
    V3,
}

impl Default for VlanTag {
    fn default() -> VlanTag {
        VlanTag { id: 1 }
    }
}
impl Default for MplsLabels {
    fn default() -> MplsLabels {
        MplsLabels { labels: 1, control_word: false }
    }
}
impl Default for VxlanTunnel {
    fn default() -> VxlanTunnel {
        VxlanTunnel { id: 1, over: IpVersion::default() }
    }
}

fn is_one<T: From<u8> + PartialEq>(value: &T) -> bool {
    *value == T::from(1)
}

impl Header {
    /// The name of the header in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Header::Vlan(_) => "vlan",
            Header::Mpls(_) => "mpls",
            Header::Gre(_) => "gre",
            Header::IpIp(_) => "ipip",
            Header::Esp(_) => "esp",
            Header::Vxlan(_) => "vxlan",
            Header::L2tp(_) => "l2tp",
            Header::Mlppp(_) => "mlppp",
            Header::Pppoe => "pppoe",
            Header::Ppp => "ppp",
            Header::FrameRelay => "frame-relay",
            Header::Ethernet => "ethernet",
            Header::Bridged => "bridged",
        }
    }
    /// Returns the bytes that the header adds to its content, or `None` if the number depends on the content.
    pub const fn added(self) -> Option<u64> {
        Some(match self {
            Header::Vlan(_) => 4,
            Header::Mpls(mpls) => 4 * mpls.labels as u64 + 4 * mpls.control_word as u64,
            Header::Gre(gre) => {
                4 + 4 * (gre.key as u64 + gre.checksum as u64 + gre.sequence as u64) + gre.over.header_bytes()
            }
            Header::IpIp(tunnel) => tunnel.over.header_bytes(),
            Header::Esp(_) => return None,
            Header::Vxlan(vxlan) => ETHERNET + 8 + UDP + vxlan.over.header_bytes(),
            Header::L2tp(l2tp) => l2tp.bytes() + l2tp.over.header_bytes(),
            Header::Mlppp(multilink) => multilink.added(),
            Header::Pppoe => 6 + PPP_PROTOCOL,
            Header::Ppp => PPP_PROTOCOL,
            Header::FrameRelay => 4 + 2 + 1,
            Header::Ethernet => ETHERNET,
            Header::Bridged => 2 + ETHERNET,
        })
    }
    /// The fragmentation by this header, if it fragments packets.
    pub(super) fn cut(self) -> Option<Cut> {
        if let Header::Mlppp(multilink) = self { multilink.cut() } else { None }
    }
    /// The bytes of this header together with the `carried` bytes that it carries.
    pub(super) const fn bytes(self, carried: u64) -> u64 {
        match (self, self.added()) {
            (_, Some(added)) => carried + added,
            (Header::Esp(esp), None) => esp.bytes(carried),
            (_, None) => carried,
        }
    }
}

impl Header {
    /// Checks that the parameters have valid values and do not contradict each other.
    pub(super) fn check(self) -> Result<(), ConfigError> {
        let error = |key: &str, message: String, help: &str| Err(ConfigError::new(key, message).help(help));
        match self {
            Header::Vlan(VlanTag { id }) if !(1..=4094).contains(&id) => {
                // IEEE 802.1Q table 9-2: 0 is a priority tag, and 4095 is reserved.
                error("id", format!("there is no VLAN {id}"), "VLANs have numbers from 1 to 4094")
            }
            Header::Mpls(MplsLabels { labels, .. }) if !(1..=8).contains(&labels) => {
                error("labels", format!("{labels} labels are out of range"), "write 1 to 8")
            }
            Header::Vxlan(VxlanTunnel { id, .. }) if id >> 24 != 0 => error(
                "id",
                format!("{id} is not a VXLAN network identifier"),
                "it has 24 bits: 0 to 16777215",
            ),
            Header::L2tp(L2tpTunnel { version: L2tpVersion::V2, cookie: 1.., .. }) => {
                error("cookie", "L2TPv2 has no cookie".to_owned(), "remove it, or write `version: v3`")
            }
            Header::L2tp(L2tpTunnel { version: L2tpVersion::V3, length: true, .. }) => {
                error("length", "L2TPv3 over IP has no length field".to_owned(), "remove it")
            }
            Header::L2tp(L2tpTunnel { cookie, .. }) if !matches!(cookie, 0 | 4 | 8) => {
                error("cookie", format!("a cookie of {cookie} bytes is invalid"), "it has 0, 4 or 8 bytes")
            }
            Header::Mlppp(multilink) => multilink.check(),
            Header::Esp(esp) => esp.check(),
            _ => Ok(()),
        }
    }
}

impl L2tpTunnel {
    /// The bytes from the content to the outer IP header.
    const fn bytes(self) -> u64 {
        let sequence = 4 * self.sequence as u64;
        match self.version {
            // RFC 2661 §3.1: flags, tunnel and session, then the length, then Ns and Nr. RFC 1662 §3.1:
            // address and control.
            L2tpVersion::V2 => 6 + 2 * self.length as u64 + sequence + 2 + PPP_PROTOCOL + UDP,
            // RFC 3931 §4.1.1 and §4.6: session, cookie, sublayer.
            L2tpVersion::V3 => 4 + self.cookie as u64 + sequence,
        }
    }
}

impl Serialize for Header {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Header::serialize(self, serializer)
    }
}
impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Header;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a header such as gre, or one with parameters such as gre: {key: true}")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Header, E> {
                Header::deserialize(EnumAccessDeserializer::new(Word(word, PhantomData)))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Header, A::Error> {
                Header::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A header that is written as a word. All its parameters have their defaults.
struct Word<'a, E>(&'a str, PhantomData<E>);

impl<'de, E: de::Error> de::EnumAccess<'de> for Word<'_, E> {
    type Error = E;
    type Variant = Self;
    fn variant_seed<V: de::DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), E> {
        Ok((seed.deserialize(StrDeserializer::new(self.0))?, self))
    }
}
impl<'de, E: de::Error> de::VariantAccess<'de> for Word<'_, E> {
    type Error = E;
    fn unit_variant(self) -> Result<(), E> {
        Ok(())
    }
    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, E> {
        let nothing = std::iter::empty::<(&str, &str)>();
        seed.deserialize(MapDeserializer::new(nothing))
    }
    fn tuple_variant<V: de::Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, E> {
        Err(E::invalid_type(de::Unexpected::UnitVariant, &visitor))
    }
    fn struct_variant<V: de::Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        Err(E::invalid_type(de::Unexpected::UnitVariant, &visitor))
    }
}

/// Extends the `schema` of [`Header`]: a header whose parameters all have defaults can also be written as a
/// word.
fn also_words(schema: &mut Schema) {
    let Some(choices) = schema.get_mut("oneOf").and_then(|choices| choices.as_array_mut()) else { return };
    let words: Vec<_> = choices
        .iter()
        .filter_map(|choice| Some((choice["properties"].as_object()?.keys().next()?, &choice["description"])))
        .filter(|(name, _)| *name != "esp")
        .map(|(name, description)| {
            json_schema!({ "type": "string", "const": name, "description": description }).to_value()
        })
        .collect();
    choices.extend(words);
}
