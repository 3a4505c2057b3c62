//! [`HeaderStack`]: the headers between an IP packet and the framing of the wire.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::header::Header;
use super::nesting;
use super::wire::Framing;
use crate::error::ConfigError;
use crate::packet::Encapsulation;

/// The headers between an IP packet and the framing of the wire, listed from the packet outward: `[gre, {esp:
/// …}]`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HeaderStack {
    /// The headers. Only the first `count` entries are valid.
    headers: [Header; HeaderStack::MOST],
    count: u8,
}

impl HeaderStack {
    /// The largest number of headers.
    pub const MOST: usize = 8;
    /// A stack without headers.
    pub const EMPTY: HeaderStack = HeaderStack { headers: [Header::Ppp; HeaderStack::MOST], count: 0 };

    /// Returns the stack of `headers`, listed from the packet outward, or `None` if there are too many
    /// headers.
    pub fn new(headers: &[Header]) -> Option<HeaderStack> {
        let mut stack = HeaderStack::EMPTY;
        stack.headers.get_mut(..headers.len())?.copy_from_slice(headers);
        stack.count = headers.len() as u8;
        Some(stack)
    }
    /// The headers, listed from the packet outward.
    pub fn headers(&self) -> &[Header] {
        &self.headers[..usize::from(self.count)]
    }
    /// Whether the stack has no headers.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The bytes of a packet of `ip` IP bytes with these headers, if it is sent in one fragment. The framing
    /// is not included.
    pub fn bytes(&self, ip: u64) -> u64 {
        self.headers().iter().fold(ip, |carried, header| header.bytes(carried))
    }
    /// Returns the bytes that the headers add to each packet, or `None` if the number depends on the length
    /// of the packet.
    pub fn added(&self) -> Option<u64> {
        self.headers().iter().map(|header| header.added()).sum()
    }
    /// Returns the headers without their fragmentation. Both ends of a link must have equal headers in this
    /// form.
    pub fn without_fragmentation(mut self) -> HeaderStack {
        for header in &mut self.headers {
            if let Header::Mlppp(multilink) = header {
                (multilink.fragment, multilink.interleave) = (None, false);
            }
        }
        self
    }
    /// The marks that the headers can carry.
    pub fn encapsulation(&self) -> Encapsulation {
        let any = |is: fn(&Header) -> bool| self.headers().iter().any(is);
        Encapsulation {
            tag: any(|header| matches!(header, Header::Vlan(_))),
            labels: any(|header| matches!(header, Header::Mpls(_))),
        }
    }
    /// Checks the headers and their order on a wire with this `framing`.
    ///
    /// # Errors
    /// A header is invalid or in a wrong position. The path of the error is the index of the first such
    /// header.
    pub fn check(&self, framing: Framing) -> Result<(), ConfigError> {
        for (index, header) in self.headers().iter().enumerate() {
            header.check().map_err(|error| error.within(header.name()).within(index))?;
        }
        nesting::check(self.headers(), framing)?;
        self.check_fragmentation()
    }
}

impl HeaderStack {
    /// Checks that at most one header fragments packets.
    fn check_fragmentation(&self) -> Result<(), ConfigError> {
        let mut fragmenting = self.headers().iter().enumerate().filter(|(_, header)| header.cut().is_some());
        match (fragmenting.next(), fragmenting.next()) {
            (Some(_), Some((place, header))) => {
                Err(ConfigError::new("fragment", "an earlier header already fragments the packets")
                    .help("write `fragment` in one of them")
                    .within(header.name())
                    .within(place))
            }
            _ => Ok(()),
        }
    }
}

impl Default for HeaderStack {
    fn default() -> HeaderStack {
        HeaderStack::EMPTY
    }
}
impl fmt::Debug for HeaderStack {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_list().entries(self.headers()).finish()
    }
}
impl Serialize for HeaderStack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.headers().serialize(serializer)
    }
}
impl<'de> Deserialize<'de> for HeaderStack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HeaderStack, D::Error> {
        let headers = Vec::<Header>::deserialize(deserializer)?;
        HeaderStack::new(&headers).ok_or_else(|| {
            let (found, most) = (headers.len(), HeaderStack::MOST);
            de::Error::custom(format!("{found} headers, but there can be {most} at most"))
        })
    }
}
impl JsonSchema for HeaderStack {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HeaderStack".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "headers between the IP packet and the framing of the wire, from the packet outwards: gre, then esp",
            "type": "array",
            "items": generator.subschema_for::<Header>(),
            "maxItems": HeaderStack::MOST,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stack_without_headers_is_empty() {
        assert!(HeaderStack::EMPTY.is_empty() && HeaderStack::new(&[]).unwrap().is_empty());
        assert!(!HeaderStack::new(&[Header::Ppp]).unwrap().is_empty());
    }
}
