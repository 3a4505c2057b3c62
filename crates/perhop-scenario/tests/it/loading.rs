//! Tests of the inputs of the loader: files, overrides, values from a program, and policies without a
//! scenario.

use std::path::{Path, PathBuf};

use perhop_scenario::{Checked, Diagnostics, Document, Loader, Severity, load, load_json};
use serde_json::json;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Writes a file to cargo's directory for test files.
fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn check(path: &Path) -> Result<Checked, Diagnostics> {
    Loader::default().check(path)
}

fn first_message(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().next().unwrap().message.clone()
}

/// Returns a scenario with a router and `hosts` hosts, each with a link to the router.
fn star(hosts: usize) -> String {
    let listed = |line: &dyn Fn(usize) -> String| (0..hosts).map(line).collect::<String>();
    format!(
        "perhop: 1\nname: Star\nduration: 1s\nhosts:\n{}routers: {{ r: {{}} }}\nlinks:\n{}traffic:\n  - {{ name: t, \
         from: h0, to: h1, source: {{ cbr: {{ rate: 100kb/s, packet: {{ ip: 1000B }} }} }} }}\n",
        listed(&|host| format!("  h{host}: {{}}\n")),
        listed(&|host| format!("  - {{ between: [h{host}, r], rate: 1Mb/s, delay: 1ms }}\n")),
    )
}

#[test]
fn the_size_of_a_file_is_not_mistaken_for_aliases() {
    // 30,000 links of seven values are more values than any fixed limit on copies would allow.
    let document = perhop_scenario::Document::parse(star(30_000), "star.yaml");
    assert!(document.is_ok(), "{}", first_message(&document.unwrap_err()));
}

#[test]
fn an_anchor_may_have_many_aliases() {
    let names = ", *one".repeat(2_000);
    let document = perhop_scenario::Document::parse(format!("all: [&one x{names}]"), "many.yaml");
    assert!(document.is_ok(), "{}", first_message(&document.unwrap_err()));
}

#[test]
fn overrides_change_the_scenario_that_runs() {
    let set = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let overrides = [
        set("traffic.video.source.cbr.rate", "3Mb/s"),
        set("links.1.delay", "20ms"),
        set("seed", "7"),
        set("measure.queues", "[]"),
    ];
    let scenario = load(&example("first-steps.perhop.yaml"), &overrides).unwrap().scenario;
    let value = serde_json::to_value(&scenario).unwrap();
    assert_eq!(value["traffic"][0]["source"]["cbr"]["rate"], "3Mb/s");
    assert_eq!(value["links"][1]["delay"], "20ms");
    assert_eq!(scenario.seed, 7);
    assert!(scenario.measure.queues.is_empty());
}

#[test]
fn a_folder_is_not_proposed_in_its_own_place() {
    let diagnostics = load(&example(""), &[]).unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert!(first.message.ends_with("it is a directory"), "{}", first.message);
    assert!(!first.help.as_deref().unwrap_or_default().contains("examples"), "{:?}", first.help);
}

#[test]
fn a_missing_file_names_its_neighbor() {
    let diagnostics = load(&example("frist-steps.perhop.yaml"), &[]).unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert!(first.message.contains("there is no such file"), "{}", first.message);
    assert!(first.help.as_ref().unwrap().contains("first-steps.perhop.yaml"));
}

#[test]
fn windows_line_ends_and_byte_order_marks_are_read() {
    let source = std::fs::read_to_string(example("first-steps.perhop.yaml")).unwrap();
    let path = written("windows.perhop.yaml", &format!("\u{feff}{}", source.replace('\n', "\r\n")));
    assert_eq!(
        load(&path, &[]).unwrap().scenario,
        load(&example("first-steps.perhop.yaml"), &[]).unwrap().scenario
    );
}

#[test]
fn a_value_from_a_program_is_located_by_its_path() {
    let scenario = load(&example("first-steps.perhop.yaml"), &[]).unwrap().scenario;
    let mut value = serde_json::to_value(&scenario).unwrap();
    value["links"][1]["rate"] = json!(2);
    let diagnostics = load_json(value, ".").unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert_eq!((first.path.as_str(), first.file.as_ref(), first.line), ("links.1.rate", None, None));
    assert!(first.message.contains("has no unit"));
    assert!(first_message(&load_json(json!(null), ".").unwrap_err()).contains("empty"));
}

#[test]
fn policies_are_checked_without_a_scenario() {
    let policy = "conditioners:\n  - match: {input: anywhere}\n    actions: [{mark: ef}]\n";
    let Checked::Policies(set, _) = check(&written("bare.yaml", policy)).unwrap() else {
        panic!("a scenario?")
    };
    assert_eq!(set.policies.keys().collect::<Vec<_>>(), ["bare"]);

    let indented = policy.replace('\n', "\n    ");
    let named = format!("policies:\n  edge:\n    {indented}\n");
    let Checked::Policies(set, _) = check(&written("set.yaml", &named)).unwrap() else {
        panic!("a scenario?")
    };
    assert_eq!(set.policies.keys().collect::<Vec<_>>(), ["edge"]);

    let broken = "queueing:\n  classes:\n    - name: all\n      buffer: {tail-drop: {limit: 0B}}\n";
    let diagnostics = check(&written("broken.yaml", broken)).unwrap_err();
    let first = diagnostics.iter().next().unwrap();
    assert_eq!((first.line, first.path.as_str()), (Some(4), "queueing.classes.0.buffer.tail-drop.limit"));
    assert_eq!(first.severity, Severity::Error);

    let unknown = check(&written("unknown.yaml", "queueing: {classes: []}\nconditoners: []\n")).unwrap_err();
    assert!(unknown.to_string().contains("did you mean `conditioners`?"), "{unknown}");
}

#[test]
fn scenarios_are_checked_as_scenarios() {
    let checked = check(&example("first-steps.perhop.yaml")).unwrap();
    assert!(matches!(checked, Checked::Scenario(loaded) if loaded.warnings.is_empty()));
    // A file without `perhop: 1` still counts as a scenario, and the missing key is reported.
    let source = std::fs::read_to_string(example("first-steps.perhop.yaml")).unwrap();
    let diagnostics = check(&written("old.yaml", &source.replace("perhop: 1\n", ""))).unwrap_err();
    assert!(first_message(&diagnostics).contains("missing key `perhop`"));
}

/// The YAML parser permits deeper nesting than the values of a scenario do. Both limits have the same
/// message.
#[test]
fn levels_have_a_limit_in_every_notation() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
        for levels in [65, 100, 2_500, 100_000] {
            let text = format!("{}x{}", open.repeat(levels), close.repeat(levels));
            let found = Document::parse(text.as_str(), "deep.yaml").unwrap_err();
            let words = "lists and mappings are nested more than 64 levels deep";
            assert_eq!(found.iter().next().unwrap().message, words, "{levels} levels of {open}");
        }
    }
    assert!(Document::parse(format!("{}{}", "[".repeat(64), "]".repeat(64)), "deep.yaml").is_ok());
}

/// A rule that is not applied to a large scenario reports only that it was not applied.
#[test]
fn a_skipped_search_is_reported() {
    for (policies, is_searched) in [(1_000, true), (1_001, false)] {
        let policy =
            |n: usize| format!("  p{n}: {}\n", "{queueing: {scheduler: fifo, classes: [{name: a}]}}");
        let flow = |n: usize| {
            format!(
                "  - {{name: f{n}, from: a, to: b, destination-port: {n}, \
                 source: {{cbr: {{rate: 1kb/s, packet: {{ip: 100B}}}}}}}}\n"
            )
        };
        let text = format!(
            "perhop: 1\nname: large\nduration: 1s\nhosts: {{a: {{}}, b: {{}}}}\nrouters: {{r: {{}}}}\nlinks:\n\
             \x20 - {{between: [a, r], rate: 1Mb/s}}\n  - {{between: [r, b], rate: 1Mb/s}}\n\
             policies:\n{}traffic:\n{}",
            (0..policies).map(policy).collect::<String>(),
            (1..=1_000).map(flow).collect::<String>(),
        );
        let Checked::Scenario(loaded) = check(&written("large.yaml", &text)).unwrap() else {
            panic!("a set of policies?")
        };
        let message = "perhop does not search for classes without traffic";
        let found = loaded.warnings.iter().filter(|first| first.message.contains(message));
        assert_eq!(found.count(), usize::from(!is_searched), "{policies} policies");
    }
}
