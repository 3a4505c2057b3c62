//! [`Value`]: JSON with repeated keys, because `tc` writes a `match` key for each match of a filter.

use std::fmt;

use perhop_lint::pictured;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Flag(bool),
    /// A number in tc's notation.
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Object),
}

/// Keys with their values, in the order of the text.
pub(crate) type Object = Vec<(String, Value)>;

impl Value {
    /// Returns the value as a word of a command; `None` for lists, objects and null.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Value::Number(word) | Value::Text(word) => Some(word),
            _ => None,
        }
    }
    pub(crate) fn object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// Returns the first value of `key`.
pub(crate) fn get<'a>(object: &'a Object, key: &str) -> Option<&'a Value> {
    object.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;
    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Flag(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(pictured(value).into_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Vec::new();
        while let Some((key, value)) = entries.next_entry::<String, Value>()? {
            object.push((pictured(&key).into_owned(), value));
        }
        Ok(Value::Object(object))
    }
}
