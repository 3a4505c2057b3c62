//! The transmit ring keeps the packet that leaves next and what is in use in place of looking through its
//! packets: held against a list that looks.

use perhop_qos::ring::{RingAdmission, RingConfig};
use perhop_qos::units::{ByteSize, Time};
use proptest::prelude::*;

/// A ring that remembers its packets and nothing else.
struct List {
    config: RingConfig,
    /// When each has left, and the particles it then frees.
    packets: Vec<(Time, u64)>,
}

impl List {
    fn particles(&self, length: u32) -> u64 {
        match self.config {
            RingConfig::Packets(_) => 1,
            RingConfig::Particles { size, .. } => u64::from(length).div_ceil(size.as_bytes()).max(1),
        }
    }
    fn capacity(&self) -> u64 {
        match self.config {
            RingConfig::Packets(count) | RingConfig::Particles { count, .. } => u64::from(count),
        }
    }
    fn used(&self) -> u64 {
        self.packets.iter().map(|(_, particles)| particles).sum()
    }
    fn admits(&self, length: u32) -> bool {
        let overshoots =
            matches!(self.config, RingConfig::Particles { admission: RingAdmission::Overshoot, .. });
        let fits = self.used() + self.particles(length) <= self.capacity();
        self.packets.is_empty() || fits || (overshoots && self.used() < self.capacity())
    }
}

fn configs() -> impl Strategy<Value = RingConfig> {
    let admission = prop::sample::select(vec![RingAdmission::Strict, RingAdmission::Overshoot]);
    let particles = (1..20u32, 1..1600u64, admission).prop_map(|(count, size, admission)| {
        RingConfig::Particles { count, size: ByteSize::from_bytes(size), admission }
    });
    prop_oneof![(1..20u32).prop_map(RingConfig::Packets), particles]
}

proptest! {
    #[test]
    fn a_ring_is_the_list_of_its_packets(
        config in configs(),
        steps in prop::collection::vec((0..1500u64, 0..1500u32, 0..1500u64, any::<bool>()), 1..200),
    ) {
        let (mut ring, mut list) = (config.build().unwrap(), List { config, packets: Vec::new() });
        let (mut now, mut drained_at) = (Time::ZERO, Time::ZERO);
        for (pause, length, takes, is_noted_alone) in steps {
            now += Time::from_microseconds(pause);
            let is_drained = ring.is_drained(now);
            if !(is_drained && is_noted_alone) {
                ring.advance(now);
            }
            list.packets.retain(|(ends, _)| *ends > now);
            if is_drained && is_noted_alone {
                drained_at = now + Time::from_microseconds(takes);
                ring.push_alone(length, drained_at);
                list.packets.push((drained_at, list.particles(length)));
                prop_assert_eq!(ring.admits(length), list.admits(length));
            } else if list.admits(length) {
                prop_assert!(ring.admits(length));
                drained_at = drained_at.max(now) + Time::from_microseconds(takes);
                ring.push(length, drained_at);
                list.packets.push((drained_at, list.particles(length)));
            } else {
                prop_assert!(!ring.admits(length));
            }
            prop_assert_eq!(ring.packets(), list.packets.len());
            prop_assert_eq!(ring.has_room(), list.used() < list.capacity());
            prop_assert_eq!(ring.next_release(), list.packets.first().map(|(ends, _)| *ends));
        }
    }
}
