//! Scalable senders with RED's step: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3. N
//! synchronized senders with windows W oscillate by D = (W + 1) sqrt(2 / W) / 2 each. The queue therefore
//! rises to K + N and falls by A = sqrt(2 N (C RTT + K)) / 2 (equations 7 to 10).

use std::path::Path;

use perhop_qos::Observer;
use perhop_qos::observer::{Place, PortObservers};
use perhop_qos::packet::Packet;
use perhop_qos::port::Departure;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_sim::build::set_up;
use serde_json::{Value, json};

/// The observations at the port.
#[derive(Default)]
struct Seen {
    held: u64,
    marked: u64,
    /// The number of packets that each departure leaves in the queue, from 5 s on.
    lengths: Vec<u64>,
}

impl Observer for Seen {
    fn enqueued(&mut self, _: Time, _: Place, _: &Packet) {
        self.held += 1;
    }
    fn dropped(&mut self, now: Time, _: Option<Place>, _: &Packet, cause: DropCause) {
        panic!("{cause} at {now}");
    }
    fn marked(&mut self, now: Time, _: Place, _: &Packet) {
        self.marked += u64::from(now >= Time::from_seconds(5));
    }
    fn dequeued(&mut self, now: Time, _: Place, _: &Packet, _: Departure) {
        self.held -= 1;
        if now >= Time::from_seconds(5) {
            self.lengths.push(self.held);
        }
    }
}

/// The observers of the bottleneck and of all other ports.
#[derive(Default)]
struct Bottleneck(Seen, ());

/// The observer of a port.
enum Watch<'w> {
    Seen(&'w mut Seen),
    Nobody,
}

impl Observer for Watch<'_> {
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Watch::Seen(seen) = self {
            seen.enqueued(now, place, packet);
        }
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        if let Watch::Seen(seen) = self {
            seen.dropped(now, place, packet, cause);
        }
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        if let Watch::Seen(seen) = self {
            seen.marked(now, place, packet);
        }
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        if let Watch::Seen(seen) = self {
            seen.dequeued(now, place, packet, departure);
        }
    }
}

impl PortObservers for Bottleneck {
    type Observer<'w> = Watch<'w>;
    fn of_port(&mut self, port: usize) -> Watch<'_> {
        if port == 0 { Watch::Seen(&mut self.0) } else { Watch::Nobody }
    }
}

/// The bottleneck's rate, the transmission time of a packet of 1500 bytes, and the round-trip time without a
/// queue.
const RATE: f64 = 50e6;
const PACKET_S: f64 = 1500.0 * 8.0 / RATE;
const ROUND_TRIP_S: f64 = 0.010;

/// `count` flows for 15 s through RED with this marking.
fn run(congestion: &str, scalable: &Value, count: u64) -> Seen {
    let red = json!({
        "precedences": [{"min": "500 packets", "max": "1000 packets", "max-probability": 0.1}],
        "scalable": scalable, "limit": "2000 packets",
    });
    let scenario = json!({
        "perhop": 1, "name": "step", "duration": "15s", "hosts": {"h": {}, "c": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["r", "c"], "rate": "50Mb/s", "delay": "4ms",
             "interfaces": {"r": {"output": "queue"}}},
            {"between": ["h", "r"], "rate": "10Gb/s", "delay": "1ms"},
        ],
        "policies": {"queue": {"queueing": {"classes": [{"name": "all", "buffer": {"red": red}}]}}},
        "traffic": [{"name": "bulk", "from": "h", "to": "c", "count": count, "start-within": "100ms",
                     "source": {"bulk": {"tcp": {"profile": "linux-6", "congestion": congestion}}}}],
    });
    let scenario = perhop_scenario::load_json(scenario, ".").unwrap().resolved;
    let mut network = set_up(&scenario, Path::new("."), 1, 0, &[]).unwrap().plain(Bottleneck::default());
    network.run_until(scenario.duration);
    let mut seen = network.observers.0;
    seen.lengths.sort_unstable();
    seen
}

impl Seen {
    fn at(&self, part: f64) -> f64 {
        self.lengths[((self.lengths.len() - 1) as f64 * part) as usize] as f64
    }
}

impl Seen {
    /// Packets that left in ten seconds, divided by the capacity of the link.
    fn utilization(&self) -> f64 {
        self.lengths.len() as f64 * PACKET_S / 10.0
    }
}

/// The analysis assumes an acknowledgment for each packet. In this test, one acknowledgment acknowledges two
/// packets. Each flow can therefore exceed the upper bound by one packet, and the lower bound by one or two
/// packets.
#[test]
fn dctcp_swings_between_the_bounds_of_its_analysis() {
    let threshold = 20.0;
    for count in [1u64, 2, 4] {
        // A waiting packet also waits for the packet on the wire.
        let by_time = format!("{}us", (threshold + 1.0) * PACKET_S * 1e6);
        for step in ["20 packets", "30000B", &by_time] {
            let seen = run("dctcp", &json!({"mark": {"step": step}, "ecn": "any-ect"}), count);
            let flows = count as f64;
            let fall = (2.0 * flows * (ROUND_TRIP_S / PACKET_S + threshold)).sqrt() / 2.0;
            let (highest, lowest) = (threshold + flows, threshold + flows - fall);
            let found = [0.0, 0.05, 0.5, 0.95, 1.0].map(|part| seen.at(part));
            let what = format!("{count} flows, {step}: {found:?}, expected {lowest:.1} to {highest}");
            assert!(seen.at(1.0) <= highest + flows, "{what}");
            assert!((highest - 2.0..=highest + 1.0).contains(&seen.at(0.95)), "{what}");
            assert!((lowest - 2.0..=highest).contains(&seen.at(0.05)), "{what}");
            assert!((lowest..=highest).contains(&seen.at(0.5)), "{what}");
            assert!(seen.utilization() > 0.999 && seen.marked > 0, "{what}");
        }
    }
}

/// Prague sends ECT(1), also if the scenario does not set it. Prague paces its packets and grows by one
/// segment in each round trip.
#[test]
fn prague_holds_the_queue_at_a_step_and_within_a_ramp() {
    let step = run("prague", &json!({"mark": {"step": "1ms"}}), 2);
    assert!(step.at(0.99) <= 0.001 / PACKET_S + 2.0, "{}", step.at(0.99));
    assert!(step.utilization() > 0.99, "{}", step.utilization());
    let ramp = run("prague", &json!({"mark": {"ramp": {"from": "4 packets", "width": "8 packets"}}}), 2);
    assert!((4.0..12.0).contains(&ramp.at(0.9)) && ramp.at(1.0) <= 12.0, "{}", ramp.at(1.0));
    assert!(ramp.utilization() > 0.999, "{}", ramp.utilization());
}
