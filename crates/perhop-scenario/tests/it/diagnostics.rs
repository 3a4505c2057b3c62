//! Golden texts of the diagnostics for all kinds of mistakes in a scenario.
//!
//! A case is `tests/diagnostics/NAME.yaml`; a line `# --set PATH=VALUE` in it is an override. `NAME.txt` is
//! the expected output. After a deliberate change, `BLESS=1 cargo test -p perhop-scenario --test it
//! diagnostics` rewrites the texts for review.

use std::path::{Path, PathBuf};

use perhop_scenario::{Coloring, load, render};

const CASES: &str = "tests/diagnostics";

fn cases() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    cases.sort();
    cases
}

fn overrides(source: &str) -> Vec<(String, String)> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("# --set "));
    lines.filter_map(|set| set.split_once('=')).map(|(path, text)| (path.into(), text.into())).collect()
}

fn rendered(case: &Path) -> String {
    let source = String::from_utf8_lossy(&std::fs::read(case).unwrap()).into_owned();
    let text = match load(case, &overrides(&source)) {
        Ok(loaded) => format!("accepted\n\n{}", render(&loaded.warnings, Coloring::Plain)),
        Err(diagnostics) => diagnostics.render(Coloring::Plain),
    };
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn every_mistake_is_explained() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let (found, golden) = (rendered(&case), case.with_extension("txt"));
        if bless {
            std::fs::write(&golden, &found).unwrap();
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "not as in the golden texts:\n\n{}", wrong.join("\n"));
}

#[test]
fn every_golden_text_has_its_case() {
    let texts = std::fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let orphans: Vec<PathBuf> = texts
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .filter(|path| !path.with_extension("yaml").exists())
        .collect();
    assert!(orphans.is_empty(), "{orphans:?}");
    assert!(cases().len() > 20, "the cases are gone");
}

#[test]
fn json_diagnostics_equal_the_text() {
    let diagnostics = load(Path::new("tests/diagnostics/unknown-key.yaml"), &[]).unwrap_err();
    let json = diagnostics.to_json();
    let first = &json[0];
    assert_eq!(first["severity"], "error");
    assert_eq!(first["file"], "tests/diagnostics/unknown-key.yaml");
    assert_eq!(first["path"], "links.0.dealy");
    assert!(first["line"].as_u64() > Some(1) && first["column"].as_u64() > Some(1));
    assert!(first["help"].as_str().unwrap().starts_with("did you mean `delay`?"));
    assert!(first.get("excerpt").is_none());
    let text = diagnostics.render(Coloring::Plain);
    assert!(!text.contains('\u{1b}') && diagnostics.render(Coloring::Ansi).contains('\u{1b}'));
    assert!(text.contains(first["message"].as_str().unwrap()));
}
