//! The profiles: every value has a source, the page lists all values, and no other module compares the names
//! of profiles.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use perhop_device::profile::ProfileRules;
use perhop_device::{EvidenceKind, PlatformRule};
use perhop_ios::Profile;

use crate::node::Node;
use crate::reference::hold_page;

const BEGIN: &str = "<!-- profiles: kept true by a test of perhop-ios (BLESS=1 writes them) -->\n";
const END: &str = "<!-- end of profiles -->";

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_value_has_its_source() {
    for profile in Profile::ALL {
        let rows = profile.rules().rows();
        assert!(rows.len() >= 30);
        for PlatformRule { rule, source, value, .. } in rows {
            let place = format!("{}: {rule}", profile.name());
            assert!(source.len() >= 10 && source.trim() == source, "{place} has no source");
            assert!(!value.to_string().is_empty(), "{place} has no value");
        }
    }
}

#[test]
fn every_profile_file_is_valid() {
    let mut names: Vec<String> = fs::read_dir(folder().join("profiles"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut known = Profile::ALL.map(Profile::name);
    known.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn a_value_without_evidence_and_a_rule_that_does_not_exist_are_refused() {
    let text = fs::read_to_string(folder().join("profiles/pre-hqf.toml")).unwrap();
    let read = |text: &str| ProfileRules::read(text, &|_| None);
    assert!(read(&text).is_ok());
    let cases = [
        (text.replacen("certainty = \"documented\"\n", "", 1), "missing field `certainty`"),
        (text.replacen("source = ", "sources = ", 1), "unknown field `sources`"),
        (text.replacen("[scheduler]", "[schedule]", 1), "unknown field `schedule`"),
        (text.replacen("\"weighted-shares\"", "\"fair\"", 1), "unknown variant `fair`"),
        (format!("base = \"hqf\"\n{text}"), "there is no base `hqf`"),
    ];
    for (wrong, expected) in cases {
        let error = read(&wrong).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// Only the values of a profile may decide about behavior. A comparison with the name of a profile would be a
/// rule without a source.
#[test]
fn only_the_platform_module_names_profiles() {
    let mut found = Vec::new();
    for file in sources(&folder().join("src")) {
        if file.starts_with(folder().join("src/platform")) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let names = [
                "Profile::PreHqf",
                "Profile::Vip7500",
                "Profile::Hqf",
                "Profile::IosXe",
                "Profile::Nexus9000",
                "Profile::Asr9000",
                "Profile::Ncs5500",
                ".profile =",
                ".profile !",
                ".profile {",
            ];
            if names.iter().any(|name| line.contains(name)) {
                found.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[test]
fn the_page_lists_the_profiles() {
    hold_page("ios.md", BEGIN, END, &table());
    hold_page("ios-xr.md", BEGIN, END, &table_of_ios_xr());
    hold_page("nx-os.md", BEGIN, END, &table_of_nx_os());
}

/// The table of the rules for NX-OS, one row per rule.
fn table_of_nx_os() -> String {
    let mut text = String::from("\n| rule | `nexus-9000` |\n|---|---|\n");
    for row in Profile::Nexus9000.rules().rows() {
        writeln!(text, "| `{}`: {} | {} |", row.rule, row.meaning, cell(&row)).unwrap();
    }
    text.push('\n');
    text
}

/// The table of the rules for the two platforms with IOS XR, one row per rule.
fn table_of_ios_xr() -> String {
    let [.., asr, ncs] = Profile::ALL.map(|profile| profile.rules().rows());
    let mut text = String::from("\n| rule | `asr-9000` | `ncs-5500` |\n|---|---|---|\n");
    for (asr, ncs) in asr.iter().zip(&ncs) {
        writeln!(text, "| `{}`: {} | {} | {} |", asr.rule, asr.meaning, cell(asr), cell(ncs)).unwrap();
    }
    text.push('\n');
    text
}

/// The table of the rules, one row per rule. The two oldest profiles share a column, and a cell names the
/// profile that differs.
fn table() -> String {
    let [old, vip, hqf, _, xe, ..] = Profile::ALL.map(|profile| profile.rules().rows());
    let mut text = String::from("\n| rule | `pre-hqf`, `7500-vip` | `hqf` | `ios-xe` |\n|---|---|---|---|\n");
    for (((old, vip), hqf), xe) in old.iter().zip(&vip).zip(&hqf).zip(&xe) {
        let vip = if cell(vip) == cell(old) { String::new() } else { format!("; 7500: {}", cell(vip)) };
        let (rule, meaning) = (&old.rule, old.meaning);
        writeln!(text, "| `{rule}`: {meaning} | {}{vip} | {} | {} |", cell(old), cell(hqf), cell(xe))
            .unwrap();
    }
    text.push('\n');
    text
}

fn cell(row: &PlatformRule) -> String {
    let words = row.note.clone().unwrap_or_else(|| row.value.to_string());
    format!("{words} {}", letter(row.certainty))
}

fn letter(certainty: EvidenceKind) -> char {
    match certainty {
        EvidenceKind::Documented => 'D',
        EvidenceKind::Printed => 'O',
        EvidenceKind::Measured => 'M',
        EvidenceKind::Inferred => 'I',
        EvidenceKind::Recalled => 'L',
    }
}

/// The queue of a class with `random-detect` has a default limit, except in a virtual IOS.
#[test]
fn a_virtual_ios_limits_queues_with_wred_only_where_a_limit_is_written() {
    let limit = |profile: Profile, line: &str| {
        let text = format!(
            "policy-map P\n class class-default\n  bandwidth 500\n  random-detect\n{line}\
             interface GigabitEthernet0/0\n service-policy output P\n"
        );
        let node = Node::from_text(&text, profile);
        let port = node.port("GigabitEthernet0/0");
        let buffer = &port.output.queueing.as_ref().unwrap().classes[0].buffer;
        serde_json::to_value(buffer).unwrap()["wred"]["limit"].clone()
    };
    assert_eq!(limit(Profile::Hqf, ""), "64 packets");
    assert_eq!(limit(Profile::Iosv, ""), serde_json::Value::Null);
    assert_eq!(limit(Profile::Iosv, "  queue-limit 512\n"), "512 packets");
}
