//! Checks the statements in the comments of the examples of router queueing.

use std::path::Path;

use crate::simulation::{ONCE, mean};
use perhop_measure::Results;
use perhop_scenario::load;
use perhop_sim::{Progress, run};

fn results(example: &str, overrides: &[(String, String)]) -> Results {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples").join(example);
    let loaded = load(&path, overrides).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    run(&loaded.scenario, &loaded.base, &ONCE, &Progress::new()).unwrap()
}

#[test]
fn fair_queueing_protects_the_calls_from_the_flood() {
    let fair = results("fair-queueing.perhop.yaml", &[]);
    assert_eq!(mean(&fair, "calls", "dropped_packets"), 0.0);
    // HDLC adds 7 bytes to packets of 200 and 1500 bytes. The throughput of the flood is the part of 2 Mb/s
    // that ten calls do not use.
    let left = (2e6 - 800e3 * 207.0 / 200.0) * 1500.0 / 1507.0;
    let flood = mean(&fair, "flood", "throughput_bps");
    assert!((flood / left - 1.0).abs() < 0.01, "{flood} of {left}");
    let first_come = [("policies.fair.queueing.classes.0.fair-queueing".to_owned(), "null".to_owned())];
    assert!(mean(&results("fair-queueing.perhop.yaml", &first_come), "calls", "dropped_percent") > 30.0);
}

#[test]
fn classes_get_their_promised_rates() {
    let results = results("class-based-wfq.perhop.yaml", &[]);
    let throughput = |class: &str| mean(&results, class, "throughput_bps");
    assert_eq!(mean(&results, "voice", "dropped_packets"), 0.0);
    let business = throughput("gold") + throughput("silver") + throughput("bronze");
    assert!(business > 800e3, "business: {business}");
    assert!(throughput("bulk") > 300e3 && throughput("rest") > 200e3);
    let dropped = |class: &str| mean(&results, class, "dropped_percent");
    assert!(dropped("gold") < dropped("silver") && dropped("silver") < dropped("bronze"));
    // A voice packet waits for at most two packets of 1500 bytes in a ring of five particles, and for the
    // packet that is being sent. Then its own five cells follow.
    assert!(mean(&results, "voice", "delay_max_s") < 0.0110 + 3.0 * 6.784e-3 + 5.0 * 212e-6);
}
