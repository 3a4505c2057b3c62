//! [`check`]: what is to be said of a text before it is run.

use perhop_device::{Detail, ParseOptions};
use perhop_front_ends::{FRONT_ENDS, loader};
use perhop_scenario::{Document, Loaded};
use serde_json::{Value, json};

use crate::answer::Answer;

/// What diagnostics call the text.
pub(crate) const NAME: &str = "scenario.perhop.yaml";

/// Reads and checks the scenario in `text`.
pub(crate) fn load(text: &str) -> Result<Loaded, Answer> {
    let refused = |diagnostics| Answer::refused(&diagnostics);
    let document = Document::parse(text, NAME).map_err(refused)?;
    loader().load_document(&document, ".").map_err(refused)
}

/// What is to be said of `text`, a scenario or a router's configuration: its kind, diagnostics with their
/// lines, and what can be run. An error is an answer as well.
pub(crate) fn check(text: &str) -> Answer {
    if FRONT_ENDS.recognize(text) { check_router(text) } else { check_scenario(text) }
}

fn check_scenario(text: &str) -> Answer {
    let loaded = Document::parse(text, NAME).and_then(|document| {
        let loaded = loader().load_document(&document, ".")?;
        let mut warnings = loaded.warnings.clone();
        warnings.extend(loader().findings(&document, &loaded.base).unwrap_or_default());
        Ok((loaded, warnings))
    });
    Answer::of(match loaded {
        Ok((loaded, warnings)) => json!({
            "kind": "scenario", "runs": true, "diagnostics": warnings,
            "scenario": loaded.scenario, "resolved": loaded.resolved,
        }),
        Err(wrong) => json!({ "kind": "scenario", "runs": false, "diagnostics": wrong.to_json() }),
    })
}

fn check_router(text: &str) -> Answer {
    let device = match FRONT_ENDS.parse(text, &ParseOptions::default()) {
        Ok(device) => device,
        Err(error) => return Answer::failed(&error.message, &error.help.unwrap_or_default()),
    };
    let mut said = json!(device.report(Detail::Policies));
    let ports = said["router"]["ports"].take();
    let interfaces: Vec<Value> = ports.as_array().into_iter().flatten().filter_map(interface).collect();
    Answer::of(json!({
        "kind": "router", "runs": !interfaces.is_empty(), "interfaces": interfaces,
        "diagnostics": said["diagnostics"].take(), "counts": said["counts"].take(),
        "lines": said["lines"].take(), "platform": said["platform"].take(),
    }))
}

/// An interface that packets may leave by.
fn interface(port: &Value) -> Option<Value> {
    let is_open = port["shutdown"] == false && port["name"] != "control-plane";
    is_open.then(|| {
        json!({
            "name": port["name"], "queues": port["output"]["queueing"].is_object(),
            "policy": port["policies"]["output"]["name"],
            "rate": if port["wire"]["rate"].is_null() { &port["bandwidth"] } else { &port["wire"]["rate"] },
        })
    })
}
