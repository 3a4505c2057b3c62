//! Catalyst switches with Silicon One: the limit of a queue depends on the speed of its port, and is a number
//! of blocks of 6144 bytes.

use perhop_device::{DeviceModel, EvidenceKind, FrontEnd, MemoryOptions, ParseOptions, Port, SwitchMemory};
use perhop_ios::{Ios, LineState};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::units::QueueSize;

const POLICY: &str = "version 17.12\nlicense udi pid C9500X-28C8D sn FOC00000000\nclass-map match-any VOICE\n \
                      match dscp ef\nclass-map match-any BULK\n match dscp af11\npolicy-map OUT\n class VOICE\n  \
                      priority level 7\n  police rate percent 10\n class BULK\n  bandwidth remaining percent 40\n class class-default\n  \
                      bandwidth remaining percent 60\ninterface TenGigabitEthernet1/0/1\n service-policy output \
                      OUT\ninterface FortyGigabitEthernet1/0/2\ninterface HundredGigE1/0/3\n";
/// The printed limits, blocks of 6144 bytes: genieparser, `ShowPlatformHardwareFedSwitchQosQueueConfig`.
const TEN_GIGABIT: u64 = 1220 * 6144;
const FORTY_GIGABIT: u64 = 4882 * 6144;

fn memory(text: &str, options: &MemoryOptions) -> Result<SwitchMemory, perhop_qos::ConfigError> {
    Ios.switch_memory(text, options).map(|found| found.expect("it is a Catalyst"))
}

fn named(model: &str) -> MemoryOptions {
    MemoryOptions { model: Some(model.to_owned()), ..MemoryOptions::default() }
}

fn device(text: &str, platform: Option<&str>) -> DeviceModel {
    let options = ParseOptions { platform: platform.map(str::to_owned), ..ParseOptions::default() };
    Ios.parse(text, &options).unwrap()
}

fn limits(port: &Port) -> Vec<QueueSize> {
    limits_in(port.output.queueing.as_ref().unwrap())
}

fn limits_in(queueing: &QueueingConfig) -> Vec<QueueSize> {
    let limit = |class: &ClassConfig| match (&class.queueing, &class.buffer) {
        (Some(inner), _) => limits_in(inner),
        (None, Some(BufferConfig::TailDrop(config))) => vec![config.limit],
        (None, other) => panic!("{other:?}"),
    };
    queueing.classes.iter().flat_map(limit).collect()
}

#[test]
fn every_queue_has_the_limit_of_the_speed_of_its_port() {
    let found = memory(POLICY, &MemoryOptions::default()).unwrap();
    assert_eq!((found.model.as_str(), found.chip.as_str()), ("c9500x-28c8d", "Silicon One"));
    let of_port = |name: &str| {
        let port = found.port(name).unwrap();
        port.queues.iter().map(|queue| (queue.class.as_str(), queue.ceiling().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(
        of_port("TenGigabitEthernet1/0/1"),
        [("VOICE", TEN_GIGABIT), ("BULK", TEN_GIGABIT), ("class-default", TEN_GIGABIT)]
    );
    assert_eq!(of_port("FortyGigabitEthernet1/0/2"), [("class-default", FORTY_GIGABIT)]);
    // 6 ms of 100 Gb/s are 75 MB, 12207.03 blocks.
    assert_eq!(of_port("HundredGigE1/0/3"), [("class-default", 12_207 * 6144)]);
    let evidence = found.rules_by_evidence();
    assert_eq!(evidence[&EvidenceKind::Printed], ["limit-precision", "output-classes"]);
    assert_eq!(evidence[&EvidenceKind::Documented], ["priority-levels"]);
}

#[test]
fn a_run_has_the_limits_of_the_table() {
    let device = device(POLICY, None);
    assert_eq!((device.platform.name.as_str(), device.platform.supported), ("catalyst-silicon-one", true));
    assert!(device.memory.is_none(), "its queues share no memory");
    let diagnostics: Vec<_> = device.diagnostics.iter().map(|found| &found.diagnostic.message).collect();
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(limits(&device.router.ports[0]), vec![QueueSize::Bytes(TEN_GIGABIT); 3]);
}

#[test]
fn commands_that_divide_the_memory_of_uadp_are_refused() {
    let text = POLICY.replace("percent 40\n", "percent 40\n  queue-buffers ratio 40\n");
    let text = text
        .replace("class-map match-any VOICE", "qos queue-softmax-multiplier 1200\nclass-map match-any VOICE");
    let device = device(&text, None);
    let found: Vec<_> = device
        .diagnostics
        .iter()
        .map(|found| (found.diagnostic.rule.id, device.lines[found.diagnostic.line - 1].text.trim()))
        .collect();
    assert_eq!(
        found,
        [
            ("memory-command-refused", "qos queue-softmax-multiplier 1200"),
            ("memory-command-refused", "queue-buffers ratio 40"),
        ]
    );
    assert!(device.lines.iter().all(|line| line.state != LineState::NotRecognized));
    // The other lines of the policy apply.
    assert_eq!(limits(&device.router.ports[0]), vec![QueueSize::Bytes(TEN_GIGABIT); 3]);
}

#[test]
fn such_a_switch_is_never_run_as_uadp() {
    for model in ["c9300-24t", "c9500", "catalyst-uadp"] {
        let error = memory(POLICY, &named(model)).unwrap_err();
        assert!(error.message.starts_with("c9500x-28c8d has virtual output queues"), "{error:?}");
        let device = device(POLICY, Some(model));
        assert!(!device.platform.supported, "{model}");
    }
    // If no line names the product, the option of the user names it.
    let text = POLICY.replace("license udi pid C9500X-28C8D sn FOC00000000\n", "");
    for model in ["c9350-48hx", "c9610r", "C9600X", "catalyst-silicon-one"] {
        assert_eq!(
            memory(&text, &named(model)).unwrap().port("TenGigabitEthernet1/0/1").unwrap().queues.len(),
            3
        );
        assert_eq!(
            limits(&device(&text, Some(model)).router.ports[0]),
            vec![QueueSize::Bytes(TEN_GIGABIT); 3]
        );
    }
}

#[test]
fn a_chassis_with_either_supervisor_asks_for_it() {
    let text = POLICY.replace("C9500X-28C8D", "C9606R");
    let error = memory(&text, &MemoryOptions::default()).unwrap_err();
    assert!(error.message.contains("does not name the supervisor"), "{error:?}");
    assert!(error.help.unwrap().contains("c9600x (Supervisor 2"));
    assert_eq!(memory(&text, &named("c9600x")).unwrap().chip, "Silicon One");
    assert_eq!(memory(&text, &named("c9600")).unwrap().chip, "UADP 3");
}

#[test]
fn limits_in_a_class_are_reported_as_not_in_the_table() {
    let text = POLICY.replace("percent 40\n", "percent 40\n  queue-limit dscp af11 percent 50\n");
    let found = memory(&text, &MemoryOptions::default()).unwrap();
    let texts: Vec<&str> = found.not_modeled.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["class BULK: queue-limit: the table has the default limit"]);
    let units = MemoryOptions { port_units: Some(300), ..MemoryOptions::default() };
    assert!(memory(POLICY, &units).unwrap_err().message.contains("is not divided into units"));
}
