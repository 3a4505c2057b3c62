//! The packet memory of Catalyst switches: published divisions of the memory, and the output of the switch.

use perhop_device::{FrontEnd, MemoryOptions, ParseOptions, PortMemory, QueueMemory, SwitchMemory};
use perhop_ios::{Ios, LineState};
use perhop_qos::buffer::{BufferConfig, SharedMemoryConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::units::QueueSize;

fn memory_with(text: &str, options: &MemoryOptions) -> Result<SwitchMemory, perhop_qos::ConfigError> {
    Ios.switch_memory(text, options).map(|found| found.expect("it is a Catalyst"))
}

fn memory(text: &str) -> SwitchMemory {
    memory_with(text, &MemoryOptions::default()).unwrap()
}

fn only_port(text: &str) -> PortMemory {
    let [port] = memory(text).ports.try_into().expect("one port");
    port
}

fn parts(queue: &QueueMemory) -> (u64, u64) {
    (queue.hard.unwrap(), queue.soft.unwrap())
}

fn limits(queue: &QueueMemory) -> Vec<u64> {
    queue.thresholds.iter().map(|threshold| threshold.units.unwrap()).collect()
}

/// Cisco TAC 200594: 300 units, 40 % for control packets, ceilings of 400 %.
#[test]
fn a_3850_without_a_policy() {
    let port = only_port("switch 1 provision ws-c3850-48p\ninterface GigabitEthernet1/0/1\n");
    assert_eq!((port.units, port.queues.len()), (Some(300), 2));
    assert_eq!(parts(&port.queues[0]), (120, 480));
    assert_eq!(parts(&port.queues[1]), (0, 720));
}

/// The multiplier scales soft parts, thresholds, and the start and end at the port. It does not scale hard
/// parts and minimums.
#[test]
fn a_3850_with_a_multiplier_of_600_percent() {
    let port = only_port(
        "switch 1 provision ws-c3850-48p\nqos queue-softmax-multiplier 600\ninterface GigabitEthernet1/0/1\n",
    );
    let [control, others] = port.queues.as_slice() else { panic!("{:?}", port.queues) };
    assert_eq!((parts(control), parts(others)), ((120, 2880), (0, 4320)));
    assert_eq!((control.port_soft_min, others.port_soft_min), (Some(320), Some(480)));
    assert_eq!((control.global_soft_min, others.global_soft_min), (Some(0), Some(180)));
    assert_eq!((limits(control), limits(others)), (vec![2390, 2671, 3000], vec![3442, 3847, 4320]));
    assert_eq!((port.soft_start, port.soft_end), (6480, 8640));
}

#[test]
fn a_multigigabit_port_of_a_9300_without_a_policy() {
    let port = only_port("switch 1 provision c9300-48uxm\ninterface TwoGigabitEthernet1/0/1\n");
    let [control, others] = port.queues.as_slice() else { panic!("{:?}", port.queues) };
    assert_eq!((parts(control), parts(others)), ((200, 800), (0, 1200)));
    assert_eq!((control.port_soft_min, others.port_soft_min), (Some(475), Some(712)));
    assert_eq!((control.global_soft_min, others.global_soft_min), (Some(0), Some(300)));
    assert_eq!((limits(control), limits(others)), (vec![796, 890, 1000], vec![956, 1068, 1200]));
    assert_eq!((port.soft_start, port.soft_end), (1800, 2400));
}

const POLICY: &str = "switch 1 provision ws-c3850-48p
qos queue-softmax-multiplier 1200
policy-map OUT
 class VOICE
  priority level 1
  queue-buffers ratio 5
 class BULK
  bandwidth remaining percent 20
  queue-buffers ratio 20
  queue-limit dscp af13 percent 80
  queue-limit dscp af12 percent 90
  queue-limit dscp af11 percent 100
 class WEB
  bandwidth remaining percent 20
  queue-buffers ratio 35
  queue-limit dscp af22 percent 40
 class class-default
  bandwidth remaining percent 40
interface GigabitEthernet1/0/1
 service-policy output OUT
";

/// `EasyQoS` guide: a third threshold of 100 % lowers the ceiling from 400 %.
#[test]
fn thresholds_of_a_policy() {
    let port = only_port(POLICY);
    let [voice, bulk, web, rest] = port.queues.as_slice() else { panic!("{:?}", port.queues) };
    assert_eq!((parts(voice), voice.priority_level), ((15, 0), Some(1)));
    assert_eq!((parts(bulk), limits(bulk)), ((0, 720), vec![573, 641, 720]));
    let packets: Vec<String> = bulk.thresholds[0].packets.iter().map(ToString::to_string).collect();
    assert_eq!(packets, ["dscp af13"]);
    // 105 units × 4 × 12 are 5040. A threshold of 40 % is a tenth of the ceiling of 400 %, which is 6 of 64
    // parts.
    assert_eq!((parts(web), limits(web)), ((0, 5040), vec![472, 5040]));
    assert_eq!((web.thresholds[1].packets.len(), web.thresholds[1].line), (0, None));
    // The ratios of the other queues leave 40 % of the memory for this queue.
    assert_eq!(parts(rest), (0, 5760));
}

#[test]
fn ratios_above_100_percent_are_refused_by_the_switch() {
    let port = only_port(&POLICY.replace("ratio 35", "ratio 90"));
    let refused = port.refused.unwrap();
    assert!(refused.text.contains("sum to 115 %"), "{refused:?}");
}

#[test]
fn a_product_is_asked_for_and_others_are_refused() {
    let text = POLICY.replace("switch 1 provision ws-c3850-48p\n", "");
    let error = memory_with(&text, &MemoryOptions::default()).unwrap_err();
    assert!(error.message.contains("does not name the product"), "{error:?}");
    assert!(error.help.unwrap().contains("c9300"));
    let named = |model: &str| MemoryOptions { model: Some(model.to_owned()), ..MemoryOptions::default() };
    assert_eq!(memory_with(&text, &named("C3850")).unwrap(), {
        let mut whole = memory(POLICY);
        whole.model = "c3850".to_owned();
        for port in &mut whole.ports {
            for queue in &mut port.queues {
                queue.line = queue.line.map(|line| line - 1);
                for threshold in &mut queue.thresholds {
                    threshold.line = threshold.line.map(|line| line - 1);
                }
            }
        }
        whole
    });
    assert!(
        memory_with(&text, &named("c4948")).unwrap_err().message.contains("the memory of c4948 is not known")
    );
    // Routers do not have such a memory.
    let router = "version 15.4\ninterface GigabitEthernet0/1\n ip address 192.0.2.1 255.255.255.0\n";
    assert_eq!(Ios.switch_memory(router, &MemoryOptions::default()), Ok(None));
}

#[test]
fn lines_of_a_class_that_are_not_read_are_named() {
    let text = POLICY.replace("  queue-buffers ratio 35\n", "  queue-buffers ratio many\n  queue-wonder 3\n");
    let found = memory(&text);
    for line in ["queue-buffers ratio many", "queue-wonder 3"] {
        assert!(
            found.not_modeled.iter().any(|left_out| left_out.text.contains(line)),
            "{:?}",
            found.not_modeled
        );
    }
}

#[test]
fn the_last_multiplier_applies_and_one_out_of_range_does_not() {
    let with = |lines: &str| {
        only_port(&format!("switch 1 provision c9300-24t\n{lines}interface GigabitEthernet1/0/1\n"))
            .multiplier_percent
    };
    let line = |percent: &str| format!("qos queue-softmax-multiplier {percent}\n");
    assert_eq!(with(&(line("300") + &line("600"))), Some(600));
    assert_eq!(with(&(line("300") + &line("1300"))), Some(300));
    assert_eq!(with(&(line("300") + "no qos queue-softmax-multiplier 300\n")), Some(100));
}

#[test]
fn the_memory_of_a_port_that_is_not_published_is_not_guessed() {
    let larger = memory("switch 1 provision c9300x-48tx\ninterface GigabitEthernet1/0/1\n");
    assert!(larger.ports.is_empty() && larger.unknown.len() == 1);
    let text = "switch 1 provision c9500-48y4c\ninterface TwentyFiveGigE1/0/1\n";
    let found = memory(text);
    assert!(found.ports.is_empty());
    assert!(found.unknown[0].reason.contains("is not published"), "{:?}", found.unknown);
    let options = MemoryOptions { port_units: Some(1000), ..MemoryOptions::default() };
    assert_eq!(parts(&memory_with(text, &options).unwrap().ports[0].queues[0]), (400, 1600));
}

#[test]
fn unmodeled_lines_are_reported() {
    let text = POLICY.replace("  queue-limit dscp af22 percent 40\n", "  queue-limit 400 packets\n");
    let found = memory(&text);
    assert!(
        found.not_modeled.iter().any(|left_out| left_out.text.contains("accepts only percent")),
        "{:?}",
        found.not_modeled
    );
}

/// Percentages of WRED refer to the ceiling, which is 4 × 105 × 12 units of 256 bytes.
#[test]
fn random_drops_begin_at_percentages_of_the_ceiling() {
    let text = POLICY.replace(
        "  queue-limit dscp af22 percent 40\n",
        "  random-detect dscp-based\n  random-detect dscp af21 percent 25 50\n",
    );
    assert!(memory(&text).not_modeled.is_empty());
    let text = format!("class-map match-any WEB\n match dscp af21 af22\n{text}");
    let model = Ios.parse(&text, &ParseOptions::default()).unwrap();
    let queueing = model.router.ports[0].output.queueing.as_ref().unwrap();
    let web = leaf(queueing, "WEB").expect("a queue");
    let Some(BufferConfig::Wred(red)) = &web.buffer else { panic!("{:?}", web.buffer) };
    let ceiling = 5040 * 256;
    assert_eq!(red.limit, Some(QueueSize::Bytes(ceiling)));
    let written = (QueueSize::Bytes(ceiling / 4), QueueSize::Bytes(ceiling / 2));
    assert!(red.precedences.iter().any(|row| (row.min, row.max) == written), "{:?}", red.precedences);
    let state =
        |words: &str| model.lines.iter().find(|left_out| left_out.text.contains(words)).unwrap().state;
    assert_eq!(state("random-detect dscp af21"), LineState::Modelled);
}

fn leaf<'q>(queueing: &'q QueueingConfig, name: &str) -> Option<&'q ClassConfig> {
    let inner = |class: &'q ClassConfig| class.queueing.as_ref().and_then(|inner| leaf(inner, name));
    queueing.classes.iter().find_map(|class| if class.name == name { Some(class) } else { inner(class) })
}

#[test]
fn lines_of_a_port_with_a_template_have_a_state() {
    let text = "switch 1 provision c9300-24t
qos queue-stats-frame-count
qos share-buffer
policy-map IN
 class class-default
  set dscp default
interface GigabitEthernet1/0/1
 trust device cisco-phone
 auto qos voip cisco-phone
 service-policy input IN
interface GigabitEthernet1/0/2
 auto qos trust dscp
";
    let model = Ios.parse(text, &ParseOptions::default()).unwrap();
    let state =
        |words: &str| model.lines.iter().find(|left_out| left_out.text.contains(words)).unwrap().state;
    assert_eq!(state("queue-stats-frame-count"), LineState::Irrelevant);
    assert_eq!(state("share-buffer"), LineState::NotModelled);
    assert_eq!(state("trust device"), LineState::Modelled);
    assert_eq!(state("auto qos voip"), LineState::Irrelevant);
    // The configuration does not contain the commands of this template.
    assert_eq!(state("auto qos trust"), LineState::NotModelled);
    let memory = model.memory.unwrap();
    let assumed = &memory.port("GigabitEthernet1/0/1").unwrap().assumed;
    assert!(assumed.iter().any(|text| text.contains("cisco-phone")), "{assumed:?}");
}

/// The reader returns the same memory from the output of a port, but without classes, rate and minimums of
/// zero units.
#[test]
fn an_output_reads_back() {
    for text in [POLICY, "switch 1 provision c9300-48uxm\ninterface TwoGigabitEthernet1/0/1\n"] {
        let port = only_port(text);
        let output = Ios.print_memory(&port).unwrap();
        let [read] = memory(&output).ports.try_into().expect("one port");
        assert_eq!((read.soft_start, read.soft_end), (port.soft_start, port.soft_end));
        for (queue, read) in port.queues.iter().zip(&read.queues) {
            assert_eq!(parts(queue), parts(read));
            assert_eq!(
                (queue.port_soft_min, queue.global_soft_min),
                (read.port_soft_min, read.global_soft_min)
            );
            let written = limits(queue);
            assert_eq!(limits(read)[3 - written.len()..], written);
        }
    }
}

#[test]
fn an_output_that_is_cut_is_refused() {
    let output = Ios.print_memory(&only_port(POLICY)).unwrap();
    let cut = output.split("   Weight0").next().unwrap();
    assert!(Ios.switch_memory(cut, &MemoryOptions::default()).unwrap_err().message.contains("incomplete"));
}

/// The simulated queues have the limits of the table. Only queues of ports use the memory of the port.
#[test]
fn the_queues_of_a_run_draw_on_the_memory() {
    let maps = [("VOICE", "ef"), ("BULK", "af11 af12 af13"), ("WEB", "af21 af22")];
    let maps = maps.map(|(name, dscp)| format!("class-map match-any {name}\n match dscp {dscp}\n")).concat();
    let text = format!("{maps}{POLICY}interface GigabitEthernet1/0/9\n");
    let model = Ios.parse(&text, &ParseOptions::default()).unwrap();
    let memory = model.memory.as_ref().unwrap();
    for port in model.router.ports.iter().filter(|port| port.interface.starts_with("Gigabit")) {
        let own = memory.port(&port.interface).unwrap();
        let queueing = port.output.queueing.as_ref().unwrap();
        let shared = queueing.memory.as_ref().unwrap();
        assert_eq!(u64::from(shared.port_fall.unwrap().start), own.soft_start);
        let buffers: Vec<&SharedMemoryConfig> = buffers(queueing);
        let hard_and_soft =
            |config: &&SharedMemoryConfig| (config.reserved.into(), config.limit.unwrap().into());
        let found: Vec<(u64, u64)> = buffers.iter().map(hard_and_soft).collect();
        let expected: Vec<(u64, u64)> = own.queues.iter().map(parts).collect();
        assert_eq!(found, expected, "{}", port.name);
    }
}

fn buffers(queueing: &QueueingConfig) -> Vec<&SharedMemoryConfig> {
    queueing.classes.iter().flat_map(own_buffers).collect()
}

fn own_buffers(class: &ClassConfig) -> Vec<&SharedMemoryConfig> {
    match (&class.queueing, &class.buffer) {
        (Some(inner), _) => buffers(inner),
        (None, Some(BufferConfig::SharedMemory(config))) => vec![config],
        _ => Vec::new(),
    }
}

#[test]
fn a_port_with_unknown_memory_is_not_modeled() {
    let text = "switch 1 provision c9300-24t\ninterface TenGigabitEthernet1/1/1\ninterface Vlan1\n \
                ip address 192.0.2.1 255.255.255.0\n";
    let model = Ios.parse(text, &ParseOptions::default()).unwrap();
    let reasons: Vec<bool> = model.router.ports.iter().map(|port| port.unmodeled_queues.is_some()).collect();
    assert_eq!(reasons, [true, true]);
    let options =
        ParseOptions { platform: Some("c9300,port-units=560".to_owned()), ..ParseOptions::default() };
    let model = Ios.parse(text, &options).unwrap();
    assert_eq!(model.router.ports[0].unmodeled_queues, None);
    assert_eq!(model.platform.name, "c9300,port-units=560");
}

#[test]
fn a_policy_inside_itself_is_read_once() {
    let text = "switch 1 provision c9300-24t\npolicy-map P\n class class-default\n  shape average 1000000\n  \
                service-policy P\ninterface GigabitEthernet1/0/1\n service-policy output P\n";
    assert_eq!(only_port(text).queues.len(), 1);
    assert!(Ios.parse(text, &ParseOptions::default()).is_ok());
}

/// If a parent policy shapes the port, the queues of the child policy use the memory of the port.
#[test]
fn a_shaped_port_has_the_queues_of_its_child() {
    let text = "switch 1 provision c9300-24t\nclass-map match-any VOICE\n match dscp ef\npolicy-map CHILD\n class \
                VOICE\n  priority level 1\n  queue-buffers ratio 10\n class class-default\n  bandwidth remaining \
                percent 100\npolicy-map PARENT\n class class-default\n  shape average 500000000\n  \
                service-policy CHILD\ninterface GigabitEthernet1/0/1\n service-policy output PARENT\n";
    let model = Ios.parse(text, &ParseOptions::default()).unwrap();
    let queueing = model.router.ports[0].output.queueing.as_ref().unwrap();
    assert!(queueing.memory.is_some());
    let found: Vec<_> =
        buffers(queueing).iter().map(|config| (config.reserved, config.limit.unwrap())).collect();
    assert_eq!(found, [(30, 0), (0, 1080)]);
}

/// Returns the ids of the diagnostics for classes of a port, with their lines.
fn found_in(classes: &str) -> Vec<(&'static str, usize)> {
    let text = format!(
        "switch 1 provision c9300-24t\nclass-map match-any A\n match dscp ef\nclass-map match-any B\n match dscp \
         cs4\npolicy-map OUT\n{classes}interface GigabitEthernet1/0/1\n service-policy output OUT\n"
    );
    let model = Ios.parse(&text, &ParseOptions::default()).unwrap();
    let switch =
        model.diagnostics.iter().map(|concern| (concern.diagnostic.rule.id, concern.diagnostic.line));
    switch.filter(|(rule, _)| rule.starts_with("switch-") || rule.starts_with("wred-")).collect()
}

#[test]
fn a_policy_that_the_switch_refuses_is_an_error() {
    for (classes, line) in [
        (" class A\n  priority level 1\n class B\n  priority level 1\n", 9),
        (" class A\n  priority level 3\n", 7),
        (
            " class A\n  bandwidth percent 10\n  random-detect dscp-based\n  queue-limit dscp af11 percent \
             80\n",
            9,
        ),
        (" class A\n  queue-buffers ratio 60\n  bandwidth 1000\n class B\n  queue-buffers ratio 50\n", 10),
    ] {
        assert_eq!(found_in(classes), [("switch-policy-refused", line)], "{classes}");
    }
    assert_eq!(found_in(" class A\n  priority level 1\n class B\n  priority level 2\n"), []);
}

/// The switch does not have the queue limit of 64 packets with which the rules about averages compare.
#[test]
fn thresholds_of_early_drops_are_not_compared_with_the_limit_of_a_router() {
    assert_eq!(found_in(" class A\n  bandwidth remaining percent 30\n  random-detect dscp-based\n"), []);
}
