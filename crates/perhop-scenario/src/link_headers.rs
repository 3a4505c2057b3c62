//! [`LinkHeaders`]: the headers of a link, stored so that a link without headers needs little memory.

use std::borrow::Cow;
use std::ops::Deref;

use perhop_qos::framing::HeaderStack;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The [`HeaderStack`] of a link. The stack is in a separate allocation, because it is larger than the rest
/// of a link, and most links of a large network have no headers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkHeaders(Option<Box<HeaderStack>>);

impl LinkHeaders {
    /// Whether the link has no headers.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl Deref for LinkHeaders {
    type Target = HeaderStack;
    fn deref(&self) -> &HeaderStack {
        self.0.as_deref().unwrap_or(&HeaderStack::EMPTY)
    }
}

impl From<HeaderStack> for LinkHeaders {
    fn from(headers: HeaderStack) -> LinkHeaders {
        LinkHeaders((!headers.is_empty()).then(|| Box::new(headers)))
    }
}

impl Serialize for LinkHeaders {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        HeaderStack::serialize(self, serializer)
    }
}
impl<'de> Deserialize<'de> for LinkHeaders {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LinkHeaders, D::Error> {
        HeaderStack::deserialize(deserializer).map(LinkHeaders::from)
    }
}
impl JsonSchema for LinkHeaders {
    fn schema_name() -> Cow<'static, str> {
        HeaderStack::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        HeaderStack::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        HeaderStack::json_schema(generator)
    }
}
