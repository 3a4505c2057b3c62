//! Tests of the loads of classes, guessed and given.

use std::collections::BTreeMap;

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{Failure, Inferred, LoadLevel, infer};
use perhop_network::Devices;

use crate::work::request;

const BRANCH: &str = "\
hostname branch
class-map VOICE
 match dscp ef
class-map BUSINESS
 match dscp af21
policy-map WAN
 class VOICE
  priority 512
 class BUSINESS
  bandwidth 768
interface Serial0/0
 bandwidth 2048
 ip address 192.0.2.18 255.255.255.252
 service-policy output WAN
";
const LIST: &str = "\
access-list 101 permit tcp any any eq 1433
class-map BUSINESS
 match access-group 101";
/// Bytes of the HDLC header, which the policy counts in each packet.
const HDLC: f64 = 4.0;

fn inferred(loads: &[(&str, f64)]) -> Result<Inferred, Failure> {
    let loads: BTreeMap<String, f64> =
        loads.iter().map(|(queue, load)| ((*queue).to_owned(), *load)).collect();
    infer(&Devices::new(FRONT_ENDS), &perhop_inference::Request { loads, ..request(BRANCH) }, None)
}

#[test]
fn the_loads_of_a_guess_give_the_same_scenario() {
    let guess = inferred(&[]).unwrap();
    let loads: Vec<(&str, f64)> =
        guess.offered.iter().map(|offer| (offer.queue.as_deref().unwrap(), offer.load)).collect();
    assert_eq!(inferred(&loads).unwrap().scenario, guess.scenario);
}

#[test]
fn a_class_with_zero_load_is_left_out() {
    let found = inferred(&[("VOICE", 100_000.0), ("others/BUSINESS", 0.0)]).unwrap();
    let names: Vec<&str> = found.offered.iter().map(|offer| offer.class.as_str()).collect();
    assert_eq!(names, ["VOICE", "class-default"]);
    assert_eq!(found.offered[0].kind, "voice (given): 200-byte packets");
    assert_eq!(found.scenario["traffic"][0]["source"]["cbr"]["rate"], "100kb/s");
}

#[test]
fn no_load_at_all_is_refused() {
    let none = [("VOICE", 0.0), ("others/BUSINESS", 0.0), ("others/class-default", 0.0)];
    match inferred(&none).unwrap_err() {
        Failure::Invalid { message, help, .. } => {
            assert!(message.starts_with("no packet reaches an output class of Serial0/0"), "{message}");
            assert!(help.contains("--traffic"));
        }
        other => panic!("{other:?}"),
    }
}

/// A window of 64 KiB is 43 packets. Four connections therefore fill a queue of at most 172 packets, or
/// queues of at most 43 packets per flow.
#[test]
fn greedy_connections_have_a_window_that_fills_their_queue() {
    let window = |profile: &str, queue: &str| {
        let text =
            BRANCH.replace("  bandwidth 768\n", &format!("  bandwidth 768\n class class-default\n{queue}"));
        let mut request = perhop_inference::Request { load: LoadLevel::Overload, ..request(&text) };
        request.configuration.insert("platform".into(), serde_json::json!({"profile": profile}));
        let found = infer(&Devices::new(FRONT_ENDS), &request, None).unwrap();
        let traffic = found.scenario["traffic"].as_array().unwrap().clone();
        let rest = traffic.iter().find(|entry| entry["name"] == "class-default").unwrap();
        rest["source"]["bulk"]["tcp"]["window"].as_str().unwrap().to_owned()
    };
    let sized = |packets: u32| format!("  bandwidth 400\n  queue-limit {packets}\n");
    for (profile, queue, expected) in [
        ("hqf", sized(64), "64KiB"),
        ("hqf", sized(170), "64KiB"),
        ("hqf", sized(180), "1MiB"),
        // The limits are 16 and 64 packets for each flow.
        ("hqf", "  fair-queue\n".to_owned(), "64KiB"),
        ("pre-hqf", "  fair-queue\n".to_owned(), "1MiB"),
    ] {
        assert_eq!(window(profile, &queue), expected, "{profile} {queue}");
    }
}

/// Returns the classes with their offered rates, bits per second and as text.
fn offered(load: LoadLevel, text: &str) -> Vec<(String, f64, String)> {
    let found = infer(&Devices::new(FRONT_ENDS), &perhop_inference::Request { load, ..request(text) }, None);
    let classes = found.unwrap().offered.into_iter();
    classes.map(|class| (class.class, (class.load / 1000.0).round(), class.kind)).collect()
}

/// The policy counts the 4 bytes of the HDLC header. The guarantees leave 768 of the 2048 kb/s to
/// class-default.
#[test]
fn each_class_is_offered_a_fraction_of_its_guaranteed_rate() {
    for (load, part, words) in
        [(LoadLevel::Quiet, 0.7, "70"), (LoadLevel::Busy, 0.9, "90"), (LoadLevel::Overload, 1.2, "120")]
    {
        let found = offered(load, BRANCH);
        let expected = [("VOICE", 512.0, "limit"), ("BUSINESS", 768.0, "guarantee")];
        for (class, promise, basis) in expected {
            let (_, rate, kind) = found.iter().find(|(name, ..)| name == class).unwrap();
            let packet = if class == "VOICE" { 200.0 } else { 1500.0 };
            assert_eq!(*rate, (part * promise * packet / (packet + HDLC)).round(), "{load:?} {class}");
            assert!(kind.contains(&format!("({words} % of {basis})")), "{kind}");
        }
        let (_, rate, kind) = found.last().unwrap();
        assert_eq!(*rate, (part * 768.0 * 1500.0 / (1500.0 + HDLC)).round(), "{load:?} {kind}");
        assert_eq!(kind.contains("greedy"), load == LoadLevel::Overload, "{kind}");
    }
}

#[test]
fn a_call_without_an_ef_class_waits_in_class_default() {
    let without_voice = BRANCH.replace(" class VOICE\n  priority 512\n", "");
    let forgotten = without_voice
        .replace("policy-map", "class-map SIGNALING\n match dscp cs3\npolicy-map")
        .replace(" class BUSINESS", " class SIGNALING\n  bandwidth 64\n class BUSINESS");
    let found = infer(&Devices::new(FRONT_ENDS), &request(&forgotten), None).unwrap();
    let call = found.offered.last().unwrap();
    let queue = found.offered.iter().find(|offer| offer.class == "class-default").unwrap().queue.clone();
    assert_eq!((call.class.as_str(), call.load, &call.queue), ("voice", 80e3, &queue));
    assert!(found.assumed[0].contains("`voice`, a call of 80 kb/s, which waits in class-default"));
    let entry = found.scenario["traffic"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&entry["dscp"], &entry["destination-port"]), (&"ef".into(), &16384.into()));
    // No call is added if a class matches EF. No call is added either if nothing in the policy indicates
    // telephony: it has only one class, or its classes match access lists.
    let has_call = |text: &str| offered(LoadLevel::Busy, text).iter().any(|(name, ..)| name == "voice");
    assert!(!has_call(BRANCH));
    assert!(!has_call(&without_voice));
    assert!(!has_call(&without_voice.replace("class-map BUSINESS\n match dscp af21", LIST)));
}

/// The frames of many videos do not begin together. A single source of the whole rate would fill any queue.
#[test]
fn video_on_a_fast_line_has_many_streams() {
    let streams = |rate: u64| {
        let text = format!(
            "hostname r\nclass-map VIDEO\n match dscp af41\npolicy-map WAN\n class VIDEO\n  \
             bandwidth percent 40\ninterface Serial0/0\n bandwidth {rate}\n ip address 192.0.2.18 \
             255.255.255.252\n service-policy output WAN\n"
        );
        let inferred =
            infer(&Devices::new(FRONT_ENDS), &request(&text), None).expect("the configuration is complete");
        let scenario = serde_json::to_value(&inferred.scenario).expect("a scenario");
        let traffic = scenario["traffic"].as_array().expect("a list").clone();
        let video = traffic.into_iter().find(|one| one["name"] == "VIDEO").expect("a class");
        video["count"].as_u64().unwrap_or(1)
    };
    // The offered rates are 90 % of 40 % of the line: 0.72, 36 and 360 Mb/s.
    assert_eq!([2_000, 100_000, 1_000_000].map(streams), [1, 9, 64]);
}

/// If the classes have policers but no queues, the queue behind the policers is not a further class. A load
/// for the queue would lower the loads of the classes.
#[test]
fn a_queue_behind_the_policers_of_all_classes_has_no_row() {
    let interface = "interface FastEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n";
    let other = "interface FastEthernet0/1\n ip address 10.0.1.1 255.255.255.0\n";
    let classes = format!(
        "class-map A\n match dscp af21\npolicy-map OUT\n class A\n  police 300000 8000\n \
         class class-default\n  police 600000 8000\n{interface} service-policy output OUT\n{other}"
    );
    let limit = "8000 8000 conform-action transmit exceed-action drop";
    let limiters = format!(
        "access-list 101 permit tcp any any eq 80\n{interface} \
         rate-limit output access-group 101 256000 {limit}\n rate-limit output 1000000 {limit}\n{other}"
    );
    let tc = "tc qdisc add dev eth0 clsact\n\
              tc filter add dev eth0 egress protocol ip prio 1 u32 match ip tos 0xb8 0xfc police rate 2mbit burst 64k \
              drop\n\
              tc filter add dev eth0 egress protocol ip prio 2 u32 match u32 0 0 police rate 50mbit burst 64k drop\n\
              tc qdisc add dev eth0 root tbf rate 100mbit burst 64k latency 50ms\n";
    for (text, names) in [
        (classes.as_str(), ["A", "class-default"]),
        (limiters.as_str(), ["rate-limit access-group 101", "rate-limit all"]),
        (tc, ["line 2", "line 3"]),
    ] {
        let found = infer(&Devices::new(FRONT_ENDS), &request(text), None).unwrap();
        let rows: Vec<&str> = found.offered.iter().map(|class| class.class.as_str()).collect();
        assert_eq!(rows, names, "{text}");
    }
}
