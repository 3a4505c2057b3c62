//! A replication in parts ([`crate::parallel`]).
//!
//! The run begins on one thread. The packets and events of the first slices determine the load of each flow,
//! and the estimated times with and without a division. If the division is faster, the run starts again in
//! parts. The first slices are then simulated twice, so they are short.

use std::sync::Mutex;

use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::{Reached, ReplicationRun, RunError, SLICES};
use crate::capture::Captured;
use crate::engine::Engine;
use crate::fast::World;
use crate::parallel::{self, Division, Load, Partition, lock};
use crate::setup::Setup;
use perhop_measure::Replication;

/// The slices after which a division is considered. The second value applies only if the estimated time after
/// the first is below [`SHORTEST`].
const CONSIDERED_AFTER: [u64; 2] = [2, 16];
/// The shortest estimated time on one thread of a run that is divided, seconds. The search for a division and
/// the start of threads also take time.
const SHORTEST: f64 = 0.5;
/// The minimum estimated gain for which a run is divided: the time on one thread divided by the time in
/// parts. The estimate ignores that processors share caches. A network with half of its parts on each of two
/// processors took as long as on one thread (docs/scale.md).
const LEAST_GAIN: f64 = 1.6;

impl ReplicationRun<'_> {
    /// Runs `world` to the end of the scenario. If a division is faster, calls `again` to build the network a
    /// second time, and runs it in parts on `threads` threads.
    pub(super) fn drive_divided(
        &self,
        mut world: World,
        threads: usize,
        division: Division,
        again: impl Fn() -> Result<Setup, RunError>,
    ) -> Result<(Replication, Vec<Captured>), RunError> {
        let (mut reached, mut slice) = (Reached::default(), 1);
        for considered in CONSIDERED_AFTER {
            self.run_slices(&mut world, &mut None, &mut reached, slice..=considered)?;
            slice = considered + 1;
            let load = Load::measured(&world, reached.now);
            if division == Division::IfFaster && load.seconds() < SHORTEST {
                continue;
            }
            if let Some(partition) = self.division_of(&world, threads, division, &load) {
                drop(world);
                return self.run_parts(again()?, &partition, threads, reached);
            }
            break;
        }
        self.run_slices(&mut world, &mut None, &mut reached, slice..=SLICES)?;
        self.complete(world, None, reached)
    }

    /// Returns the partition with which the run continues; `None` if it continues on one thread.
    fn division_of(
        &self,
        world: &World,
        threads: usize,
        division: Division,
        load: &Load,
    ) -> Option<Partition> {
        let hosts = world.hosts();
        // The estimated time in parts is too low for TCP. A network with 1250 TCP flows took twice the
        // processor time in parts.
        if division == Division::IfFaster && !hosts.transport.sessions.is_empty() {
            return None;
        }
        let delays: Vec<Time> =
            (0..hosts.far_nodes.len()).map(|link| world.direction(LinkId(link as u32)).delay).collect();
        match parallel::divide(hosts, &delays, threads.max(2), load) {
            Err(reason) => self.progress.report_division(Err(reason)),
            Ok((partition, cost)) => {
                if division == Division::Always || load.seconds() > LEAST_GAIN * cost.seconds {
                    return Some(partition);
                }
            }
        }
        None
    }

    /// Runs the network of `setup`, divided by `partition`. The progress up to `reached` is already reported.
    fn run_parts(
        &self,
        setup: Setup,
        partition: &Partition,
        threads: usize,
        reached: Reached,
    ) -> Result<(Replication, Vec<Captured>), RunError> {
        let reached = Mutex::new(reached);
        let observe = |now: Time, packet_hops: u64| {
            lock(&reached).advance(self.progress, now, packet_hops);
            !self.progress.is_cancelled()
        };
        let ended = parallel::run(setup, partition, threads, &observe);
        let (measurements, counts) = ended.ok_or(RunError::Cancelled)?;
        self.progress.report_division(Ok(counts));
        lock(&reached).advance(self.progress, self.scenario.duration, measurements.packet_hops);
        Ok((Replication::new(self.scenario, &measurements, self.number), Vec::new()))
    }
}
