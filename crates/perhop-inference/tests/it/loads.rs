//! Loads in place of a guess.

use std::collections::BTreeMap;

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{Failure, Inferred, infer};
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

fn inferred(loads: &[(&str, f64)]) -> Result<Inferred, Failure> {
    let loads: BTreeMap<String, f64> =
        loads.iter().map(|(queue, load)| ((*queue).to_owned(), *load)).collect();
    infer(&Devices::new(FRONT_ENDS), &perhop_inference::Request { loads, ..request(BRANCH) }, None)
}

#[test]
fn the_loads_of_a_guess_give_the_same_scenario() {
    let guess = inferred(&[]).unwrap();
    let loads: Vec<(&str, f64)> =
        guess.offered.iter().map(|one| (one.queue.as_deref().unwrap(), one.load)).collect();
    assert_eq!(inferred(&loads).unwrap().scenario, guess.scenario);
}

#[test]
fn a_load_is_offered_and_a_load_of_zero_leaves_a_class_out() {
    let found = inferred(&[("VOICE", 100_000.0), ("others/BUSINESS", 0.0)]).unwrap();
    let names: Vec<&str> = found.offered.iter().map(|one| one.class.as_str()).collect();
    assert_eq!(names, ["VOICE", "class-default"]);
    assert_eq!(found.offered[0].kind, "voice (given): 200-byte packets");
    assert_eq!(found.scenario["traffic"][0]["source"]["cbr"]["rate"], "100kb/s");
}

#[test]
fn no_load_at_all_is_refused() {
    let none = [("VOICE", 0.0), ("others/BUSINESS", 0.0), ("others/class-default", 0.0)];
    match inferred(&none).unwrap_err() {
        Failure::Invalid { message, help, .. } => {
            assert!(
                message.starts_with("no packet reaches a class on the way out by Serial0/0"),
                "{message}"
            );
            assert!(help.contains("--traffic"));
        }
        other => panic!("{other:?}"),
    }
}

/// Four connections with the 43 packets of a window of 64 KiB fill 172 packets, and 43 of each flow.
#[test]
fn greedy_connections_have_a_window_that_fills_their_queue() {
    let window = |profile: &str, queue: &str| {
        let text =
            BRANCH.replace("  bandwidth 768\n", &format!("  bandwidth 768\n class class-default\n{queue}"));
        let mut request = request(&text);
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
        // With 16 packets for each flow, and with 64.
        ("hqf", "  fair-queue\n".to_owned(), "64KiB"),
        ("pre-hqf", "  fair-queue\n".to_owned(), "1MiB"),
    ] {
        assert_eq!(window(profile, &queue), expected, "{profile} {queue}");
    }
}
