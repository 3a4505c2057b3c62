//! Tests of the counted work for an inference: a configuration is parsed once, regardless of the number of
//! trials.

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{Request, infer};
use perhop_network::Devices;
use serde_json::{Map, json};

/// Returns a request with the configuration `text` and no other options.
pub(crate) fn request(text: &str) -> Request {
    let configuration = Map::from_iter([("text".to_owned(), json!(text))]);
    Request { text: text.to_owned(), configuration, base: ".".to_owned(), ..Request::default() }
}

/// Returns a router whose output policy has `classes` classes, each for one QoS group. An input policy at the
/// last of `entrances` interfaces sets the last group.
fn router(classes: usize, entrances: usize) -> String {
    let each =
        |count: usize, lines: &dyn Fn(usize) -> String| (1..=count).map(lines).collect::<Vec<_>>().concat();
    let maps = each(classes, &|group| format!("class-map G{group}\n match qos-group {group}\n"));
    let queues = each(classes, &|group| format!(" class G{group}\n  bandwidth remaining percent 1\n"));
    let ways = each(entrances, &|number| {
        format!("interface Ethernet1/{number}\n ip address 10.{number}.0.1 255.255.255.0\n")
    });
    format!(
        "hostname edge\n{maps}policy-map IN\n class class-default\n  set qos-group {classes}\n\
         policy-map OUT\n{queues}interface Serial0/0\n bandwidth 1544\n\
         \x20ip address 10.255.0.1 255.255.255.252\n service-policy output OUT\n{ways} service-policy input IN\n"
    )
}

#[test]
fn a_configuration_is_read_once_however_many_classes_and_entrances_are_tried() {
    let reads = |classes, entrances| {
        let devices = Devices::new(FRONT_ENDS);
        let request = Request { interface: Some("Serial0/0".into()), ..request(&router(classes, entrances)) };
        let inferred = infer(&devices, &request, None).unwrap();
        assert_eq!(inferred.entering.as_deref(), Some(format!("Ethernet1/{entrances}").as_str()));
        devices.reads()
    };
    let few = reads(2, 2);
    assert_eq!(few, reads(40, 60));
    // perhop parses the configuration once as written, and once with the added interface of the default
    // entrance.
    assert!(few <= 2, "{few}");
}

#[test]
fn the_same_text_with_other_options_is_another_device() {
    let devices = Devices::new(FRONT_ENDS);
    let text = router(2, 2);
    let mut other = request(&text);
    other.configuration.insert("platform".into(), json!({"profile": "pre-hqf"}));
    for (request, reads) in [(request(&text), 1), (request(&text), 1), (other, 2)] {
        let request = Request { interface: Some("Ethernet1/2".into()), ..request };
        infer(&devices, &request, None).unwrap();
        assert_eq!(devices.reads(), reads);
    }
}
