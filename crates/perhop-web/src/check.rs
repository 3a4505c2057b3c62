//! [`check`]: the diagnostics of a text before a run.

use perhop_device::{Detail, ParseOptions};
use perhop_front_ends::{FRONT_ENDS, loader};
use perhop_scenario::{Document, Loaded};
use serde_json::{Value, json};

use crate::answer::Answer;

/// The file name in diagnostics.
pub(crate) const NAME: &str = "scenario.perhop.yaml";

/// Reads and checks the scenario in `text`.
pub(crate) fn load(text: &str) -> Result<Loaded, Answer> {
    let refused = |diagnostics| Answer::refused(&diagnostics);
    let document = Document::parse(text, NAME).map_err(refused)?;
    loader().load_document(&document, ".").map_err(refused)
}

/// Checks `text`, a scenario or a router configuration. Returns its kind, its diagnostics with their lines,
/// and the parts that can be run. A text with errors also has a normal reply.
pub(crate) fn check(text: &str) -> Answer {
    if !has_scenario_keys(text) && FRONT_ENDS.recognize(text) {
        check_router(text)
    } else {
        check_scenario(text)
    }
}

/// Whether `text` has one of the top-level keys of perhop's own files, as in `perhop.configuration` of
/// Python. The keys distinguish the two kinds, because policies of scenarios contain words of router
/// configurations.
fn has_scenario_keys(text: &str) -> bool {
    let has_key = |line: &str| {
        let rest = line.strip_prefix("perhop").or_else(|| line.strip_prefix("policies"));
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    text.lines().any(has_key)
}

fn check_scenario(text: &str) -> Answer {
    let loaded = Document::parse(text, NAME).and_then(|document| {
        let loaded = loader().load_document(&document, ".")?;
        let mut warnings = loaded.warnings.clone();
        warnings.extend(loader().findings(&document, &loaded.base).unwrap_or_default());
        Ok((loaded, warnings))
    });
    Answer::ok(match loaded {
        Ok((loaded, warnings)) => json!({
            "kind": "scenario", "runs": true, "diagnostics": warnings,
            "scenario": loaded.scenario, "resolved": loaded.resolved,
        }),
        Err(wrong) => json!({ "kind": "scenario", "runs": false, "diagnostics": wrong.to_json() }),
    })
}

fn check_router(text: &str) -> Answer {
    let read = FRONT_ENDS
        .choose(text, None)
        .and_then(|front_end| Ok((front_end, front_end.parse(text, &ParseOptions::default())?)));
    let (front_end, device) = match read {
        Ok(read) => read,
        Err(error) => return Answer::failed(&error.message, &error.help.unwrap_or_default()),
    };
    let mut report = json!(device.report(Detail::Policies));
    let ports = report["router"]["ports"].take();
    let has_line = |port: &&Value| port["name"].as_str().is_some_and(|name| front_end.has_line(name));
    let ports = ports.as_array().into_iter().flatten().filter(has_line);
    let interfaces: Vec<Value> = ports.filter_map(interface).collect();
    Answer::ok(json!({
        "kind": "router", "runs": !interfaces.is_empty(), "interfaces": interfaces,
        "diagnostics": report["diagnostics"].take(), "counts": report["counts"].take(),
        "lines": report["lines"].take(), "platform": report["platform"].take(),
    }))
}

/// Describes an interface; `None` if it is shut down.
fn interface(port: &Value) -> Option<Value> {
    (port["shutdown"] == false).then(|| {
        json!({
            "name": port["name"], "queues": port["output"]["queueing"].is_object(),
            "policy": port["policies"]["output"]["name"],
            "rate": if port["wire"]["rate"].is_null() { &port["bandwidth"] } else { &port["wire"]["rate"] },
        })
    })
}
