//! The averages of multi-level RED: the packets that each average counts, the average that decides, and the
//! values in reports.

use super::moving_average::{Averaging, QueueAverage};
use super::options::Averages;
use super::profile::Profile;
use super::rules::IdleEnds;
use crate::buffer::Mred;
use crate::queue::Occupancy;
use crate::{Color, Time};

/// The packets that averages count, and the average that decides.
impl Mred {
    /// Calls `update` for each average that counts packets of precedence `index`, with the packets or bytes
    /// in the queue that this average counts. Returns the level of the average that decides about a packet of
    /// that precedence.
    #[inline]
    pub(super) fn update_averages(
        &mut self,
        index: usize,
        queue: &Occupancy,
        update: impl Fn(&mut QueueAverage, u64, &Averaging),
    ) -> u64 {
        let unit = self.profile.unit;
        self.update_from_content(index, queue, (unit.held(queue), unit.held_by_precedence(queue)), update)
    }

    /// Updates the averages like [`Mred::update_averages`], for laws that count the bytes of frames.
    #[inline]
    pub(super) fn update_by_law(
        &mut self,
        index: usize,
        queue: &Occupancy,
        update: impl Fn(&mut QueueAverage, u64, &Averaging),
    ) -> u64 {
        if !self.profile.counts_frames() {
            return self.update_averages(index, queue, update);
        }
        let (total, framed) = (self.profile.held(queue), self.profile.framed(queue));
        self.update_from_content(index, queue, (total, &framed), update)
    }

    /// Updates the averages like [`Mred::update_averages`]. The last but one argument has the packets or
    /// bytes in the queue, in total and for each precedence.
    #[inline]
    fn update_from_content(
        &mut self,
        index: usize,
        queue: &Occupancy,
        (total, by_precedence): (u64, &[u64; Color::COUNT]),
        update: impl Fn(&mut QueueAverage, u64, &Averaging),
    ) -> u64 {
        let (profile, averages) = (&*self.profile, &mut self.cold.averages);
        let averaging = &profile.averaging;
        match profile.averages {
            Averages::Single => {
                let single = &mut averages[0];
                single.average.level = self.level;
                update(single, total, averaging);
                self.level = single.average.level;
                self.level
            }
            // Clark & Fang 1998, generalized: average j counts the packets of precedences 0 to j. An arrival
            // of precedence i therefore moves the averages j ≥ i.
            Averages::Coupled => {
                let (last, mut held) = (profile.last, by_precedence[..index].iter().sum());
                for (average, own) in averages[index..last].iter_mut().zip(&by_precedence[index..last]) {
                    held += own;
                    update(average, held, averaging);
                }
                update(&mut averages[last], total, averaging);
                averages[index].average.level
            }
            Averages::CoupledSampled | Averages::Decoupled => {
                update(&mut averages[index], profile.of_precedence(by_precedence, index), averaging);
                self.deciding_level(index, queue)
            }
        }
    }

    /// The level of the average that decides about a packet of precedence `index`.
    #[inline]
    pub(super) fn deciding_level(&self, index: usize, queue: &Occupancy) -> u64 {
        let level = |index: usize| self.cold.averages[index].average.level;
        match self.profile.averages {
            Averages::Single => self.level,
            Averages::Coupled | Averages::Decoupled => level(index),
            // Linux sch_gred: the deciding value is the packet's own average plus the averages of all lower
            // precedences that are not idle.
            Averages::CoupledSampled => {
                let held = self.profile.unit.held_by_precedence(queue);
                let averages = &self.cold.averages;
                let by_clock = self.profile.averaging.idle.ends == IdleEnds::FirstArrival;
                (0..index)
                    .filter(|lower| if by_clock { averages[*lower].is_not_idle() } else { held[*lower] > 0 })
                    .fold(level(index), |sum, lower| sum + level(lower))
            }
        }
    }

    /// Records that a packet of precedence `index` has left. Updates the averages that count it, or starts
    /// their idle time.
    #[inline(never)]
    pub(super) fn depart(&mut self, now: Time, index: usize, queue: &Occupancy) {
        if self.profile.is_by_law {
            return self.depart_by_law(now, index, queue);
        }
        self.update_averages(index, queue, |average, held, averaging| {
            average.departure(now, held, averaging);
        });
        let profile = &*self.profile;
        if let Some(own) = &mut self.cold.own {
            let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
            own.averages[index].departure(now, held, &profile.averaging);
        }
    }
}

/// Averages for reports.
impl Mred {
    /// The single average, or the average of each precedence, in the unit of the thresholds (packets or
    /// bytes). With [`Averages::CoupledSampled`], the values are the terms of the sum.
    pub fn averages(&self) -> Vec<f64> {
        match self.profile.averages {
            Averages::Single => vec![self.profile.averaging.smoothing.value(self.level)],
            _ => self.values(&self.cold.averages),
        }
    }
    /// Returns the averages of each precedence's own packets if an additional test uses them (RI+O),
    /// otherwise an empty list.
    pub fn own_averages(&self) -> Vec<f64> {
        self.cold.own.as_ref().map_or_else(Vec::new, |own| self.values(&own.averages))
    }
    fn values(&self, averages: &[QueueAverage]) -> Vec<f64> {
        let Profile { averaging, last, .. } = &*self.profile;
        averages[..=*last].iter().map(|average| averaging.smoothing.value(average.average.level)).collect()
    }
    /// The average that decides about a packet of `precedence` that finds `queue`.
    pub fn deciding_average(&self, precedence: Color, queue: &Occupancy) -> f64 {
        let level = self.deciding_level(self.profile.index(precedence), queue);
        self.profile.averaging.smoothing.value(level)
    }
    /// The drop probability of a packet of `precedence` and `length` IP bytes at a deciding average of
    /// `average`. This is the drop curve, before [`DropSpacing`](crate::buffer::DropSpacing) changes the
    /// probability.
    pub fn drop_probability(&self, precedence: Color, average: f64, length: u32) -> f64 {
        let curve = &self.profile.reported[self.profile.index(precedence)];
        let scale = self.profile.scale(length).unwrap_or(1.0);
        if average >= curve.forced_from { 1.0 } else { (curve.probability(average) * scale).min(1.0) }
    }
}
