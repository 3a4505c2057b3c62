//! The transmit ring stores the packet that leaves next and the number of used particles, so that it need not
//! search its packets. The tests compare it with a list that searches.

use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
use perhop_qos::units::{ByteSize, Time};
use proptest::prelude::*;

/// A ring that stores only its packets.
struct List {
    config: RingConfig,
    /// For each packet, the time at which it frees its particles, and the number of these particles. In a
    /// ring with batches, the list contains only packets of batches that were handed over.
    packets: Vec<(Time, u64)>,
    /// The packets that are gathered for the next batch. They follow `packets`.
    gathered: Vec<(Time, u64)>,
}

impl List {
    fn new(config: RingConfig) -> List {
        List { config, packets: Vec::new(), gathered: Vec::new() }
    }
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
    fn in_batch(&self) -> u64 {
        self.gathered.iter().map(|(_, particles)| particles).sum()
    }
    fn admission(&self) -> RingAdmission {
        match self.config {
            RingConfig::Packets(_) => RingAdmission::Strict,
            RingConfig::Particles { admission, .. } => admission,
        }
    }
    /// Whether the ring has room for two batches of two particles in addition to the packets that are handed
    /// over.
    fn takes_a_batch(&self) -> bool {
        self.used() == 0 || self.used() + 4 <= self.capacity()
    }
    fn hand_over(&mut self) {
        if self.takes_a_batch() {
            self.packets.append(&mut self.gathered);
        }
    }
    /// Advances to `now`. Packets leave the ring in order: when their transmission has ended, or, in rings of
    /// waiting packets, when it has begun.
    fn advance(&mut self, now: Time) {
        while self.packets.first().is_some_and(|(frees, _)| *frees <= now) {
            self.hand_over();
            self.packets.remove(0);
            self.hand_over();
        }
    }
    /// Adds a packet that is sent from `starts` to `ends`.
    fn push(&mut self, length: u32, starts: Time, ends: Time) {
        let particles = self.particles(length);
        let packet = (if self.is_first_bit() { starts } else { ends }, particles);
        if self.admission() != RingAdmission::Batches || self.packets.is_empty() {
            self.packets.push(packet);
            return;
        }
        if !self.joins(particles) {
            self.hand_over();
        }
        self.gathered.push(packet);
    }
    /// Whether a packet of `particles` particles joins the gathered batch.
    fn joins(&self, particles: u64) -> bool {
        self.gathered.is_empty() || self.in_batch() + particles <= 2
    }
    fn is_first_bit(&self) -> bool {
        matches!(self.config, RingConfig::Particles { release: RingRelease::FirstBit, .. })
    }
    fn admits(&self, length: u32) -> bool {
        let particles = self.particles(length);
        self.packets.is_empty()
            || match self.admission() {
                RingAdmission::Strict => self.used() + particles <= self.capacity(),
                RingAdmission::Overshoot => self.used() < self.capacity(),
                RingAdmission::Batches => self.joins(particles) || self.takes_a_batch(),
            }
    }
    fn has_room(&self) -> bool {
        self.admits(1)
    }
}

fn configs() -> impl Strategy<Value = RingConfig> {
    let admissions = vec![RingAdmission::Strict, RingAdmission::Overshoot, RingAdmission::Batches];
    let admission = prop::sample::select(admissions);
    let release = prop::sample::select(vec![RingRelease::LastBit, RingRelease::FirstBit]);
    let particles =
        (1..20u32, 1..1600u64, admission, release).prop_map(|(count, size, admission, release)| {
            RingConfig::Particles { count, size: ByteSize::from_bytes(size), admission, release }
        });
    prop_oneof![(1..20u32).prop_map(RingConfig::Packets), particles]
}

proptest! {
    #[test]
    fn a_ring_agrees_with_a_list_of_packets(
        config in configs(),
        steps in prop::collection::vec((0..1500u64, 0..1500u32, 0..1500u64, any::<bool>()), 1..200),
    ) {
        let (mut ring, mut list) = (config.build().unwrap(), List::new(config));
        let (mut now, mut drained_at) = (Time::ZERO, Time::ZERO);
        for (pause, length, takes, is_noted_alone) in steps {
            now += Time::from_microseconds(pause);
            let is_drained = ring.is_drained(now);
            if !(is_drained && is_noted_alone) {
                ring.advance(now);
            }
            list.advance(now);
            if is_drained && is_noted_alone {
                drained_at = now + Time::from_microseconds(takes);
                ring.push_alone(length, drained_at);
                // In a ring of waiting packets, a packet that is sent at once is not included.
                if !list.is_first_bit() {
                    list.push(length, now, drained_at);
                }
                prop_assert_eq!(ring.admits(length), list.admits(length));
            } else if list.admits(length) {
                prop_assert!(ring.admits(length));
                let starts = drained_at.max(now);
                drained_at = starts + Time::from_microseconds(takes);
                ring.push(length, starts, drained_at);
                list.push(length, starts, drained_at);
            } else {
                prop_assert!(!ring.admits(length));
            }
            prop_assert_eq!(ring.packets(), list.packets.len() + list.gathered.len());
            prop_assert_eq!(ring.has_room(), list.has_room());
            prop_assert_eq!(ring.next_release(), list.packets.first().map(|(frees, _)| *frees));
        }
    }
}
