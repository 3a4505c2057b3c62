//! The ways of [`Mred`] but for the short one: through all averages that count a packet and all tests that are asked.

use super::average::{Motion, QueueAverage};
use super::moving_average::{Average, LONGEST};
use super::mred::{Far, Mred, since};
use super::mred_config::{Averages, SparedConfig};
use super::mred_profile::{Memory, Outcome, Profile, Sight};
use crate::packet::{Color, Packet};
use crate::queue::Occupancy;
use crate::units::Time;
use crate::verdict::{DropCause, Verdict};

impl Mred {
    /// [`BufferManager::admit`](super::BufferManager::admit) but for the shortest way.
    #[inline(never)]
    pub(super) fn admit_at_length(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        queue: &Occupancy,
    ) -> Verdict {
        let profile = &*self.profile;
        let index = profile.index(precedence);
        if profile.is_coupled {
            // What the first average counts, all others count as well: where that is something, none is of an empty queue.
            if profile.unit.held_by_precedence(queue)[0] > 0 && profile.unit.held(queue) <= LONGEST {
                return self.admit_coupled(index, packet, queue);
            }
        } else if queue.packets.wrapping_sub(1) < profile.short_way_up_to {
            return self.admit_by_single(index, packet, queue);
        }
        self.admit_by_each(now, index, packet, queue)
    }

    /// The same on the short way.
    #[inline]
    fn admit_by_single(&mut self, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let mut average = Average::new(self.level, self.far.rest);
        average.sample_bounded(queue.packets, &self.profile.motion.smoothing);
        (self.level, self.far.rest) = (average.level(), average.rest());
        self.judge_by_single(index, packet)
    }
    /// What the single average says of a packet of precedence `index`, which fits.
    #[inline(never)]
    pub(super) fn judge_by_single(&mut self, index: usize, packet: &Packet) -> Verdict {
        self.judge_fitting(index, self.level, packet)
    }

    /// The same, average by average.
    #[inline(never)]
    fn admit_by_each(&mut self, now: Time, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        self.for_each_average(index, queue, |average, held, motion| average.arrival(now, held, motion));
        let average = self.deciding_level(index, queue);
        if self.profile.asks_more {
            let outcome = self.judge_by_all(now, index, average, packet, queue);
            return self.verdict(outcome, index, packet, queue);
        }
        self.judge_plainly(index, average, packet, queue)
    }

    /// The same where coupled averages count something each, and nothing but that of the packet decides.
    #[inline(never)]
    fn admit_coupled(&mut self, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        let (last, smoothing) = (profile.last, &profile.motion.smoothing);
        let by_precedence = profile.unit.held_by_precedence(queue);
        let averages = &mut self.far.averages.0;
        averages[last].average.sample_by_multiplying(profile.unit.held(queue), smoothing);
        let mut held = 0;
        for j in 0..last {
            held += by_precedence[j];
            if j >= index {
                averages[j].average.sample_by_multiplying(held, smoothing);
            }
        }
        let average = averages[index].average.level();
        self.judge_plainly(index, average, packet, queue)
    }

    /// What a packet's `average` and the limit say, where nothing else decides.
    #[inline]
    fn judge_plainly(&mut self, index: usize, average: u64, packet: &Packet, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        if profile.limit.is_some_and(|limit| !profile.fits(limit, index, packet, queue)) {
            return self.judge_unfitting(index, average, packet);
        }
        self.judge_fitting(index, average, packet)
    }
    /// The same of a packet that does not fit.
    #[inline(never)]
    fn judge_unfitting(&mut self, index: usize, average: u64, packet: &Packet) -> Verdict {
        match self.judge_fitting(index, average, packet) {
            dropped @ Verdict::Drop(_) => dropped,
            _ => Verdict::Drop(DropCause::QueueFull),
        }
    }
    /// The same of a packet that fits.
    #[inline]
    fn judge_fitting(&mut self, index: usize, average: u64, packet: &Packet) -> Verdict {
        let Mred { profile, near, far, .. } = self;
        if average < profile.tests.min(index) {
            since(near, &mut far.counts, index).end();
            return Verdict::Pass;
        }
        self.judge_above_min(index, average, packet)
    }
    /// The same where its average is at `min` or above.
    #[inline(never)]
    fn judge_above_min(&mut self, index: usize, average: u64, packet: &Packet) -> Verdict {
        let Mred { profile, near, far, .. } = self;
        let since = since(near, &mut far.counts, index);
        let outcome = profile.judge(&profile.tests, index, since, Sight::plain(average), &mut far.random);
        profile.verdict(outcome, packet)
    }

    /// Asks all tests about a packet that finds `average`.
    #[inline(never)]
    fn judge_by_all(
        &mut self,
        now: Time,
        index: usize,
        average: u64,
        packet: &Packet,
        queue: &Occupancy,
    ) -> Outcome {
        let Mred { profile, near, far, .. } = self;
        let waiting = match profile.spared {
            SparedConfig::ShortQueueAndFirst => waiting(profile, index, queue),
            SparedConfig::Nothing | SparedConfig::FirstAboveMin => u64::MAX,
        };
        let sight = Sight { average, waiting, scale: profile.scale(packet.length) };
        let memory = Memory { since: since(near, &mut far.counts, index), above_min: &mut far.above_min };
        let outcome = profile.judge_or_spare(&profile.tests, index, memory, sight, &mut far.random);
        if far.own.is_some() { self.judge_own(now, index, outcome, sight, queue) } else { outcome }
    }

    /// RI+O: the average of the precedence's own packets moves, and where `outcome` is to keep the packet, it is tested again on that.
    #[inline(never)]
    fn judge_own(
        &mut self,
        now: Time,
        index: usize,
        outcome: Outcome,
        sight: Sight,
        queue: &Occupancy,
    ) -> Outcome {
        let (profile, Far { own, random, .. }) = (&*self.profile, &mut *self.far);
        let (Some(own), Some(tests)) = (own, &profile.own_tests) else { return outcome };
        let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
        own.averages.0[index].arrival(now, held, &profile.motion);
        if outcome != Outcome::Keep {
            return outcome;
        }
        let waiting = profile.of_precedence(&queue.packets_of, index);
        let sight = Sight { average: own.averages.level(index), waiting, ..sight };
        let memory = Memory { since: own.counts.at(index), above_min: &mut own.above_min };
        profile.judge_or_spare(tests, index, memory, sight, random)
    }

    /// A packet of precedence `index` has left: the averages that count it move, or begin to idle.
    #[inline(never)]
    pub(super) fn depart(&mut self, now: Time, index: usize, queue: &Occupancy) {
        self.for_each_average(index, queue, |average, held, motion| average.departure(now, held, motion));
        let profile = &*self.profile;
        if let Some(own) = &mut self.far.own {
            let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
            own.averages.0[index].departure(now, held, &profile.motion);
        }
    }

    /// Calls `update` for each average that counts packets of precedence `index`, with what it counts.
    #[inline]
    fn for_each_average(
        &mut self,
        index: usize,
        queue: &Occupancy,
        update: impl Fn(&mut QueueAverage, u64, &Motion),
    ) {
        let (profile, Far { averages, rest, idle_since, .. }) = (&*self.profile, &mut *self.far);
        let averages = &mut averages.0;
        let motion = &profile.motion;
        match profile.averages {
            Averages::Single => {
                let average = Average::new(self.level, *rest);
                let mut single = QueueAverage { average, idle_since: *idle_since };
                update(&mut single, profile.unit.held(queue), motion);
                (self.level, *rest) = (single.average.level(), single.average.rest());
                *idle_since = single.idle_since;
            }
            // Clark & Fang 1998, generalized: an arrival of precedence i moves every average j ≥ i,
            // which counts the packets of precedences 0 to j; the lower averages stay.
            Averages::Coupled => {
                let last = profile.last;
                let mut held = 0;
                let lower = averages[..last].iter_mut().zip(profile.unit.held_by_precedence(queue));
                for (j, (average, own)) in lower.enumerate() {
                    held += own;
                    if j >= index {
                        update(average, held, motion);
                    }
                }
                update(&mut averages[last], profile.unit.held(queue), motion);
            }
            Averages::CoupledSampled | Averages::Decoupled => {
                let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
                update(&mut averages[index], held, motion);
            }
        }
    }

    /// The level of the average that decides about a packet of precedence `index`.
    #[inline]
    pub(super) fn deciding_level(&self, index: usize, queue: &Occupancy) -> u64 {
        let level = |index: usize| self.far.averages.level(index);
        match self.profile.averages {
            Averages::Single => self.level,
            Averages::Coupled | Averages::Decoupled => level(index),
            // Linux sch_gred: the averages of all lower precedences that are not idling are added.
            Averages::CoupledSampled => {
                let held = self.profile.unit.held_by_precedence(queue);
                (0..index)
                    .filter(|lower| held[*lower] > 0)
                    .fold(level(index), |sum, lower| sum + level(lower))
            }
        }
    }

    /// What `outcome` means for `packet`, which must also fit.
    #[inline]
    fn verdict(&self, outcome: Outcome, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let verdict = self.profile.verdict(outcome, packet);
        match self.profile.limit {
            Some(limit)
                if !matches!(verdict, Verdict::Drop(_))
                    && !self.profile.fits(limit, index, packet, queue) =>
            {
                Verdict::Drop(DropCause::QueueFull)
            }
            _ => verdict,
        }
    }
}

/// Packets in the queue of those that the average of precedence `index` counts.
fn waiting(profile: &Profile, index: usize, queue: &Occupancy) -> u64 {
    match profile.averages {
        Averages::Single => queue.packets,
        Averages::Decoupled => profile.of_precedence(&queue.packets_of, index),
        _ if index == profile.last => queue.packets,
        _ => queue.packets_of[..=index].iter().sum(),
    }
}
