//! [`OneOrMany`]: a value or a list of values in a condition.

use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{I64Deserializer, SeqAccessDeserializer, StrDeserializer, U64Deserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A value or a list of values: `udp` or `[udp, tcp]`. A packet meets the condition if it has any of the
/// values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> From<T> for OneOrMany<T> {
    fn from(value: T) -> OneOrMany<T> {
        OneOrMany(vec![value])
    }
}
impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(values: Vec<T>) -> OneOrMany<T> {
        OneOrMany(values)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [single] => single.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OneOrMany<T>, D::Error> {
        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

struct Visitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
    type Value = OneOrMany<T>;
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("one value or a list of values")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
        T::deserialize(StrDeserializer::new(text)).map(OneOrMany::from)
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<OneOrMany<T>, E> {
        T::deserialize(U64Deserializer::new(number)).map(OneOrMany::from)
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
        // The TOML parser passes every integer as a signed integer.
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => T::deserialize(I64Deserializer::new(number)).map(OneOrMany::from),
        }
    }
    fn visit_seq<A: de::SeqAccess<'de>>(self, sequence: A) -> Result<OneOrMany<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(sequence)).map(OneOrMany)
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let single = generator.subschema_for::<T>();
        json_schema!({
            "description": "one value or a list of values",
            "anyOf": [single, { "type": "array", "items": single, "minItems": 1 }],
        })
    }
}
