//! Tests of pauses of single queues at a port: other classes are served, and a class that is never paused is
//! served like a class without `pause`.

use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::queue::QueueId;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{ConfigError, Dscp, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const SCHEDULERS: [&str; 5] = ["priority", "drr", "wrr", "scfq", "three-parameter"];
/// The schedulers whose order does not depend on the time of the choice. All others choose the next packet
/// when the previous packet leaves the queue, like at any port with a shaper.
const STATELESS: [&str; 2] = ["priority", "scfq"];
const CLASSES: u8 = 3;

fn build(queueing: &Value) -> Result<Port, ConfigError> {
    let queueing: QueueingConfig = serde_json::from_value(queueing.clone()).unwrap();
    // At this rate, a byte is sent in one microsecond.
    let rate = Rate::from_bits_per_second(8_000_000);
    let headers = HeaderStack::EMPTY;
    let wire = WireConfig { rate, framing: Framing::Raw, headers, ring: RingConfig::default() };
    Port::build(Some(&queueing), &wire, &[], &Streams::new(1, 0))
}

/// Classes by codepoint, with or without `pause`.
fn queueing(scheduler: &str, pause: Option<&Value>) -> Value {
    let share = |class: u8| match scheduler {
        "priority" => json!({"level": class}),
        "drr" => json!({"quantum": format!("{}B", 800 * u32::from(class + 1))}),
        "three-parameter" => json!({"minimum": format!("{}Mb/s", class + 1), "weight": class + 1}),
        _ => json!({"weight": class + 1}),
    };
    let class = |class: u8| {
        let mut config = json!({
            "name": format!("c{class}"), "match": {"dscp": [8 * class]}, "share": share(class),
            "buffer": {"tail-drop": {"limit": "1000 packets"}},
        });
        if let Some(pause) = pause {
            config["pause"] = pause.clone();
            config["pause"]["priority"] = json!(class);
        }
        config
    };
    json!({"scheduler": scheduler, "classes": (0..CLASSES).map(class).collect::<Vec<_>>()})
}

#[derive(Debug, Default, PartialEq)]
struct Sent(Vec<(u64, Time)>);

impl Observer for Sent {
    fn dequeued(&mut self, _: Time, _: Place, packet: &Packet, departure: Departure) {
        self.0.push((packet.payload, departure.starts));
    }
}

fn packet(number: usize, class: u8, length: u32) -> Packet {
    let dscp = Dscp::new(8 * class).unwrap();
    Packet { dscp, payload: number as u64, ..Packet::new(FlowKey::default(), length) }
}

/// A packet after a gap of microseconds, or the start or end of a pause of its class.
#[derive(Clone, Copy, Debug)]
enum Event {
    Packet(u32),
    Pause,
    Resume,
}

type Step = (u64, u8, Event);

/// Sends the packets of `steps` through `port`, with the pauses if the classes can be paused. At the end, all
/// classes resume. Checks after each step that a packet waits only if its class is paused or the wire is
/// busy.
fn drive(port: &mut Port, steps: &[Step], is_pausable: bool) -> Sent {
    let (mut sent, mut now, mut leaving) = (Sent::default(), Time::ZERO, Packet::default());
    let mut paused = [false; CLASSES as usize];
    let mut due = Time::ZERO;
    let mut send = |port: &mut Port, sent: &mut Sent, until: Time, now: &mut Time, paused: &[bool]| {
        loop {
            while port.poll_transmit(*now, &mut leaving, &mut *sent).is_some() {}
            let waits = |class: usize| !paused[class] && port.queues()[class].occupancy().packets > 0;
            assert!(!port.ring().has_room() || !(0..paused.len()).any(waits), "work-conserving");
            match port.poll_timeout().filter(|next| *next <= until) {
                Some(next) => *now = next,
                None => break,
            }
        }
        *now = until;
    };
    for (number, (gap, class, event)) in steps.iter().enumerate() {
        due += Time::from_microseconds(*gap);
        send(port, &mut sent, due, &mut now, &paused);
        let (index, queue) = (usize::from(*class), QueueId((*class).into()));
        match event {
            Event::Packet(length) => {
                port.enqueue(now, &mut packet(number, *class, *length), &mut sent);
            }
            Event::Pause if is_pausable => {
                paused[index] = true;
                port.pause(queue);
            }
            Event::Resume if is_pausable => {
                paused[index] = false;
                port.resume(queue);
            }
            Event::Pause | Event::Resume => {}
        }
        let before = sent.0.len();
        send(port, &mut sent, due, &mut now, &paused);
        for (payload, _) in &sent.0[before..] {
            let (_, class, _) = steps[*payload as usize];
            assert!(!paused[usize::from(class)], "a paused class sends nothing");
        }
    }
    for class in 0..CLASSES {
        if is_pausable {
            port.resume(QueueId(class.into()));
        }
    }
    send(port, &mut sent, Time::LONGEST, &mut now, &[false; CLASSES as usize]);
    sent
}

fn steps(pauses: bool) -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 0..900u64, 1 => 0..9_000u64];
    let length = || (40..1500u32).prop_map(Event::Packet);
    let event = if pauses {
        prop_oneof![6 => length(), 1 => Just(Event::Pause), 1 => Just(Event::Resume)].boxed()
    } else {
        length().boxed()
    };
    prop::collection::vec((gap, 0..CLASSES, event), 1..150)
}

proptest! {
    #[test]
    fn a_class_that_is_never_paused_is_served_as_without_flow_control(
        steps in steps(false),
        scheduler in prop::sample::select(STATELESS.to_vec()),
    ) {
        let mut plain = build(&queueing(scheduler, None)).unwrap();
        let mut pausable = build(&queueing(scheduler, Some(&json!({})))).unwrap();
        prop_assert_eq!(drive(&mut plain, &steps, false), drive(&mut pausable, &steps, true), "{}", scheduler);
    }

    #[test]
    fn paused_classes_wait_and_the_others_are_served(
        steps in steps(true),
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
    ) {
        let mut port = build(&queueing(scheduler, Some(&json!({})))).unwrap();
        let mut sent: Vec<u64> = drive(&mut port, &steps, true).0.into_iter().map(|(number, _)| number).collect();
        let all = steps.iter().enumerate().filter(|(_, (_, _, event))| matches!(event, Event::Packet(_)));
        let all: Vec<u64> = all.map(|(number, _)| number as u64).collect();
        // Each class sends its packets in order of arrival.
        for class in 0..CLASSES {
            let of_class = |number: &&u64| steps[**number as usize].1 == class;
            prop_assert!(sent.iter().filter(of_class).is_sorted());
        }
        sent.sort_unstable();
        prop_assert_eq!(sent, all, "every packet leaves in the end");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut config = queueing("drr", Some(&json!({})));
        change(&mut config);
        let error = build(&config).unwrap_err();
        format!("{}: {}", error.path.join("."), error.message)
    };
    let buffer = |xoff: &str, xon: &str| json!({"xoff": xoff, "xon": xon, "headroom": "3kB"});
    for (message, change) in [
        ("default limit of 64 packets", json!({"buffer": null})),
        ("fair-queueing drops packets of other flows", json!({"fair-queueing": {}})),
        ("needs a buffer manager that drops only packets that arrive", json!({"buffer": {"fq-codel": {}}})),
        (
            "where the neighbor resumes, is 20kB",
            json!({"pause": {"priority": 1, "buffer": buffer("10kB", "20kB")}}),
        ),
        (
            "sends no pause frames",
            json!({"pause": {"priority": 1, "mode": "off", "buffer": buffer("10kB", "5kB")}}),
        ),
    ] {
        let found = refused(&|config| {
            for (key, value) in change.as_object().unwrap() {
                config["classes"][0][key] = value.clone();
            }
        });
        assert!(found.contains("classes.0.") && found.contains(message), "{found}");
    }
    let twice = refused(&|config| {
        for class in [0, 1] {
            config["classes"][class]["pause"] = json!({"priority": 3, "buffer": buffer("10kB", "5kB")});
        }
    });
    assert!(twice.contains("priority 3 already has a buffer"), "{twice}");
    let fifo = refused(&|config| {
        config["scheduler"] = json!("fifo");
        for class in 0..usize::from(CLASSES) {
            config["classes"][class]["share"] = json!({});
        }
    });
    assert!(fifo.contains("serves classes in order of arrival"), "{fifo}");
    // With only one class, no other class is blocked.
    let mut alone = queueing("scfq", Some(&json!({})));
    alone["scheduler"] = json!("fifo");
    alone["classes"].as_array_mut().unwrap().truncate(1);
    alone["classes"][0]["share"] = json!({});
    assert!(build(&alone).is_ok());
}
