//! Tests that the replies to the page agree with the engine.

use std::path::Path;

use perhop_front_ends::{FRONT_ENDS, loader};
use perhop_scenario::Document;
use perhop_sim::{EngineChoice, Progress, RunOptions, run};
use perhop_web::{Answer, Session};
use serde_json::{Value, json};

fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// Returns the reply as the page decodes it from the module's memory.
#[allow(clippy::needless_pass_by_value)] // callers pass temporaries
fn ask(session: &mut Session, question: Value) -> (Value, Vec<(String, Vec<f64>)>) {
    let bytes = session.answer(question.to_string().as_bytes()).to_bytes();
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let value: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    let mut numbers = bytes[4 + length..].as_chunks::<8>().0.iter().map(|bits| f64::from_le_bytes(*bits));
    let names = value["columns"].as_array().unwrap().iter();
    let columns = names
        .map(|entry| {
            let count = entry[1].as_u64().unwrap() as usize;
            (entry[0].as_str().unwrap().to_owned(), numbers.by_ref().take(count).collect())
        })
        .collect();
    assert!(numbers.next().is_none(), "nothing behind the columns");
    (value, columns)
}

fn ok(session: &mut Session, question: Value) -> Value {
    let (mut answer, _) = ask(session, question);
    assert!(answer["ok"].is_object(), "{answer}");
    answer["ok"].take()
}

/// Returns the summary of a native run.
fn natively(text: &str, seed: u64) -> String {
    let document = Document::parse(text, "a.yaml").unwrap();
    let loaded = loader().load_document(&document, ".").unwrap();
    let options = RunOptions { seed, replications: 1, threads: 1, engine: EngineChoice::Fast };
    run(&loaded.resolved, Path::new("."), &options, &Progress::new()).unwrap().summary.to_json()
}

#[test]
fn a_run_of_the_page_has_the_usual_summary() {
    let mut session = Session::default();
    for name in ["examples/wred.perhop.yaml", "python/perhop/templates/voice.perhop.yaml"] {
        let text = file(name);
        let started = ok(&mut session, json!({"ask": "start", "text": text, "seed": 5, "intervals": 50}));
        let classes = started["classes"].as_array().unwrap().len();
        let mut times = Vec::new();
        for step in 1..=20 {
            let (_, columns) =
                ask(&mut session, json!({"ask": "advance", "fraction": f64::from(step) / 20.0}));
            let column = |name: &str| columns.iter().find(|(known, _)| known == name).unwrap().1.clone();
            times.extend(column("time"));
            for class in 0..classes {
                assert_eq!(column(&format!("loss/{class}")).len(), column("time").len());
                assert!(
                    column(&format!("loss/{class}"))
                        .iter()
                        .all(|loss| loss.is_nan() || (0.0..=1.0).contains(loss))
                );
            }
        }
        assert_eq!(times.len(), 50, "every interval is reported once");
        assert!(times.is_sorted());
        let ended = ok(&mut session, json!({"ask": "finish"}));
        assert_eq!(ended["summary"], natively(&text, 5), "samples for charts do not change the results");
        let table = ok(&mut session, json!({"ask": "table", "name": "classes"}));
        assert!(table["csv"].as_str().unwrap().starts_with("replication,class,"));
        let (about, packets) = ask(
            &mut session,
            json!({"ask": "packets", "port": 2, "from": 3.0, "until": 3.5, "enough": 5000}),
        );
        assert!(about["ok"]["packets"].as_u64().unwrap() > 50);
        assert!(packets.iter().all(|(_, values)| values.len() as u64 == about["ok"]["packets"]));
    }
}

#[test]
fn a_router_gets_traffic_for_each_of_its_classes() {
    let mut session = Session::default();
    let text = file("examples/router.cfg");
    let found = ok(&mut session, json!({"ask": "check", "text": text}));
    assert_eq!((&found["kind"], &found["runs"]), (&json!("router"), &json!(true)));
    let around = ok(&mut session, json!({"ask": "around", "text": text, "loads": {"voice": 100_000.0}}));
    assert_eq!(around["interface"], "Serial0/0", "the one with a policy");
    let classes: Vec<&str> =
        around["classes"].as_array().unwrap().iter().map(|class| class["queue"].as_str().unwrap()).collect();
    assert_eq!(classes, ["voice", "others/business", "others/class-default"]);
    assert_eq!(around["classes"][0]["load"], 100_000.0);
    let scenario = around["scenario"].to_string();
    ok(&mut session, json!({"ask": "start", "text": scenario, "intervals": 10}));
    let ended = ok(&mut session, json!({"ask": "finish"}));
    assert_eq!(ended["summary"], natively(&scenario, 1));
    // The traffic that was inferred for each queue of the interface joins that queue.
    let summary: Value = serde_json::from_str(ended["summary"].as_str().unwrap()).unwrap();
    for queue in ["voice", "others/business", "others/class-default"] {
        let is_queue = |entry: &&Value| entry["port"] == "branch->far-side" && entry["queue"] == queue;
        let ports = summary["ports"].as_array().unwrap().iter().filter(is_queue);
        let arrived: f64 = ports.map(|port| port["arrived_packets"]["mean"].as_f64().unwrap_or(0.0)).sum();
        assert!(arrived > 100.0, "{queue}: {arrived}");
    }
    let less = json!({"ask": "around", "text": text, "rate": "8Mb/s", "ring": 1, "loads": {"voice": 0.0}});
    let less = ok(&mut session, less);
    assert_eq!((&less["rate"], &less["scenario"]["links"][2]["rate"]), (&json!(8_000_000), &json!("8Mb/s")));
    assert_eq!(less["scenario"]["links"][2]["interfaces"]["branch"]["ring"], json!({"packets": 1}));
    assert_eq!(less["scenario"]["traffic"].as_array().unwrap().len(), 2, "a load of zero adds no traffic");
}

#[test]
fn a_device_of_linux_gets_traffic_for_each_of_its_classes() {
    let mut session = Session::default();
    let text = "tc qdisc add dev wan0 root handle 1: htb default 20\n\
                tc class add dev wan0 parent 1: classid 1:10 htb rate 1mbit ceil 2mbit\n\
                tc class add dev wan0 parent 1: classid 1:20 htb rate 1mbit ceil 2mbit\n\
                tc filter add dev wan0 parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:10\n";
    let found = ok(&mut session, json!({"ask": "check", "text": text}));
    assert_eq!((&found["kind"], &found["runs"]), (&json!("router"), &json!(true)));
    assert_eq!(found["platform"]["profile"], "linux");
    let around = ok(&mut session, json!({"ask": "around", "text": text}));
    let assumed =
        "the line of wan0 is Ethernet of 1Gb/s: the configuration does not set the rate; set it with --rate";
    assert_eq!((&around["interface"], &around["assumed"]), (&json!("wan0"), &json!([assumed])));
    assert_eq!((&around["missing"], &around["not_looked_at"]), (&json!([]), &json!([])));
    assert_eq!(around["classes"].as_array().unwrap().len(), 2);
    let scenario = around["scenario"].to_string();
    ok(&mut session, json!({"ask": "start", "text": scenario, "intervals": 10}));
    let ended = ok(&mut session, json!({"ask": "finish"}));
    assert_eq!(ended["summary"], natively(&scenario, 1));
}

/// Checks a sample of each language, because the page must read every language of the command line. Fails for
/// a new front end without a sample.
#[test]
fn the_page_reads_every_language_of_the_registry() {
    for front_end in FRONT_ENDS.all() {
        let text = match front_end.name() {
            "Cisco IOS" => {
                "version 15.2\nclass-map CALLS\n match dscp ef\npolicy-map WAN\n class CALLS\n  priority 300\n\
                 interface Serial0/0\n bandwidth 2000\n ip address 192.0.2.1 255.255.255.252\n \
                 ip access-group 7 out\n service-policy output WAN\n"
            }
            "Linux tc" => "tc qdisc add dev wan0 root tbf rate 5mbit burst 16k latency 50ms\n",
            "Junos" => {
                "set chassis network-services enhanced-ip\n\
                 set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.1/30\n\
                 set class-of-service interfaces ge-0/0/0 scheduler-map M\n\
                 set class-of-service scheduler-maps M forwarding-class best-effort scheduler S\n\
                 set class-of-service schedulers S transmit-rate remainder\n"
            }
            other => panic!("a sample of {other} is missing"),
        };
        let mut session = Session::default();
        let found = ok(&mut session, json!({"ask": "check", "text": text}));
        assert_eq!(
            (&found["kind"], &found["runs"]),
            (&json!("router"), &json!(true)),
            "{}",
            front_end.name()
        );
        let platform = found["platform"]["profile"].as_str().unwrap();
        assert!(front_end.platforms().contains(&platform), "{platform}");
        let around = ok(&mut session, json!({"ask": "around", "text": text}));
        let lists = around["not_looked_at"].as_array().unwrap().iter();
        assert_eq!(
            lists.filter(|entry| entry.to_string().contains("ip access-group")).count() == 1,
            text.contains("access")
        );
        let scenario = around["scenario"].to_string();
        ok(&mut session, json!({"ask": "start", "text": scenario, "intervals": 2}));
        assert_eq!(ok(&mut session, json!({"ask": "finish"}))["summary"], natively(&scenario, 1));
    }
}

/// The kind of every example is recognized, although comments and names in scenarios contain words of router
/// configurations.
#[test]
fn every_example_is_recognized() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut session = Session::default();
    let mut kinds = Vec::new();
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let kind = match name.split_once('.').unwrap_or_default().1 {
            "perhop.yaml" => "scenario",
            "cfg" | "tc" => "router",
            _ => continue,
        };
        let text = std::fs::read_to_string(&path).unwrap();
        let found = ok(&mut session, json!({"ask": "check", "text": text}));
        assert_eq!(found["kind"], kind, "{name}");
        kinds.push(kind);
    }
    assert!(kinds.len() > 30 && kinds.contains(&"router"));
}

/// DRR guarantees 1.5 Mb/s of the line to files. Without a guarantee, the class would be judged by its losses
/// and fail.
#[test]
fn classes_are_judged_by_their_guarantees() {
    let text = r#"{"perhop": 1, "name": "files", "duration": "5s", "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
            "links": [{"between": ["a", "r"], "rate": "100Mb/s"},
                {"between": ["r", "b"], "rate": "2Mb/s", "interfaces": {"r": {"output": "wan"}}}],
            "policies": {"wan": {"queueing": {"scheduler": "drr", "classes": [
                {"name": "files", "match": {"dscp": "af11"}, "share": {"quantum": "4500B"}, "buffer": {"tail-drop": {"limit": "64 packets"}}},
                {"name": "rest", "share": {"quantum": "1500B"}}]}}},
            "traffic": [
                {"name": "files", "from": "a", "to": "b", "dscp": "af11", "role": "bulk", "source": {"poisson": {"rate": "2.4Mb/s", "packet": {"ip": "1500B"}}}},
                {"name": "rest", "from": "a", "to": "b", "source": {"poisson": {"rate": "3Mb/s", "packet": {"ip": "1000B"}}}}]}"#;
    let mut session = Session::default();
    let mut judged = |queues: Value| {
        ok(&mut session, json!({"ask": "start", "text": text, "seed": 1, "intervals": 5}));
        ask(&mut session, json!({"ask": "advance", "fraction": 1.0}));
        ok(&mut session, json!({"ask": "finish"}));
        let (answer, _) = ask(&mut session, json!({"ask": "calls", "codec": "g711", "queues": queues}));
        answer["ok"][0]["fitness"].clone()
    };
    // More than a third of the packets are lost, but the throughput of the class is its guaranteed rate.
    let fit = judged(json!({}));
    assert_eq!((&fit["answer"], &fit["compared"][0]["words"]), (&json!("fit"), &json!("throughput")));
    assert!((fit["compared"][0]["bound"].as_f64().unwrap() - 0.95 * 1.5e6).abs() < 1.0, "{fit}");
    // The page passes the queue to which the inference assigned the class.
    let other = json!({"files": {"port": "r->b", "queue": "rest"}});
    let bound = judged(other)["compared"][0]["bound"].clone();
    assert!((bound.as_f64().unwrap() - 0.95 * 0.5e6).abs() < 1.0, "{bound}");
}

#[test]
fn mistakes_are_reported_with_their_lines() {
    let mut session = Session::default();
    let text = file("python/perhop/templates/voice.perhop.yaml").replace("rate: 2Mb/s", "rate: 2Mbs");
    let found = ok(&mut session, json!({"ask": "check", "text": text}));
    assert_eq!(found["runs"], false);
    assert_eq!(
        (&found["diagnostics"][0]["line"], &found["diagnostics"][0]["severity"]),
        (&json!(21), &json!("error"))
    );
    for (question, says) in [
        (json!({"ask": "start", "text": text, "intervals": 5}), "`Mbs` is not a unit of a rate"),
        (json!({"ask": "finish"}), "no run was started"),
        (json!({"ask": "around", "text": "hostname r\n"}), "no interface that is up"),
        (
            json!({"ask": "around", "text": file("examples/router.cfg"), "rate": "fast"}),
            "`fast` is not a rate",
        ),
        (
            json!({"ask": "around", "text": file("examples/router.cfg"), "rate": "128kb/s"}),
            "`Serial0/0` sends at 2Mb/s, which is more than 128kb/s",
        ),
        (json!({"ask": "dance"}), "not a question"),
    ] {
        let (answer, _) = ask(&mut session, question);
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
    }
    assert_eq!(session.answer(b"\xff").value["error"]["help"], "");
    assert_eq!(Answer::failed("a", "b").value["error"]["help"], "b");
}

#[test]
fn no_input_stops_the_module() {
    let mut session = Session::default();
    let starter = file("python/perhop/templates/voice.perhop.yaml");
    let router = file("examples/router.cfg");
    for text in [starter.as_str(), router.as_str()] {
        for cut in (0..text.len()).step_by(61).filter(|cut| text.is_char_boundary(*cut)) {
            for text in [&text[..cut], &text[cut..]] {
                ask(&mut session, json!({"ask": "check", "text": text}));
                ask(&mut session, json!({"ask": "around", "text": text}));
            }
        }
    }
}

#[test]
fn a_run_that_has_ended_is_judged_by_an_exercise() {
    let mut session = Session::default();
    let start = file("examples/shaping.perhop.yaml");
    let text = start.replace("limit: 200kB", "limit: 100kB");
    let judge = json!({
        "ask": "judge", "start": start, "text": text,
        "exercise": {
            "change": [],
            "conditions": [{"path": "links.1.rate", "sign": "<=", "value": 10e6}],
            "goals": [{"class": "bursts", "column": "throughput_bps", "sign": ">=", "value": 1.5e6}],
        },
    });
    ok(&mut session, json!({"ask": "start", "text": text, "seed": 1, "intervals": 5}));
    let (early, _) = ask(&mut session, judge.clone());
    assert_eq!(early["error"]["message"], "the run has not ended");
    ok(&mut session, json!({"ask": "finish"}));
    let judged = ok(&mut session, judge);
    assert_eq!(judged["changed"], json!(["policies.shaped.queueing.classes.0.buffer.tail-drop.limit"]));
    assert_eq!(judged["conditions"], json!([{"measured": 10e6, "met": true}]));
    assert_eq!(judged["goals"][0]["met"], true);
    assert_eq!(judged["met"], false, "something else was changed");
}

#[test]
fn bounds_match_the_scenario_of_the_run() {
    let mut session = Session::default();
    let text = file("python/perhop/templates/voice.perhop.yaml");
    let (nothing, _) = ask(&mut session, json!({"ask": "bounds"}));
    assert_eq!(nothing["error"]["message"], "no run was started");
    ok(&mut session, json!({"ask": "start", "text": text, "seed": 1, "intervals": 50}));
    let bounds = ok(&mut session, json!({"ask": "bounds"}));
    let scenario = loader().load_document(&Document::parse(&text, "a.yaml").unwrap(), ".").unwrap().resolved;
    let found = perhop_bounds::network::bounds(&scenario, Path::new(".")).unwrap();
    assert_eq!(
        bounds,
        json!(perhop_bounds::report::Report::from_bounds(&scenario, &found)),
        "measuring changes nothing"
    );
}

/// The rating of G.711 without losses depends only on the delay (E-model).
#[test]
fn calls_through_a_class_are_rated() {
    let text = r#"{"perhop": 1, "name": "calls", "duration": "5s", "hosts": {"a": {}, "b": {}},
        "links": [{"between": ["a", "b"], "rate": "10Mb/s", "delay": "20ms"}],
        "traffic": [{"name": "voice", "from": "a", "to": "b", "source": {"cbr": {"rate": "80kb/s", "packet": {"ip": "200B"}}}}]}"#;
    let mut session = Session::default();
    let question = json!({"ask": "calls", "codec": "g711"});
    let (early, _) = ask(&mut session, question.clone());
    assert_eq!(early["error"]["message"], "no run was started");
    ok(&mut session, json!({"ask": "start", "text": text, "seed": 1, "intervals": 10}));
    let (early, _) = ask(&mut session, question.clone());
    assert_eq!(early["error"]["message"], "the run has not ended");
    ask(&mut session, json!({"ask": "advance", "fraction": 1.0}));
    ok(&mut session, json!({"ask": "finish"}));
    let (answer, _) = ask(&mut session, question);
    let call = &answer["ok"][0];
    // The delay is the sum of the propagation delay of 20 ms, the transmission of 200 bytes at 10 Mb/s, the
    // buffer, and 161 samples of coding.
    let delay = 0.020 + 0.000_16 + 0.040 + 0.020_125;
    assert!((call["mouth_to_ear_s"].as_f64().unwrap() - delay).abs() < 1e-4, "{call}");
    assert_eq!((&call["late_percent"], &call["category"]), (&json!(0.0), &json!("best")));
    let r = call["r"].as_f64().unwrap();
    assert!((r - (93.2 - 0.024 * 80.3)).abs() < 0.3, "the fit of Cole and Rosenbluth: {r}");
}

/// Compares the inferred scenario with a file. `tests/test_inference.py` compares the command line with the
/// same file.
#[test]
fn a_router_has_the_scenario_of_the_command_line() {
    let mut session = Session::default();
    for name in ["router", "branch-15-subrate", "qos-group"] {
        let folder = if name == "router" { "examples" } else { "tests/configurations" };
        let text = file(&format!("{folder}/{name}.cfg"));
        let around = ok(&mut session, json!({"ask": "around", "text": text}));
        let expected = file(&format!("crates/perhop-inference/tests/scenarios/{name}.json"));
        assert_eq!(format!("{}\n", around["scenario"]), expected, "{name}");
        // If the page sets the same loads, the scenario does not change.
        let classes = around["classes"].as_array().unwrap();
        let loads: serde_json::Map<String, Value> = classes
            .iter()
            .map(|class| (class["queue"].as_str().unwrap().to_owned(), class["load"].clone()))
            .collect();
        let again = ok(&mut session, json!({"ask": "around", "text": text, "loads": loads}));
        assert_eq!(again["scenario"], around["scenario"], "{name}");
    }
}

#[test]
fn the_page_gets_the_memory_of_a_switch_over_time() {
    let mut session = Session::default();
    let lesson = file("python/perhop/lessons/files/13-microburst.yaml");
    let (_, text) = lesson.split_once("scenario: |\n").unwrap();
    let (text, _) = text.split_once("\nsolution:").unwrap();
    let started = ok(&mut session, json!({"ask": "start", "text": text, "seed": 1, "intervals": 10}));
    let ports = started["ports"].as_array().unwrap();
    let port = ports.iter().position(|port| port["name"] == "access->store").unwrap();
    let question =
        |port: usize| json!({"ask": "memory", "port": port, "from": 2.0, "until": 2.005, "samples": 50});
    let (answer, columns) = ask(&mut session, question(port));
    let memory = &answer["ok"];
    assert_eq!((memory["unit_bytes"].as_u64(), memory["pool_units"].as_u64()), (Some(256), Some(15_603)));
    let queues = memory["ports"][0]["queues"].as_array().unwrap();
    assert_eq!(queues.iter().map(|queue| &queue["reserved"]).collect::<Vec<_>>(), [30, 0, 0]);
    // There are three thresholds. The last one is 100 % of a fifth of 300 units.
    assert_eq!(queues[1]["most"], json!([47, 53, 60]));
    let column = |name: &str| &columns.iter().find(|(known, _)| known == name).unwrap().1;
    let most = column("units/0/1").iter().copied().fold(0.0, f64::max);
    assert_eq!(most, 60.0, "the burst fills the queue");
    // Of the 264 frames of the burst, the queue admits ten, the line sends some, and the rest is dropped.
    let dropped: f64 = column("drop/packets").iter().sum();
    assert!((240.0..255.0).contains(&dropped), "{dropped}");
    let (without, _) = ask(&mut session, question(0));
    assert_eq!(without["ok"], Value::Null);
}
