//! [`Stepwise`]: one replication of a scenario, run in steps that its caller chooses.

use std::path::Path;

use perhop_measure::counters::QueueSample;
use perhop_measure::{Measurements, Replication, Results};
use perhop_qos::error::ConfigError;
use perhop_qos::observer::{Observer, Place, PortObservers};
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::Scenario;

use crate::build::set_up;
use crate::engine::Engine;
use crate::fast::World;
use crate::flow::flow_of;

/// One replication in the fast engine, run in steps. The results do not depend on the steps: they are equal
/// to those of [`run`](crate::run()) with the same seed and one replication.
#[derive(Debug)]
pub struct Stepwise {
    scenario: Scenario,
    seed: u64,
    world: World<Losses>,
}

impl Stepwise {
    /// Builds the first replication of `scenario` before its start. Drops are counted in intervals of
    /// `every`. Paths of trace files are relative to `base`.
    ///
    /// # Errors
    /// An element of the scenario cannot be built.
    pub fn new(scenario: &Scenario, base: &Path, seed: u64, every: Time) -> Result<Stepwise, ConfigError> {
        let setup = set_up(scenario, base, seed, 0, &[])?.without_pauses("the playground")?;
        let Measurements { flows, class_names, warmup, .. } = &setup.hosts.measurements;
        let losses = Losses {
            classes: flows.iter().map(|flow| flow.class).collect(),
            begins: *warmup,
            every: every.max(Time::from_picoseconds(1)),
            dropped: vec![Vec::new(); class_names.len()],
        };
        Ok(Stepwise { scenario: scenario.clone(), seed, world: World::new(setup, losses) })
    }

    /// Runs all events up to `until`. The counts of all intervals that have ended by then are complete.
    pub fn advance(&mut self, until: Time) {
        self.world.run_until(until);
        self.world.catch_up_everywhere(until);
    }
    /// The counts so far. They may include packets that arrive shortly after the current time.
    pub fn measurements(&self) -> &Measurements {
        &self.world.hosts().measurements
    }
    /// The samples so far of the scenario's probe number `probe`.
    pub fn queue_samples(&self, probe: usize) -> &[QueueSample] {
        self.world.hosts().queue_probes.get(probe).map_or(&[], |probe| &probe.samples)
    }
    /// The numbers of dropped packets of class number `class`, by interval. Packets that were sent during the
    /// warm-up do not count, and intervals after the last drop are missing.
    pub fn dropped(&mut self, class: usize) -> &[u64] {
        self.world.observers().dropped.get(class).map_or(&[], Vec::as_slice)
    }
    /// The number of times that packets have entered a wire so far.
    pub fn packet_hops(&self) -> u64 {
        self.world.packet_hops()
    }
    /// Runs the rest of the replication and returns its results.
    pub fn finish(mut self) -> Results {
        self.world.finish();
        let replication = Replication::new(&self.scenario, &self.world.measure(), 0);
        Results::new(&self.scenario, self.seed, vec![replication])
    }
}

/// Counts drops in intervals, by class.
#[derive(Debug)]
struct Losses {
    /// The class of each flow.
    classes: Vec<usize>,
    begins: Time,
    every: Time,
    /// The dropped packets by class and interval.
    dropped: Vec<Vec<u64>>,
}

impl Losses {
    #[cold]
    fn count(&mut self, now: Time, packet: &Packet) {
        // Fragments have flow numbers above the numbers of all flows.
        let Some(class) = self.classes.get(flow_of(packet)) else { return };
        if packet.sent_at < self.begins {
            return;
        }
        let counts = &mut self.dropped[*class];
        let elapsed = now.saturating_sub(self.begins).as_picoseconds();
        let interval = (elapsed / self.every.as_picoseconds()) as usize;
        if counts.len() <= interval {
            counts.resize(interval + 1, 0);
        }
        counts[interval] += 1;
    }
}

impl Observer for Losses {
    fn dropped(&mut self, now: Time, _: Option<Place>, packet: &Packet, _: DropCause) {
        self.count(now, packet);
    }
}

impl PortObservers for Losses {
    const TIME_ORDERED: bool = false;
    type Observer<'w> = &'w mut Losses;

    #[inline]
    fn of_port(&mut self, _: usize) -> &mut Losses {
        self
    }
    fn dropped_between(&mut self, now: Time, _: usize, packet: &Packet, _: DropCause) {
        self.count(now, packet);
    }
}
