//! Every example is free of errors and warnings, and its traffic arrives.

use std::path::{Path, PathBuf};

use crate::simulation::ONCE;
use perhop_scenario::{Coloring, load, render};
use perhop_sim::{Progress, run};

/// All examples except those with a router configuration, because this crate has no front ends.
/// `tests/test_examples.py` runs every example.
fn readable() -> impl Iterator<Item = PathBuf> {
    let configured = |path: &PathBuf| std::fs::read_to_string(path).unwrap().contains("configuration: {");
    examples().into_iter().filter(move |path| !configured(path))
}

fn examples() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".perhop.yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= 18, "examples are missing: {files:?}");
    files
}

#[test]
fn every_example_is_free_of_errors_and_warnings() {
    let complaints: Vec<String> = readable()
        .filter_map(|path| match load(&path, &[]) {
            Ok(loaded) if loaded.warnings.is_empty() => None,
            Ok(loaded) => Some(render(&loaded.warnings, Coloring::Plain)),
            Err(diagnostics) => Some(diagnostics.render(Coloring::Plain)),
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn every_example_shows_the_schema_to_editors() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let modeline = "# yaml-language-server: $schema=../schema/perhop-scenario.schema.json\n";
        assert!(text.starts_with(modeline), "{}", path.display());
    }
}

#[test]
fn every_example_runs() {
    for path in readable() {
        let loaded = load(&path, &[]).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        run(&loaded.resolved, &loaded.base, &ONCE, &Progress::new()).unwrap();
    }
}
