//! Tests that a configuration is equal after it is written and read again.

use perhop_qos::Color;
use perhop_qos::cake::CakeConfig;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::queue_names;
use serde_json::json;

#[test]
fn colors_have_names() {
    let names = ["green", "yellow", "red", "dp3", "dp4", "dp5", "dp6", "dp7"];
    for (index, name) in names.into_iter().enumerate() {
        assert_eq!(Color::new(index).to_string(), name);
        assert_eq!(name.parse(), Ok(Color::new(index)));
    }
    assert_eq!(format!("{:>6}|{:<4}|", Color::RED, Color::new(3)), "   red|dp3 |");
}

/// The color of excess packets is written unless it is the default, red.
#[test]
fn written_meters_equal_read_meters() {
    let bucket = json!({"rate": "1Mb/s", "burst": "5kB"});
    for excess in ["red", "yellow", "dp5"] {
        for (kind, mut limits) in [
            ("token-bucket", bucket.clone()),
            ("packet-rate", json!({"rate": "500 packets/s", "burst": "50 packets"})),
            ("token-bucket-with-debt", json!({"rate": "1Mb/s", "burst": "5kB", "debt-limit": "8kB"})),
            ("tsw2cm", json!({"ctr": "1Mb/s", "avg-interval": "1s"})),
        ] {
            limits["excess"] = json!(excess);
            let config: MeterConfig = serde_json::from_value(json!({kind: limits})).unwrap();
            let written = serde_json::to_value(&config).unwrap();
            assert_eq!(serde_json::from_value::<MeterConfig>(written.clone()).unwrap(), config);
            let expected = (excess != "red").then(|| json!(excess));
            assert_eq!(written[kind].get("excess"), expected.as_ref(), "{kind}");
        }
    }
}

/// The flow hash is written unless it is the default, the header fields.
#[test]
fn a_written_cake_keeps_its_hash_of_flows() {
    for (hash, expected) in [("headers", None), ("socket", Some(json!("socket")))] {
        let config: CakeConfig = serde_json::from_value(json!({"flow-hash": hash})).unwrap();
        let written = serde_json::to_value(&config).unwrap();
        assert_eq!(written.get("flow-hash"), expected.as_ref());
        assert_eq!(serde_json::from_value::<CakeConfig>(written).unwrap(), config);
    }
}

#[test]
fn a_port_without_a_policy_has_one_queue_with_a_name() {
    assert_eq!(queue_names(None), ["fifo"]);
}
