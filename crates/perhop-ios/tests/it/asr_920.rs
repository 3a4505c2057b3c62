//! An ASR 920: limits of queues in percent of the memory that they share.

use perhop_device::{DeviceModel, FrontEnd, ParseOptions};
use perhop_ios::{Ios, LineState};

fn model(classes: &str) -> DeviceModel {
    let text = format!(
        "version 16.9\nlicense udi pid ASR-920-24SZ-M sn X\nclass-map match-any BE\n match qos-group \
         1\npolicy-map OUT\n{classes}interface GigabitEthernet0/0/1\n service-policy output OUT\n"
    );
    Ios.parse(&text, &ParseOptions::default()).unwrap()
}

fn limits(model: &DeviceModel) -> Vec<Option<u64>> {
    let policy = model.router.ports[0].output_policy().expect("a policy");
    policy.classes.iter().map(|class| class.queue_limit.and_then(|limit| limit.bytes)).collect()
}

fn state(model: &DeviceModel, words: &str) -> LineState {
    model.lines.iter().find(|line| line.text.contains(words)).unwrap().state
}

/// Cisco TAC 218310: 11.75 MB are shared, and the limit of a queue without `queue-limit` is 48 kB.
#[test]
fn a_limit_in_percent_is_a_part_of_the_shared_memory() {
    let found = model(" class BE\n  bandwidth percent 40\n  queue-limit percent 5\n class class-default\n");
    assert_eq!(limits(&found), [Some(587_500), Some(49_152)]);
    assert_eq!(state(&found, "queue-limit"), LineState::Modelled);
    // Other routers have no such limit.
    let options = ParseOptions { platform: Some("ios-xe".to_owned()), ..ParseOptions::default() };
    let text = "version 16.9\npolicy-map OUT\n class class-default\n  queue-limit percent 5\n";
    assert_eq!(state(&Ios.parse(text, &options).unwrap(), "queue-limit"), LineState::NotModelled);
}

#[test]
fn the_only_class_has_no_limit_in_percent() {
    let rules = |classes: &str| {
        let model = model(classes);
        let found = model.diagnostics.iter().map(|concern| concern.diagnostic.rule.id);
        found.filter(|rule| *rule == "queue-limit-without-queue").count()
    };
    assert_eq!(rules(" class class-default\n  queue-limit percent 5\n"), 1);
    assert_eq!(rules(" class BE\n  bandwidth percent 1\n class class-default\n  queue-limit percent 5\n"), 0);
}
