//! Tests that the published JSON Schema agrees with the types.

use perhop_scenario::scenario_schema;

const PUBLISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/perhop-scenario.schema.json");

/// After a change of the scenario's types, write the schema with
/// `BLESS=1 cargo test -p perhop-scenario --test it schema`.
#[test]
fn the_published_schema_is_up_to_date() {
    let schema = serde_json::to_string_pretty(&scenario_schema()).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PUBLISHED, &schema).unwrap();
    }
    let published = std::fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert!(
        published == schema,
        "schema/perhop-scenario.schema.json differs from the types; \
         write it anew with BLESS=1 cargo test -p perhop-scenario --test it schema"
    );
}

/// Every key must have a description, because the reference of the language consists of the descriptions.
#[test]
fn every_key_is_described() {
    fn undescribed(schema: &serde_json::Value, place: &str, found: &mut Vec<String>) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            // The description of an alternative also describes its keys.
            let described = property.get("description").is_some() || schema.get("description").is_some();
            if !described {
                found.push(format!("{place}.{key}"));
            }
        }
        for alternative in schema["oneOf"].as_array().into_iter().flatten() {
            undescribed(alternative, place, found);
        }
    }
    let schema = scenario_schema();
    let mut found = Vec::new();
    undescribed(&schema, "Scenario", &mut found);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        undescribed(definition, name, &mut found);
    }
    assert!(found.is_empty(), "no description: {found:?}");
}
