//! Tests that every question about a configuration works for the invented language, without a change of any
//! other crate.

use std::path::Path;

use perhop_device::{Detail, FrontEnd, FrontEnds, ParseOptions};
use perhop_front_ends::FRONT_ENDS;
use perhop_ios::Ios;
use perhop_network::Network;
use perhop_scenario::{Document, Loaded, Loader, Severity};
use perhop_sim::{EngineChoice, Progress, RunOptions, run};
use perhop_tc::Tc;
use serde_json::{Value, json};

use crate::invented::Lattice;

const WITH_INVENTED: FrontEnds<'static> = FrontEnds::new(&Ios, &[&Tc, &Lattice]);

const TEXT: &str = "lattice 1
device edge
port lan rate 100Mb/s
port wan rate 1Mb/s mtu 1500
  lane voice dscp ef share 60
  lane rest share 60
; lanes of the exchange
twist
";

fn report(text: &str) -> Value {
    let device = WITH_INVENTED.parse(text, &ParseOptions::default()).unwrap();
    json!(device.report(Detail::Policies))
}

/// Loads a scenario with the device, with `changes` to its configuration.
fn load(changes: &Value) -> Result<Loaded, perhop_scenario::Diagnostics> {
    let mut configuration = json!({ "text": TEXT });
    for (key, value) in changes.as_object().unwrap() {
        configuration[key] = value.clone();
    }
    let packet = json!({ "ip": "500B" });
    let cbr = |rate: &str| json!({ "cbr": { "rate": rate, "packet": packet } });
    let scenario = json!({
        "perhop": 1, "name": "invented", "duration": "10s",
        "hosts": { "a": {}, "b": {} },
        "routers": { "edge": { "configuration": configuration } },
        "links": [
            { "between": ["a", "edge"], "rate": "100Mb/s", "interfaces": { "edge": { "name": "lan" } } },
            { "between": ["edge", "b"], "rate": "1Mb/s", "interfaces": { "edge": { "name": "wan" } } },
        ],
        "traffic": [
            { "name": "voice", "from": "a", "to": "b", "dscp": "ef", "source": cbr("400kb/s") },
            { "name": "bulk", "from": "a", "to": "b", "source": cbr("2Mb/s") },
        ],
    });
    let network = Network(WITH_INVENTED);
    Loader::with(&network).load_document(&Document::from_json(scenario), ".")
}

#[test]
fn the_report_accounts_for_every_line_and_names_the_platform() {
    let report = report(TEXT);
    assert_eq!(report["platform"]["profile"], "lattice-1");
    assert_eq!(report["platform"]["because"][0]["line"], 1);
    let states: Vec<(u64, &str)> = report["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["number"].as_u64().unwrap(), line["state"].as_str().unwrap()))
        .collect();
    let expected = [
        (1, "irrelevant"),
        (2, "irrelevant"),
        (3, "modelled"),
        (4, "modelled"),
        (5, "modelled"),
        (6, "modelled"),
        (8, "not-recognized"),
    ];
    assert_eq!(states, expected, "the comment is left out");
    let found = &report["diagnostics"][0];
    assert_eq!((&found["line"], &found["interfaces"]), (&json!(4), &json!(["wan"])));
    assert_eq!(report["router"]["hostname"], "edge");
    assert_eq!(report["router"]["ports"][1]["output"]["queueing"]["classes"][0]["name"], "voice");
}

#[test]
fn a_run_shares_the_wire_by_the_configuration() {
    let loaded = load(&json!({"add": ["port spare"]})).unwrap();
    let doubtful = loaded.warnings.iter().find(|warning| warning.rule.id == "wire-overbooked").unwrap();
    assert_eq!(doubtful.message, "line 4: the lanes of wan have 120 percent");
    let fine = TEXT.replace("share 60", "share 50");
    let loaded = load(&json!({ "text": fine })).unwrap();
    assert_eq!(loaded.resolved.links[1].interfaces["edge"].mtu.unwrap().as_bytes(), 1500);
    let warning = loaded.warnings.iter().find(|warning| warning.message.contains("twist")).unwrap();
    assert_eq!(warning.severity, Severity::Warning);
    let options = RunOptions { seed: 1, replications: 1, threads: 1, engine: EngineChoice::Fast };
    let ended = run(&loaded.resolved, Path::new("."), &options, &Progress::new()).unwrap();
    let summary: Value = serde_json::from_str(&ended.summary.to_json()).unwrap();
    let delivered = |name: &str| {
        let classes = summary["classes"].as_array().unwrap();
        let class = classes.iter().find(|class| class["class"] == name).unwrap();
        let mean = |key: &str| class[key]["mean"].as_f64().unwrap();
        mean("delivered_packets") / mean("offered_packets")
    };
    assert!(delivered("voice") > 0.99, "its lane has more than it offers: {}", delivered("voice"));
    // The lane of bulk gets the rate that voice leaves, which is less than a third of its offered bytes.
    assert!(delivered("bulk") < 0.33, "{}", delivered("bulk"));
}

#[test]
fn errors_of_options_name_their_keys() {
    let at = |changes: Value| {
        let found = load(&changes).unwrap_err();
        let one = found.iter().next().unwrap();
        (one.path.clone(), one.message.clone())
    };
    let (path, message) = at(json!({"platform": {"profile": "lattice-9"}}));
    assert_eq!(path, "routers.edge.configuration.platform.profile");
    assert_eq!(message, "there is no platform `lattice-9`");
    let (path, _) = at(json!({"platform": {"particle": "64B"}}));
    assert_eq!(path, "routers.edge.configuration.platform.particle");
    let (path, _) = at(json!({"platform": {"settings": {"depth": 3}}}));
    assert_eq!(path, "routers.edge.configuration.platform.settings.depth");
    let (_, message) = at(json!({"platform": {"settings": {"particle": "64B"}, "particle": "64B"}}));
    assert!(message.contains("set twice"), "{message}");
}

#[test]
fn each_text_has_the_front_end_of_its_language() {
    let name = |text: &str, platform| WITH_INVENTED.choose(text, platform).map(FrontEnd::name);
    assert_eq!(name(TEXT, None), Ok("Lattice"));
    assert_eq!(name("tc qdisc add dev eth0 root fq_codel\n", None), Ok("Linux tc"));
    assert_eq!(name("policy-map p\n class class-default\n  fair-queue\n", None), Ok("Cisco IOS"));
    assert_eq!(name("", None), Ok("Cisco IOS"), "the fallback");
    assert_eq!(name(TEXT, Some("linux")), Ok("Linux tc"), "the platform decides");
    let error = name(TEXT, Some("other")).unwrap_err();
    assert!(error.help.unwrap().ends_with("cisco-7500-vip, linux, lattice-1"));
    assert!(WITH_INVENTED.recognize(TEXT));
    assert!(!FRONT_ENDS.recognize("lattice 1\nport lan rate 100Mb/s\n"), "only the test knows it");
}
