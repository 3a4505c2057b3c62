//! The totals of a run, and deadlocks: ports that wait for each other in a cycle (cyclic buffer dependency).
//!
//! Dally and Seitz 1987, "Deadlock-free message routing in multiprocessor interconnection networks", give the
//! condition for a deadlock. Guo et al. 2016, "RDMA over commodity Ethernet at scale", report a deadlock in a
//! data center with priority flow control.

use std::collections::BTreeMap;

use perhop_measure::PauseMeasurements;
use perhop_qos::units::Time;

use super::Pauses;
use crate::direction::Direction;

impl Pauses {
    /// Returns the counts of all levels at `ends`, the end of the run.
    pub fn measure(&mut self, directions: &[Direction], ends: Time) -> Vec<PauseMeasurements> {
        let deadlocked = self.deadlocked(directions);
        let counts_from = self.counts_from;
        let totals = self.levels.iter_mut().zip(deadlocked).map(|(level, deadlocked)| {
            level.settle(ends, counts_from);
            let tally = level.tally;
            PauseMeasurements {
                port: level.link.index(),
                priority: level.priority,
                pauses: tally.pauses,
                spread: tally.spread,
                deepest: tally.deepest,
                paused: tally.paused,
                longest: tally.longest,
                most_bytes: tally.most_bytes,
                deadlocked,
            }
        });
        totals.collect()
    }

    /// Returns, for each level, the time since which it is in a cycle of pauses that no event can end; `None`
    /// for a level outside such cycles.
    ///
    /// A pause never ends if its level remains above the threshold at which the neighbor resumes. This is the
    /// case if enough of the level's packets wait at ports whose pauses also never end. To find the largest
    /// set of such levels, the function removes the other levels step by step. A level of this set on which
    /// no other level of the set depends is blocked by a cycle but is not in the cycle. Such levels are also
    /// removed.
    fn deadlocked(&self, directions: &[Direction]) -> Vec<Option<Time>> {
        let since: Vec<Option<Time>> = self.levels.iter().map(super::level::Level::lasting_since).collect();
        if since.iter().all(Option::is_none) {
            return since;
        }
        // The waiting bytes, by the level that counts them and by the level that pauses the port at which
        // they wait.
        let mut waits: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        self.visit_waiting(directions, |level, link, bytes| {
            let priority = usize::from(self.levels[level].priority);
            if let Some(next) = self.links[link.index()].levels[priority] {
                *waits.entry((level, next as usize)).or_default() += bytes;
            }
        });
        let mut stuck: Vec<bool> = since.iter().map(Option::is_some).collect();
        let mut is_smaller = true;
        while std::mem::take(&mut is_smaller) {
            let mut bytes = vec![0; stuck.len()];
            for ((level, next), waiting) in &waits {
                bytes[*level] += if stuck[*next] { *waiting } else { 0 };
            }
            for (level, bytes) in bytes.into_iter().enumerate() {
                if stuck[level] && !self.levels[level].stays_above(bytes) {
                    (stuck[level], is_smaller) = (false, true);
                }
            }
        }
        is_smaller = true;
        while std::mem::take(&mut is_smaller) {
            for level in 0..stuck.len() {
                let is_awaited = waits.keys().any(|(before, next)| stuck[*before] && *next == level);
                if stuck[level] && !is_awaited {
                    (stuck[level], is_smaller) = (false, true);
                }
            }
        }
        since.into_iter().zip(stuck).map(|(since, is_stuck)| since.filter(|_| is_stuck)).collect()
    }
}
