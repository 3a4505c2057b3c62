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
            let held = lower_and_own(profile, index, queue);
            // An average that counts something here leaves none above it empty.
            if held > 0 && profile.unit.held(queue) <= LONGEST {
                return self.admit_coupled(held, index, packet, queue);
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
        let outcome = self.judge_by(index, self.level);
        self.profile.verdict(outcome, packet)
    }

    /// The same, average by average.
    #[inline(never)]
    fn admit_by_each(&mut self, now: Time, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        self.for_each_average(index, queue, |average, held, motion| average.arrival(now, held, motion));
        let average = self.deciding_level(index, queue);
        let outcome = if self.profile.asks_more {
            self.judge_by_all(now, index, average, packet, queue)
        } else {
            self.judge_by(index, average)
        };
        self.verdict(outcome, index, packet, queue)
    }

    /// The same where coupled averages count something each, that of the packet `held`, and nothing but one of them decides.
    #[inline(never)]
    fn admit_coupled(&mut self, held: u64, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        let (last, smoothing) = (profile.last, &profile.motion.smoothing);
        let by_precedence = profile.unit.held_by_precedence(queue);
        let averages = &mut self.far.averages.0;
        averages[last].average.sample_by_multiplying(profile.unit.held(queue), smoothing);
        let mut held = held;
        for j in index..last {
            averages[j].average.sample_by_multiplying(held, smoothing);
            held += by_precedence[j + 1];
        }
        let average = averages[index].average.level();
        let outcome = self.judge_by(index, average);
        self.verdict(outcome, index, packet, queue)
    }

    /// What a packet's `average` says, where nothing else decides.
    #[inline]
    fn judge_by(&mut self, index: usize, average: u64) -> Outcome {
        let Mred { profile, near, far, .. } = self;
        let mut since = since(near, &mut far.counts, index);
        if average < profile.tests.min(index) {
            since.end();
            return Outcome::Keep;
        }
        profile.judge(&profile.tests, index, since, Sight::plain(average), &mut far.random)
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

/// What the queue holds of precedence `index` and the lower ones.
#[inline]
fn lower_and_own(profile: &Profile, index: usize, queue: &Occupancy) -> u64 {
    // The last counts what is beyond it as well.
    if index == profile.last {
        return profile.unit.held(queue);
    }
    profile.unit.held_by_precedence(queue)[..=index].iter().sum()
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
