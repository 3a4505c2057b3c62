//! [`SharedTcp`]: the TCP of a scenario's traffic, which entries with equal settings share.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TcpConfig;

/// A [`TcpConfig`] that several traffic entries share. The settings are large, and thousands of entries often
/// have equal settings.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedTcp(Arc<TcpConfig>);

/// The maximum number of settings with which the settings of another entry are compared.
const MOST_COMPARED: usize = 16;

impl SharedTcp {
    /// Shares the settings with the first equal settings in `known`, or adds the settings to `known`, which
    /// has at most [`MOST_COMPARED`] settings.
    pub(crate) fn share(&mut self, known: &mut Vec<SharedTcp>) {
        if let Some(equal) = known.iter().find(|known| *known == self) {
            *self = equal.clone();
        } else if known.len() < MOST_COMPARED {
            known.push(self.clone());
        }
    }
}

impl Deref for SharedTcp {
    type Target = TcpConfig;
    fn deref(&self) -> &TcpConfig {
        &self.0
    }
}

impl Serialize for SharedTcp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
impl<'de> Deserialize<'de> for SharedTcp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SharedTcp, D::Error> {
        TcpConfig::deserialize(deserializer).map(|config| SharedTcp(Arc::new(config)))
    }
}
impl JsonSchema for SharedTcp {
    fn schema_name() -> Cow<'static, str> {
        TcpConfig::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        TcpConfig::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        TcpConfig::json_schema(generator)
    }
}
