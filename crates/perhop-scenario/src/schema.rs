//! The JSON Schema of the scenario language, generated from the types, and lookups in it by path.

use std::sync::OnceLock;

#[cfg(not(target_family = "wasm"))]
use schemars::generate::SchemaSettings;
use serde_json::Value;
#[cfg(not(target_family = "wasm"))]
use serde_json::json;

use super::path::ValuePath;
#[cfg(not(target_family = "wasm"))]
use crate::scenario::Scenario;

/// Returns the JSON Schema (draft 2020-12) of a scenario file.
///
/// In a web page, the schema is the committed file, which a test compares with the types. The code that
/// generates the schema has half a megabyte, and the compressed file has a tenth of this size.
#[cfg(target_family = "wasm")]
pub fn scenario_schema() -> Value {
    const COMMITTED: &str = include_str!("../../../schema/perhop-scenario.schema.json");
    serde_json::from_str(COMMITTED).expect("the committed schema is JSON")
}

/// Returns the JSON Schema (draft 2020-12) of a scenario file.
#[cfg(not(target_family = "wasm"))]
pub fn scenario_schema() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Scenario>();
    let mut schema = schema.to_value();
    schema["title"] = "perhop scenario".into();
    schema["examples"] = json!([{
        "perhop": 1,
        "name": "A link with twice the traffic it can carry",
        "duration": "10s",
        "hosts": {"source": {}, "sink": {}},
        "routers": {"router": {}},
        "links": [
            {"between": ["source", "router"], "rate": "100Mb/s", "delay": "1ms"},
            {"between": ["router", "sink"], "rate": "10Mb/s", "delay": "10ms"},
        ],
        "traffic": [{
            "name": "video",
            "from": "source",
            "to": "sink",
            "source": {"cbr": {"rate": "20Mb/s", "packet": {"ip": "1500B"}}},
        }],
    }]);
    schema
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(scenario_schema)
}

/// Returns the keys that the language defines for the mapping at `path`; an empty list if authors choose the
/// names.
pub(super) fn keys(path: &ValuePath) -> Vec<String> {
    let mut keys = Vec::new();
    for schema in at(path) {
        for key in schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys()) {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
    }
    keys
}

/// Whether the language defines the key at the end of `path`. Names that authors choose are not defined.
pub(super) fn declares(path: &ValuePath) -> bool {
    path.last().is_some_and(|last| keys(&path.parent()).iter().any(|key| key == last))
}

/// Returns the words allowed at `path`, if its value is an enumeration.
pub(super) fn choices(path: &ValuePath) -> Vec<String> {
    let mut words = Vec::new();
    for schema in at(path) {
        let listed = schema["enum"].as_array().into_iter().flatten();
        words.extend(listed.chain(schema.get("const")).filter_map(Value::as_str).map(str::to_owned));
    }
    words
}

/// Returns the length of the list at `path`, if the language fixes it.
pub(super) fn length(path: &ValuePath) -> Option<u64> {
    let fixed = |schema: &&Value| schema["maxItems"].as_u64().filter(|most| schema["minItems"] == *most);
    at(path).iter().find_map(fixed)
}

/// Returns the description of the key at the end of `path`.
pub(super) fn description(path: &ValuePath) -> Option<&'static str> {
    let last = path.last()?;
    let properties = at(&path.parent()).into_iter().filter_map(|schema| schema["properties"].get(last));
    properties.into_iter().find_map(|property| property["description"].as_str())
}

/// Returns the schemas of the values allowed at `path`, one per alternative.
fn at(path: &ValuePath) -> Vec<&'static Value> {
    let mut current = alternatives(schema());
    for segment in path.segments() {
        current = current.iter().flat_map(|schema| step(schema, segment)).collect();
    }
    current
}

fn step(schema: &'static Value, segment: &str) -> Vec<&'static Value> {
    let inner = schema["properties"].get(segment).or_else(|| {
        let elements = schema.get("items").filter(|_| segment.parse::<usize>().is_ok());
        elements.or(schema.get("additionalProperties").filter(|free| free.is_object()))
    });
    inner.map(alternatives).unwrap_or_default()
}

/// Resolves references and lists the alternatives of `schema`.
fn alternatives(schema: &'static Value) -> Vec<&'static Value> {
    let mut all = vec![schema];
    if let Some(target) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
        all.extend(self::schema().pointer(target).map(alternatives).unwrap_or_default());
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        all.extend(schema[keyword].as_array().into_iter().flatten().flat_map(alternatives));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ValuePath {
        ValuePath::root().extend(text.split('.'))
    }

    #[test]
    fn the_schema_is_known_at_every_depth() {
        assert!(keys(&ValuePath::root()).contains(&"duration".to_owned()));
        assert!(keys(&path("traffic.3.source")).contains(&"on-off".to_owned()));
        assert!(keys(&path("traffic.3.source.on-off")).contains(&"law".to_owned()));
        assert_eq!(choices(&path("traffic.0.source.poisson.sizes")), ["fixed", "exponential"]);
        assert!(description(&path("links.0.rate")).unwrap().starts_with("Rate in bits per second"));
    }

    #[test]
    fn names_that_authors_choose_are_not_declared() {
        assert!(declares(&path("hosts")));
        assert!(!declares(&path("hosts.a")));
        assert!(declares(&path("hosts.a.address")));
        assert!(!declares(&path("measure.warm")));
    }
}
