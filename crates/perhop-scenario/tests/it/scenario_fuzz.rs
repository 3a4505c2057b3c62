//! Fuzz tests: the result of any input is a scenario or diagnostics that can be shown.

use std::path::Path;

use perhop_scenario::{Coloring, Diagnostics, Document, Loaded, Loader, load_json};
use proptest::prelude::*;
use serde_json::{Value, json};

const SOURCE: &str = include_str!("../../../../examples/first-steps.perhop.yaml");

fn read(source: &str) -> Result<Loaded, Diagnostics> {
    Loader::default().load_document(&Document::parse(source, "fuzz.yaml")?, ".")
}

/// Checks that the diagnostics are not empty, can be shown, and have positions in the file.
fn check(source: &str) {
    let Err(diagnostics) = read(source) else { return };
    assert!(diagnostics.iter().count() > 0);
    assert!(!diagnostics.render(Coloring::Ansi).is_empty());
    for diagnostic in diagnostics.iter() {
        assert!(diagnostic.line.is_none_or(|line| line <= source.lines().count().max(1)), "{diagnostic:?}");
    }
}

/// Replacements for a piece of text.
fn pieces() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[-:\\[\\]{}#&*!|>'\"%@`,? \t\n]{1,3}",
        "[a-z0-9é.]{1,6}",
        proptest::sample::select(vec![
            ".inf", ".nan", "~", "<<: *a", "&a ", "*a", "!!str ", "---\n", "-1", "1e400", "0x10", "10",
            "\u{feff}", "\r\n"
        ])
        .prop_map(str::to_owned),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let all = json!([
        null, true, -1, 0, 1.5, 1e300, u64::MAX, "", "0s", "1s", "10m", "source", "router", [], {},
        ["source", "source"], {"cbr": 1}, {"": {}},
    ]);
    proptest::sample::select(all.as_array().unwrap().clone())
}

fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(elements) => {
            for (index, inner) in elements.iter().enumerate() {
                pointers(inner, &format!("{at}/{index}"), all);
            }
        }
        Value::Object(entries) => {
            for (key, inner) in entries {
                pointers(inner, &format!("{at}/{key}"), all);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_never_panics(
        cuts in proptest::collection::vec((0..SOURCE.len(), 0..12usize, pieces()), 1..4)
    ) {
        let mut source = SOURCE.to_owned();
        for (at, length, piece) in cuts {
            let boundary = |at: usize| (0..=at.min(source.len())).rev().find(|at| source.is_char_boundary(*at)).unwrap();
            let (start, end) = (boundary(at), boundary(at + length));
            source.replace_range(start..end, &piece);
        }
        check(&source);
    }

    #[test]
    fn damaged_values_never_panic(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), values()), 1..5)
    ) {
        let scenario = read(SOURCE).unwrap().scenario;
        let mut value = serde_json::to_value(&scenario).unwrap();
        for (index, new) in changes {
            let mut all = Vec::new();
            pointers(&value, "", &mut all);
            if let Some(slot) = value.pointer_mut(index.get::<String>(&all)) {
                *slot = new;
            }
        }
        if let Err(diagnostics) = load_json(value, Path::new(".")) {
            prop_assert!(diagnostics.iter().count() > 0);
            prop_assert!(!diagnostics.render(Coloring::Plain).is_empty());
        }
    }

    #[test]
    fn damaged_overrides_never_panic(path in "[a-z0-9.-]{0,20}", text in pieces()) {
        let mut document = Document::parse(SOURCE, "fuzz.yaml").unwrap();
        if let Err(diagnostic) = document.set(&path, &text) {
            prop_assert!(!diagnostic.render(Coloring::Plain).is_empty());
        }
        let _ = Loader::default().load_document(&document, ".");
    }
}

/// A serialized scenario equals the original after loading.
#[test]
fn scenarios_survive_serialization() {
    let scenario = read(SOURCE).unwrap().scenario;
    let value = serde_json::to_value(&scenario).unwrap();
    assert_eq!(load_json(value, ".").unwrap().scenario, scenario);
}
