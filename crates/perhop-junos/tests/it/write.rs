//! Policies as Junos: the written commands, and the policies that perhop reads from them.

use perhop_device::intent::Direction;
use perhop_device::{DeviceModel, FrontEnd, PoliciesToWrite, PolicyToWrite, SourceConfiguration, Written};
use perhop_junos::Junos;
use perhop_qos::Rate;
use perhop_qos::policy::{ClassConfig, PolicyConfig};
use serde_json::{Value, json};

use crate::read::{parse, show};

const RATE: u64 = 10_000_000;

fn written(policies: Vec<PolicyToWrite>, source: Option<&str>) -> Written {
    let configuration =
        source.map(|text| SourceConfiguration { text: text.to_owned(), platform: "junos-mx".to_owned() });
    let policies = PoliciesToWrite { file: "p.yaml".to_owned(), policies, configuration, platform: None };
    let (name, writer) = Junos.writer().unwrap();
    assert_eq!(name, "junos");
    writer.write(&policies).unwrap()
}

fn policy(direction: Direction, policy: Value) -> PolicyToWrite {
    PolicyToWrite {
        name: "WAN".to_owned(),
        interface: None,
        direction: Some(direction),
        rate: Some(Rate::from_bits_per_second(RATE)),
        policy: serde_json::from_value::<PolicyConfig>(policy).unwrap(),
    }
}

/// Returns the device that a text configures. The text must have no findings except notes.
fn read(text: &str) -> DeviceModel {
    let model = parse(text, None);
    let shown = show(&model);
    assert!(model.platform.certain && model.platform.name == "junos-mx", "{shown}");
    assert_eq!(shown.lines().filter(|line| !line.contains("note:")).count(), 0, "{shown}\n{text}");
    model
}

fn lines<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(word) && !line.starts_with('#')).collect()
}

fn queues(model: &DeviceModel) -> Vec<ClassConfig> {
    let queueing = model.router.ports[0].output.queueing.clone().unwrap();
    queueing.classes[0].queueing.clone().unwrap().classes
}

fn llq() -> Value {
    json!({
        "overhead": 38,
        "queueing": {"scheduler": "priority", "classes": [
            {"name": "voice", "match": {"dscp": "ef"},
             "police": {"rate": "1Mb/s", "burst": "20kB", "when": "always"},
             "buffer": {"tail-drop": {"limit": "16kB"}}},
            {"name": "rest", "queueing": {"scheduler": "scfq", "classes": [
                {"name": "web", "match": {"protocol": "tcp", "destination-port": 443}, "share": {"bandwidth": "3Mb/s"},
                 "buffer": {"tail-drop": {"limit": "64kB"}}},
                {"name": "default", "share": {"bandwidth": "6Mb/s"}, "buffer": {"tail-drop": {"limit": "64kB"}}},
            ]}},
        ]},
    })
}

#[test]
fn classes_become_terms_that_set_the_forwarding_class() {
    let found = written(vec![policy(Direction::Output, llq())], None);
    let text = &found.text;
    let v4 = "set firewall family inet filter WAN term";
    assert_eq!(
        lines(text, "family inet filter WAN term"),
        [
            format!("{v4} 1 from dscp 46"),
            format!("{v4} 1 then forwarding-class voice"),
            format!("{v4} 1 then accept"),
            format!("{v4} 2 from protocol 6"),
            format!("{v4} 2 from destination-port 443"),
            format!("{v4} 2 then forwarding-class web"),
            format!("{v4} 2 then accept"),
            format!("{v4} 3 then forwarding-class best-effort"),
            format!("{v4} 3 then accept"),
        ]
    );
    assert!(text.contains("family inet6 filter WAN term 1 from traffic-class 46"), "{text}");
    assert_eq!(
        lines(text, "WAN-voice priority"),
        ["set class-of-service schedulers WAN-voice priority strict-high"]
    );
    assert_eq!(lines(text, "rate-limit").len(), 1);
    let model = read(text);
    let queues = queues(&model);
    let named = |name: &str| queues.iter().find(|class| class.name == name).unwrap();
    let megabits = |name: &str| named(name).share.rate.unwrap().as_bits_per_second() as f64 / 1e6;
    assert_eq!((megabits("web"), megabits("best-effort")), (3.0, 6.0));
    assert_eq!(named("voice").police.unwrap().rate, Rate::from_bits_per_second(1_000_000));
    let bytes = |name: &str| serde_json::to_value(&named(name).buffer).unwrap()["tail-drop"]["limit"].clone();
    assert_eq!(bytes("web"), "64kB", "{text}");
}

#[test]
fn a_policer_lowers_the_loss_priority_and_a_rewrite_rule_marks() {
    let mut config = llq();
    config["conditioners"] = json!([{
        "name": "web", "match": {"protocol": "tcp", "destination-port": 443},
        "meter": {"token-bucket": {"rate": "2Mb/s", "burst": "30kB"}},
        "green": [{"mark": "af31"}, "transmit"], "red": [{"mark": "af32"}, "transmit"],
    }]);
    let found = written(vec![policy(Direction::Output, config)], None);
    let rules: Vec<&str> = lines(&found.text, "rewrite-rules dscp WAN forwarding-class");
    assert_eq!(
        rules,
        [
            "set class-of-service rewrite-rules dscp WAN forwarding-class web loss-priority high code-point 011100",
            "set class-of-service rewrite-rules dscp WAN forwarding-class web loss-priority low code-point 011010",
        ]
    );
    assert!(
        found.text.contains("set firewall policer WAN-1 if-exceeding bandwidth-limit 2000000"),
        "{}",
        found.text
    );
    assert!(found.text.contains("policer WAN-1 then loss-priority high"));
    assert!(found.not_expressed.iter().any(|note| note.construct.contains("IPv4 and IPv6")));
    let stages = read(&found.text).router.ports[0].output.conditioners.clone();
    assert!(stages.iter().any(|stage| stage.meter.is_some()));
}

#[test]
fn a_meter_of_several_terms_polices_their_classes_together() {
    let mut config = llq();
    // Packets to the two ports share a meter, but have different marks.
    config["conditioners"] = json!([
        {"name": "both", "match": {"any": [{"protocol": "tcp", "destination-port": 443}, {"protocol": "udp", "destination-port": 53}]},
         "meter": {"token-bucket": {"rate": "2Mb/s", "burst": "30kB"}}, "green": ["continue"], "red": ["drop"]},
        {"name": "dns", "match": {"protocol": "udp"}, "actions": [{"mark": "cs6"}, "transmit"]},
    ]);
    let found = written(vec![policy(Direction::Output, config)], None);
    let police = lines(&found.text, "family inet filter WAN term");
    let policed: Vec<&&str> = police.iter().filter(|line| line.contains("then policer")).collect();
    assert_eq!(policed.len(), 1, "{}", found.text);
    let term = policed[0].split(" then ").next().unwrap();
    let of_term =
        police.iter().filter(|line| line.starts_with(&format!("{term} from forwarding-class"))).count();
    assert!(of_term >= 2, "{}", found.text);
    read(&found.text);
}

#[test]
fn arriving_codepoints_alone_become_a_classifier() {
    let config = json!({"conditioners": [
        {"name": "voice", "match": {"dscp": "ef"}, "actions": [{"label": 5}, "transmit"]},
        {"name": "bulk", "match": {"dscp": ["af11", "af12"]}, "actions": [{"label": 2}, {"color": 1}, "transmit"]},
    ]});
    let found = written(vec![policy(Direction::Input, config)], None);
    assert_eq!(lines(&found.text, "filter"), Vec::<&str>::new());
    let own = lines(&found.text, "classifiers dscp WAN forwarding-class group-5");
    let head = "set class-of-service classifiers dscp WAN forwarding-class";
    assert_eq!(own, [format!("{head} group-5 loss-priority low code-points 101110")]);
    let bulk = lines(&found.text, "forwarding-class group-2 loss-priority medium-low");
    assert_eq!(bulk.len(), 4, "{}", found.text);
    read(&found.text);
}

#[test]
fn thresholds_become_drop_profiles_and_rates_without_a_line_a_shaper() {
    let mut config = llq();
    config["overhead"] = json!(14);
    config["queueing"]["classes"][1]["queueing"]["classes"][1]["buffer"] = json!({"red": {
        "precedences": [{"min": "20kB", "max": "40kB", "max-probability": 0.1}], "limit": "80kB",
    }});
    let mut entry = policy(Direction::Output, config);
    entry.rate = Some(Rate::from_bits_per_second(12_000_000));
    let found = written(vec![entry], None);
    let text = &found.text;
    assert!(
        text.contains("drop-profiles WAN-best-effort-drops-0 fill-level 50 drop-probability 100"),
        "{text}"
    );
    assert!(text.contains("overhead-accounting frame-mode bytes -24"), "{text}");
    assert!(text.contains("traffic-control-profiles WAN shaping-rate 12000000"), "{text}");
    let model = read(text);
    let node = model.router.ports[0].output.queueing.clone().unwrap().classes[0].clone();
    assert_eq!(node.share.ceil, Some(Rate::from_bits_per_second(12_000_000)));
    assert_eq!(node.share.link_layer.unwrap().overhead, 14);
}

/// Queues that Junos selects by forwarding class need no filter.
#[test]
fn classes_of_junos_stay() {
    let text = "set chassis network-services enhanced-ip\n\
                set interfaces ge-0/0/1 unit 0 family inet\n\
                set class-of-service forwarding-classes class voice queue-num 1\n\
                set class-of-service schedulers be transmit-rate percent 60\n\
                set class-of-service schedulers v transmit-rate percent 40\n\
                set class-of-service schedulers v priority high\n\
                set class-of-service scheduler-maps m forwarding-class best-effort scheduler be\n\
                set class-of-service scheduler-maps m forwarding-class voice scheduler v\n\
                set class-of-service interfaces ge-0/0/1 scheduler-map m\n";
    let model = read(text);
    let port = &model.router.ports[0];
    let entry = PolicyToWrite {
        name: "m".to_owned(),
        interface: Some(port.name.clone()),
        direction: Some(Direction::Output),
        rate: port.bandwidth,
        policy: port.output.clone(),
    };
    let found = written(vec![entry], Some(text));
    assert_eq!(lines(&found.text, "firewall"), Vec::<&str>::new(), "{}", found.text);
    assert!(found.text.contains("interfaces ge-0/0/1 unit 0"));
    let again = read(&found.text);
    let rates = |model: &DeviceModel| {
        let mut all: Vec<(String, u64, Option<u16>)> = queues(model)
            .into_iter()
            .map(|one| (one.name, one.share.rate.map_or(0, Rate::as_bits_per_second), one.share.level))
            .filter(|(_, rate, _)| *rate > 0)
            .collect();
        all.sort();
        all
    };
    assert_eq!(rates(&again), rates(&model));
}
