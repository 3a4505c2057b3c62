//! Priority flow control of a Nexus: the states of its lines, and the queues that they change.

use perhop_device::{DeviceModel, FrontEnd, ParseOptions};
use perhop_ios::{Ios, LineState};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::{ClassConfig, PauseConfig, PauseMode, QueueingConfig};

/// Returns a switch with one port that has flow control and one port without it. `class` is the class of type
/// network-qos with its lines. `more` precedes the interfaces.
fn switch(class: &str, more: &str) -> String {
    format!(
        "version 10.3(4a) Bios:version 05.47\npolicy-map type network-qos N\n  class type network-qos {class}\n\
         policy-map type queuing OUT\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 50\n\
         \x20   random-detect minimum-threshold 300 kbytes maximum-threshold 300 kbytes drop-probability 100 weight 0 ecn\n\
         \x20 class type queuing c-out-8q-q-default\n    bandwidth remaining percent 50\n\
         policy-map type queuing ARRIVING\n  class type queuing c-in-q3\n    pause buffer-size 60000 pause-threshold 30000 resume-threshold 20000\n\
         system qos\n  service-policy type network-qos N\n  service-policy type queuing output OUT\n{more}\
         interface Ethernet1/1\n  speed 25000\n  mtu 9216\n  priority-flow-control mode on\n\
         interface Ethernet1/2\n  speed 10000\n"
    )
}

fn model_of(text: &str) -> DeviceModel {
    let options = ParseOptions { platform: Some("n9k-c93240yc-fx2".to_owned()), ..ParseOptions::default() };
    Ios.parse(text, &options).unwrap()
}

fn state(model: &DeviceModel, line: &str) -> LineState {
    model.lines.iter().find(|other| other.text.trim() == line).unwrap().state
}

fn leaves(queueing: &QueueingConfig) -> Vec<&ClassConfig> {
    let inner = |class| -> Vec<&ClassConfig> {
        let class: &ClassConfig = class;
        class.queueing.as_ref().map_or_else(|| vec![class], leaves)
    };
    queueing.classes.iter().flat_map(inner).collect()
}

fn class<'m>(model: &'m DeviceModel, port: &str, name: &str) -> &'m ClassConfig {
    let port = model.router.ports.iter().find(|other| other.name == port).unwrap();
    leaves(port.output.queueing.as_ref().unwrap()).into_iter().find(|class| class.name == name).unwrap()
}

fn pause(model: &DeviceModel, port: &str) -> PauseConfig {
    class(model, port, "c-out-8q-q3").pause.unwrap()
}

fn rules_of(model: &DeviceModel) -> Vec<&str> {
    model.diagnostics.iter().map(|concern| concern.diagnostic.rule.id).collect()
}

#[test]
fn a_class_with_pause_is_not_dropped_and_pauses_where_the_mode_is_on() {
    let model = model_of(&switch("c-8q-nq3\n    pause pfc-cos 4", ""));
    for line in ["pause pfc-cos 4", "priority-flow-control mode on"] {
        assert_eq!(state(&model, line), LineState::Modelled, "{line}");
    }
    let on = pause(&model, "Ethernet1/1");
    assert_eq!((on.priority.value(), on.mode), (4, PauseMode::On));
    // 80 quanta of 64 bytes, a frame of 84 bytes, and 1000 ns at 3.125 bytes per ns are 8329 bytes. Three
    // packets of 9216 bytes are added.
    let buffer = on.buffer.unwrap();
    let bytes = [buffer.xoff, buffer.xon, buffer.headroom].map(perhop_qos::ByteSize::as_bytes);
    assert_eq!(bytes, [103_360, 83_520, 35_977]);
    let off = pause(&model, "Ethernet1/2");
    assert_eq!((off.mode, off.buffer), (PauseMode::Off, None));
    let queue = class(&model, "Ethernet1/2", "c-out-8q-q3").buffer.as_ref().unwrap();
    assert_ne!(queue, class(&model, "Ethernet1/1", "c-out-8q-q3").buffer.as_ref().unwrap(), "its own limit");
    assert!(rules_of(&model).contains(&"pause-thresholds-assumed"));
    // ECN marks remain, and the limit of the queue is so high that the queue drops no packet. The other
    // queues keep their limits.
    let Some(BufferConfig::Wred(wred)) = &class(&model, "Ethernet1/1", "c-out-8q-q3").buffer else {
        panic!()
    };
    assert_eq!(wred.limit.unwrap().count(), 100_000_000);
    let others = class(&model, "Ethernet1/1", "c-out-8q-q-default");
    assert!(others.pause.is_none() && matches!(others.buffer, Some(BufferConfig::SharedMemory(_))));
}

#[test]
fn an_input_policy_sets_the_thresholds() {
    let attached = "  service-policy type queuing input ARRIVING\n";
    let model = model_of(&switch("c-8q-nq3\n    pause pfc-cos 3", attached));
    let buffer = pause(&model, "Ethernet1/1").buffer.unwrap();
    let bytes = [buffer.xoff, buffer.xon, buffer.headroom].map(perhop_qos::ByteSize::as_bytes);
    assert_eq!(bytes, [30_000, 20_000, 30_000]);
    assert!(!rules_of(&model).contains(&"pause-thresholds-assumed"));
    let line = "pause buffer-size 60000 pause-threshold 30000 resume-threshold 20000";
    assert_eq!(state(&model, line), LineState::Modelled);
    assert_eq!(state(&model, attached.trim()), LineState::Modelled);
    let unattached = model_of(&switch("c-8q-nq3\n    pause pfc-cos 3", ""));
    assert_eq!(state(&unattached, line), LineState::NotModelled);
}

/// A class of type network-qos can set the thresholds itself, as on a Nexus 5500.
#[test]
fn a_class_of_the_network_may_have_the_thresholds() {
    let class =
        "c-8q-nq3\n    pause no-drop buffer-size 152000 pause-threshold 100000 resume-threshold 80000";
    let model = model_of(&switch(class, ""));
    let pause = pause(&model, "Ethernet1/1");
    assert_eq!(pause.priority.value(), 3, "the group");
    assert_eq!(pause.buffer.unwrap().headroom.as_bytes(), 52_000);
    assert!(!rules_of(&model).contains(&"pause-thresholds-assumed"));
}

#[test]
fn without_a_port_with_flow_control_the_limit_of_the_queue_remains() {
    let text = switch("c-8q-nq3\n    pause pfc-cos 3", "").replace("mode on", "mode off");
    let model = model_of(&text);
    assert_eq!(state(&model, "pause pfc-cos 3"), LineState::NotModelled);
    assert_eq!(state(&model, "priority-flow-control mode off"), LineState::Modelled);
    let class = class(&model, "Ethernet1/1", "c-out-8q-q3");
    assert!(class.pause.is_none() && class.buffer.is_some());
}

/// A pause frame stops all packets of a priority, so a second class with the same priority does not have its
/// own memory.
#[test]
fn a_second_class_of_one_priority_is_not_modeled() {
    let both = "c-8q-nq3\n    pause pfc-cos 3\n  class type network-qos c-8q-nq4\n    pause pfc-cos 3";
    let model = model_of(&switch(both, ""));
    let lines = model.lines.iter().filter(|line| line.text.trim() == "pause pfc-cos 3");
    let states: Vec<LineState> = lines.map(|line| line.state).collect();
    assert_eq!(states, [LineState::Modelled, LineState::NotModelled]);
    assert_eq!(pause(&model, "Ethernet1/1").priority.value(), 3);
    let queueing = model.router.ports[0].output.queueing.as_ref().unwrap();
    assert_eq!(leaves(queueing).iter().filter(|class| class.pause.is_some()).count(), 1);
}

/// perhop can read the group only from the names of system classes.
#[test]
fn a_class_of_an_unknown_group_is_not_modeled() {
    let model = model_of(&switch("RDMA\n    pause pfc-cos 3", ""));
    for line in ["pause pfc-cos 3", "priority-flow-control mode on"] {
        assert_eq!(state(&model, line), LineState::NotModelled, "{line}");
    }
    assert!(class(&model, "Ethernet1/1", "c-out-8q-q3").pause.is_none());
}
