//! Measures the cost of a packet on its path through a forwarder, without the operating system.
//!
//! `cargo bench -p perhop-live --bench path [-- input|host [PACKETS]]` forwards UDP packets in frames of 64
//! bytes with a policy of four classes, WRED and a meter. The packets come from another forwarder (`input`,
//! which has one port), or from a host (`host`, which has the port of the host and the port of the router).
//! Under callgrind, the difference between runs with two numbers of packets gives the instructions of the
//! additional packets.

use std::time::Instant;

use perhop_live::config::{ForwarderConfig, InputConfig};
use perhop_live::frame::internet_checksum;
use perhop_live::{DeviceId, Forwarder, Wire, WireError};
use perhop_qos::units::Time;

/// A wire on which a batch of frames arrives every `gap`. Sent frames are counted and discarded.
struct Source {
    frames: Vec<[u8; 60]>,
    clock: Time,
    gap: Time,
    sent: u64,
}

/// Frames in a batch.
const BATCH: u64 = 32;

impl Wire for Source {
    fn receive(&mut self, each: &mut impl FnMut(DeviceId, Time, &[u8])) -> Result<usize, WireError> {
        for _ in 0..BATCH {
            self.clock += self.gap;
            let place = self.clock.as_picoseconds() / self.gap.as_picoseconds();
            each(DeviceId(0), self.clock, &self.frames[place as usize % self.frames.len()]);
        }
        Ok(BATCH as usize)
    }
    fn send(&mut self, _: DeviceId, frame: &[u8]) -> Result<(), WireError> {
        std::hint::black_box(frame);
        self.sent += 1;
        Ok(())
    }
    fn now(&self) -> Time {
        self.clock
    }
}

/// A UDP packet from 10.0.0.1 to 10.0.0.2 with the codepoint `dscp` in the shortest frame.
fn frame(dscp: u8) -> [u8; 60] {
    let mut frame = [0; 60];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14..24].copy_from_slice(&[0x45, dscp << 2, 0, 46, 0, 0, 0x40, 0, 64, 17]);
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    let checksum = internet_checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame[34..38].copy_from_slice(&[0xc0, 0, 0, 9]);
    frame
}

#[allow(clippy::disallowed_methods)] // a benchmark is about wall time
fn main() {
    // Cargo adds `--bench` to the arguments.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let only = arguments.next();
    let packets: u64 =
        arguments.next().map_or(2_000_000, |number| number.parse().expect("a number of packets"));
    for kind in ["input", "host"] {
        if only.as_ref().is_some_and(|only| only != kind) {
            continue;
        }
        let mut config: ForwarderConfig = serde_json::from_str(include_str!("../tests/router/edge.json"))
            .expect("the configuration is sound");
        if kind == "input" {
            let host = config.directions.remove(0);
            config.directions.swap(0, 1);
            config.inputs.insert(
                0,
                InputConfig {
                    name: host.name,
                    device: "host".to_owned(),
                    input: host.input.unwrap_or_default(),
                    input_overhead: host.input_overhead,
                    input_interfaces: host.input_interfaces,
                    far_interface: host.far_interface,
                    leads_to: None,
                },
            );
        }
        assert_eq!(config.device("host"), Some(DeviceId(0)));
        // The load, 1 Mpps of 84 bytes on the wire, is two thirds of 1 Gb/s, so queues fill and empty.
        let frames = [0, 46, 18, 1, 0, 20, 0, 10].map(frame).to_vec();
        let wire = Source { frames, clock: Time::ZERO, gap: Time::from_nanoseconds(1000), sent: 0 };
        let mut forwarder = Forwarder::build(&config, wire, ()).expect("the configuration can be built");
        let start = Instant::now();
        while forwarder.totals().received < packets {
            forwarder.step().expect("this wire does not fail");
        }
        let (seconds, sent) = (start.elapsed().as_secs_f64(), forwarder.wire().sent);
        println!("{kind} {packets} packets, {sent} sent, {:.1} ns each", seconds * 1e9 / packets as f64);
    }
}
